"""The state of a game of Tigris & Euphrates that other rooms use: a position together with its
rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from engine.game import (
    Action,
    Decision,
    Difference,
    IllegalAction,
    Outcome,
    Proposal,
    Todo,
    Violation,
)
from engine.tigris import actions as act
from engine.tigris import chance, checks, effects, explain, forms, legal, scoring, sense, view
from engine.tigris.position import Position
from engine.tigris.words import COLOURS


class TigrisState(Position):
    """A position of Tigris & Euphrates with the rules that apply to it."""

    def legal_actions(self) -> list[Action]:
        return legal.legal_actions(self)

    def promising(self) -> list[Action]:
        """Leaders beside temples, tiles where they score, fights that win more than they lose."""
        return sense.promising_actions(self)

    def check(self, action: Action) -> list[Violation]:
        return checks.check_action(self, action)

    def apply(self, action: Action) -> Self:
        violations = self.check(action)
        if violations:
            raise IllegalAction(action, violations)
        return effects.perform_action(self, action)

    def parse(self, text: str) -> Action:
        return act.parse_action(text, self.board, self._stands)

    def _stands(self, seat: str, colour: str) -> str | None:
        """Where a leader stands, as a site id; None if its owner has it."""
        if seat not in self.seats:
            return None
        cell = self.pieces.leaders[self.seats.index(seat) * 4 + COLOURS.index(colour)]
        return self.board.ids[cell] if cell >= 0 else None

    def chance(self) -> list[tuple[Action, float]]:
        return chance.draw_chances(self)

    def skip_chance(self) -> Self:
        if not self.draws:
            return self
        return chance.skip_draws(self)

    def implied(self, action: Action) -> tuple[Action, ...]:
        """The passes of everybody before the seat that acts; nobody is passed over twice (T10,
        T36)."""
        run: tuple[Action, ...] = ()
        state = self.skip_chance()
        while action.seat in self.seats and state.phase == "action" and state.turn != action.seat:
            run = (*run, act.Pass(str(state.turn)))
            state = state.apply(run[-1]).skip_chance()
        return () if state.check(action) else run

    def unsaid(self) -> Self:
        return (
            effects.perform_action(self, act.Keep(self.seats[self.active]))
            if self.phase == "build"
            else self
        )

    def standing(self) -> dict[str, int]:
        """The weakest colour's points, with treasures added where they help most (T62, T65)."""
        return {seat: result[0] for seat, result in zip(self.seats, scoring.seat_results(self))}

    def outcome(self) -> Outcome | None:
        return scoring.game_outcome(self)

    def explain(self, difference: Difference) -> list[Proposal]:
        return explain.explain_difference(self, difference)

    def decision(self) -> Decision | None:
        return view.decision_needed(self)

    def todo(self) -> list[Todo]:
        """The steps of the last action, and what is pending; an offer to build a monument is left
        out, since nobody has to."""
        return (
            super().todo()
            if self.phase != "build"
            else [Todo(s.text, s.sites) for s in self.steps if not s.by_hand and s.changes]
        )

    def view(self) -> dict[str, Any]:
        return view.page_view(self)

    def expect(self, words: Sequence[str]) -> tuple[bool, str] | None:
        return view.check_expectation(self, words)

    def key(self) -> bytes:
        key = self._key
        if key is None:
            key = self._key = super().key()
        return key

    def forget(self) -> None:
        super().forget()
        self._key = None
        for pieces in (self.pieces, self._before, *(after for *_, after in self._events)):
            pieces.forget()

    def to_json(self) -> dict[str, Any]:
        return forms.to_json(self)

    def to_text(self) -> str:
        return forms.to_text(self)
