"""What a difference says about the whole square: tiles, stones of each colour, ziggurats."""

from __future__ import annotations

from collections import Counter

from engine.game import Difference
from engine.layout import Contents, canonical_contents
from engine.ur.board import is_tile
from engine.ur.position import Position


class Seen:
    """By place: `tiles`, `zig`, `stones` (Counter of seat number -> stones). `changed`: places that
    differ from the state.

    `hands`, `spare`: tiles beside the square that differ, without those out of view. `raw`: site ->
    contents seen.
    """

    def __init__(self, state: Position, difference: Difference) -> None:
        board = state.board
        self.state = state
        self.raw: dict[str, Contents] = {
            s: canonical_contents(tuple(c[1]), "cluster") for s, c in difference.items()
        }
        self.tiles: list[str | None] = list(state.tiles)
        self.zig = list(state.zig)
        self.stones = [
            Counter({p: n}) if p >= 0 else Counter() for p, n in zip(state.owner, state.count)
        ]
        self.changed: list[int] = []
        self.hands: dict[int, str | None] = {}
        self.spare: str | None = state.spare
        seats = {s: p for p, s in enumerate(state.seats)}
        for site, contents in sorted(self.raw.items()):
            tile = next((k[5:] for k in contents if k.startswith("tile:")), None)
            if tile is not None and not is_tile(tile):
                tile = None
            if site in board.hands:
                if (p := board.hands.index(site)) < len(state.seats):
                    self.hands[p] = tile
            elif site == board.spare:
                self.spare = tile
            elif site in board.index:
                i = board.index[site]
                self.changed.append(i)
                self.tiles[i] = state.tiles[i] if "?" in contents and tile is None else tile
                self.zig[i] = "ziggurat" in contents
                self.stones[i] = Counter(seats[k] for k in contents if k in seats)
        self.changed.sort()

    def number(self, i: int, p: int) -> int:
        """How many stones of a player are seen on a place."""
        return self.stones[i][p]

    def laid(self, i: int) -> str | None:
        """The tile newly seen on a place, None if it is the old one."""
        return self.tiles[i] if self.tiles[i] != self.state.tiles[i] else None

    def mismatch(self, state: Position) -> dict[str, tuple[Contents, Contents]]:
        """site -> (contents of that state, contents seen), where they differ."""
        out: dict[str, tuple[Contents, Contents]] = {}
        board, before = state.board, self.state
        for i, site in enumerate(board.sites):
            want = self.raw.get(site)
            if want is None:
                if self._unchanged(state, i):
                    continue
                want = before.contents(i)
            have = state.contents(i)
            if have != want and canonical_contents(have, "cluster") != want:
                out[site] = (have, want)
        beside = [
            (board.spare, state.spare),
            *((board.hands[p], state.hands[p]) for p in self.hands),
        ]
        for place, tile in beside:
            if place is not None and place in self.raw:
                have, want = ("tile:" + tile,) if tile else (), self.raw[place]
                if not state.shows_same(place, have, want):
                    out[place] = (have, want)
        return out

    def _unchanged(self, state: Position, i: int) -> bool:
        """Whether the place is as it was in the state that the difference is relative to."""
        was = self.state
        return (
            state.count[i] == was.count[i]
            and state.owner[i] == was.owner[i]
            and state.tiles[i] == was.tiles[i]
            and state.zig[i] == was.zig[i]
        )
