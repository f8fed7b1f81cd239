"""The search for explanations: which runs of actions could have led to what is seen, and how well each fits.

Every explanation is a *world*: a state after a run of actions, and what the board may show while people are still busy
bringing it there. Its score is the evidence for that world less what the run costs, both in nats.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence

from engine import Action, BadText, IllegalAction, Proposal, State, Step, Violation
from engine.layout import Contents, Layout
from vision.evidence import Evidence, SiteEvidence

# What a doing costs, in nats: odds between explanations that the picture cannot tell apart.
ACTION = 1.0            # one more action in a run
STILL = 0.5             # a to-do that is still not done, a site
FORGOTTEN = 0.2         # an act put in where it was forgotten
BY_ITSELF = 0.75        # a consequence not yet done on the board, a site
LATE_TOO = 0.15         # each further one: who has not begun to clear up has not done any of it
BY_HAND = 3.0           # the doing itself only half done, a site
HALF_TOO = 1.0          # each further one: half is half
WRONG = 5.0             # a consequence done wrongly, a site
BREAKS_RULES = 6.0
TAKE_BACK = (0.0, 2.5, 4.5, 6.0)   # going back so many events ("no, I meant here")
NOTICED = 2.0           # a difference counts when the evidence prefers it by so much
MISREAD = 9.0           # no single site may weigh more: a reader errs once in some thousand sites


DOUBTFUL = 2.5          # a second reading of a site nearer than this to the first is tried too
MOST_DOUBTS = 6         # but no more than the nearest few: each costs the game's guesses once more

Past = Sequence[tuple[State, str | None]]
Difference = dict[str, tuple[Contents, Contents]]


class World:
    """A state after a run of actions, and per site what the board may meanwhile show at what cost."""

    __slots__ = ("actions", "base", "certain", "cost", "hands", "lag", "layout", "parent", "redone", "scores", "state",
                 "steps", "touched", "total", "undo", "undone", "violations")

    def __init__(self, state: State, layout: Layout, undo: int, cost: float, lag: dict[str, dict[Contents, float]]) -> None:
        self.state, self.layout, self.undo, self.cost = state, layout, undo, cost
        self.base = layout
        self.lag = lag                                   # site -> contents allowed besides the layout's -> cost
        self.parent: World | None = None                 # the world before the last action
        self.actions: tuple[Action, ...] = ()
        self.steps: tuple[Step, ...] = ()
        self.violations: tuple[Violation, ...] = ()
        self.hands: Layout = {}                          # an illegal doing's changes
        self.certain = True
        self.redone: frozenset[int] = frozenset()        # which of the actions stood before and are only done again
        self.undone: tuple[str, ...] = ()                # what was taken back and not done again so far
        self.touched: set[str] = set(lag)
        self.total = 0.0
        self.scores: dict[str, tuple[float, Contents]] = {}

    def after(self, state: State, action: Action, cost: float) -> World:
        """This world one legal action on."""
        w = World(state, state.layout(), self.undo, self.cost + cost, {s: dict(c) for s, c in self.lag.items()})
        w.base, w.actions, w.steps = self.base, (*self.actions, action), self.steps + tuple(state.steps)
        w.parent, w.certain, w.redone, w.undone = self, self.certain, self.redone, self.undone
        if str(action) in w.undone:
            w.redone, w.undone = w.redone | {len(self.actions)}, tuple(t for t in w.undone if t != str(action))
        w.touched = set(self.touched)
        at: Layout = dict(self.layout)
        for step in state.steps:
            for site, contents in step.changes.items():
                price = BY_HAND if step.by_hand else BY_ITSELF
                options = w.lag.setdefault(site, {})
                before = at.get(site, ())
                options[before] = min(price, options.get(before, price))
                at[site] = contents
                w.touched.add(site)
        w.touched.update(s for s in set(self.layout) | set(w.layout) if self.layout.get(s) != w.layout.get(s))
        return w

    def broken(self, proposal: Proposal, violations: Sequence[Violation], action: Action | None) -> World:
        """This world with an illegal doing done on top."""
        w = World(self.state, dict(self.layout), self.undo, self.cost + BREAKS_RULES + proposal.cost, self.lag)
        w.base, w.steps = self.base, self.steps
        w.actions = self.actions if action is None else (*self.actions, action)
        w.violations, w.hands = tuple(violations), dict(proposal.changes)
        w.layout.update(proposal.changes)
        w.touched = set(self.touched) | set(proposal.changes)
        return w


class Look:
    """One picture's evidence, asked site by site with a memory."""

    def __init__(self, evidence: Evidence, reads: dict[str, str], optional: frozenset[str], excused: Layout | None = None
                 ) -> None:
        self.evidence, self.reads, self.optional = evidence, reads, optional
        self._cache: dict[tuple[str, Contents], float] = {}
        self.foreign = {s for s, e in evidence.sites.items() if e.foreign}
        self.excused = {s for s, c in (excused or {}).items() if self.best(s) == c}      # still misread as people said
        near = sorted((o[0][1] - o[1][1], s) for s, e in evidence.sites.items()
                      if s not in self.foreign | self.excused and len(o := e.options) > 1)
        self.doubtful = {s: evidence.sites[s].options[1][0] for gap, s in near[:MOST_DOUBTS] if gap < DOUBTFUL}

    def logp(self, site: str, contents: Contents) -> float:
        """Log-odds of these contents against the likeliest ones; 0 for a site the picture does not show."""
        found = self._cache.get((site, contents))
        if found is None:
            e = self.evidence.sites.get(site)
            silent = e is None or not e.options or e.foreign or site in self.excused
            found = 0.0 if silent else max(self._logp(e, site, contents), -MISREAD)
            self._cache[(site, contents)] = found
        return found

    def _logp(self, e: SiteEvidence, site: str, contents: Contents) -> float:
        reads = self.reads.get(site, "pile")
        p = e.logp(contents, reads)
        if site in self.optional and not e.best:
            p = 0.0                                      # a place beside the board that a table may leave out
        return min(p - max(e.options[0][1], p), 0.0)

    def best(self, site: str) -> Contents | None:
        e = self.evidence.sites.get(site)
        return None if e is None or e.foreign or not e.options else e.options[0][0]


