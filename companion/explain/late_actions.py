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
from engine import Action, BadText, IllegalAction, Proposal, State
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
    before; [] if that is impossible."""
    if hypothesis.actions or hypothesis.undo:
        return []
    line = _Timeline(past, said)
    new = set(map(str, proposal.actions))
    for k, action in enumerate(proposal.withdrawn):
        kept = line.withdraw(action, proposal.actions[k] if proposal.uncovered else None)
        if kept is None:
            return []
        new.update(kept)
    added = () if proposal.uncovered else proposal.actions
    if not all(line.insert(action) for action in added):
        return []
    run, states = line.texts[line.deepest :], line.states[line.deepest :]
    layout, base = states[-1].layout(), hypothesis.layout
    allowed = _shown_meanwhile(hypothesis, states)
    put = Hypothesis(
        state=states[-1],
        layout=layout,
        base=base,
        undo=line.stood - line.deepest,
        cost=FORGOTTEN * (len(added) + len(proposal.withdrawn)) + proposal.cost,
        allowed=allowed,
        actions=tuple(state.parse(text) for state, text in zip(states, run)),
        redone=frozenset(n for n, text in enumerate(run) if text not in new),
        touched=frozenset(allowed) | changed_sites(layout, base),
        certain=False,
    )
    return [judge_hypothesis(put, look)]


class _Timeline:
    """The actions that stand, oldest first: texts[i] led from states[i] to states[i + 1].

    stood: how many there were. deepest: the lowest index at which anything has been changed.
    """

    def __init__(self, past: Past, said: frozenset[int]) -> None:
        self.states, self.texts = [past[0][0]], list[str]()
        for (_, text), (before, _) in zip(past, past[1:]):
            if text is None:
                break
            self.states.insert(0, before)
            self.texts.insert(0, text)
        self.stood = self.deepest = len(self.texts)
        self._guessed = [self.stood - 1 - n not in said for n in range(self.stood)]

    def withdraw(self, action: Action, instead: Action | None) -> list[str] | None:
        """Takes out a guessed action, or this part of one: the latest that has it. instead: done in
        its place, if something has covered what it laid. Returns what is left of the action with
        what was done instead; None, with nothing changed, if that is impossible."""
        for n in range(len(self.texts) - 1, -1, -1):
            if not self._guessed[n]:
                continue
            rest = self.states[n].parse(self.texts[n]).without(action)
            if rest is not None:
                break
        else:
            return None
        if instead is not None:
            if not _is_covered(self.states[n + 1]):
                return None
            rest = (*rest, instead)
        kept = [str(a) for a in rest]
        if not self._replay(n, [*kept, *self.texts[n + 1 :]]):
            return None
        self._guessed[n : n + 1] = [True] * len(kept)
        return kept

    def insert(self, action: Action) -> bool:
        """Inserts an action at the latest moment at which it is legal. False, with nothing changed,
        if there is none or if what followed is then illegal."""
        for n in range(len(self.texts) - 1, -1, -1):
            if not self.states[n].check(action):
                return self._replay(n, [str(action), *self.texts[n:]])
        return False

    def _replay(self, at: int, texts: list[str]) -> bool:
        """Replaces everything from an index on by these actions, if they are legal."""
        since = _replayed_states(self.states[at], texts)
        if not since:
            return False
        self.states, self.texts = [*self.states[:at], *since], [*self.texts[:at], *texts]
        self.deepest = min(self.deepest, at)
        return True


def _is_covered(state: State) -> bool:
    """Whether something lies on what hands laid in the action that led to this state."""
    now = state.layout()
    return any(
        len(now.get(s, ())) > len(c) and now[s][: len(c)] == c
        for s, c in done_by(state, hands=True).items()
    )


def _shown_meanwhile(
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
