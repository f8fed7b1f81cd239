"""Ur: 36 tiles in a square, stones, ziggurats, and a hand tile that determines what a seat may
do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any, ClassVar

from engine.game import Action, Game, Option, Seat, Statement
from engine.plan import Plan
from engine.text import Text, say
from engine.ur import setup, wars
from engine.ur.board import Board
from engine.ur.state import UrState
from engine.ur.words import SEATS, kind_name, seat_name

_COLOURS = {"black": "#202020", "white": "#e8e4d8", "green": "#2f8f46", "blue": "#2a5db0"}


class Ur(Game[UrState]):
    """Ur."""

    name = "ur"
    title = say("Ur")
    seats = tuple(Seat(s, seat_name(s), _COLOURS[s]) for s in SEATS)
    players = (3, 4)
    options: ClassVar[tuple[Option, ...]] = (
        Option(
            "bonus",
            setup.OPTIONS["bonus"],
            say("Who gets two extra stones?"),
            (
                say("whoever uses both actions of the hand tile (as both copies of the rules say)"),
                say("whoever uses neither action of the hand tile (as printed in other languages)"),
            ),
        ),
    )

    def plan(self) -> Plan:
        return _own_plan()

    def setup(
        self, seats: Sequence[str], statements: Sequence[Statement] = (), plan: Plan | None = None
    ) -> UrState:
        return setup.read_setup(setup.begin_state(_board_of(plan), SEATS, seats, {}), statements)

    def new(
        self,
        seats: Sequence[str],
        options: Mapping[str, str] | None = None,
        plan: Plan | None = None,
    ) -> UrState:
        return setup.begin_state(_board_of(plan), SEATS, seats, options or {}).changed(drawn=True)

    def load(self, data: Mapping[str, Any], plan: Plan | None = None) -> UrState:
        return setup.from_json(data, _board_of(plan))

    def chronicle(
        self, start: UrState, played: Sequence[tuple[Action, UrState]]
    ) -> list[dict[str, Any]]:
        return wars.longest_wars(start, played)

    def kind_name(self, kind: str) -> Text:
        return kind_name(kind)


@cache
def _own_plan() -> Plan:
    return Plan.parse(
        resources.files(__package__).joinpath("plan.toml").read_text(encoding="utf-8")
    )


@cache
def _own_board() -> Board:
    return Board(_own_plan())


def _board_of(plan: Plan | None) -> Board:
    return _own_board() if plan is None else Board(plan)


GAME = Ur()
