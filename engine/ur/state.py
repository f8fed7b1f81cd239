"""The state of a game of Ur that other rooms use: a position together with its rules."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Self

from engine.game import Action, Decision, Difference, IllegalAction, Outcome, Proposal, Violation
from engine.layout import Contents, same_contents
from engine.text import say
from engine.ur import actions, checks, effects, explain, forms, legal, sense, view
from engine.ur.board import both_domains
from engine.ur.position import OVER, SWAP, TURN, Position
from engine.ur.words import colour_name, domain_name, seat_name


class UrState(Position):
    """A position of Ur with the rules that apply to it."""

    def legal_actions(self) -> list[Action]:
        return list(self._legal)

    @cached_property
    def _legal(self) -> list[Action]:
        return legal.legal_actions(self)

    def promising(self) -> list[Action]:
        """What brings points and stones now, else the swap that promises most."""
        return sense.promising_actions(self)

    def check(self, action: Action) -> list[Violation]:
        return checks.check_action(self, action)

    def apply(self, action: Action) -> Self:
        violations = checks.check_action(self, action)
        if violations:
            raise IllegalAction(action, violations)
        return effects.apply_action(self, action)

    def parse(self, text: str) -> Action:
        return actions.parse_action(self.plan.as_written(text), self.board)

    def outcome(self) -> Outcome | None:
        if self.phase != OVER:
            return None
        scores = self.scores()
        best = max(scores.values())
        reason = (
            say("no tile is left to swap for")
            if self.end == "U23"
            else say("the last ziggurat is built and the round is over")
        )
        return Outcome(tuple(s for s in self.seats if scores[s] == best), reason)

    def explain(self, difference: Difference) -> list[Proposal]:
        return explain.explain_difference(self, difference)

    def view(self) -> dict[str, Any]:
        return view.page_view(self)

    def decision(self) -> Decision | None:
        return view.decision_needed(self)

    def chance(self) -> list[tuple[Action, float]]:
        return legal.tile_chances(self)

    def implied(self, action: Action) -> tuple[Action, ...]:
        """The first swaps that were skipped when a later seat swaps, or when the first turn begins
        (U8)."""
        run: list[Action] = []
        state: Position = self
        while state.phase == SWAP and state.check(action):
            run.append(actions.Pass(state.seats[state.mover]))
            state = state.apply(run[-1])
        return () if state.check(action) else tuple(run)

    @property
    def readings(self) -> tuple[Self, ...]:
        """A seat that cannot swap and has nothing more to do ends the game without a word (U23)."""
        done = actions.Pass(str(self.turn))
        return (
            (self.apply(done),)
            if self.phase == TURN and not self.can_swap() and not self.check(done)
            else ()
        )

    def shows_same(self, site: str, have: Contents, seen: Contents, reads: str = "pile") -> bool:
        if site in self.board.index or len(have) != 1 or len(seen) != 1:
            return same_contents(have, seen, reads)
        # either side may be up: everybody knows both
        return both_domains(have[0].removeprefix("tile:")) == both_domains(
            seen[0].removeprefix("tile:")
        )

    def expect(self, words: Sequence[str]) -> tuple[bool, str] | None:
        head, rest = words[0], list(words[1:])
        if head in ("supply", "hand") and len(rest) == 2 and rest[0] in self.seats:
            p = self.seats.index(rest[0])
            found = str(self.supplies[p]) if head == "supply" else self.hands[p] or "unknown"
        elif head in ("spare", "ziggurats", "phase") and len(rest) == 1:
            found = {
                "spare": self.spare or "none",
                "phase": self.phase,
                "ziggurats": str(self.board.ziggurats - self.ziggurats),
            }[head]
        else:
            return None
        same = found == rest[-1] or (
            "/" in found and frozenset(found.split("/")) == frozenset(rest[-1].split("/"))
        )
        return same, found

    def to_json(self) -> dict[str, Any]:
        return forms.to_json(self)

    def to_text(self) -> str:
        return forms.to_text(self)

    def __repr__(self) -> str:
        left = ", ".join(str(domain_name(d)) for d in self.used) or "nothing"
        return (
            f"<ur: {self.phase}, {colour_name(self.turn or 'nobody')} has used {left}; "
            f"{seat_name(self.seats[0])} first>"
        )
