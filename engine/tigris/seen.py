"""What the board shows, as masks that are quick to compare with a state."""

from __future__ import annotations

from engine.game import Difference
from engine.tigris.board import cells_of
from engine.tigris.pieces import Pieces
from engine.tigris.position import Position
from engine.tigris.words import COLOUR_OF, COLOURS


class Seen:
    """The state's board with the sites of a difference replaced by what was seen. `leaders` and
    `monuments` are masks, since one may be seen twice. `hidden`: squares whose tile cannot be seen.
    The union tile is not compared: people forget to put it down and to remove it, and it decides
    nothing."""

    __slots__ = (
        "catastrophes",
        "contents",
        "flipped",
        "hidden",
        "leaders",
        "monuments",
        "sites",
        "strange",
        "tiles",
        "treasures",
    )

    def __init__(self, s: Position, difference: Difference) -> None:
        p, board = s.pieces, s.board
        self.sites = {
            site: tuple(pair[1]) for site, pair in difference.items() if site in board.index
        }
        mask = sum(1 << board.index[site] for site in self.sites)
        self.tiles = [t & ~mask for t in p.tiles]
        self.flipped, self.catastrophes = p.flipped & ~mask, p.catastrophes & ~mask
        self.treasures, self.hidden, self.strange = p.treasures & ~mask, 0, 0
        self.leaders = [1 << c & ~mask if c >= 0 else 0 for c in p.leaders]
        self.monuments = [1 << c & ~mask if c >= 0 else 0 for c in p.monuments]
        for site, contents in self.sites.items():
            self._read(s, 1 << board.index[site], contents)

    def _read(self, s: Position, bit: int, contents: tuple[str, ...]) -> None:
        for kind in contents:
            head, _, rest = kind.partition(":")
            if kind in COLOUR_OF:
                if "catastrophe" not in contents:  # a tile below one has left the game
                    self.tiles[COLOUR_OF[kind]] |= bit
            elif kind == "flipped":
                self.flipped |= bit
            elif kind == "catastrophe":
                self.catastrophes |= bit
            elif kind == "treasure":
                self.treasures |= bit
            elif kind == "?":
                self.hidden |= bit
            elif (
                head == "leader"
                and rest.split(":")[0] in s.seats
                and rest.split(":")[-1] in COLOURS
            ):
                seat, colour = rest.split(":")
                self.leaders[s.seats.index(seat) * 4 + COLOURS.index(colour)] |= bit
            elif head == "monument" and rest in s.board.monuments:
                self.monuments[s.board.monuments.index(rest)] |= bit
            elif kind != "union":
                self.strange |= bit

    def differs(self, p: Pieces) -> int:
        """A mask of the squares where these pieces are not what is seen."""
        return self._squares(p) | self._leaders(p)

    def _squares(self, p: Pieces) -> int:
        tiles = self.flipped ^ p.flipped
        for a, b in zip(self.tiles, p.tiles):
            tiles |= a ^ b
        there = p.tiles[0] | p.tiles[1] | p.tiles[2] | p.tiles[3] | p.flipped
        out = tiles & ~self.hidden | self.hidden & ~there | self.strange
        out |= (self.catastrophes ^ p.catastrophes) | (self.treasures ^ p.treasures)
        for mask, cell in zip(self.monuments, p.monuments):
            if cell >= 0:
                mask ^= 1 << cell
            out |= mask
        return out

    def _leaders(self, p: Pieces) -> int:
        out = 0
        for mask, cell in zip(self.leaders, p.leaders):
            if cell >= 0:
                mask ^= 1 << cell
            out |= mask
        return out

    def far(self, p: Pieces) -> int:
        """The number of squares that differ; leaders count twice, since they show how a conflict
        ended while tiles are still being cleared away."""
        return self.differs(p).bit_count() + self._leaders(p).bit_count()

    def new_leaders(self, p: Pieces) -> list[tuple[int, int]]:
        """(leader, cell) for those seen where they did not stand."""
        return [
            (n, c)
            for n, mask in enumerate(self.leaders)
            for c in cells_of(mask)
            if c != p.leaders[n]
        ]

    def gone_leaders(self, p: Pieces) -> list[int]:
        """The leaders that stood on the board and are no longer seen."""
        return [n for n, c in enumerate(p.leaders) if c >= 0 and not self.leaders[n]]
