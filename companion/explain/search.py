"""The search for explanations: which runs of actions could have led to what is seen, and how well
each fits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from companion.explain.hypothesis import (
    ACTION,
    BY_HAND,
    BY_ITSELF,
    MISREAD,
    REGUESS,
    STANDS_OUT,
    STILL,
    Difference,
    Hypothesis,
    Look,
    Past,
    differing_sites,
    done_by,
    judge_hypothesis,
    known_below,
    start_from,
)
from companion.explain.late_actions import forgotten_actions, put_in_earlier
from engine import Action, IllegalAction, Proposal, State
from engine.layout import Contents, Layout

ONWARD = 3  # hypotheses that take nothing back, which are always continued
UNLIKELY = 1.0  # a run that costs this much more than its actions is not a plain one


def search_explanations(
    bases: Sequence[tuple[State, int, float]],
    seen: Layout,
    look: Look,
    past: Past,
    budget: int,
    width: int = 8,
    depth: int = 8,
    doubts: bool = False,
    said: frozenset[int] = frozenset(),
) -> list[Hypothesis]:
    """The hypotheses found, best first.

    bases: (state, events taken back, cost), newest first. doubts: try alternative readings of
    doubtful sites too. said: see `Context`. budget: hypotheses after which it goes on to nothing
    more. Not a time, so that a slow machine reaches the same conclusion, only later.
    """
    search = _Search(look, past, seen, said, budget)
    starts = [search.start_of(*base) for base in bases]
    forgotten = forgotten_actions(starts[0], look, past, said, seen)
    if not differing_sites(starts[0], look):
        return _best_first([starts[0], *forgotten])
    beam = starts + forgotten
    hypotheses = beam.copy()
    for _ in range(depth):
        fresh = search.without_known(search.children_of(beam, hypotheses, doubts))
        hypotheses += fresh
        beam = _worth_going_on(hypotheses, fresh, width)
        if not beam or search.is_over:
            break
    hypotheses += _done_before(hypotheses, search)
    reguessed = {undo for _, undo, cost in bases if cost == REGUESS}
    return _best_first(_less_unfinished(hypotheses, reguessed, search.lay))


def _best_first(hypotheses: list[Hypothesis]) -> list[Hypothesis]:
    return sorted(hypotheses, key=lambda h: -h.total)


class _Search:
    """What stays the same while hypotheses are generated.

    lay: the board as it lay before this look. budget: how many more hypotheses it may look at.
    """

    def __init__(
        self, look: Look, past: Past, seen: Layout, said: frozenset[int], budget: int
    ) -> None:
        self.look, self.past, self.seen, self.said = look, past, seen, said
        self.budget = budget
        self.lay: Layout = {**past[0][0].layout(), **seen}
        self._known: set[bytes] = set()

    @property
    def is_over(self) -> bool:
        """Whether the budget is spent."""
        return self.budget <= 0

    def start_of(self, state: State, undo: int, cost: float) -> Hypothesis:
        """The hypothesis that nothing has been done since one of the bases."""
        start = start_from(
            state,
            undo=undo,
            cost=cost,
            allowed={} if undo else _still_shown(state, self.seen),
            undone=tuple(text for _, text in self.past[:undo] if text is not None),
            lay=self.lay if undo else None,
        )
        return judge_hypothesis(start, self.look)

    def children_of(
        self, beam: list[Hypothesis], hypotheses: list[Hypothesis], doubts: bool
    ) -> list[Hypothesis]:
        """What the game proposes to do next in each hypothesis of the beam that may still lead to
        something better than the best of all hypotheses."""
        children: list[Hypothesis] = []
        for n, hypothesis in enumerate(beam):
            difference = differing_sites(hypothesis, self.look)
            best = max(h.total for h in (*hypotheses, *children))
            if difference and not hypothesis.violations and -hypothesis.cost >= best - STANDS_OUT:
                proposals = _proposals_for(hypothesis, difference, self.look, doubts and n < 3)
                for proposal in proposals:
                    after = self._after_proposal(hypothesis, proposal)
                    self.budget -= 1 + len(after)
                    children += after
                if self.is_over:
                    break
        return children

    def _after_proposal(self, hypothesis: Hypothesis, proposal: Proposal) -> list[Hypothesis]:
        if not proposal.belated:
            return _hypotheses_of(hypothesis, proposal, self.look)
        put = put_in_earlier(hypothesis, proposal, self.look, self.past, self.said)
        if proposal.withdrawn:
            return put
        return [h for h in put if _was_overdue(hypothesis, h, self.seen)]

    def without_known(self, children: list[Hypothesis]) -> list[Hypothesis]:
        """Those that differ from all before in state, undo, hands or rules broken; best first."""
        fresh = []
        for h in _best_first(children):
            rest = (h.undo, sorted(h.hands.items()), [v.rule for v in h.violations])
            mark = h.state.key() + repr(rest).encode()
            if mark not in self._known:
                self._known.add(mark)
                fresh.append(h)
        return fresh


def _less_unfinished(
    hypotheses: list[Hypothesis], reguessed: set[int], lay: Layout
) -> list[Hypothesis]:
    """Hypotheses that replace a guess (`reguessed`: by how many events taken back), at a price if
    their run does not pass through the board as it lay: people would then not have been finished,
    although they had left the board alone."""
    best = max(h.total for h in hypotheses)
    return [
        msgspec.structs.replace(h, total=h.total - BY_HAND)
        if h.undo in reguessed and h.total > best - STANDS_OUT and not _came_past(h, lay)
        else h
        for h in hypotheses
    ]


def _came_past(hypothesis: Hypothesis, lay: Layout) -> bool:
    """Whether a run that replaces an earlier guess passes through the board as it lay at the
    time."""
    run: list[Hypothesis] = [hypothesis]
    while run[0].parent is not None:
        run.insert(0, run[0].parent)
    if run[0].actions or hypothesis.violations:
        return True  # inserted where it was overlooked, which is judged elsewhere
    for before, h in zip(run, run[1:]):
        hands = done_by(h.state, hands=True)
        later: dict[str, list[Contents]] = {}
        for step in h.state.steps:
            for s, c in step.changes.items() if not step.by_hand else ():
                later.setdefault(s, [h.layout.get(s, ())]).append(c)
        for at in (before.layout, {**before.layout, **hands}, h.layout):
            if all(
                at.get(s, ()) == lay.get(s, ()) or lay.get(s, ()) in later.get(s, ())
                for s in {*at, *lay}
            ):
                return True
    return False


def _worth_going_on(
    hypotheses: list[Hypothesis], fresh: list[Hypothesis], width: int
) -> list[Hypothesis]:
    """The likeliest legal hypotheses; among them some that take nothing back, however much they
    leave open, since what the next player did may outweigh everything before. An illegal hypothesis
    never displaces a legal one."""
    legal = [h for h in fresh if not h.violations]
    onward = [h for h in legal if not h.undo][:ONWARD]
    best = max(h.total for h in hypotheses if not h.violations)
    return (
        onward
        + [h for h in legal if h not in onward and h.total > best - 4 * MISREAD][
            : width - len(onward)
        ]
    )


def _was_overdue(hypothesis: Hypothesis, other: Hypothesis, seen: Layout) -> bool:
    """Whether something in which the hypotheses differ was still to be done in the last look; what
    lay as it should was not overlooked, but is gone or misread now."""
    return any(hypothesis.layout.get(s, ()) != other.layout.get(s, ()) for s in seen)


def _still_shown(state: State, seen: Layout) -> dict[str, dict[Contents, float]]:
    """What a board that was behind the state may show: what it showed, and the stages in between
    while people catch up."""
    lag: dict[str, dict[Contents, float]] = {s: {c: STILL} for s, c in seen.items()}
    for step in state.steps if seen else ():
        for site, contents in step.changes.items() if not step.by_hand else ():
            lag.setdefault(site, {}).setdefault(contents, BY_ITSELF)
    return lag


def _done_before(hypotheses: list[Hypothesis], search: _Search) -> list[Hypothesis]:
    """The best run, with what it leaves unexplained done earlier in it. The last building of a
    round shows little beside the births that followed, so no run that begins with it survives."""
    best = max((h for h in hypotheses if not h.violations), key=lambda h: h.total)
    found: list[Hypothesis] = []
    open_ = _unlikely_end(best)
    while open_ and not _is_plain(best) and not search.is_over:
        hypothesis: Hypothesis | None = open_.pop()
        while hypothesis is not None:
            left = differing_sites(hypothesis, search.look)
            tried = list(_with_one_inserted(hypothesis, left, search.look))
            search.budget -= 1 + len(tried)
            more = [h for h in tried if h.total > hypothesis.total]
            hypothesis = max(more, key=lambda h: h.total, default=None)
            if hypothesis is not None and hypothesis.total > best.total:
                best = hypothesis
                found.append(hypothesis)
    return found


def _unlikely_end(hypothesis: Hypothesis) -> list[Hypothesis]:
    """The hypothesis; if it needed something unlikely to explain everything, or leaves something to
    be done, also its predecessors."""
    out = [hypothesis]
    while not _is_plain(out[-1]) and hypothesis.parent is not None:
        hypothesis = hypothesis.parent
        out.insert(0, hypothesis)
    return out


def _is_plain(hypothesis: Hypothesis) -> bool:
    return -hypothesis.total <= (len(hypothesis.actions) + UNLIKELY) * ACTION


def _with_one_inserted(
    hypothesis: Hypothesis, left: Difference, look: Look
) -> Iterator[Hypothesis]:
    """The hypothesis's run with one action inserted that explains some of `left`, trying the latest
    position first."""
    before, after = hypothesis.parent if left else None, hypothesis
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
                for h in _hypotheses_of(before, proposal, look):
                    yield from _replayed_after(h, later, look)
        after, before = before, before.parent


def _replayed_after(
    hypothesis: Hypothesis, actions: Sequence[tuple[Action, float]], look: Look
) -> Iterator[Hypothesis]:
    """The hypothesis after these actions as well, each at its cost, if they are legal there."""
    for action, cost in actions:
        if hypothesis.violations or hypothesis.state.check(action):
            return
        hypothesis = hypothesis.after(hypothesis.state.apply(action), action, cost)
    if not hypothesis.violations:
        yield judge_hypothesis(hypothesis, look)


def _proposals_for(
    hypothesis: Hypothesis, diff: Difference, look: Look, doubts: bool
) -> list[Proposal]:
    """What the game makes of the difference, and of the alternatives where a site is read with
    doubt."""
    out = hypothesis.state.explain(diff)
    for other in _other_readings(hypothesis, diff, look) if doubts else ():
        out += (
            [p for p in hypothesis.state.explain(other) if p not in out and not p.violations]
            if other
            else []
        )
    return out


def _other_readings(hypothesis: Hypothesis, diff: Difference, look: Look) -> list[Difference]:
    """The difference with one doubtful site at a time read the second way; or read the first way,
    where that alone is no reason to suppose that anything was done."""
    out: list[Difference] = []
    for site, seen in look.hazy.items():
        want = hypothesis.layout.get(site, ())
        if site not in diff and not hypothesis.state.shows_same(
            site, want, seen, look.reads.get(site, "pile")
        ):
            out.append({**diff, site: (want, known_below(seen, want))})
    for site, seen in look.doubtful.items():
        want = hypothesis.layout.get(site, ())
        rest = {s: c for s, c in diff.items() if s != site}
        if not hypothesis.state.shows_same(site, want, seen, look.reads.get(site, "pile")):
            out.append({**rest, site: (want, known_below(seen, want))})
        elif site in diff:
            out.append(rest)
    return out


def _hypotheses_of(hypothesis: Hypothesis, proposal: Proposal, look: Look) -> list[Hypothesis]:
    """The hypotheses that a proposal leads to: the one after its last legal action, or the illegal
    one if an action is refused."""
    if not proposal.actions:
        return (
            [judge_hypothesis(hypothesis.broken(proposal, proposal.violations, None), look)]
            if proposal.violations
            else []
        )
    h = hypothesis
    # what is free already does not become cheaper
    before = any(str(a) in h.undone for a in proposal.actions)
    cost = max(proposal.cost, 0.0) if before else proposal.cost
    for i, action in enumerate(proposal.actions):
        violations = h.state.check(action)
        if violations:
            broken = h.broken(proposal, violations, action)
            return [judge_hypothesis(broken, look)]
        try:
            state = h.state.apply(action)
        except IllegalAction as e:
            return [judge_hypothesis(h.broken(proposal, e.violations, action), look)]
        # somebody who takes back an earlier action does not do the later ones again
        again = str(action) in h.undone
        h = h.after(state, action, (0.0 if again else ACTION) + (cost if i == 0 else 0.0))
    h = msgspec.structs.replace(h, certain=hypothesis.certain and proposal.certain)
    return [judge_hypothesis(h, look)]
