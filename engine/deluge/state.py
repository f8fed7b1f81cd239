"""The state of a game of Zondvloed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from engine.deluge import scoring
from engine.deluge.actions import Done, Reader
from engine.deluge.cell import NONE, Cell, Four
from engine.deluge.words import COLOURS, GOODS, SOLDIERS
from engine.deluge.world import Map
from engine.game import Action, IllegalAction, Outcome, Proposal, State, Step, Violation
from engine.layout import Layout
from engine.text import Text, say

MOVEMENT, HARVEST, TRADE, BUILDING, FLIGHT, OVER = "movement", "harvest", "trade", "building", "flight", "over"
PHASES = (MOVEMENT, HARVEST, TRADE, BUILDING)
_FRESH_CELL = Cell()


class DelugeState(State):
    """See `engine.game.State`. Numbers of colours are indices into COLOURS, whoever plays.

    cells: cell -> Cell, cells without anything left out; stocks: a colour's goods in the order of GOODS.
    starter: index into seats of who begins the round; at: how many seats have said `done` in this phase.
    arrived: cell -> (people, soldiers, ships) that have moved already; ferried: (colour, sea) whose ship ferried its owner's
    pawns; agreed: (owner, guest, sea). worked: cell -> goods harvested there this round; idle: cell -> people that turned
    fanatic after the last harvest. lost: soldiers taken by fanatics, never rebuilt (D32). sinking: cells being flooded, and
    rising: rises still to come this round. fled: seats that have no one left who can flee.
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
        self._steps: list[Step] = []

    # A value, and the next one from it

    def copy(self) -> DelugeState:
        """A state to be changed before anybody else sees it; its steps begin anew."""
        new = object.__new__(DelugeState)
        new.__dict__.update(self.__dict__)
        new.cells, new.arrived, new.worked = dict(self.cells), dict(self.arrived), dict(self.worked)
        new._steps = []
        return new

    def cell(self, name: str) -> Cell:
        return self.cells.get(name, _FRESH_CELL)

    def put(self, name: str, **changes: Any) -> Cell:
        """Changes a cell in place (only on a fresh copy)."""
        old = self.cell(name)
        new = msgspec.structs.replace(old, **changes)
        self.cells[name] = new
        return new

    def tell(self, text: Text, cells: Iterable[str] = (), by_hand: bool = False, **sites: tuple[str, ...]) -> None:
        """One more step, with the cells' contents (spots too) and other sites as they are now."""
        changes: Layout = {}
        for name in cells:
            changes[name] = self.contents(name)
            for spot in self.world.spots.get(name, ()):
                changes[spot] = ("bare",) if spot in self.cell(name).bare else ()
        changes.update({s.replace("__", "-"): c for s, c in sites.items()})
        self._steps.append(Step(text, changes, by_hand))

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps without what did not change"""
        out = []
        at = dict(self._before)
        for step in self._steps:
            changed = {s: c for s, c in step.changes.items() if at.get(s, ()) != c}
            at.update(changed)
            out.append(Step(step.text, changed, step.by_hand))
        return tuple(out)

    _before: Layout = {}

    # Who

    @property
    def order(self) -> tuple[int, ...]:
        """Seat numbers in this round's order"""
        n = len(self.seats)
        return tuple((self.starter + i) % n for i in range(n))

    @property
    def active(self) -> int:
        """The number of the seat whose part it is"""
        return self.order[self.at]

    def colour(self, seat: str) -> int:
        return COLOURS.index(seat)

    @property
    def turn(self) -> str | None:
        return None if self.phase == OVER else self.seats[self.active]

    @property
    def actors(self) -> tuple[str, ...]:
        turn = self.turn
        if turn is None:
            return ()
        if self.phase == MOVEMENT:
            owners = [s for s in self.seats if s != turn and any(c.ships[self.colour(s)] for c in self.cells.values())]
            return (turn, *owners)
        return (turn,)

    # Counting

    def is_sea(self, name: str) -> bool:
        return name in self.world.seas or self.cell(name).flooded

    def is_land(self, name: str) -> bool:
        return name in self.world.mineral and not self.cell(name).flooded

    def ruler(self, name: str) -> int | None:
        """The index of the colour that rules a cell (D7)"""
        cell = self.cell(name)
        if self.is_sea(name):
            here = [i for i in range(4) if cell.ships[i]]
            return here[0] if len(here) == 1 else None
        return cell.ruler()

    def forests(self, name: str) -> int:
        cell = self.cell(name)
        return 0 if cell.flooded else len(self.world.spots[name]) - len(cell.bare)

    def on_map(self, what: str, colour: int) -> int:
        """people, soldiers, ships or dolmens of a colour on the map"""
        return sum(getattr(c, what)[colour] for c in self.cells.values())

    def fanatics_left(self) -> int:
        return self.world.fanatics - sum(c.fanatics for c in self.cells.values())

    def soldiers_left(self, colour: int) -> int:
        """How many soldiers a colour may still build (D2, D32)"""
        return SOLDIERS - self.on_map("soldiers", colour) - self.lost[colour]

    def unmoved(self, name: str, colour: int) -> tuple[int, int, int]:
        """(people, soldiers, ships) of a colour on a cell that have not moved this round"""
        cell = self.cell(name)
        people, soldiers, ships = self.arrived.get(name, (NONE, NONE, NONE))
        return (cell.people[colour] - people[colour], cell.soldiers[colour] - soldiers[colour],
                cell.ships[colour] - ships[colour])

    def work(self, name: str) -> tuple[int, int, int]:
        """(pawns that can work, wood to be had, mineral work) on a cell, what was harvested already taken off"""
        cell = self.cell(name)
        wood, mineral = self.worked.get(name, (0, 0))
        return sum(cell.people) - wood - mineral, self.forests(name), 1 + 3 * cell.mines - mineral

    def stock(self, colour: int) -> dict[str, int]:
        return dict(zip(GOODS, self.stocks[colour]))

    # The shape of all games

    def legal_actions(self) -> list[Action]:
        from engine.deluge import legal
        return legal.legal_actions(self)

    def promising(self) -> list[Action]:
        from engine.deluge import sense
        return sense.promising(self)

    def check(self, action: Action) -> list[Violation]:
        from engine.deluge import checks
        return checks.check(self, action)

    def apply(self, action: Action) -> DelugeState:
        from engine.deluge import effects
        violations = self.check(action)
        if violations:
            raise IllegalAction(action, violations)
        return effects.perform(self, action)

    def parse(self, text: str) -> Action:
        return Reader(self.world).action(self.world.plan.as_written(text))

    def implied(self, action: Action) -> tuple[Action, ...]:
        """Those before the one who acts are done with this phase."""
        run: tuple[Action, ...] = ()
        state = self
        while state.check(action) and state.phase == self.phase in PHASES and action.seat in self.seats:
            run = (*run, Done(str(state.turn)))
            state = state.apply(run[-1])
        return () if state.check(action) else run

    def contents(self, name: str) -> tuple[str, ...]:
        return self.cell(name).contents()

    def layout(self) -> Layout:
        out: Layout = {}
        for name in self.world.cells:
            cell = self.cells.get(name)
            if cell is None:
                continue
            contents = cell.contents()
            if contents:
                out[name] = contents
            for spot in cell.bare:
                out[spot] = ("bare",)
        squares = self.world.squares
        if squares:
            out[squares[min(self.counter, len(squares) - 1)]] = ("counter",)
        return out

    def scores(self) -> dict[str, Any]:
        return scoring.scores(self)

    def outcome(self) -> Outcome | None:
        if self.phase != OVER:
            return None
        scores = self.scores()
        best = max(scores.values())
        return Outcome(tuple(s for s in self.seats if scores[s] == best),
                       say("the deforestation counter stands at {n}", n=self.counter))

    def explain(self, difference) -> list[Proposal]:
        from engine.deluge import explain
        return explain.explain(self, difference)

    def view(self) -> dict[str, Any]:
        from engine.deluge import view
        return view.view(self)

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
        from engine.deluge import forms
        return forms.to_json(self)

    def to_text(self) -> str:
        from engine.deluge import forms
        return forms.to_text(self)
