"""What was done earlier but seen by nobody: inserted where it was overlooked, or in place of what
was only guessed."""

from __future__ import annotations

from collections.abc import Sequence

from companion.explain.hypothesis import (
    BY_ITSELF,
    FORGOTTEN,
    Hypothesis,
    Look,
    Past,
    changed_sites,
    done_by,
    judge_hypothesis,
    site_score,
)
from engine import BadText, IllegalAction, Proposal, State
from engine.layout import Contents, Layout


def forgotten_actions(
    hypothesis: Hypothesis, look: Look, past: Past, said: frozenset[int], seen: Layout
) -> list[Hypothesis]:
    """If the board does not match the state, and did not in the last look (`seen`) either: the
    hypotheses that somebody did something earlier that nobody saw."""
    behind = {s: (hypothesis.layout.get(s, ()), site_score(hypothesis, look, s)[1]) for s in seen}
    behind = {s: both for s, both in behind.items() if both[0] != both[1]}
    if not behind:
        return []
    return [
        h
        for p in hypothesis.state.explain(behind)
        if p.belated
        for h in put_in_earlier(hypothesis, p, look, past, said)
    ]


def put_in_earlier(
    hypothesis: Hypothesis, proposal: Proposal, look: Look, past: Past, said: frozenset[int]
) -> list[Hypothesis]:
    """The hypothesis that these actions were done earlier, each at the latest moment at which it
    was legal, that the withdrawn guesses were not done, and that everything since was done as
    before."""
    if hypothesis.actions or hypothesis.undo:
        return []
    # oldest first; texts[i] led from states[i] to states[i + 1]
    states = [past[0][0]]
    texts: list[str] = []
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
        whole = (
            (n, states[n].parse(texts[n]).without(action))
            for n in range(len(texts) - 1, -1, -1)
            if guessed[n]
        )
        at, rest = next(((n, rest) for n, rest in whole if rest is not None), (0, None))
        if proposal.uncovered and rest is not None:
            rest = (*rest, proposal.actions[k]) if _is_covered(states[at + 1]) else None
        if rest is None or not (
            since := _replayed_states(states[at], [*map(str, rest), *texts[at + 1 :]])
        ):
            return []
        deepest, left = min(deepest, at), [*left, *map(str, rest)]
        states, texts = [*states[:at], *since], [*texts[:at], *map(str, rest), *texts[at + 1 :]]
        guessed[at : at + 1] = [True] * len(rest)
    for action in added:
        late = next((n for n in range(len(texts) - 1, -1, -1) if not states[n].check(action)), None)
        if late is None:
            return []
        at = late
        texts = [*texts[:at], str(action), *texts[at:]]
        if not (since := _replayed_states(states[at], texts[at:])):
            return []
        deepest = min(deepest, at)
        states = [*states[:at], *since]
    state, changed = states[-1], len(added) + len(proposal.withdrawn)
    new = {*map(str, proposal.actions), *left}
    run = texts[deepest:]
    layout, base = state.layout(), hypothesis.layout
    allowed = _on_the_way(hypothesis, states[deepest:])
    put = Hypothesis(
        state=state,
        layout=layout,
        base=base,
        undo=stood - deepest,
        cost=FORGOTTEN * changed + proposal.cost,
        allowed=allowed,
        actions=tuple(states[deepest + n].parse(text) for n, text in enumerate(run)),
        redone=frozenset(n for n, text in enumerate(run) if text not in new),
        touched=frozenset(allowed) | changed_sites(layout, base),
        certain=False,
    )
    return [judge_hypothesis(put, look)]


def _is_covered(state: State) -> bool:
    """Whether something lies on what hands laid in the action that led to this state."""
    now = state.layout()
    return any(
        len(now.get(s, ())) > len(c) and now[s][: len(c)] == c
        for s, c in done_by(state, hands=True).items()
    )


def _on_the_way(
    hypothesis: Hypothesis, states: Sequence[State]
) -> dict[str, dict[Contents, float]]:
    """What changing sites may show before the consequences of these states are carried out, and
    what they may show anyway."""
    lag = {s: dict(c) for s, c in hypothesis.allowed.items()}
    at, after = dict(states[0].layout()), states[-1].layout()
    for step in (step for state in states[1:] for step in state.steps):
        for site, contents in step.changes.items():
            if not step.by_hand and after.get(site, ()) != hypothesis.layout.get(site, ()):
                lag.setdefault(site, {}).setdefault(at.get(site, ()), BY_ITSELF)
            at[site] = contents
    return lag


def _replayed_states(state: State, texts: Sequence[str]) -> list[State]:
    """The states from this one on, through these actions; [] if one is not legal there."""
    out = [state]
    try:
        for text in texts:
            out.append(out[-1].apply(out[-1].parse(text)))
    except (IllegalAction, BadText):
        return []
    return out
