"""What the rules know about a game of Zondvloed at one moment, and simple questions about it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Self

import msgspec

from engine.deluge.cell import NONE, Cell, Four, sole_colour
from engine.deluge.words import COLOURS, GOODS, SOLDIERS
from engine.deluge.world import Map
from engine.game import State, Step
from engine.layout import Contents, Layout
from engine.text import Text

MOVEMENT, HARVEST, TRADE, BUILDING, FLIGHT, OVER = (
    "movement",
    "harvest",
    "trade",
    "building",
    "flight",
    "over",
)
PHASES = (MOVEMENT, HARVEST, TRADE, BUILDING)
_FRESH_CELL = Cell()


class Happening(NamedTuple):
    """A step as it is stored: the cells concerned as they were after it, and the contents of other
    sites."""

    text: Text
    cells: tuple[tuple[str, Cell], ...]
    sites: dict[str, Contents]
    by_hand: bool


class Position(State):
    """See `engine.game.State`. Numbers of colours are indices into COLOURS, whoever plays.

    cells: cell -> Cell; cells with nothing on them are left out. stocks: per colour, its goods in
    the order of GOODS. starter: index into seats of the seat that begins the round. at: how many
    seats have said `done` in this phase. arrived: cell -> (people, soldiers, ships) that have
    already moved. ferried: (colour, sea) whose ship ferried its owner's pawns. agreed: (owner,
    guest, sea). worked: cell -> goods harvested there this round. idle: cell -> people that turned
    fanatic after the last harvest. lost: soldiers taken by fanatics, never rebuilt (D32). sinking:
    cells being flooded. rising: rises still to come this round.
    """

    game = "deluge"

    def __init__(self, world: Map, seats: Sequence[str]) -> None:
        self.world, self.plan, self.seats = world, world.plan, tuple(seats)
        self.cells: dict[str, Cell] = {}
        self.stocks: tuple[tuple[int, ...], ...] = ((0,) * len(GOODS),) * 4
        self.counter = 0
        self.phase, self.round, self.starter, self.at = MOVEMENT, 1, 0, 0
        self.arrived: dict[str, tuple[Four, Four, Four]] = {}
        self.ferried: frozenset[tuple[int, str]] = frozenset()
        self.agreed: frozenset[tuple[int, int, str]] = frozenset()
        self.worked: dict[str, tuple[int, int]] = {}
        self.idle: dict[str, Four] = {}
        self.lost: Four = NONE
        self.sinking: tuple[str, ...] = ()
        self.rising: tuple[int, ...] = ()
        self._before: tuple[dict[str, Cell], int] = (self.cells, 0)
        self._happenings: list[Happening] = []

    # Making the next state

    def copy(self) -> Self:
        """A copy that may be changed until it is handed out; its steps are empty."""
        new = object.__new__(type(self))
        new.__dict__.update(self.__dict__)
        new.cells, new.arrived, new.worked = dict(self.cells), dict(self.arrived), dict(self.worked)
        new._before, new._happenings = (self.cells, self.counter), []
        return new

    def cell(self, name: str) -> Cell:
        """What is on a cell or sea."""
        return self.cells.get(name, _FRESH_CELL)

    def put(self, name: str, **changes: Any) -> Cell:
        """Changes a cell in place (only on a fresh copy)."""
        new = msgspec.structs.replace(self.cell(name), **changes)
        self.cells[name] = new
        return new

    def tell(
        self,
        text: Text,
        cells: Iterable[str] = (),
        by_hand: bool = False,
        sites: dict[str, Contents] | None = None,
    ) -> None:
        """Adds a step, with the contents of these cells (including their spots) and other sites as
        they are now."""
        now = tuple((name, self.cell(name)) for name in cells)
        self._happenings.append(Happening(text, now, sites or {}, by_hand))

    @property
    def steps(self) -> tuple[Step, ...]:
        """What happened, each step without whatever did not change."""
        if not self._happenings:
            return ()
        out = []
        at = self._layout_of(*self._before)
        for text, cells, sites, by_hand in self._happenings:
            after: Layout = {}
            for name, cell in cells:
                after[name] = cell.contents()
                for spot in self.world.spots.get(name, ()):
                    after[spot] = ("bare",) if spot in cell.bare else ()
            after.update(sites)
            changed = {s: c for s, c in after.items() if at.get(s, ()) != c}
            at.update(changed)
            out.append(Step(text, changed, by_hand))
        return tuple(out)

    # Whose turn it is

    @property
    def order(self) -> tuple[int, ...]:
        """Seat numbers in this round's order."""
        n = len(self.seats)
        return tuple((self.starter + i) % n for i in range(n))

    @property
    def active(self) -> int:
        """The number of the seat whose part it is."""
        return (self.starter + self.at) % len(self.seats)

    def colour(self, seat: str) -> int:
        """The index of a seat's colour in COLOURS."""
        return COLOURS.index(seat)

    @property
    def turn(self) -> str | None:
        return None if self.phase == OVER else self.seats[self.active]

    @property
    def actors(self) -> tuple[str, ...]:
        turn = self.turn
        if turn is None:
            return ()
        if self.phase != MOVEMENT:
            return (turn,)
        return (
            turn,
            *(s for s in self.seats if s != turn and self.on_map("ships", self.colour(s))),
        )

    # Counting

    def is_sea(self, name: str) -> bool:
        """Whether this is the name of a sea or of a flooded cell."""
        return name in self.world.always_sea or self.cell(name).flooded

    def is_land(self, name: str) -> bool:
        """Whether this is the name of a cell that is not flooded."""
        return name in self.world.mineral and not self.cell(name).flooded

    def ruler(self, name: str) -> int | None:
        """The index of the colour that rules a cell (D7)."""
        cell = self.cells.get(name)
        if cell is None:
            return None
        if cell.flooded or name in self.world.always_sea:
            return sole_colour(cell.ships)
        return cell.ruler()

    def forests(self, name: str) -> int:
        """How many forests grow on a cell."""
        cell = self.cell(name)
        return 0 if cell.flooded else len(self.world.spots[name]) - len(cell.bare)

    def on_map(self, what: str, colour: int) -> int:
        """People, soldiers, ships or dolmens of a colour on the map."""
        return sum([getattr(c, what)[colour] for c in self.cells.values()])

    def fanatics_left(self) -> int:
        """How many fanatics are not on the board."""
        return self.world.fanatics - sum([c.fanatics for c in self.cells.values()])

    def soldiers_left(self, colour: int) -> int:
        """How many soldiers a colour may still build (D2, D32)."""
        return SOLDIERS - self.on_map("soldiers", colour) - self.lost[colour]

    def unmoved(self, name: str, colour: int) -> tuple[int, int, int]:
        """(people, soldiers, ships) of a colour on a cell that have not moved this round."""
        cell = self.cell(name)
        people, soldiers, ships = self.arrived.get(name, (NONE, NONE, NONE))
        return (
            cell.people[colour] - people[colour],
            cell.soldiers[colour] - soldiers[colour],
            cell.ships[colour] - ships[colour],
        )

    def work(self, name: str) -> tuple[int, int, int]:
        """(pawns that can work, wood available, mineral work) on a cell, less what has been
        harvested already."""
        cell = self.cell(name)
        wood, mineral = self.worked.get(name, (0, 0))
        return sum(cell.people) - wood - mineral, self.forests(name), 1 + 3 * cell.mines - mineral

    def stock(self, colour: int) -> dict[str, int]:
        """Goods and numbers that a colour has."""
        return dict(zip(GOODS, self.stocks[colour]))

    # What lies where

    def contents(self, name: str) -> Contents:
        """The kinds that lie on a site."""
        return self.cell(name).contents()

    def layout(self) -> Layout:
        return self._layout_of(self.cells, self.counter)

    def _layout_of(self, cells: dict[str, Cell], counter: int) -> Layout:
        out: Layout = {}
        for name in self.world.cells:
            cell = cells.get(name)
            if cell is None:
                continue
            contents = cell.contents()
            if contents:
                out[name] = contents
            for spot in cell.bare:
                out[spot] = ("bare",)
        squares = self.world.squares
        if squares:
            out[squares[min(counter, len(squares) - 1)]] = ("counter",)
        return out
