"""Which site a piece belongs to that lies near a border: two sites see it, its foot stands on one.
Its value: settled."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from vision.evidence.site_evidence import FLOOR, Contents, SiteEvidence
from vision.geometry.site_groups import depth_inside, outline_size
from vision.plan import Plan

ASTRAY = 1.5  # mm by which a foot may be misplaced, one standard deviation
NEAR = 3.0  # mm: nearer to the border or beyond it a foot may be another site's
MAYBE = 0.02  # chance of a piece below which it is nobody's


class Seen(msgspec.Struct, frozen=True, eq=False):
    """What a site's window shows likeliest. parts: contents (which only its turn tells apart) ->
    probability; foot: (2,) mm."""

    site: str
    parts: dict[Contents, float]
    foot: np.ndarray

    @property
    def chance(self) -> float:
        return sum(self.parts.values())


class Borders:
    """The outlines of a plan's pile sites, to be asked whose a place is"""

    def __init__(self, plan: Plan) -> None:
        self.ids = [s.id for s in plan.site if s.reads == "pile"]
        self.outlines = [plan.sites[i].outlines for i in self.ids]
        self.middles = np.array([plan.sites[i].centre for i in self.ids]).reshape(-1, 2)
        self.reach = np.array([np.linalg.norm(outline_size(plan.sites[i])) / 2 for i in self.ids])

    def depths(self, foot: np.ndarray) -> dict[str, float]:
        """site -> mm inside its outline (negative: outside), of the sites near by"""
        return {
            self.ids[i]: max(float(depth_inside(foot[None], o)[0]) for o in self.outlines[i])
            for i in self.near(foot)
        }

    def near(self, foot: np.ndarray) -> np.ndarray:
        """Numbers of the sites that a foot may be on"""
        return np.flatnonzero(np.linalg.norm(self.middles - foot, axis=1) < self.reach + NEAR)

    def owner(self, site: str, foot: np.ndarray) -> tuple[str, float]:
        """The other site that a foot is likeliest on, and how likely it is that one's; "" where no
        other is near"""
        # most pieces lie well inside and need not be measured
        if [self.ids[i] for i in self.near(foot)] == [site]:
            return "", 0.0
        depths = self.depths(foot)
        own = depths.pop(site, -math.inf)
        if own > NEAR or not depths:
            return "", 0.0
        other = max(depths, key=depths.get)
        return other, 0.5 * (1 + math.erf((depths[other] - own) / (2 * ASTRAY * math.sqrt(2))))

    def stands(self, s: Seen) -> str:
        """The site on which a piece stands that is seen on one"""
        other, share = self.owner(s.site, s.foot)
        return other if share > 0.5 else s.site


def settled(
    borders: Borders, sites: Mapping[str, SiteEvidence], seen: Sequence[Seen]
) -> dict[str, SiteEvidence]:
    """The same evidence, each piece that is seen near a border given to the site on which it
    stands"""
    out = dict(sites)
    for s in seen:
        if s.chance < MAYBE:
            continue
        owner, share = borders.owner(s.site, s.foot)
        if share < MAYBE:
            continue
        moved = {c: p * share for c, p in s.parts.items()}
        out[s.site] = without(out[s.site], moved)
        if owner in out and (not out[owner].best or out[owner].best in moved or out[owner].foreign):
            out[owner] = given(out[owner], moved)
    return out


def without(e: SiteEvidence, moved: Mapping[Contents, float]) -> SiteEvidence:
    """So much of each contents turned into nothing: the piece is another site's"""
    chances = {c: math.exp(p) for c, p in e.options}
    for c, p in moved.items():
        p = min(p, chances.get(c, 0.0))
        chances[c] = chances.get(c, 0.0) - p
        chances[()] = chances.get((), 0.0) + p
    return evidence(chances, math.exp(e.other))


def given(e: SiteEvidence, moved: Mapping[Contents, float]) -> SiteEvidence:
    """As it is when a neighbour's window shows that, with these probabilities, such a piece stands
    here"""
    chances = {c: math.exp(p) for c, p in e.options}
    here = sum(moved.values())
    both = 1 - (1 - sum(chances.get(c, 0.0) for c in moved)) * (1 - here)
    left = max(1 - sum(chances.get(c, 0.0) for c in moved), 1e-9)
    chances = {c: p * (1 - both) / left for c, p in chances.items() if c not in moved}
    chances |= {c: both * p / here for c, p in moved.items()}
    return evidence(chances, math.exp(e.other) * (1 - both) / left)


def evidence(chances: Mapping[Contents, float], other: float) -> SiteEvidence:
    options = sorted(
        ((c, max(math.log(max(p, 1e-9)), FLOOR)) for c, p in chances.items()),
        key=lambda o: -o[1],
    )
    return SiteEvidence(tuple(options), max(math.log(max(other, 1e-9)), FLOOR))


def less_foreign(e: SiteEvidence, occupied: float) -> SiteEvidence:
    """As it is when, its neighbours' pieces left aside, only so much speaks for anything lying
    there"""
    chances = {c: math.exp(p) for c, p in e.options}
    other = math.exp(e.other)
    chances[()] = chances.get((), 0.0) + other * (1 - occupied)
    return evidence(chances, other * occupied)


def more_foreign(e: SiteEvidence, there: float) -> SiteEvidence:
    """As it is when something surely lies on a site that seems empty, with this probability"""
    chances = {c: math.exp(p) for c, p in e.options}
    bare = chances.get((), 0.0)
    chances[()] = bare * (1 - there)
    return evidence(chances, math.exp(e.other) + bare * there)
