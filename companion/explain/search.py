"""The search for explanations: which runs of actions could have led to what is seen, and how well
each fits."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from companion.explain.hypothesis import (
    ACTION,
    BY_HAND,
    BY_ITSELF,
    MISREAD,
    REGUESS,
    STANDS_OUT,
    STILL,
    Difference,
    Look,
    Past,
    World,
    difference,
    done_by,
    judge,
    known_below,
)
from companion.explain.late_actions import forgotten, put_in
from engine import Action, IllegalAction, Proposal, State
from engine.layout import Contents, Layout

ONWARD = 3  # worlds that take nothing back, always gone on from
UNLIKELY = 1.0  # a run that costs so much more than its actions is no plain one


def search(
    bases: Sequence[tuple[State, int, float]],
    seen: Layout,
    look: Look,
    past: Past,
    budget_s: float,
    width: int = 8,
    depth: int = 8,
    doubts: bool = False,
    said: frozenset[int] = frozenset(),
) -> list[World]:
    """The worlds found, best first. bases: (state, events taken back, the cost), newest first.
    doubts: what is read with doubt is tried as what else it may be, too. said: see `reconcile`.
    budget_s: of this thread's own work, so that a busy machine concludes the same, later."""
    end = time.thread_time() + budget_s
    worlds: list[World] = []
    beam: list[World] = []
    lay = {**past[0][0].layout(), **seen}
    for state, undo, cost in bases:
        layout = state.layout()
        lag = {} if undo else _still(state, seen)
        world = World(state, layout, undo, cost, lag)
        world.undone = tuple(text for _, text in past[:undo] if text is not None)
        world.lay = lay if undo else None
        beam.append(judge(world, look))
    worlds += beam
    known: set[bytes] = set()
    for world in forgotten(beam[0], look, past, said, seen):
        worlds.append(world)
        beam.append(world)
    if not difference(beam[0], look):
        return sorted([beam[0], *worlds[len(bases) :]], key=lambda w: -w.total)
    for _ in range(depth):
        children: list[World] = []
        for n, world in enumerate(beam):
            diff = difference(world, look)
            if (
                not diff
                or world.violations
                or -world.cost < max(w.total for w in (*worlds, *children)) - STANDS_OUT
            ):
                continue  # it explains all, or comes to nothing better
            for proposal in _proposals(world, diff, look, doubts and n < 3):
                if not proposal.belated:
                    children += _do(world, proposal, look)
                    continue
                put = put_in(world, proposal, look, past, said)
                children += (
                    put if proposal.withdrawn else [w for w in put if _overdue(world, w, seen)]
                )
            if time.thread_time() > end:
                break
        fresh = []
        for w in sorted(children, key=lambda w: -w.total):
            mark = (
                w.state.key()
                + repr((w.undo, sorted(w.hands.items()), [v.rule for v in w.violations])).encode()
            )
            if mark not in known:
                known.add(mark)
                fresh.append(w)
        worlds += fresh
        beam = _worth_going_on(worlds, fresh, width)
        if not beam or time.thread_time() > end:
            break
    worlds += _done_before(worlds, look, end)
    guesses = {undo for _, undo, cost in bases if cost == REGUESS}
    best = max(w.total for w in worlds)
    for w in worlds:
        if w.undo in guesses and w.total > best - STANDS_OUT and not _came_past(w, lay):
            w.total -= BY_HAND  # then hands were not done with it, though the board was left alone
    return sorted(worlds, key=lambda w: -w.total)


def _came_past(world: World, lay: Layout) -> bool:
    """Whether a run done in place of what was guessed before comes past the board as it lay then"""
    run: list[World] = [world]
    while run[0].parent is not None:
        run.insert(0, run[0].parent)
    if run[0].actions or world.violations:
        return True  # put in where it was forgotten: that is judged elsewhere
    for before, w in zip(run, run[1:]):
        hands = done_by(w.state, hands=True)
        later: dict[str, list[Contents]] = {}
        for step in w.state.steps:
            for s, c in step.changes.items() if not step.by_hand else ():
                later.setdefault(s, [w.layout.get(s, ())]).append(c)
        for at in (before.layout, {**before.layout, **hands}, w.layout):
            if all(
                at.get(s, ()) == lay.get(s, ()) or lay.get(s, ()) in later.get(s, ())
                for s in {*at, *lay}
            ):
                return True
    return False


def _worth_going_on(worlds: list[World], fresh: list[World], width: int) -> list[World]:
    """The likeliest legal ones; among them some that take nothing back, however much they leave
    open: what the next player did may be more than all before. What breaks rules hides nothing that
    breaks none."""
    legal = [w for w in fresh if not w.violations]
    onward = [w for w in legal if not w.undo][:ONWARD]
    best = max(w.total for w in worlds if not w.violations)
    return (
        onward
        + [w for w in legal if w not in onward and w.total > best - 4 * MISREAD][
            : width - len(onward)
        ]
    )


def _overdue(world: World, other: World, seen: Layout) -> bool:
    """Whether something the worlds differ in was still to be done in the last look: what has lain
    as it should was not forgotten, but is gone or misread now"""
    return any(world.layout.get(s, ()) != other.layout.get(s, ()) for s in seen)


