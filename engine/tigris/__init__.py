"""Tigris & Euphrates: T1 to T65 of `rules.md`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any

from engine.game import Action, BadText, Game, Seat, Statement
from engine.plan import Plan
from engine.text import Text, say
from engine.tigris import setup as beginnings
from engine.tigris import wars
from engine.tigris.scoring import spread_jokers
from engine.tigris.state import TigrisState
from engine.tigris.words import COLOURS, kind_name, seat_name

_PAINT = {"archer": "#7a4f9a", "bull": "#a8671c", "pot": "#1f7f86", "lion": "#8c8420"}


@cache
def _own_plan() -> Plan:
    return Plan.parse(
        resources.files("engine.tigris").joinpath("plan.toml").read_text(encoding="utf-8")
    )


class Tigris(Game[TigrisState]):
    """Tigris & Euphrates."""

    name = "tigris"
    title = say("Tigris & Euphrates")
    seats = tuple(Seat(s, seat_name(s), paint) for s, paint in _PAINT.items())
    players = (2, 4)

    def plan(self) -> Plan:
        return _own_plan()

    def setup(
        self, seats: Sequence[str], statements: Sequence[Statement] = (), plan: Plan | None = None
    ) -> TigrisState:
        return beginnings.set_up(plan or self.plan(), seats, statements)

    def new(
        self,
        seats: Sequence[str],
        options: Mapping[str, str] | None = None,
        plan: Plan | None = None,
    ) -> TigrisState:
        for name in options or {}:
            raise BadText(f"this game has no option {name!r}")
        return beginnings.new_state(plan or self.plan(), seats)

    def load(self, data: Mapping[str, Any], plan: Plan | None = None) -> TigrisState:
        return beginnings.load_state(plan or self.plan(), data)

    def chronicle(
        self, start: TigrisState, played: Sequence[tuple[Action, TigrisState]]
    ) -> list[dict[str, Any]]:
        return wars.greatest_wars(start, played)

    def worth(self, score: Any) -> float:
        """The weakest colour, treasures put where they help it most (T65)."""
        return spread_jokers(tuple(score[c] for c in COLOURS), score["treasure"])[0] if score else 0

    def kind_name(self, kind: str) -> Text:
        return kind_name(kind)


GAME = Tigris()
