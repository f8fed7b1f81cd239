"""An action that hands are in the middle of: what was picked up has not been put down yet, which
breaks no rule however long it takes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from companion.explain.hypothesis import Difference
from engine import Action, State
from engine.layout import Contents, lies_between
from engine.plan import Plan

MOST = 1500  # legal actions tried at most


def half_done_sites(state: State, plan: Plan, diff: Difference) -> tuple[str, ...]:
    """The sites from which something was picked up that a legal action puts down again, if that is
    all that differs; otherwise ().

    Nothing may have come from nowhere meanwhile: the sites of that action hold fewer pieces than
    before it, and no more of any kind.
    """
    if not diff or not any(len(seen) < len(have) for have, seen in diff.values()):
        return ()
    for action in state.legal_actions()[:MOST]:
        if _is_on_the_way(state, action, plan, diff):
            return tuple(s for s, (have, seen) in diff.items() if Counter(have) - Counter(seen))
    return ()


def _is_on_the_way(state: State, action: Action, plan: Plan, diff: Difference) -> bool:
    """Whether the difference is what this legal action looks like while hands hold its pieces."""
    if state.check(action):
        return False
    after = state.apply(action)
    sites = {s for step in after.steps for s in step.changes}
    if not diff.keys() <= sites:
        return False
    was, will = state.layout(), after.layout()
    before = {s: was.get(s, ()) for s in sites}
    # What hands put down may then change automatically, so both endings of the action count.
    ends = [{**before, **{s: will.get(s, ()) for s in sites}}]
    if by_hand := {s: c for step in after.steps if step.by_hand for s, c in step.changes.items()}:
        ends.append({**before, **by_hand})
    now = {**before, **{s: seen for s, (_, seen) in diff.items()}}
    return any(
        all(lies_between(before[s], c, end[s]) for s, c in now.items())
        and _in_hand(before, now, end, plan)
        for end in ends
    )


def _in_hand(
    before: dict[str, Contents], now: dict[str, Contents], end: dict[str, Contents], plan: Plan
) -> bool:
    """Whether something is in somebody's hand, and all of it lies on the board at the end, or
    leaves it to make room for what moves there (a war clears its target first)."""
    was, lies, will = (_piece_counts(c.values(), plan) for c in (before, now, end))
    taken = was - lies
    leaving = was - will if _moves_some(before, end) else Counter[str]()
    return bool(taken) and not lies - was and not taken - (will - lies) - leaving


def _moves_some(before: dict[str, Contents], end: dict[str, Contents]) -> bool:
    """Whether a piece goes from one of the sites to another"""
    gone, come = Counter[str](), Counter[str]()
    for site, contents in before.items():
        gone += Counter(contents) - Counter(end[site])
        come += Counter(end[site]) - Counter(contents)
    return bool(gone & come)


def _piece_counts(contents: Iterable[Contents], plan: Plan) -> Counter[str]:
    """How many pieces of each kind, whichever side is up."""
    return Counter(min(k, plan.backs.get(k, k)) for c in contents for k in c)
