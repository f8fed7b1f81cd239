"""What the rules of Ur know at one moment, and simple questions about it. Everything lies open;
only a table whose hand tiles are out of view leaves those unknown."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Self

from engine.game import State, Step
from engine.layout import Contents, Layout
from engine.ur import scoring
from engine.ur.actions import BOX
from engine.ur.board import Board, both_domains, face_up
from engine.ur.words import DOMAINS

LAY, PUT, SWAP, TURN, OVER = PHASES = ("lay", "put", "swap", "turn", "over")
NOBODY = -1


class Position(State):
    """See `engine.game.State`.

    Indexed by the places of `board.sites`: `tiles` ("war/trade" or None), `owner` (seat number or
    -1), `count` (stones), `zig` (a ziggurat stands there; `owner` is whose it is, `count` is 1). By
    seat: `hands` ("war/trade", None if unknown).

    phase: lay, put, swap (set-up), turn, over. Of the turn: `used` domains in order, `bonus`
    ("extra" | "settle", place, stones), `built` ziggurats, `returned`. `puts`: stones put in the
    set-up. `end`: the rule that ended the game.
    """

    game = "ur"

    def __init__(self, board: Board, seats: Sequence[str], option: str) -> None:
        n = len(board.sites)
        self.board, self.seats, self.option = board, tuple(seats), option
        self.plan = board.plan
        self.tiles: tuple[str | None, ...] = (None,) * n
        self.owner: tuple[int, ...] = (NOBODY,) * n
        self.count: tuple[int, ...] = (0,) * n
        self.zig: tuple[bool, ...] = (False,) * n
        self.hands: tuple[str | None, ...] = (None,) * len(seats)
        self.spare: str | None = None
        self.phase = LAY
        self.starter = self.mover = 0
        self.puts = 0
        self.used: tuple[str, ...] = ()
        self.bonus: tuple[str, int, int] | None = None
        self.built = 0
        self.returned = False
        self.end = ""
        # tiles are drawn from a shuffled box (open mode); otherwise people lay them
        self.drawn = False
        self.happened: tuple[Step, ...] = ()  # see `steps`

    def changed(self, **values: Any) -> Self:
        """A copy with these values and an empty cache."""
        new = object.__new__(type(self))
        own = self.__dict__.copy()  # another thread may remember something meanwhile
        new.__dict__.update(
            {k: v for k, v in own.items() if not k.startswith("_") and k not in _CACHED}
        )
        new.__dict__.update(values)
        return new

    @property
    def steps(self) -> tuple[Step, ...]:
        return self.happened

    # Simple questions

    @cached_property
    def supplies(self) -> tuple[int, ...]:
        """Stones in each seat's supply (U15)."""
        left = [self.board.stones.get(s, 0) for s in self.seats]
        for p, n in zip(self.owner, self.count):
            if p >= 0:
                left[p] -= n
        return tuple(max(0, n) for n in left)

    def own(self, p: int) -> list[int]:
        """Places of the tiles that a seat holds with stones; not those under ziggurats (U19)."""
        zig = self.zig
        return [i for i, q in enumerate(self.owner) if q == p and not zig[i]]

    def free(self, i: int) -> bool:
        """Whether a tile has neither stones nor a ziggurat (U6, U18)."""
        return self.tiles[i] is not None and not self.count[i] and not self.zig[i]

    def face(self, i: int) -> str:
        """The domain shown by the tile on a place."""
        tile = self.tiles[i]
        return face_up(tile) if tile else ""

    @property
    def ziggurats(self) -> int:
        """How many ziggurats stand."""
        return sum(self.zig)

    def known(self, p: int) -> frozenset[str]:
        """The domains known to be on a seat's hand tile: two, or fewer if it has not been seen."""
        hand = self.hands[p]
        found = both_domains(hand) if hand else frozenset()
        return found if len(found) == 2 or p != self.mover else found | frozenset(self.used)

    def could_bear(self, p: int, domain: str) -> bool:
        """Whether the hand tile has that domain, as far as anybody knows."""
        found = self.known(p)
        return domain in found or len(found) < 2

    def can_swap(self) -> bool:
        """Whether the seat whose turn it is could swap now (U20, U23)."""
        mine = self.known(self.mover)
        for i, tile in enumerate(self.tiles):
            if (
                tile is not None
                and not self.count[i]
                and not self.zig[i]
                and (len(mine) < 2 or both_domains(tile) != mine)
            ):
                return True
        return bool(
            self.spare
            and len(self.seats) == 3
            and (len(mine) < 2 or both_domains(self.spare) != mine)
        )

    # Whose turn it is

    @property
    def turn(self) -> str | None:
        return None if self.phase == OVER else self.seats[self.mover]

    @property
    def actors(self) -> tuple[str, ...]:
        if self.phase == OVER:
            return ()
        if self.phase == LAY:
            return (BOX,)
        if None in self.hands or (len(self.seats) == 3 and self.spare is None):
            return (self.seats[self.mover], BOX)  # a tile beside the square may still be stated
        return (self.seats[self.mover],)

    # What lies where, and what it would score

    def contents(self, i: int) -> Contents:
        """The kinds that lie on a place, bottom first."""
        tile = self.tiles[i]
        if tile is None:
            return ()
        p, kind = self.owner[i], "tile:" + tile
        if self.zig[i]:
            return (kind, "ziggurat", self.seats[p]) if p >= 0 else (kind, "ziggurat")
        return (kind, *(self.seats[p],) * self.count[i]) if p >= 0 else (kind,)

    def layout(self) -> Layout:
        out = {s: c for i, s in enumerate(self.board.sites) if (c := self.contents(i))}
        for site, tile in zip(self.board.hands, self.hands):
            if tile and "?" not in tile:
                out[site] = ("tile:" + tile,)
        if self.spare and self.board.spare:
            out[self.board.spare] = ("tile:" + self.spare,)
        return out

    def division(self, p: int) -> tuple[int, list[tuple[str, ...]], str | None]:
        """(points, sets, the face of the hand tile that counts): what a seat's tiles would score
        now (U25 to U28)."""
        tiles = dict.fromkeys(DOMAINS, 0)
        ziggurats = 0
        for i, q in enumerate(self.owner):
            if q == p:
                if self.zig[i]:
                    ziggurats += 1
                else:
                    tiles[self.face(i)] += 1
        return scoring.best_with_hand(tiles, ziggurats, self.hands[p])

    def scores(self) -> dict[str, int]:
        return {s: self.division(p)[0] for p, s in enumerate(self.seats)}


_CACHED = frozenset(k for k, v in vars(Position).items() if isinstance(v, cached_property))
