"""What lies on the board, as an immutable value, and the kingdoms that it forms."""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter
from typing import NamedTuple

from engine.layout import Contents, Layout
from engine.tigris.board import Board, cells_of
from engine.tigris.words import BLACK, BLUE, COLOURS, GREEN, RED, TILES, leader_kind

__all__ = ["BLACK", "BLUE", "GREEN", "RED", "Kingdom", "Pieces"]


class Kingdom(NamedTuple):
    """A region with leaders: its squares, the numbers of its leaders in ascending order, and the
    squares next to it."""

    mask: int
    leaders: tuple[int, ...]
    near: int


class Pieces:
    """Immutable. `tiles`: a mask per colour (face-up tiles). `leaders`: the cell of each leader or
    -1; a leader's number is seat * 4 + colour. `monuments`: the upper left cell of each monument or
    -1. `union`: the cell of the tile it lies on or -1. `occupied`: the squares that form regions:
    tiles and leaders, not catastrophes (T6, T8)."""

    __slots__ = (
        "_kingdoms",
        "_layout",
        "_without",
        "board",
        "catastrophes",
        "flipped",
        "leaders",
        "monuments",
        "occupied",
        "tiles",
        "treasures",
        "union",
    )

    def __init__(
        self,
        board: Board,
        tiles: tuple[int, ...],
        flipped: int,
        catastrophes: int,
        treasures: int,
        union: int,
        leaders: tuple[int, ...],
        monuments: tuple[int, ...],
        occupied: int | None = None,
    ) -> None:
        """occupied: passed if known; otherwise it is worked out."""
        self.board, self.tiles, self.flipped, self.catastrophes = (
            board,
            tiles,
            flipped,
            catastrophes,
        )
        self.treasures, self.union, self.leaders, self.monuments = (
            treasures,
            union,
            leaders,
            monuments,
        )
        if occupied is None:
            occupied = tiles[0] | tiles[1] | tiles[2] | tiles[3] | flipped
            for c in leaders:
                if c >= 0:
                    occupied |= 1 << c
        self.occupied = occupied
        self._kingdoms: list[Kingdom] | None = None
        self._without: dict[int, list[Kingdom]] = {}
        self._layout: Layout | None = None

    def forget(self) -> None:
        """Lets go of what was worked out and can be again."""
        self._kingdoms, self._without, self._layout = None, {}, None

    def change(
        self,
        tiles: tuple[int, ...] | None = None,
        flipped: int | None = None,
        catastrophes: int | None = None,
        treasures: int | None = None,
        union: int | None = None,
        monuments: tuple[int, ...] | None = None,
    ) -> Pieces:
        """A copy with these values changed; `stand` moves leaders."""
        lie_otherwise = tiles is not None or flipped is not None
        new = Pieces(
            self.board,
            self.tiles if tiles is None else tiles,
            self.flipped if flipped is None else flipped,
            self.catastrophes if catastrophes is None else catastrophes,
            self.treasures if treasures is None else treasures,
            self.union if union is None else union,
            self.leaders,
            self.monuments if monuments is None else monuments,
            None if lie_otherwise else self.occupied,
        )
        if new.occupied == self.occupied:
            new._kingdoms = self._kingdoms
        return new

    def add(self, colour: int, cell: int) -> Pieces:
        """A copy with a tile on a free square."""
        bit, tiles = 1 << cell, list(self.tiles)
        tiles[colour] |= bit
        new = Pieces(
            self.board,
            tuple(tiles),
            self.flipped,
            self.catastrophes,
            self.treasures,
            self.union,
            self.leaders,
            self.monuments,
            self.occupied | bit,
        )
        new._kingdoms = self._joined(self.kingdoms(), bit, new.occupied)
        return new

    def without(self, mask: int) -> Pieces:
        """A copy without the face-up tiles on `mask`."""
        return self.change(tiles=tuple([t & ~mask for t in self.tiles]))

    def stand(self, leader: int, cell: int) -> Pieces:
        """A copy with this leader on `cell`, a free square; -1: with its owner."""
        leaders, origin = list(self.leaders), self.leaders[leader]
        leaders[leader] = cell
        kingdoms, occupied = self.kingdoms_without(leader), self.occupied
        if origin >= 0:
            occupied ^= 1 << origin
        if cell >= 0:
            occupied |= 1 << cell
            kingdoms = self._joined(kingdoms, 1 << cell, occupied, leader)
        new = Pieces(
            self.board,
            self.tiles,
            self.flipped,
            self.catastrophes,
            self.treasures,
            self.union,
            tuple(leaders),
            self.monuments,
            occupied,
        )
        new._kingdoms = kingdoms
        return new

    def _joined(
        self, kingdoms: list[Kingdom], bit: int, occupied: int, leader: int = -1
    ) -> list[Kingdom]:
        """The kingdoms after a tile, or this leader, has come to a free square."""
        out, region, members = list[Kingdom](), bit, [leader] if leader >= 0 else []
        for kingdom in kingdoms:
            if kingdom.near & bit:
                region |= kingdom.mask
                members += kingdom.leaders
            else:
                out.append(kingdom)
        if not members:
            return kingdoms
        members.sort()
        near = self.board.around(region)
        if near & occupied & ~region:  # tiles that belonged to no kingdom
            region = self.board.flood(region, occupied)
            near = self.board.around(region)
        out.append(Kingdom(region, tuple(members), near))
        out.sort(key=_first_leader)
        return out

    @property
    def free(self) -> int:
        """Squares with nothing on them."""
        return self.board.all & ~(self.occupied | self.catastrophes | self.treasures)

    def tile_at(self, cell: int) -> int:
        """The colour of the face-up tile on a cell, or -1."""
        bit = 1 << cell
        for c, t in enumerate(self.tiles):
            if t & bit:
                return c
        return -1

    def leader_at(self, cell: int) -> int:
        """The number of the leader on a cell, or -1."""
        return self.leaders.index(cell) if cell in self.leaders else -1

    def region(self, cell: int) -> int:
        """The occupied squares connected with a cell, as a mask."""
        return self.board.flood(1 << cell, self.occupied)

    def kingdoms(self) -> list[Kingdom]:
        """Every region with a leader in it (T7), ordered by its lowest leader number. Do not change
        the list."""
        found = self._kingdoms
        if found is None:
            found = self._kingdoms = self._kingdoms_of(range(len(self.leaders)), self.occupied)
        return found

    def _kingdoms_of(self, leaders: Iterable[int], occupied: int) -> list[Kingdom]:
        """The kingdoms of these leaders among the occupied squares, in the order of the leaders."""
        board, found = self.board, list[tuple[int, list[int]]]()
        for n in leaders:
            cell = self.leaders[n]
            if cell < 0:
                continue
            for mask, members in found:
                if mask >> cell & 1:
                    members.append(n)
                    break
            else:
                found.append((board.flood(1 << cell, occupied), [n]))
        return [Kingdom(mask, tuple(members), board.around(mask)) for mask, members in found]

    def kingdom_of(self, leader: int) -> Kingdom:
        """The kingdom of a leader on the board."""
        return next(kingdom for kingdom in self.kingdoms() if leader in kingdom.leaders)

    def kingdoms_without(self, leader: int) -> list[Kingdom]:
        """The kingdoms with one leader taken off the board (T15). Do not change the list."""
        if self.leaders[leader] < 0:
            return self.kingdoms()
        found = self._without.get(leader)
        if found is None:
            found = self._without[leader] = self._left_by(leader)
        return found

    def _left_by(self, leader: int) -> list[Kingdom]:
        former = self.kingdom_of(leader)
        others = [kingdom for kingdom in self.kingdoms() if kingdom is not former]
        if len(former.leaders) == 1:
            return others
        cell, remaining = self.leaders[leader], [n for n in former.leaders if n != leader]
        rest = former.mask ^ 1 << cell
        if self.board.hangs_together(rest, cell):
            others.append(Kingdom(rest, tuple(remaining), self.board.around(rest)))
        else:
            others += self._kingdoms_of(remaining, rest)
        others.sort(key=_first_leader)
        return others

    def kingdom_at(self, cell: int) -> Kingdom | None:
        """The kingdom that a cell belongs to; None if it belongs to none."""
        for kingdom in self.kingdoms():
            if kingdom.mask >> cell & 1:
                return kingdom
        return None

    def touching(self, mask: int, kingdoms: list[Kingdom] | None = None) -> list[Kingdom]:
        """The kingdoms that are next to one of these squares."""
        return [k for k in (self.kingdoms() if kingdoms is None else kingdoms) if k.near & mask]

    def orphans(self, temples_before: int) -> list[int]:
        """The leaders that were next to a temple before and no longer are (T16)."""
        near, temples = self.board.near, self.tiles[RED]
        return [
            n
            for n, c in enumerate(self.leaders)
            if c >= 0 and not near[c] & temples and near[c] & temples_before
        ]

    def full_squares(self, cell: int) -> list[int]:
        """The upper left cells of the 2x2 squares of one colour that contain `cell`."""
        board, colour = self.board, self.tile_at(cell)
        if colour < 0:
            return []
        same = self.tiles[colour]
        return [s for s in board.squares_of[cell] if board.squares[s] & same == board.squares[s]]

    def contents(self, cell: int, seats: tuple[str, ...]) -> Contents:
        """The kinds that lie on a cell, bottom first."""
        out = []
        bit = 1 << cell
        for c, t in enumerate(self.tiles):
            if t & bit:
                out.append(TILES[c])
        if self.flipped & bit:
            out.append("flipped")
        if self.catastrophes & bit:
            out.append("catastrophe")
        if cell in self.leaders:
            seat, colour = divmod(self.leaders.index(cell), 4)
            out.append(leader_kind(seats[seat], COLOURS[colour]))
        if self.treasures & bit:
            out.append("treasure")
        if self.union == cell:
            out.append("union")
        if cell in self.monuments:
            out.append("monument:" + self.board.monuments[self.monuments.index(cell)])
        return tuple(out)

    def layout(self, seats: tuple[str, ...]) -> Layout:
        """What lies where, as site -> kinds."""
        found = self._layout
        if found is None:
            at: dict[int, Contents] = {}
            for kind, mask in zip(
                (*TILES, "flipped", "catastrophe"), (*self.tiles, self.flipped, self.catastrophes)
            ):
                alone = (kind,)  # one tuple for all squares, since a game keeps all its states
                for cell in cells_of(mask):
                    at[cell] = alone
            for n, cell in enumerate(self.leaders):
                if cell >= 0:
                    at[cell] = (leader_kind(seats[n // 4], COLOURS[n % 4]),)
            for cell in cells_of(self.treasures):
                at[cell] = (*at.get(cell, ()), "treasure")
            if self.union >= 0:
                at[self.union] = (*at[self.union], "union")
            for name, cell in zip(self.board.monuments, self.monuments):
                if cell >= 0:
                    at[cell] = (*at[cell], "monument:" + name)
            ids = self.board.ids
            found = self._layout = {ids[cell]: at[cell] for cell in sorted(at)}
        return dict(found)

    def differs(self, other: Pieces) -> int:
        """A mask of the squares whose contents differ; a monument counts on its upper left
        square."""
        out = (
            (self.flipped ^ other.flipped)
            | (self.catastrophes ^ other.catastrophes)
            | (self.treasures ^ other.treasures)
        )
        for a, b in zip(self.tiles, other.tiles):
            out |= a ^ b
        for mine, theirs in (
            (self.leaders, other.leaders),
            (self.monuments, other.monuments),
            ((self.union,), (other.union,)),
        ):
            if mine != theirs:
                for a, b in zip(mine, theirs):
                    if a != b:
                        out |= (1 << a if a >= 0 else 0) | (1 << b if b >= 0 else 0)
        return out


_first_leader = attrgetter("leaders")
