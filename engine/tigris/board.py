"""The printed board as numbers: every square is a bit, a set of squares is an int (a mask), and
shifts move to neighbouring squares.

The rows follow each other with one unused column in between, so that a shift past the end of a row
hits nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from engine.plan import BadPlan, Plan, Site
from engine.tigris.words import COLOURS, SEATS, TILES

_ID = re.compile(r"^([A-Za-z]+)(\d+)$")


class Board:
    """A compiled plan. `index` is site id -> cell, `ids` is cell -> site id ("" between rows);
    masks are ints with one bit per cell."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        places = _grid_places(plan)
        columns = 1 + max(x for x, _ in places.values())
        rows = 1 + max(y for _, y in places.values())
        self.width = columns + 1
        self.index: dict[str, int] = {s: y * self.width + x for s, (x, y) in places.items()}
        self.ids: list[str] = [""] * (rows * self.width)
        for site, cell in self.index.items():
            self.ids[cell] = site
        self.all = self._mask(plan.sites.values())
        self.river = self._mask(plan.tagged("river"))
        self.land = self.all & ~self.river
        self.winged = self._mask(plan.tagged("winged"))
        self.corner = self._mask(plan.tagged("corner"))
        self.order: list[int] = [self.index[s] for s in plan.sites]
        self.near: list[int] = [
            self._around(1 << c) & self.all if self.ids[c] else 0 for c in range(len(self.ids))
        ]
        self.ring: list[int] = [
            self._around(self._around(1 << c)) & ~(1 << c) & self.all if self.ids[c] else 0
            for c in range(len(self.ids))
        ]
        self.land_ids: list[str] = [s if self.land >> c & 1 else "" for c, s in enumerate(self.ids)]
        # for every eight cells, the cells of each of their 256 masks
        self._eights: list[list[tuple[int, ...]]] = [
            [tuple(first + c for c in cells_of(m)) for m in range(256)]
            for first in range(0, len(self.ids), 8)
        ]
        self.totals: tuple[int, ...] = tuple(plan.counts.get(kind, 0) for kind in TILES)
        self.monuments: tuple[str, ...] = tuple(
            k[9:] for k in plan.counts if k.startswith("monument:")
        )
        self.squares: dict[int, int] = {}  # upper left cell -> its four cells
        self.squares_of: dict[int, tuple[int, ...]] = {c: () for c in self.index.values()}
        self._find_squares()

    def _mask(self, sites: Iterable[Site]) -> int:
        return sum(1 << self.index[s.id] for s in sites)

    def _around(self, m: int) -> int:
        w = self.width
        return m << 1 | m >> 1 | m << w | m >> w

    def _find_squares(self) -> None:
        w = self.width
        for c in self.index.values():
            four = 1 << c | 1 << c + 1 | 1 << c + w | 1 << c + w + 1
            if four & self.all == four:
                self.squares[c] = four
        for corner, four in self.squares.items():
            for c in cells_of(four):
                self.squares_of[c] += (corner,)

    def around(self, m: int) -> int:
        """The squares that share an edge with one of `m`."""
        w = self.width
        return (m << 1 | m >> 1 | m << w | m >> w) & self.all

    def flood(self, start: int, occupied: int) -> int:
        """All of `occupied` that is connected with `start` along edges (T6)."""
        w = self.width
        here = start
        while True:
            more = (here | here << 1 | here >> 1 | here << w | here >> w) & occupied
            if more == here:
                return here
            here = more

    def hangs_together(self, region: int, cell: int) -> bool:
        """Whether a connected region stays connected without this square, which was part of it."""
        edges = self.near[cell] & region
        start = edges & -edges
        if start == edges:
            return True
        return not edges & ~self.flood(start, region & self.ring[cell]) or not edges & ~self.flood(
            start, region
        )

    def cells(self, m: int) -> list[int]:
        """The cells of a mask, lowest first; quicker than `cells_of` where there are many."""
        out: list[int] = []
        for eight, part in zip(self._eights, m.to_bytes(len(self._eights), "little")):
            out += eight[part]
        return out

    def sites(self, m: int) -> list[str]:
        """The site ids of a mask, in the plan's order."""
        return [self.ids[c] for c in self.order if m >> c & 1]

    def monument_colours(self, monument: str) -> tuple[int, ...]:
        """The indices of a monument's two colours."""
        return tuple(COLOURS.index(c) for c in monument.split("-") if c in COLOURS)


def cells_of(m: int) -> Iterator[int]:
    """The cells of a mask, lowest first."""
    while m:
        low = m & -m
        yield low.bit_length() - 1
        m ^= low


@lru_cache(maxsize=16)
def compiled_board(plan: Plan) -> Board:
    """The plan compiled, once per plan. Raises BadPlan if it is not a board of squares."""
    for kind in (
        *TILES,
        "catastrophe",
        "union",
        "flipped",
        "treasure",
        *(f"leader:{s}:{c}" for s in SEATS for c in COLOURS),
    ):
        if kind not in plan.counts:
            raise BadPlan(f"plan: no piece of kind {kind!r}")
    if not plan.sites:
        raise BadPlan("plan: no site")
    return Board(plan)


def _grid_places(plan: Plan) -> dict[str, tuple[int, int]]:
    """site -> (column, row), from where the squares lie; from ids such as C4 where the plan has no
    outlines."""
    sites = list(plan.sites.values())
    if all(s.outline for s in sites):
        across, down = _grid_lines(sites, 0), _grid_lines(sites, 1)
        places = {s.id: (across[s.id], down[s.id]) for s in sites}
        if len(set(places.values())) == len(sites):
            return places
    places = {}
    for s in sites:
        m = _ID.match(s.id)
        if m is None:
            raise BadPlan(f"plan: site {s.id} lies on no square of a grid")
        places[s.id] = (_column_number(m[1]), int(m[2]) - 1)
    return places


def _grid_lines(sites: list[Site], axis: int) -> dict[str, int]:
    """site -> number of its column (axis 0) or row (axis 1): squares whose centres lie within half
    a square of each other share one."""
    middle = {s.id: sum(p[axis] for p in s.outline) / len(s.outline) for s in sites}
    side = sorted(max(p[axis] for p in s.outline) - min(p[axis] for p in s.outline) for s in sites)[
        len(sites) // 2
    ]
    out, line, last = {}, 0, None
    for site in sorted(middle, key=lambda s: middle[s]):
        if last is not None and middle[site] - last > side / 2:
            line += 1
        out[site], last = line, middle[site]
    return out


def _column_number(word: str) -> int:
    n = 0
    for ch in word.upper():
        n = n * 26 + ord(ch) - ord("A") + 1
    return n - 1
