"""Zondvloed (Déluges): the rules of `rules.md`, on the map of `plan.toml` or a copy's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any

from engine.deluge import losses, setup, tracing
from engine.deluge.state import DelugeState
from engine.deluge.words import COLOURS, kind_name, seat_name
from engine.game import Action, Game, Seat, Statement
from engine.plan import Plan
from engine.text import Text, say
from engine.tracing import PlanFault


@cache
def _own_plan() -> Plan:
    return Plan.parse(resources.files(__name__).joinpath("plan.toml").read_text(encoding="utf-8"))


class Deluge(Game[DelugeState]):
    """Everything lies open on the table, so open and table mode are the same; goods are
    declared."""

    name = "deluge"
    title = say("Zondvloed")
    seats = tuple(
        Seat(c, seat_name(c), colour)
        for c, colour in zip(COLOURS, ("#e3b505", "#2459c7", "#2f8f3a", "#d9d9d9"))
    )
    players = (2, 4)
    form = tracing.FORM

    def plan(self) -> Plan:
        return _own_plan()

    def setup(
        self, seats: Sequence[str], statements: Sequence[Statement] = (), plan: Plan | None = None
    ) -> DelugeState:
        return setup.set_up(seats, statements, plan or self.plan())

    def new(
        self,
        seats: Sequence[str],
        options: Mapping[str, str] | None = None,
        plan: Plan | None = None,
    ) -> DelugeState:
        return setup.set_up(seats, (), plan or self.plan())

    def load(self, data: Mapping[str, Any], plan: Plan | None = None) -> DelugeState:
        return setup.load_state(data, plan or self.plan())

    def chronicle(
        self, start: DelugeState, played: Sequence[tuple[Action, DelugeState]]
    ) -> list[dict[str, Any]]:
        return losses.heaviest_losses(start, played)

    def kind_name(self, kind: str) -> Text:
        return kind_name(kind)

    def plan_faults(self, plan: Plan) -> list[PlanFault]:
        return tracing.plan_faults(plan)


GAME = Deluge()
