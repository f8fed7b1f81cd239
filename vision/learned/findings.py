"""Loose pieces that the network found, and whose they are."""

from __future__ import annotations

import math

import cv2
import msgspec
import numpy as np

from vision.learned.groups import Form, is_flat
from vision.plan import Plan

BESIDE_SITE = 6.0  # mm by which a piece's foot may lie outside its site's outline
# of the narrower's breadth: nearer than that two pieces of like size cannot lie, or flat ones of one
# form on each other
CLASH, FLAT_CLASH = 0.75, 0.5


class Finding(msgspec.Struct, frozen=True, eq=False):
    """A loose piece that may lie there. form: its number; top: (2,) mm of the board at which it is
    seen; foot: (2,) mm; chance: that a piece lies there; kinds: kind -> probability"""

    form: int
    top: np.ndarray
    foot: np.ndarray
    chance: float
    kinds: dict[str, float]


class SiteMap:
    """Whose a place is: the cluster in whose outline it lies, or the nearest"""

    def __init__(self, plan: Plan) -> None:
        both = [(s.id, o) for s in plan.site if s.reads == "cluster" for o in s.outlines]
        self.outlines = [(i, o.astype(np.float32)) for i, o in both]
        self.low = np.array([o.min(0) for _, o in both]).reshape(-1, 2) - BESIDE_SITE
        self.high = np.array([o.max(0) for _, o in both]).reshape(-1, 2) + BESIDE_SITE

    def share_foot(self, foot: np.ndarray) -> dict[str, float]:
        """site -> chance that it stands there"""
        depths: dict[str, float] = {}
        for n in np.flatnonzero(((foot > self.low) & (foot < self.high)).all(1)):
            site, outline = self.outlines[n]
            d = cv2.pointPolygonTest(outline, (float(foot[0]), float(foot[1])), True)
            if d > -BESIDE_SITE:
                depths[site] = max(d, depths.get(site, d))
        if not depths:
            return {}
        best = max(depths, key=depths.get)
        chances = {s: 0.5 * (1 + math.erf(d / math.sqrt(2))) for s, d in depths.items()}
        total = sum(chances.values())
        if total < 1e-3:
            return {best: 1.0}
        return {s: p / total for s, p in chances.items() if p / total > 0.01}


def clash_reach(one: Form, other: Form) -> float:
    """mm apart at which pieces of these forms, if of like size, would still lie in one another;
    negative where they never would"""
    if max(one.width, other.width) > 2 * min(one.width, other.width):
        return -1.0
    nearest = FLAT_CLASH if one == other and is_flat(one.size, one.height) else CLASH
    return nearest * min(one.breadth, other.breadth)
