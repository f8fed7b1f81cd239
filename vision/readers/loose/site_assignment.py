"""On which site a piece stands that lies loose: by the sites' outlines, or where the cards lie that
fill them. Its value: Homes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import cv2
import msgspec
import numpy as np

from vision.plan import Plan
from vision.readers.loose.cards.card_reader import Tried

NEAR = 6.0  # mm by which a piece's middle may lie outside its site's outline


class Bounded(msgspec.Struct, frozen=True, eq=False):
    """An outline of a site, (n, 2) mm, with its (2,) least and most"""

    site: str
    outline: np.ndarray
    lo: np.ndarray
    hi: np.ndarray

    @classmethod
    def of(cls, site: str, outline: np.ndarray) -> Bounded:
        return cls(site, outline.astype(np.float32), outline.min(0), outline.max(0))


class Homes:
    """The outlines of sites on which pieces lie loose"""

    def __init__(self, outlines: Iterable[Bounded]) -> None:
        self.outlines = tuple(outlines)

    @classmethod
    def of(cls, plan: Plan) -> Homes:
        return cls(
            Bounded.of(s.id, o) for s in plan.site if s.reads == "cluster" for o in s.outlines
        )

    def around(self, cards: Mapping[str, str], tried: Mapping[str, Tried]) -> Homes:
        """The same, where cards fill their sites drawn around them: what stands on one is where it
        is. cards: site -> kind"""
        return Homes(
            Bounded.of(b.site, tried[b.site].along(cards[b.site], b.outline))
            if b.site in cards
            else b
            for b in self.outlines
        )

    def depths(self, foot: np.ndarray) -> dict[str, float]:
        """site -> how many mm inside it (negative: outside) a foot point lies, for those near it"""
        out: dict[str, float] = {}
        x, y = map(float, foot)
        for b in self.outlines:
            if b.lo[0] - NEAR < x < b.hi[0] + NEAR and b.lo[1] - NEAR < y < b.hi[1] + NEAR:
                d = cv2.pointPolygonTest(b.outline, (x, y), True)
                if d > -NEAR:
                    out[b.site] = max(d, out.get(b.site, d))
        return out

    def home(self, foot: np.ndarray) -> str | None:
        """The site in which a foot point lies, or the nearest within NEAR"""
        depths = self.depths(foot)
        return max(depths, key=depths.get) if depths else None
