"""All legal actions, from masks. Action objects are created once per board and shared."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from operator import itemgetter

from engine.game import Action
from engine.tigris import actions as act
from engine.tigris.board import Board, cells_of
from engine.tigris.chance import named_tiles, possible_draws, possible_handfuls
from engine.tigris.effects import buildable_monuments
from engine.tigris.moment import TEMPLES, treasure_choice, war_colours
from engine.tigris.pieces import Kingdom, Pieces
from engine.tigris.position import Position
from engine.tigris.words import BLUE, COLOURS, HAND, RED

Row = tuple[Action, ...]
"""One action per cell; cells that are not on the board have an action that is never picked."""


def _picker_for(mask: int, board: Board) -> Callable[[Row], Iterable[Action]]:
    """A function that picks a mask's actions out of a row."""
    chosen = board.cells(mask)
    if len(chosen) < 2:
        return lambda row: [row[cell] for cell in chosen]
    return itemgetter(*chosen)


_recurring_picker = lru_cache(maxsize=1024)(_picker_for)
"""The same, for masks that recur from one position to the next."""


class SeatActions:
    """Everything that a seat could do on a board, created once and shared; colours are numbers."""

    def __init__(self, board: Board, seat: str) -> None:
        self.board, self.seat = board, seat
        self.leave = act.Pass(seat)
        self.tiles = [
            tuple([act.Tile(seat, colour, site) for site in board.ids]) for colour in COLOURS
        ]
        self.catastrophes = tuple([act.Catastrophe(seat, site) for site in board.ids])
        self.arrivals = [
            tuple([act.Leader(seat, colour, None, site) for site in board.ids])
            for colour in COLOURS
        ]
        self._moves: dict[tuple[int, int], tuple[Action, Row]] = {}

    def moves(self, colour: int, cell: int) -> tuple[Action, Row]:
        """The action that takes a leader off a square, and its moves from there."""
        found = self._moves.get((colour, cell))
        if found is None:
            seat, name, origin = self.seat, COLOURS[colour], self.board.ids[cell]
            off = act.Leader(seat, name, origin, None)
            row = [
                act.Leader(seat, name, origin, site) if site else off
                for site in self.board.land_ids
            ]
            found = self._moves[colour, cell] = off, tuple(row)
        return found


@lru_cache(maxsize=64)
def _actions_of(board: Board, seat: str) -> SeatActions:
    return SeatActions(board, seat)


def legal_actions(s: Position) -> list[Action]:
    """Every legal action."""
    if not s.draws:
        return _PHASES[s.phase](s)
    waiting = [
        a for seat in dict(s.draws) for n in s.may_draw(seat) for a in possible_draws(s, seat, n)
    ]
    if s.phase == "draw":
        return [a for a in waiting if a.drawer == s.seats[s.draws[0][0]]]
    return [*_PHASES[s.phase](s.skip_chance()), *waiting]


def _turn_actions(s: Position) -> list[Action]:
    p, board, seat = s.pieces, s.board, s.active
    every, free = _actions_of(board, s.seats[seat]), p.free
    joins2, joins3 = _joining_squares(p.kingdoms())
    out: list[Action] = [every.leave]
    for_tiles = free & ~joins3
    on_land = _picker_for(for_tiles & board.land, board)
    on_river = _recurring_picker(for_tiles & board.river, board)
    for colour in s.may_hold(seat):
        out += (on_river if colour == BLUE else on_land)(every.tiles[colour])
    standing = board.around(p.tiles[RED]) & free & board.land
    arriving = _recurring_picker(standing & ~joins2, board)
    for colour, cell in enumerate(p.leaders[seat * 4 : seat * 4 + 4]):
        if cell < 0:
            out += arriving(every.arrivals[colour])
        else:
            off, moves = every.moves(colour, cell)
            out.append(off)
            joining = _joining_without(p, seat * 4 + colour, joins2, joins3)
            out += _recurring_picker(standing & ~joining, board)(moves)
    if s.catastrophes[seat]:
        tiles = p.tiles[0] | p.tiles[1] | p.tiles[2] | p.tiles[3]
        out += _picker_for((free | tiles) & ~p.treasures, board)(every.catastrophes)
    out += _swap_actions(every.seat, s.known[seat], s.unknown[seat])
    return out


def _joining_squares(kingdoms: list[Kingdom]) -> tuple[int, int]:
    """The squares that are next to at least two, and at least three, kingdoms."""
    one = two = three = 0
    for _, _, near in kingdoms:
        three |= two & near
        two |= one & near
        one |= near
    return two, three


def _joining_without(p: Pieces, leader: int, joins2: int, joins3: int) -> int:
    """The free squares that are next to at least two kingdoms once this leader is off the board;
    `joins2` and `joins3` are those of the board with it."""
    kingdom, cell = p.kingdom_of(leader), p.leaders[leader]
    if len(kingdom.leaders) == 1:
        lost = kingdom.near
    else:
        rest = kingdom.mask ^ 1 << cell
        if not p.board.hangs_together(rest, cell):
            return _joining_squares(p.kingdoms_without(leader))[0]
        lost = p.board.near[cell] & ~p.board.around(rest)
    # a square next to three kingdoms is still next to two
    return joins2 & ~lost | joins3


@lru_cache(maxsize=1024)
def _swap_actions(seat: str, known: tuple[int, ...], unknown: int) -> tuple[Action, ...]:
    out: list[Action] = []
    if unknown:
        out += [act.Swap(seat, n) for n in range(1, min(HAND, unknown + sum(known)) + 1)]
    for n in range(1, min(HAND, sum(known)) + 1):
        out += [act.Swap(seat, n, named_tiles(counts)) for counts in possible_handfuls(n, known)]
    return tuple(out)


def _commit_actions(s: Position) -> list[Action]:
    seat = s.actor
    most = s.has(seat, RED if s.conflict.kind == TEMPLES else s.conflict.colour)
    return [act.Commit(s.seats[seat], n) for n in range(most + 1)]


def _war_actions(s: Position) -> list[Action]:
    return [act.War(s.seats[s.active], COLOURS[c]) for c in war_colours(s.pieces)]


def _build_actions(s: Position) -> list[Action]:
    seat, board = s.seats[s.active], s.board
    return [
        act.Keep(seat),
        *(
            act.Build(seat, board.monuments[m], board.ids[corner])
            for corner, m in buildable_monuments(s)
        ),
    ]


def _treasure_actions(s: Position) -> list[Action]:
    owner, treasures, may_stay = treasure_choice(s.pieces, s.active, len(s.seats))
    return [
        act.Treasure(s.seats[owner], tuple(s.board.sites(treasures & ~(1 << stays))))
        for stays in cells_of(may_stay)
    ]


def _no_actions(s: Position) -> list[Action]:
    return []


_PHASES = {
    "action": _turn_actions,
    "commit": _commit_actions,
    "war": _war_actions,
    "build": _build_actions,
    "treasure": _treasure_actions,
    "over": _no_actions,
}
