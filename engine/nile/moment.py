"""A position on its board, as the rules use it: who acts, what lies where."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import ClassVar

from engine.game import State, Step
from engine.layout import Contents, Layout, same_contents
from engine.nile.board import Board
from engine.nile.position import Position, layout_of
from engine.plan import Plan


class Moment(State):
    """A position on its board, with what the last action did."""

    game: ClassVar[str] = "nile"
    # The rules never look at these piles, and no plan has a kind for a card that lies face-down.
    unwatched: ClassVar[frozenset[str]] = frozenset({"water-discard", "desert-discard"})

    def __init__(self, position: Position, board: Board, steps: Sequence[Step] = ()) -> None:
        self.p, self.board, self._steps = position, board, tuple(steps)
        self.seats = position.seats

    @property
    def steps(self) -> tuple[Step, ...]:
        return self._steps

    @property
    def plan(self) -> Plan:  # type: ignore[override]
        """The plan of the board in play."""
        return self.board.plan

    @property
    def turn(self) -> str | None:
        p, w = self.p, self.p.wait
        if p.phase == "over":
            return None
        if w and w.kind in ("fist", "die"):
            order = [(p.starter + i) % len(p.seats) for i in range(len(p.seats))]
            return next((p.seats[i] for i in order if p.fists[i] == -1), p.seats[p.starter])
        return p.seats[w.seat] if w and w.kind == "boat" else p.seats[p.turn]

    @cached_property
    def _layout(self) -> Layout:
        return layout_of(self.p, self.board)

    def layout(self) -> Layout:
        return dict(self._layout)

    def shows_same(self, site: str, have: Contents, seen: Contents, reads: str = "pile") -> bool:
        if site in self.unwatched:
            return True
        if site == "boat":  # which side is up means nothing there
            have, seen = (
                tuple(sorted(k.replace("ripe:", "seed:") for k in c)) for c in (have, seen)
            )
        return same_contents(have, seen, reads)

    def scores(self) -> dict[str, int]:
        return dict(zip(self.p.seats, self.p.scores))
