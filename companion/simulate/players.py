"""Simulated players for the demo and the tests: they choose what to do, and how the board looks
afterwards."""

from __future__ import annotations

import random
from collections.abc import Callable

import msgspec

from companion.explain.hypothesis import legal_run
from companion.table.table import Table
from engine import Action, State
from engine.layout import Contents, Layout


class Doing(msgspec.Struct, frozen=True):
    """What somebody did: said: the actions that no camera can see, in order; layout: how the board
    looks afterwards; action: the visible one (None: the game is over)."""

    said: tuple[Action, ...]
    action: Action | None
    after: State

    @property
    def layout(self) -> Layout:
        """The board after it."""
        return self.after.layout()


class Players:
    """Random but sensible: they prefer what the game finds promising, then actions that score, then
    any action."""

    def __init__(self, seed: int = 0, eager: float = 0.7) -> None:
        self.rng, self.eager = random.Random(seed), eager

    def next(self, state: State, say: Callable[[Action], State] | None = None) -> Doing:
        """The next visible action. say: declares an invisible action to the table and returns the
        state after it; None if there is no table."""
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
        """One legal action; None if there is none."""
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
    """The index of the answer to the table's question that leads to a true state; None if there is
    no question, or no such answer. Raises BadText, IllegalAction for an impossible answer."""
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
    """Something illegal that hands could do: (site, layout afterwards, rules it breaks); None if
    nothing was found.

    The piece comes from the box; a unique one comes from where it stands."""
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
    """Whether two states look the same to everybody at the table: layout, scores, whose turn it
    is."""
    return a.layout() == b.layout() and a.scores() == b.scores() and a.turn == b.turn
