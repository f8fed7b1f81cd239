"""The beginning of a game: set-up lines, and states read back from JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from engine.deluge.cell import Cell
from engine.deluge.forms import LISTS, NUMBERS
from engine.deluge.position import FLIGHT, MOVEMENT, OVER, PHASES
from engine.deluge.state import DelugeState
from engine.deluge.words import COLOURS, GOODS, HOME, PEOPLE_AT_START
from engine.deluge.world import Map, map_of
from engine.game import BadText, Statement
from engine.layout import Contents
from engine.plan import Plan
from engine.text import whole_number

# Met on import: msgspec crashes Python where two threads use a type for the first time at once.
msgspec.json.Decoder(Cell)


def load_state(data: Mapping[str, Any], plan: Plan) -> DelugeState:
    """The state that `to_json` wrote. Raises BadText."""
    try:
        state = DelugeState(map_of(plan), data["seats"])
        for name, cell in data["cells"].items():
            if name not in state.world.touching:
                raise BadText(f"no cell called {name!r}")
            state.cells[name] = msgspec.convert(cell, Cell)
        state.stocks = tuple(tuple(int(data["stocks"][c][g]) for g in GOODS) for c in COLOURS)
        for key in NUMBERS:
            setattr(state, key, data[key])
        for key in LISTS:
            setattr(state, key, tuple(data[key]))
        state.arrived = {n: tuple(tuple(x) for x in v) for n, v in data["arrived"].items()}  # type: ignore
        state.ferried = frozenset((COLOURS.index(c), s) for c, s in data["ferried"])
        state.agreed = frozenset(
            (COLOURS.index(c), COLOURS.index(g), s) for c, g, s in data["agreed"]
        )
        state.worked = {n: tuple(v) for n, v in data["worked"].items()}
        state.idle = {n: tuple(v) for n, v in data["idle"].items()}
        state.lost = tuple(data["lost"])
        _check_numbers(state)
    except (
        KeyError,
        IndexError,
        TypeError,
        ValueError,
        AttributeError,
        msgspec.ValidationError,
    ) as e:
        raise BadText(f"not a state of this game: {type(e).__name__} {e}") from None
    return state


def _check_numbers(state: DelugeState) -> None:
    """Raises ValueError for numbers that no game can have."""
    seats = range(len(state.seats))
    if not set(state.seats) <= set(COLOURS) or state.phase not in (*PHASES, FLIGHT, OVER):
        raise ValueError("seats or phase")
    if (
        state.starter not in seats
        or state.at not in seats
        or not isinstance(state.counter, int)
        or state.counter < 0
    ):
        raise ValueError("starter, at or counter")
    for name in (*state.arrived, *state.worked, *state.idle, *state.sinking):
        if name not in state.world.touching:
            raise ValueError(f"no cell called {name!r}")


class Setup:
    """Set-up lines on their way to a state."""

    def __init__(self, world: Map, seats: Sequence[str]) -> None:
        self.world, self.seats = world, tuple(seats)
        self.layout: dict[str, Contents] = self.printed()
        self.counter_said = False
        self.stocks = {c: dict.fromkeys(GOODS, 0) for c in COLOURS}
        self.phase, self.starter = MOVEMENT, 0
        self.moment: dict[str, Any] | None = None
        self.corrected: dict[str, Contents] = {}  # stated after the moment, so it takes precedence

    def printed(self) -> dict[str, Contents]:
        """Four people per player on the centre of their own continent (D5), the counter on 0."""
        out: dict[str, Contents] = (
            {self.world.squares[0]: ("counter",)} if self.world.squares else {}
        )
        for seat in self.seats:
            centre = self.world.centre(HOME[seat])
            if centre:
                out[centre] = (f"people:{seat}",) * PEOPLE_AT_START
        return out

    def line(self, words: Sequence[str]) -> None:
        """Reads one line. Raises BadText."""
        read = getattr(self, f"_{words[0]}", None)
        if read is None or words[0].startswith("_"):
            raise BadText(f"no set-up line called {words[0]!r} (layout, stock, phase, starter)")
        read(list(words[1:]))

    def _layout(self, words: list[str]) -> None:
        if words == ["clear"]:
            self.layout = {}
            return
        site = None
        fresh: dict[str, list[str]] = {}
        for word in words:
            if word in self.world.plan.sites:
                site = word
                fresh[site] = []
            elif site is None:
                raise BadText(f"no site called {word!r}")
            elif word not in self.world.box:
                raise BadText(f"neither a site nor a kind of piece: {word!r}")
            else:
                fresh[site].append(word)
        if not fresh:
            raise BadText("layout SITE KIND ...")
        for s, kinds in fresh.items():
            fits = (
                "counter"
                if s in self.world.squares
                else "bare"
                if s in self.world.cell_of
                else None
            )
            if fits and any(k != fits for k in kinds):
                raise BadText(f"on {s} lies {fits} or nothing")
            if fits is None:
                Cell.of(kinds)
        (self.layout if self.moment is None else self.corrected).update(
            {s: tuple(c) for s, c in fresh.items()}
        )
        self.counter_said |= any(s in self.world.squares and c for s, c in fresh.items())

    def _stock(self, words: list[str]) -> None:
        if not words or words[0] not in self.seats or len(words) % 2 == 0:
            raise BadText("stock SEAT wood 2 gold 1")
        for good, n in zip(words[1::2], words[2::2]):
            number = whole_number(n)
            if good not in GOODS or number is None:
                raise BadText(f"stock: {good} {n} is not a good and a number")
            self.stocks[words[0]][good] = number

    def _phase(self, words: list[str]) -> None:
        if len(words) != 1 or words[0] not in PHASES:
            raise BadText(f"phase {'|'.join(PHASES)}")
        self.phase = words[0]

    def _starter(self, words: list[str]) -> None:
        if len(words) != 1 or words[0] not in self.seats:
            raise BadText("starter SEAT")
        self.starter = self.seats.index(words[0])

    def _moment(self, words: list[str]) -> None:
        try:
            self.moment = msgspec.json.decode(" ".join(words))
        except msgspec.DecodeError as e:
            raise BadText(f"moment: {e}") from None
        if not isinstance(self.moment, dict):
            raise BadText("moment takes what `to_text` writes")
        load_state(
            {
                **self.moment,
                "game": DelugeState.game,
                "seats": list(self.seats),
                "stocks": self.stocks,
            },
            self.world.plan,
        )

    def state(self) -> DelugeState:
        """The position that these lines describe. Raises BadText."""
        if self.moment is not None:
            state = load_state(
                {
                    **self.moment,
                    "game": DelugeState.game,
                    "seats": list(self.seats),
                    "stocks": self.stocks,
                },
                self.world.plan,
            )
            for site, kinds in self.corrected.items():
                correct_site(state, site, kinds)
            return state
        state = DelugeState(self.world, self.seats)
        squares = {s: n for n, s in enumerate(self.world.squares)}
        counted = None
        bare: dict[str, list[str]] = {}
        for site, kinds in self.layout.items():
            if site in squares:
                # the printed 0 is replaced by the number of bare cells
                if kinds and self.counter_said:
                    counted = squares[site]
            elif site in self.world.cell_of:
                if kinds:
                    bare.setdefault(self.world.cell_of[site], []).append(site)
            elif kinds:
                state.cells[site] = Cell.of(kinds)
        for name, spots in bare.items():
            all_spots = self.world.spots[name]
            state.put(
                name,
                bare=tuple(s for s in all_spots if s in spots),
                counted=len(spots) == len(all_spots),
            )
        for name, cell in list(state.cells.items()):
            if name in self.world.mineral and not cell.flooded and cell.fanatics > cell.pawns:
                state.put(name, taken=True)
        state.counter = (
            counted if counted is not None else sum(c.counted for c in state.cells.values())
        )
        state.stocks = tuple(tuple(self.stocks[c][g] for g in GOODS) for c in COLOURS)
        state.phase, state.starter = self.phase, self.starter
        return state


def correct_site(state: DelugeState, site: str, kinds: Contents) -> None:
    """Puts these pieces on one site of a fresh state; everything else about the site's cell stays
    as it is."""
    world = state.world
    if site in world.squares:
        if kinds:
            state.counter = world.squares.index(site)
        return
    name = world.cell_of.get(site)
    if name is None:
        old = state.cell(site)
        state.cells[site] = msgspec.structs.replace(
            Cell.of(kinds), bare=old.bare, taken=old.taken, counted=old.counted
        )
        return
    covered = set(state.cell(name).bare) - {site} | ({site} if kinds else set())
    spots = tuple(s for s in world.spots[name] if s in covered)
    state.put(name, bare=spots, counted=len(spots) == len(world.spots[name]))


def set_up(seats: Sequence[str], statements: Sequence[Statement], plan: Plan) -> DelugeState:
    """The position after the set-up lines. Raises BadText, naming the line."""
    for seat in seats:
        if seat not in COLOURS or list(seats).count(seat) > 1:
            raise BadText(f"seats are {', '.join(COLOURS)}, each once; not {seat!r}")
    if not 2 <= len(seats) <= 4:
        raise BadText(f"2 to 4 players, not {len(seats)}")
    setting = Setup(map_of(plan), seats)
    for statement in statements:
        try:
            setting.line(statement.words)
        except BadText as e:
            raise BadText(f"line {statement.line}: {e}") from None
    return setting.state()