def judge(world: World, look: Look) -> World:
    """Fills in `total` and, per touched site, the score and the contents the board is taken to show."""
    total, late, half = -world.cost, 0, 0
    for site in look.evidence.sites.keys():
        score, shown = site_score(world, look, site)
        total += score
        if shown != world.layout.get(site, ()):
            price = world.lag.get(site, {}).get(shown)
            late += price == BY_ITSELF
            half += price == BY_HAND
    world.total = total + max(0, late - 2) * (BY_ITSELF - LATE_TOO) + max(0, half - 1) * (BY_HAND - HALF_TOO)
    return world


def site_score(world: World, look: Look, site: str) -> tuple[float, Contents]:
    """(nats, contents): the best of what this world allows on the site; evidence against it included."""
    found = world.scores.get(site)
    if found is not None:
        return found
    want = world.layout.get(site, ())
    best = (look.logp(site, want), want)
    seen = look.best(site)
    if best[0] < 0 and seen is not None and world.state.shows_same(site, want, seen, look.reads.get(site, "pile")):
        best = (0.0, want)
    options = world.lag.get(site)
    if options and best[0] < -BY_ITSELF / 2:
        for contents, price in options.items():
            score = look.logp(site, contents) - price
            if score > best[0]:
                best = (score, contents)
        if seen is not None and seen != want and -WRONG > best[0]:
            price = BY_HAND if any(_between(o, seen, want) for o in options) else WRONG
            if -price > best[0]:
                best = (-price, seen)
    world.scores[site] = best
    return best


def _between(before: Contents, seen: Contents, after: Contents) -> bool:
    """Whether `seen` is on the way from `before` to `after`, piece by piece."""
    b, s, a = Counter(before), Counter(seen), Counter(after)
    return all(min(b[k], a[k]) <= s[k] <= max(b[k], a[k]) for k in set(b) | set(s) | set(a))


def difference(world: World, look: Look) -> Difference:
    """Where the evidence prefers something this world does not allow: site -> (the state's contents, seen)."""
    out: Difference = {}
    for site in look.evidence.sites:
        score, _ = site_score(world, look, site)
        if score < -NOTICED:
            seen = look.best(site)
            want = world.layout.get(site, ())
            if seen is not None and not world.state.shows_same(site, want, seen, look.reads.get(site, "pile")):
                out[site] = (want, _known_below(seen, want))
    return out


def _known_below(seen: Contents, want: Contents) -> Contents:
    """What is hidden under a piece is what the state knows to lie there."""
    return tuple(w if s == "?" and i < len(want) else s for i, (s, w) in
                 enumerate(zip(seen, want + ("?",) * len(seen)))) if "?" in seen else seen


