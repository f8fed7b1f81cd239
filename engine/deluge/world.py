"""The map as the plan has it: land, sea, borders, minerals, floods, forest spots, the counter's
squares, box counts."""

from __future__ import annotations

from functools import lru_cache

from engine.deluge.words import MINERALS
from engine.plan import BadPlan, Plan


class Map:
    """lands, seas: cell ids in the plan's order. always_sea: the seas as a set. borders: id -> ids
    of its neighbours. mineral, rise: land id -> its own. spots: land id -> its forest spots.
    squares: the counter's sites, square n at index n. box: kind -> number of pieces."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        cells = [s for s in plan.sites.values() if s.of is None]
        self.lands = tuple(s.id for s in cells if "land" in s.tags)
        self.seas = tuple(s.id for s in cells if "sea" in s.tags)
        self.always_sea = frozenset(self.seas)
        if not self.lands:
            raise BadPlan("plan: no site with the tag land")
        self.cells = tuple(s.id for s in cells if "land" in s.tags or "sea" in s.tags)
        touching = _touching_cells(plan, self.cells)
        self.borders = {c: tuple(o for o in self.cells if o in touching[c]) for c in self.cells}
        self.touching = {c: frozenset(o) for c, o in touching.items()}
        self.mineral = {
            c: next((m for m in MINERALS if m in plan.sites[c].tags), None) for c in self.lands
        }
        self.rise = {c: plan.sites[c].number("rise") for c in self.lands}
        self.spots = {c: tuple(plan.spots.get(c, ())) for c in self.lands}
        self.cell_of = {spot: c for c, spots in self.spots.items() for spot in spots}
        self.squares = _counter_squares(plan)
        self.box = dict(plan.counts)
        self.order = {c: i for i, c in enumerate(self.cells)}

    def centre(self, continent: str) -> str | None:
        """The cell that a colour's people begin on (D5)."""
        return next(
            (c for c in self.lands if {"centre", continent} <= self.plan.sites[c].tags), None
        )

    def people(self, colour: str) -> int:
        """How many people of a colour are in the box."""
        return self.box.get(f"people:{colour}", 25)

    @property
    def fanatics(self) -> int:
        """How many fanatics are in the box."""
        return self.box.get("fanatic", 40)


def _touching_cells(plan: Plan, cells: tuple[str, ...]) -> dict[str, set[str]]:
    """cell -> the cells that border it, whichever of the two the plan says so of."""
    touching: dict[str, set[str]] = {c: set() for c in cells}
    for c in cells:
        for other in plan.sites[c].borders:
            if other in touching:
                touching[c].add(other)
                touching[other].add(c)
    return touching


def _counter_squares(plan: Plan) -> tuple[str, ...]:
    """The counter's sites (count0, count1, ...) in the order of their numbers."""
    numbers = {s.id: s.id.removeprefix("count") for s in plan.tagged("counter")}
    found = [site for site, number in numbers.items() if number.isdecimal()]
    return tuple(sorted(found, key=lambda site: int(numbers[site])))


@lru_cache(maxsize=16)
def _compiled_map(plan: Plan) -> Map:
    return Map(plan)


def map_of(plan: Plan) -> Map:
    """The plan compiled for the rules; the same plan gives the same map."""
    return _compiled_map(plan)
