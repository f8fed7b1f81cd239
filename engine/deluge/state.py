"""The state of a game of Zondvloed that other rooms use: a position together with its rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from engine.deluge import checks, effects, explain, forms, legal, scoring, sense, view
from engine.deluge.actions import Done, parse_action
from engine.deluge.position import OVER, PHASES, Position
from engine.game import Action, Difference, IllegalAction, Outcome, Proposal, Violation
from engine.text import say


class DelugeState(Position):
    """A position of Zondvloed with the rules that apply to it."""

    def legal_actions(self) -> list[Action]:
        return legal.legal_actions(self)

    def promising(self) -> list[Action]:
        return sense.promising_actions(self)

    def check(self, action: Action) -> list[Violation]:
        return checks.check_action(self, action)

    def apply(self, action: Action) -> Self:
        violations = self.check(action)
        if violations:
            raise IllegalAction(action, violations)
        return effects.perform_action(self, action)

    def parse(self, text: str) -> Action:
        return parse_action(self.world.plan.as_written(text), self.world)

    def implied(self, action: Action) -> tuple[Action, ...]:
        """The `done`s of everybody before the seat that acts."""
        run: tuple[Action, ...] = ()
        state: Position = self
        while (
            state.check(action)
            and state.phase == self.phase in PHASES
            and action.seat in self.seats
        ):
            run = (*run, Done(str(state.turn)))
            state = state.apply(run[-1])
        return () if state.check(action) else run

    def scores(self) -> dict[str, Any]:
        return scoring.current_scores(self)

    def outcome(self) -> Outcome | None:
        if self.phase != OVER:
            return None
        scores = self.scores()
        best = max(scores.values())
        return Outcome(
            tuple(s for s in self.seats if scores[s] == best),
            say("the deforestation counter stands at {n}", n=self.counter),
        )

    def explain(self, difference: Difference) -> list[Proposal]:
        return explain.explain_difference(self, difference)

    def view(self) -> dict[str, Any]:
        return view.page_view(self)

    def expect(self, words: Sequence[str]) -> tuple[bool, str] | None:
        if words[0] == "counter" and len(words) == 2:
            return str(self.counter) == words[1], str(self.counter)
        if words[0] == "stock" and len(words) >= 2 and words[1] in self.seats:
            stock = self.stock(self.colour(words[1]))
            pairs = dict(zip(words[2::2], words[3::2]))
            found = " ".join(f"{g} {n}" for g, n in stock.items() if n) or "nothing"
            if not pairs:
                return not any(stock.values()), found
            return all(str(stock.get(g, 0)) == n for g, n in pairs.items()), found
        return None

    def to_json(self) -> dict[str, Any]:
        return forms.to_json(self)

    def to_text(self) -> str:
        return forms.to_text(self)