def search(bases: Sequence[tuple[State, int]], seen: Layout, look: Look, past: Past, budget_s: float, width: int = 8,
           depth: int = 8, doubts: bool = False, said: frozenset[int] = frozenset()) -> list[World]:
    """The worlds found, best first. bases: (state, events taken back), newest first. doubts: what is read with doubt is
    tried as what else it may be, too. said: see `reconcile`. budget_s: of this thread's own work, so that a busy machine
    concludes the same, later."""
    end = time.thread_time() + budget_s
    worlds: list[World] = []
    beam: list[World] = []
    for state, undo in bases:
        layout = state.layout()
        lag: dict[str, dict[Contents, float]] = {}
        if not undo:
            lag = {s: {c: STILL} for s, c in seen.items()}
        world = World(state, layout, undo, TAKE_BACK[undo], lag)
        world.undone = tuple(text for _, text in past[:undo] if text is not None)
        beam.append(judge(world, look))
    worlds += beam
    known: set[bytes] = set()
    for world in _forgotten(beam[0], look, past, said):
        worlds.append(world)
        beam.append(world)
    if not difference(beam[0], look):
        return sorted([beam[0], *worlds[len(bases):]], key=lambda w: -w.total)
    for _ in range(depth):
        children: list[World] = []
        for n, world in enumerate(beam):
            diff = difference(world, look)
            if not diff or world.violations:
                continue
            for proposal in _proposals(world, diff, look, doubts and n < 3):
                children += _put_in(world, proposal, look, past, said) if proposal.belated else _do(world, proposal, look)
            if time.thread_time() > end:
                break
        fresh = []
        for w in sorted(children, key=lambda w: -w.total):
            mark = w.state.key() + repr((w.undo, sorted(w.hands.items()), [v.rule for v in w.violations])).encode()
            if mark not in known:
                known.add(mark)
                fresh.append(w)
        worlds += fresh
        best = max(w.total for w in worlds)
        beam = [w for w in fresh if not w.violations and w.total > best - 4 * MISREAD][:width]
        if not beam or time.thread_time() > end:
            break
    return sorted([*worlds, *_done_before(worlds, look, end)], key=lambda w: -w.total)


def _done_before(worlds: list[World], look: Look, end: float) -> list[World]:
    """The best run with what it leaves open done earlier in it: the last building of a round shows little beside the
    births that followed, so no run that begins with it is kept."""
    best = max((w for w in worlds if not w.violations), key=lambda w: w.total)
    found: list[World] = []
    while (left := difference(best, look)) and time.thread_time() < end:
        better = [w for w in _inserted(best, left, look) if w.total > best.total]
        found += better
        if not better:
            break
        best = max(better, key=lambda w: w.total)
    return found


def _inserted(world: World, left: Difference, look: Look) -> Iterator[World]:
    """The world's run with one more doing before one of its actions that explains some of `left`, the latest first."""
    before, after = world.parent, world
    later: list[tuple[Action, float]] = []
    while before is not None:
        later.insert(0, (after.actions[-1], after.cost - before.cost))
        rest = {s: (before.layout.get(s, ()), seen) for s, (_, seen) in left.items()}
        rest = {s: (have, seen) for s, (have, seen) in rest.items()
                if not before.state.shows_same(s, have, seen, look.reads.get(s, "pile"))}
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
    """What the game makes of the difference, and of what it may be instead where a site is read with doubt."""
    out = world.state.explain(diff)
    for other in _readings(world, diff, look) if doubts else ():
        out += [p for p in world.state.explain(other) if p not in out and not p.violations] if other else []
    return out


def _readings(world: World, diff: Difference, look: Look) -> list[Difference]:
    """The difference with one doubtful site read the second way each."""
    out: list[Difference] = []
    for site, seen in look.doubtful.items():
        want = world.layout.get(site, ())
        rest = {s: c for s, c in diff.items() if s != site}
        if not world.state.shows_same(site, want, seen, look.reads.get(site, "pile")):
            out.append({**rest, site: (want, _known_below(seen, want))})
        elif site in diff:
            out.append(rest)
    return out


def _forgotten(world: World, look: Look, past: Past, said: frozenset[int]) -> list[World]:
    """Where the board does not follow the state: the worlds in which somebody did something earlier that nobody saw."""
    behind = {s: (world.layout.get(s, ()), site_score(world, look, s)[1]) for s in world.lag}
    behind = {s: both for s, both in behind.items() if both[0] != both[1]}
    if not behind:
        return []
    return [w for p in world.state.explain(behind) if p.belated for w in _put_in(world, p, look, past, said)]


