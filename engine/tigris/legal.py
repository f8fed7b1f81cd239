"""All legal actions, from masks. Actions are made once and shared: there are only so many on a board."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import compress

from engine.game import Action
from engine.tigris import actions as act
from engine.tigris.board import Board, cells
from engine.tigris.chance import draws, handfuls, named
from engine.tigris.effects import buildable
from engine.tigris.moment import TEMPLES, treasure_choice, war_colours
from engine.tigris.pieces import Kingdom
from engine.tigris.position import Position
from engine.tigris.words import BLUE, COLOURS, HAND, RED

_TRUTH = bytes.maketrans(b"01", b"\x00\x01")
Row = tuple[Action, ...]
"""One action a cell; where no square is, one that nobody picks."""


def _pick(mask: int, board: Board) -> bytes:
    """Selectors for `compress`, one a cell; all of it happens in C."""
    return f"{mask:0{len(board.ids)}b}"[::-1].encode().translate(_TRUTH)


def _row(board: Board, make: Callable[[str], Action]) -> Row:
    return tuple([make(site) for site in board.ids])


@lru_cache(maxsize=64)
def _tiles(board: Board, seat: str, colour: str) -> Row:
    return _row(board, lambda site: act.Tile(seat, colour, site))


@lru_cache(maxsize=16)
def _catastrophes(board: Board, seat: str) -> Row:
    return _row(board, lambda site: act.Catastrophe(seat, site))


@lru_cache(maxsize=4096)
def _leaders(board: Board, seat: str, colour: str, origin: str | None) -> Row:
    return _row(board, lambda site: act.Leader(seat, colour, origin, site))


def legal_actions(s: Position) -> list[Action]:
    waiting = [a for seat in dict(s.draws) for n in s.may_draw(seat) for a in draws(s, seat, n)]
    if s.phase == "draw":
        return [a for a in waiting if a.drawer == s.seats[s.draws[0][0]]]
    if s.draws:
        s = s.skip_chance()
    return _PHASES[s.phase](s) + waiting


def _action(s: Position) -> list[Action]:
    p, board, seat = s.pieces, s.board, s.seats[s.active]
    free = p.free
    joins2, joins3 = _joins(board, p.kingdoms())
    out: list[Action] = [act.Pass(seat)]
    land, river = _pick(free & board.land & ~joins3, board), _pick(free & board.river & ~joins3, board)
    for c, colour in enumerate(COLOURS):
        if s.has(s.active, c):
            out += compress(_tiles(board, seat, colour), river if c == BLUE else land)
    standing = board.around(p.tiles[RED]) & free & board.land
    arriving = _pick(standing & ~joins2, board)
    for c, colour in enumerate(COLOURS):
        n = s.active * 4 + c
        cell = p.leaders[n]
        if cell < 0:
            out += compress(_leaders(board, seat, colour, None), arriving)
        else:
            origin = board.ids[cell]
            out.append(act.Leader(seat, colour, origin, None))
            moving = standing & ~_joins(board, p.kingdoms_without(n))[0]
            out += compress(_leaders(board, seat, colour, origin), _pick(moving, board))
    if s.catastrophes[s.active]:
        tiles = p.tiles[0] | p.tiles[1] | p.tiles[2] | p.tiles[3]
        out += compress(_catastrophes(board, seat), _pick((free | tiles) & ~p.treasures, board))
    return out + _swaps(s, seat)


def _joins(board: Board, kingdoms: list[Kingdom]) -> tuple[int, int]:
    """The squares that touch two or more, and three or more kingdoms."""
    one = two = three = 0
    for mask, _ in kingdoms:
        near = board.around(mask)
        three |= two & near
        two |= one & near
        one |= near
    return two, three


def _swaps(s: Position, seat: str) -> list[Action]:
    known, unknown = s.known[s.active], s.unknown[s.active]
    out: list[Action] = []
    if unknown:
        out += [act.Swap(seat, n) for n in range(1, min(HAND, unknown + sum(known)) + 1)]
    for n in range(1, min(HAND, sum(known)) + 1):
        out += [act.Swap(seat, n, named(counts)) for counts in handfuls(n, known)]
    return out


def _commit(s: Position) -> list[Action]:
    seat = s.actor
    most = s.has(seat, RED if s.conflict.kind == TEMPLES else s.conflict.colour)
    return [act.Commit(s.seats[seat], n) for n in range(most + 1)]


def _war(s: Position) -> list[Action]:
    return [act.War(s.seats[s.active], COLOURS[c]) for c in war_colours(s.pieces)]


def _build(s: Position) -> list[Action]:
    seat, board = s.seats[s.active], s.board
    return [act.Keep(seat), *(act.Build(seat, board.monuments[m], board.ids[corner]) for corner, m in buildable(s))]


def _treasure(s: Position) -> list[Action]:
    owner, treasures, may_stay = treasure_choice(s.pieces, s.active, len(s.seats))
    return [act.Treasure(s.seats[owner], tuple(s.board.sites(treasures & ~(1 << stays)))) for stays in cells(may_stay)]


def _over(s: Position) -> list[Action]:
    return []


_PHASES = {"action": _action, "commit": _commit, "war": _war, "build": _build, "treasure": _treasure, "over": _over}
