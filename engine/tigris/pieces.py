"""What lies on the board, as a value, and the kingdoms it makes."""

from __future__ import annotations

from engine.layout import Contents, Layout
from engine.tigris.board import Board, cells
from engine.tigris.words import BLACK, BLUE, COLOURS, GREEN, RED, TILES, leader_kind

__all__ = ["BLACK", "BLUE", "GREEN", "RED", "Kingdom", "Pieces"]

Kingdom = tuple[int, tuple[int, ...]]
"""(mask of the region, numbers of its leaders)"""


class Pieces:
    """Immutable. `tiles`: a mask a colour (face-up tiles); `leaders`: a cell a leader or -1, number = seat * 4 + colour;
    `monuments`: upper left cell a monument or -1; `union`: the cell of the tile it lies on or -1."""

    __slots__ = ("_kingdoms", "_layout", "board", "catastrophes", "flipped", "leaders", "monuments", "occupied", "tiles", "treasures",
                 "union")

    def __init__(self, board: Board, tiles: tuple[int, ...], flipped: int, catastrophes: int, treasures: int, union: int,
                 leaders: tuple[int, ...], monuments: tuple[int, ...]) -> None:
        self.board, self.tiles, self.flipped, self.catastrophes = board, tiles, flipped, catastrophes
        self.treasures, self.union, self.leaders, self.monuments = treasures, union, leaders, monuments
        occupied = tiles[0] | tiles[1] | tiles[2] | tiles[3] | flipped
        for c in leaders:
            if c >= 0:
                occupied |= 1 << c
        self.occupied = occupied          # what hangs together: tiles and leaders, not catastrophes (T6, T8)
        self._kingdoms: list[Kingdom] | None = None
        self._layout: Layout | None = None

    def change(self, tiles=None, flipped=None, catastrophes=None, treasures=None, union=None, leaders=None, monuments=None
               ) -> Pieces:
        return Pieces(
            self.board, self.tiles if tiles is None else tiles, self.flipped if flipped is None else flipped,
            self.catastrophes if catastrophes is None else catastrophes,
            self.treasures if treasures is None else treasures, self.union if union is None else union,
            self.leaders if leaders is None else leaders, self.monuments if monuments is None else monuments)

    def add(self, colour: int, cell: int) -> Pieces:
        tiles = list(self.tiles)
        tiles[colour] |= 1 << cell
        return self.change(tiles=tuple(tiles))

    def without(self, mask: int) -> Pieces:
        """Without the face-up tiles on `mask`."""
        return self.change(tiles=tuple(t & ~mask for t in self.tiles))

    def stand(self, leader: int, cell: int) -> Pieces:
        """With this leader on `cell`; -1: with its owner."""
        leaders = list(self.leaders)
        leaders[leader] = cell
        return self.change(leaders=tuple(leaders))

    @property
    def free(self) -> int:
        """Squares with nothing on them."""
        return self.board.all & ~(self.occupied | self.catastrophes | self.treasures)

    def tile_at(self, cell: int) -> int:
        """The colour of the face-up tile on a cell, or -1."""
        for c, t in enumerate(self.tiles):
            if t >> cell & 1:
                return c
        return -1

    def leader_at(self, cell: int) -> int:
        """The number of the leader on a cell, or -1."""
        return self.leaders.index(cell) if cell in self.leaders else -1

    def region(self, cell: int) -> int:
        return self.board.flood(1 << cell, self.occupied)

    def kingdoms(self) -> list[Kingdom]:
        """Every region with a leader in it (T7)."""
        if self._kingdoms is None:
            self._kingdoms = self.kingdoms_of(self.leaders, self.occupied)
        return self._kingdoms

    def kingdoms_of(self, leaders: tuple[int, ...], occupied: int) -> list[Kingdom]:
        found: list[tuple[int, list[int]]] = []
        flood = self.board.flood
        for n, cell in enumerate(leaders):
            if cell < 0:
                continue
            for mask, members in found:
                if mask >> cell & 1:
                    members.append(n)
                    break
            else:
                found.append((flood(1 << cell, occupied), [n]))
        return [(mask, tuple(members)) for mask, members in found]

    def kingdoms_without(self, leader: int) -> list[Kingdom]:
        """The kingdoms with one leader lifted off the board (T15)."""
        cell = self.leaders[leader]
        if cell < 0:
            return self.kingdoms()
        out, others = [], []
        for kingdom in self.kingdoms():
            if leader in kingdom[1]:
                others = [n for n in kingdom[1] if n != leader]
            else:
                out.append(kingdom)
        if others:
            kept = tuple(c if n in others else -1 for n, c in enumerate(self.leaders))
            out += self.kingdoms_of(kept, self.occupied & ~(1 << cell))
        return out

    def kingdom_at(self, cell: int) -> Kingdom | None:
        for kingdom in self.kingdoms():
            if kingdom[0] >> cell & 1:
                return kingdom
        return None

    def touching(self, mask: int, kingdoms: list[Kingdom] | None = None) -> list[Kingdom]:
        """The kingdoms that touch one of these squares."""
        near = self.board.around(mask)
        return [k for k in (self.kingdoms() if kingdoms is None else kingdoms) if k[0] & near]

    def orphans(self, temples_before: int) -> list[int]:
        """Leaders that touched a temple before and touch none now (T16)."""
        near, temples = self.board.near, self.tiles[RED]
        return [n for n, c in enumerate(self.leaders)
                if c >= 0 and not near[c] & temples and near[c] & temples_before]

    def full_squares(self, cell: int) -> list[int]:
        """Upper left cells of the 2x2 squares of one colour that `cell` lies in."""
        board, colour = self.board, self.tile_at(cell)
        if colour < 0:
            return []
        same = self.tiles[colour]
        return [s for s in board.squares_of[cell] if board.squares[s] & same == board.squares[s]]

    def contents(self, cell: int, seats: tuple[str, ...]) -> Contents:
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
        if self._layout is None:
            at: dict[int, Contents] = {}
            for kind, mask in zip((*TILES, "flipped", "catastrophe"), (*self.tiles, self.flipped, self.catastrophes)):
                for cell in cells(mask):
                    at[cell] = (kind,)
            for n, cell in enumerate(self.leaders):
                if cell >= 0:
                    at[cell] = (leader_kind(seats[n // 4], COLOURS[n % 4]),)
            for cell in cells(self.treasures):
                at[cell] = (*at.get(cell, ()), "treasure")
            if self.union >= 0:
                at[self.union] = (*at[self.union], "union")
            for name, cell in zip(self.board.monuments, self.monuments):
                if cell >= 0:
                    at[cell] = (*at[cell], "monument:" + name)
            ids = self.board.ids
            self._layout = {ids[cell]: at[cell] for cell in sorted(at)}
        return dict(self._layout)

    def differs(self, other: Pieces) -> int:
        """The squares on which something else lies; a monument counts on its upper left square."""
        out = (self.flipped ^ other.flipped) | (self.catastrophes ^ other.catastrophes) | (self.treasures ^ other.treasures)
        for a, b in zip(self.tiles, other.tiles):
            out |= a ^ b
        for mine, theirs in ((self.leaders, other.leaders), (self.monuments, other.monuments),
                             ((self.union,), (other.union,))):
            if mine != theirs:
                for a, b in zip(mine, theirs):
                    if a != b:
                        out |= (1 << a if a >= 0 else 0) | (1 << b if b >= 0 else 0)
        return out
