"""The board as the rules use it, compiled once from a plan: rows of fields, palms, waves on the
river, market, track."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from importlib import resources

import msgspec

from engine.plan import BadPlan, Plan, Site

COLOURS = ("red", "blue", "yellow", "green", "white")
FRUITS = ("flax", "grain", "grapes", "onion", "aubergine")
TIDES = ("flood", "ebb1", "ebb2")


class Field(msgspec.Struct, frozen=True):
    """One field: its row, its index in the row (0 is next to the river), its palms, and the river's
    waves below it (first field)."""

    site: str
    row: str
    place: int
    palms: int
    river: int
    desert: bool


class Board:
    """A plan as the rules of this game see it.

    rows: row id -> its fields' sites from the river to the desert. market: row number -> its places
    from the house wall; row 1 is next to the house. track: the score track's sites, first square
    first. sites: every site of the plan.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.sites = frozenset(plan.sites)
        self.fields: dict[str, Field] = {}
        self.rows: dict[str, tuple[str, ...]] = {}
        self._fields(plan)
        self.market = self._market(plan)
        self.places = {s: (n, i) for n, row in self.market.items() for i, s in enumerate(row)}
        self.track = tuple(
            s.id for s in sorted(plan.tagged("track"), key=lambda s: _place_number(s.id))
        )
        if not self.track:
            raise BadPlan("plan: no site is tagged track")
        self.square = {s: i for i, s in enumerate(self.track)}
        if "boat" not in plan.sites:
            raise BadPlan("plan: no site is called boat")
        self.box = self._box(plan)
        self.deserts = plan.counts.get("desert", 0)
        self.waves = frozenset(k[6:] for k in plan.counts if k.startswith("water:"))
        self.wave_counts = {
            k[6:]: n for k, n in plan.counts.items() if k.startswith("water:") and n
        }
        self.kinds = frozenset(plan.counts)
        self.edges = tuple(s for s, f in self.fields.items() if f.desert and f.palms <= 2)

    def _fields(self, plan: Plan) -> None:
        rows: dict[str, list[Site]] = {}
        for s in plan.tagged("field"):
            row, dot, _ = s.id.rpartition(".")
            if not dot:
                raise BadPlan(f"plan: field {s.id} is not named ROW.NUMBER")
            rows.setdefault(row, []).append(s)
        for row, sites in rows.items():
            sites.sort(key=lambda s: _place_number(s.id))
            self.rows[row] = tuple(s.id for s in sites)
            for i, s in enumerate(sites):
                palms = s.number("palms")
                if palms is None:
                    raise BadPlan(f"plan: field {s.id} has no palmsN tag")
                river = s.number("river") if i == 0 else 0
                self.fields[s.id] = Field(s.id, row, i, palms, river or 0, i == len(sites) - 1)

    @staticmethod
    def _market(plan: Plan) -> dict[int, tuple[str, ...]]:
        rows: dict[int, list[str]] = {}
        for s in plan.tagged("market"):
            row, dot, _ = s.id.rpartition(".")
            if not dot or not row[1:].isdecimal():
                raise BadPlan(f"plan: market place {s.id} is not named M<row>.<place>")
            rows.setdefault(int(row[1:]), []).append(s.id)
        return {n: tuple(sorted(rows[n], key=_place_number)) for n in sorted(rows)}

    @staticmethod
    def _box(plan: Plan) -> dict[str, tuple[int, ...]]:
        return {c: tuple(plan.counts.get(f"seed:{c}:{f}", 0) for f in FRUITS) for c in COLOURS}

    def inner(self, site: str) -> str | None:
        """The field before this one, towards the river."""
        f = self.fields[site]
        return self.rows[f.row][f.place - 1] if f.place else None

    def outer(self, site: str) -> str | None:
        """The field after this one, towards the desert."""
        f = self.fields[site]
        row = self.rows[f.row]
        return row[f.place + 1] if f.place + 1 < len(row) else None

    def open_rows(self, palms: int) -> tuple[int, ...]:
        """The market rows that this many palms reach (N29, N47): 4 palms any row, otherwise that
        many rows counted from the house."""
        return tuple(n for i, n in enumerate(self.market) if palms >= 4 or i < palms)

    @property
    def last_square(self) -> int:
        """The number of the score track's last square."""
        return len(self.track)


def _place_number(site: str) -> int:
    digits = "".join(c for c in site.rpartition(".")[2] if c.isdecimal())
    if not digits:
        raise BadPlan(f"plan: site {site} ends in no number")
    return int(digits)


@lru_cache(maxsize=16)
def board_of(plan: Plan | None) -> Board:
    """The plan's board; None: that of the plan that comes with the game. Raises BadPlan."""
    if plan is None:
        plan = Plan.parse(
            resources.files("engine.nile").joinpath("plan.toml").read_text(encoding="utf-8")
        )
    return Board(plan)


def fruit_marker(kind: str) -> tuple[str, str, str] | None:
    """`"ripe:red:flax"` -> ("ripe", "red", "flax"); None if the kind is not a fruit marker."""
    parts = kind.split(":")
    return (
        (parts[0], parts[1], parts[2])
        if len(parts) == 3 and parts[0] in ("seed", "ripe", "rotten")
        else None
    )


def card_on(contents: tuple[str, ...]) -> str | None:
    """The card or cover that lies on a field: "water:12", "desert", "cover"; None if its ground is
    bare."""
    if contents and (contents[0].startswith("water:") or contents[0] in ("desert", "cover")):
        return contents[0]
    return None


def waves_on(contents: tuple[str, ...]) -> str | None:
    """The waves of the water card on a field, river-side edge first; None if there is none."""
    return contents[0][6:] if contents and contents[0].startswith("water:") else None


def fruit_markers(contents: tuple[str, ...]) -> list[tuple[str, str, str]]:
    """The fruit markers among contents, as (side, colour, fruit)."""
    return [m for k in contents if (m := fruit_marker(k))]


def counted_markers(kinds: tuple[str, ...]) -> Counter[tuple[str, str]]:
    """(colour, fruit) -> how many, whichever side is up."""
    return Counter((c, f) for _, c, f in fruit_markers(kinds))
