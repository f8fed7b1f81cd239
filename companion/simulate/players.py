"""Players made up for the demo and the tests: they choose what to do, and how the board looks when
they have done it."""

from __future__ import annotations

import random
from collections.abc import Callable

import msgspec

from companion.explain.hypothesis import legal_run
from companion.table.table import Table
from engine import Action, State
from engine.layout import Contents, Layout


class Doing(msgspec.Struct, frozen=True):
    """What somebody did: said are the acts no camera sees, in order; layout is how the board looks
    afterwards; action is the visible one (None: the game is over)."""

    said: tuple[Action, ...]
    action: Action | None
    after: State

    @property
    def layout(self) -> Layout:
        """The board after it."""
        return self.after.layout()


class Players:
    """Random but sensible: what the game finds promising, else rather a doing that scores than one
    that does not, rather any than none."""

    def __init__(self, seed: int = 0, eager: float = 0.7) -> None:
        self.rng, self.eager = random.Random(seed), eager

    def next(self, state: State, say: Callable[[Action], State] | None = None) -> Doing:
        """The next visible doing from here. say: tells the table an act that changes nothing to be
        seen, gives the state after it; None: there is no table to be told."""
        said: list[Action] = []
        for _ in range(200):
            action = self.choose(state)
            if action is None:
                return Doing(tuple(said), None, state)
            after = state.apply(action)
            if after.layout() != state.layout():
                return Doing(tuple(said), action, after)
            said.append(action)
            state = say(action) if say else after
        return Doing(tuple(said), None, state)

    def choose(self, state: State) -> Action | None:
        """One legal action; None when there is none."""
        actions = state.legal_actions()
        if not actions:
            return None
        shuffled = self.rng.sample(actions, min(len(actions), 24))
        promising = state.promising()
        if self.rng.random() > self.eager and not (promising and self.rng.random() < self.eager):
            return shuffled[0]
        if promising:
            return self.rng.choice(promising)
        layout, points = state.layout(), _points_by_seat(state)
        scored = []
        for action in shuffled:
            after = state.apply(action)
            gain = _points_by_seat(after).get(action.seat, 0) - points.get(action.seat, 0)
            scored.append((gain, after.layout() != layout, self.rng.random(), action))
        return max(scored, key=lambda s: s[:3])[3]


def _points_by_seat(state: State) -> dict[str, float]:
    return {
        s: float(sum(v.values()) if isinstance(v, dict) else v) for s, v in state.scores().items()
    }


def true_answer(table: Table, true: Callable[[State], bool]) -> int | None:
    """Which answer to the question that the table asks leads to a state that is true; None: no
    question, or none does. Raises BadText, IllegalAction for an answer that cannot be."""
    question, lines = table.question, table.lines
    for n, answer in enumerate(question.answers if question is not None else ()):
        if answer.run is None:
            continue
        state = lines[len(lines) - 1 - answer.undo].state
        for text in answer.run:
            state = state.apply(state.parse(text))
        if true(state):
            return n
    return None


def wrong_doing(
    state: State, rng: random.Random, tries: int = 60
) -> tuple[str, Layout, set[str]] | None:
    """Something against the rules that hands could do: (site, the board's look, rules it breaks);
    None: nothing found.

    The piece comes from the box; one of which there is no second comes from where it stands."""
    layout = state.layout()
    sites = [s for s in state.plan.sites if s not in layout]
    pieces = [(s, c) for s, c in layout.items() if c]
    for _ in range(tries):
        if not sites or not pieces:
            return None
        source, contents = rng.choice(pieces)
        target = rng.choice(sites)
        piece = contents[:1]
        difference: dict[str, tuple[Contents, Contents]] = {target: ((), piece)}
        count = state.plan.counts.get(piece[0], 0)
        if count == 1:
            difference[source] = (contents, contents[1:])
        elif 0 < count <= sum(c.count(piece[0]) for _, c in pieces):
            continue
        proposals = state.explain(difference)
        if not proposals or any(legal_run(state, p.actions) for p in proposals):
            continue
        rules = {v.rule for p in proposals for v in (p.violations or state.check(p.actions[0]))}
        if rules:
            return target, {**layout, **{s: seen for s, (_, seen) in difference.items()}}, rules
    return None


def looks_alike(a: State, b: State) -> bool:
    """Whether two states are one for everybody at the table: what lies there, the scores, whose
    turn it is."""
    return a.layout() == b.layout() and a.scores() == b.scores() and a.turn == b.turn
