"""An den Ufern des Nils (Abacus 1994), with its tide: the rules of `rules.md`, N1 to N64."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import msgspec

from engine.game import BadText, Game, Option, Seat, Statement
from engine.nile import tracing
from engine.nile.actions import PICTURES
from engine.nile.board import COLOURS, board_of
from engine.nile.position import Position
from engine.nile.setup import beginning_position, check_seats, position_after
from engine.nile.state import NileState
from engine.nile.words import SEATS, SHADES, kind_name
from engine.plan import Plan
from engine.text import Text
from engine.tracing import Form, PlanFault

_OFF_ON = (Text("off"), Text("on"))

# Met on import: msgspec crashes Python where two threads use a type for the first time at once.
msgspec.json.Decoder(Position)


class Nile(Game[NileState]):
    """An den Ufern des Nils."""

    name: ClassVar[str] = "nile"
    title: ClassVar[Text] = Text("An den Ufern des Nils")
    seats: ClassVar[tuple[Seat, ...]] = tuple(Seat(c, SEATS[c], SHADES[c]) for c in COLOURS)
    players: ClassVar[tuple[int, int]] = (2, 5)
    faces: ClassVar[tuple[str, ...]] = tuple(
        f"event:{p}{arrow}" for p in PICTURES for arrow in ("", "-arrow")
    )
    form: ClassVar[Form | None] = tracing.FORM
    options: ClassVar[tuple[Option, ...]] = (
        Option("hippo", ("off", "on"), Text("A hippo gives one player an extra turn"), _OFF_ON),
        Option("bidding", ("off", "on"), Text("The first start is bid for"), _OFF_ON),
        Option(
            "buy-others",
            ("off", "on"),
            Text("Other players' markers can be bought from the boat"),
            _OFF_ON,
        ),
        Option("freshen", ("off", "on"), Text("A joker turns bad fruit back"), _OFF_ON),
    )

    def plan(self) -> Plan:
        return board_of(None).plan

    def setup(
        self, seats: Sequence[str], statements: Sequence[Statement] = (), plan: Plan | None = None
    ) -> NileState:
        board = board_of(plan)
        p, steps = position_after(seats, statements, board)
        return NileState(p, board, steps)

    def new(
        self,
        seats: Sequence[str],
        options: Mapping[str, str] | None = None,
        plan: Plan | None = None,
    ) -> NileState:
        board = board_of(plan)
        return NileState(beginning_position(seats, options or {}, board), board)

    def load(self, data: Mapping[str, Any], plan: Plan | None = None) -> NileState:
        try:
            p = msgspec.convert(data, Position)
        except msgspec.ValidationError as e:
            raise BadText(f"no position of this game: {e}") from None
        check_seats(p.seats)
        return NileState(p, board_of(plan), ())

    def kind_name(self, kind: str) -> Text:
        return kind_name(kind)

    def plan_faults(self, plan: Plan) -> list[PlanFault]:
        return tracing.plan_faults(plan)


GAME = Nile()
