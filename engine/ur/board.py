"""The square as the rules need it, compiled from a plan: neighbours, sides on the border, tiles and
pieces in the box."""

from __future__ import annotations

import re

from engine.plan import BadPlan, Plan
from engine.ur.words import COPIES, DOMAINS

_CELL = re.compile(r"^([A-Z]+)(\d+)$")


class Board:
    """`sites`: the tiles' places in the plan's order; everything else is indexed by position in
    that list.

    `near[i]`: indices that share an edge. `border[i]`: number of sides on the border of the square.
    `hands`: the places of the hand tiles in seat order. `spare`: the place of the fourth tile, or
    None. `pairs`: {frozenset of two domains: number of tiles}.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        cells = plan.tagged("square")
        if not cells:
            raise BadPlan("plan: no site is tagged square")
        self.sites: tuple[str, ...] = tuple(s.id for s in cells)
        self.index: dict[str, int] = {s: i for i, s in enumerate(self.sites)}
        self.near: tuple[tuple[int, ...], ...] = tuple(self._near(plan, s) for s in self.sites)
        self.border: tuple[int, ...] = tuple(max(0, 4 - len(n)) for n in self.near)
        self.hands: tuple[str, ...] = tuple(s.id for s in plan.tagged("hand"))
        beside = plan.tagged("spare")
        self.spare: str | None = beside[0].id if beside else None
        self.pairs: dict[frozenset[str], int] = {}
        for kind, n in plan.counts.items():
            if kind.startswith("tile:"):
                pair = frozenset(kind[5:].split("/"))
                if len(pair) != 2 or not pair <= set(DOMAINS):
                    raise BadPlan(f"plan: {kind} is not a tile of two domains")
                self.pairs[pair] = n or COPIES
        self.ziggurats: int = plan.counts.get("ziggurat", 0)
        self.stones: dict[str, int] = {
            k: n for k, n in plan.counts.items() if ":" not in k and k != "ziggurat"
        }

    def _near(self, plan: Plan, site: str) -> tuple[int, ...]:
        borders = plan.sites[site].borders
        if borders:
            return tuple(sorted(self.index[b] for b in borders if b in self.index))
        m = _CELL.match(site)
        if m is None:
            raise BadPlan(
                f"plan: site {site} has neither borders nor a name of a letter and a number"
            )
        column, row = m[1], int(m[2])
        names = [f"{column}{row - 1}", f"{column}{row + 1}"]
        names += [_shifted_column(column, -1) + m[2], _shifted_column(column, 1) + m[2]]
        return tuple(sorted(self.index[n] for n in names if n in self.index))


def _shifted_column(letters: str, step: int) -> str:
    return letters[:-1] + chr(ord(letters[-1]) + step)


def face_up(tile: str) -> str:
    """The domain that is up: `"war/trade"` -> `"war"`."""
    return tile.partition("/")[0]


def both_domains(tile: str) -> frozenset[str]:
    """Both domains of a tile; only one if the small sign is unknown (`"war/?"`)."""
    return frozenset(d for d in tile.split("/") if d != "?")


def turned_tile(tile: str, up: str) -> str:
    """The tile with the domain `up` on its face."""
    a, _, b = tile.partition("/")
    return tile if a == up else f"{b}/{a}"


def is_tile(tile: str) -> bool:
    """Whether this is the name of a tile, "face/back"."""
    a, slash, b = tile.partition("/")
    return bool(slash) and a in DOMAINS and b in DOMAINS and a != b