def _still(state: State, seen: Layout) -> dict[str, dict[Contents, float]]:
    """What a board that was behind the state may show: what it showed, and what it comes past while
    people catch up."""
    lag: dict[str, dict[Contents, float]] = {s: {c: STILL} for s, c in seen.items()}
    for step in state.steps if seen else ():
        for site, contents in step.changes.items() if not step.by_hand else ():
            lag.setdefault(site, {}).setdefault(contents, BY_ITSELF)
    return lag


def _done_before(worlds: list[World], look: Look, end: float) -> list[World]:
    """The best run with what it leaves open done earlier in it: the last building of a round shows
    little beside the births that followed, so no run that begins with it is kept."""
    best = max((w for w in worlds if not w.violations), key=lambda w: w.total)
    found: list[World] = []
    open_ = _unlikely_end(best)
    while open_ and not _plain(best) and time.thread_time() < end:
        world: World | None = open_.pop()
        while world is not None:
            more = [
                w for w in _inserted(world, difference(world, look), look) if w.total > world.total
            ]
            world = max(more, key=lambda w: w.total, default=None)
            if world is not None and world.total > best.total:
                best = world
                found.append(world)
    return found


def _unlikely_end(world: World) -> list[World]:
    """The world, and before it those its run came through if it needed something unlikely to
    explain all, or leaves something to be done."""
    out = [world]
    while not _plain(out[-1]) and world.parent is not None:
        world = world.parent
        out.insert(0, world)
    return out


def _plain(world: World) -> bool:
    return -world.total <= (len(world.actions) + UNLIKELY) * ACTION


def _inserted(world: World, left: Difference, look: Look) -> Iterator[World]:
    """The world's run with one more doing before one of its actions that explains some of `left`,
    the latest first."""
    before, after = world.parent if left else None, world
    later: list[tuple[Action, float]] = []
    while before is not None:
        later.insert(0, (after.actions[-1], after.cost - before.cost))
        rest = {s: (before.layout.get(s, ()), seen) for s, (_, seen) in left.items()}
        rest = {
            s: (have, seen)
            for s, (have, seen) in rest.items()
            if not before.state.shows_same(s, have, seen, look.reads.get(s, "pile"))
        }
        for proposal in before.state.explain(rest) if rest else ():
            if not proposal.violations and not proposal.belated:
                for w in _do(before, proposal, look):
                    yield from _again(w, later, look)
        before, after = before.parent, before


def _again(world: World, actions: Sequence[tuple[Action, float]], look: Look) -> Iterator[World]:
    """The world after these actions too, each at its cost, if they are legal there"""
    for action, cost in actions:
        if world.violations or world.state.check(action):
            return
        world = world.after(world.state.apply(action), action, cost)
    if not world.violations:
        yield judge(world, look)


def _proposals(world: World, diff: Difference, look: Look, doubts: bool) -> list[Proposal]:
    """What the game makes of the difference, and of what it may be instead where a site is read
    with doubt."""
    out = world.state.explain(diff)
    for other in _readings(world, diff, look) if doubts else ():
        out += (
            [p for p in world.state.explain(other) if p not in out and not p.violations]
            if other
            else []
        )
    return out


def _readings(world: World, diff: Difference, look: Look) -> list[Difference]:
    """The difference with one doubtful site read the second way each; or read the first way, where
    that alone is no reason to suppose that anything was done."""
    out: list[Difference] = []
    for site, seen in look.hazy.items():
        want = world.layout.get(site, ())
        if site not in diff and not world.state.shows_same(
            site, want, seen, look.reads.get(site, "pile")
        ):
            out.append({**diff, site: (want, known_below(seen, want))})
    for site, seen in look.doubtful.items():
        want = world.layout.get(site, ())
        rest = {s: c for s, c in diff.items() if s != site}
        if not world.state.shows_same(site, want, seen, look.reads.get(site, "pile")):
            out.append({**rest, site: (want, known_below(seen, want))})
        elif site in diff:
            out.append(rest)
    return out


def _do(world: World, proposal: Proposal, look: Look) -> list[World]:
    """The worlds a proposal leads to: after its last legal action, and the broken one when an
    action is refused."""
    if not proposal.actions:
        return (
            [judge(world.broken(proposal, proposal.violations, None), look)]
            if proposal.violations
            else []
        )
    w = world
    before = any(
        str(a) in w.undone for a in proposal.actions
    )  # what is free already is made no cheaper
    cost = max(proposal.cost, 0.0) if before else proposal.cost
    for i, action in enumerate(proposal.actions):
        violations = w.state.check(action)
        if violations:
            broken = w.broken(proposal, violations, action)
            return [judge(broken, look)]
        try:
            state = w.state.apply(action)
        except IllegalAction as e:
            return [judge(w.broken(proposal, e.violations, action), look)]
        again = (
            str(action) in w.undone
        )  # who takes an earlier piece back does the later ones no second time
        w = w.after(state, action, (0.0 if again else ACTION) + (cost if i == 0 else 0.0))
    w.certain = world.certain and proposal.certain
    return [judge(w, look)]