def _do(world: World, proposal: Proposal, look: Look) -> list[World]:
    """The worlds a proposal leads to: after its last legal action, and the broken one when an action is refused."""
    if not proposal.actions:
        return [judge(world.broken(proposal, proposal.violations, None), look)] if proposal.violations else []
    w = world
    for i, action in enumerate(proposal.actions):
        violations = w.state.check(action)
        if violations:
            broken = w.broken(proposal, violations, action)
            return [judge(broken, look)]
        try:
            state = w.state.apply(action)
        except IllegalAction as e:
            return [judge(w.broken(proposal, e.violations, action), look)]
        again = str(action) in w.undone                  # who takes an earlier piece back does the later ones no second time
        w = w.after(state, action, (0.0 if again else ACTION) + (proposal.cost if i == 0 else 0.0))
    w.certain = world.certain and proposal.certain
    return [judge(w, look)]


def _put_in(world: World, proposal: Proposal, look: Look, past: Past, said: frozenset[int]) -> list[World]:
    """The world in which these actions were done earlier, each at the latest moment that allowed it, what was but guessed
    was not done, and all since again."""
    if world.actions or world.undo:
        return []
    states, texts = [past[0][0]], []                     # oldest first; texts[i] led from states[i] to states[i + 1]
    for (_, text), (before, _) in zip(past, past[1:]):
        if text is None:
            break
        states.insert(0, before)
        texts.insert(0, text)
    stood = deepest = len(texts)
    left: list[str] = []
    guessed = [stood - 1 - n not in said for n in range(stood)]
    added = () if proposal.uncovered else proposal.actions
    for k, action in enumerate(proposal.withdrawn):
        whole = ((n, states[n].parse(texts[n]).without(action)) for n in range(len(texts) - 1, -1, -1) if guessed[n])
        at, rest = next(((n, rest) for n, rest in whole if rest is not None), (0, None))
        if proposal.uncovered and rest is not None:
            rest = (*rest, proposal.actions[k]) if _covered(states[at + 1]) else None
        if rest is None or not (since := _replayed(states[at], [*map(str, rest), *texts[at + 1:]])):
            return []
        deepest, left = min(deepest, at), [*left, *map(str, rest)]
        states, texts = [*states[:at], *since], [*texts[:at], *map(str, rest), *texts[at + 1:]]
        guessed[at: at + 1] = [True] * len(rest)
    for action in added:
        at = next((n for n in range(len(texts) - 1, -1, -1) if not states[n].check(action)), None)
        if at is None:
            return []
        texts = [*texts[:at], str(action), *texts[at:]]
        if not (since := _replayed(states[at], texts[at:])):
            return []
        deepest = min(deepest, at)
        states = [*states[:at], *since]
    state, changed = states[-1], len(added) + len(proposal.withdrawn)
    w = World(state, state.layout(), stood - deepest, FORGOTTEN * changed + proposal.cost,
              _on_the_way(world, states[deepest:]))
    new = {*map(str, proposal.actions), *left}
    run = texts[deepest:]
    w.base = world.layout
    w.actions = tuple(states[deepest + n].parse(text) for n, text in enumerate(run))
    w.redone = frozenset(n for n, text in enumerate(run) if text not in new)
    w.touched |= {s for s in set(w.layout) | set(w.base) if w.layout.get(s) != w.base.get(s)}
    w.certain = False
    return [judge(w, look)]


def _covered(state: State) -> bool:
    """Whether something lies on what hands laid in the action that led to this state"""
    now = state.layout()
    laid = {s: c for step in state.steps if step.by_hand for s, c in step.changes.items()}
    return any(len(now.get(s, ())) > len(c) and now[s][: len(c)] == c for s, c in laid.items())


def _on_the_way(world: World, states: Sequence[State]) -> dict[str, dict[Contents, float]]:
    """What sites that change may show before the consequences of these states are done, and what they may show as it is"""
    lag = {s: dict(c) for s, c in world.lag.items()}
    at, after = dict(states[0].layout()), states[-1].layout()
    for step in (step for state in states[1:] for step in state.steps):
        for site, contents in step.changes.items():
            if not step.by_hand and after.get(site, ()) != world.layout.get(site, ()):
                lag.setdefault(site, {}).setdefault(at.get(site, ()), BY_ITSELF)
            at[site] = contents
    return lag


def _replayed(state: State, texts: Sequence[str]) -> list[State]:
    """The states from this one on, through these actions; [] where one is not legal there"""
    out = [state]
    try:
        for text in texts:
            out.append(out[-1].apply(out[-1].parse(text)))
    except (IllegalAction, BadText):
        return []
    return out
