"""Loose pieces that the network found, and whose they are."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

import msgspec
import numpy as np

from vision.geometry.footprints import depth_within
from vision.learned.groups import Form, SiteGroup, belonging_kinds, is_flat
from vision.plan import Plan

BESIDE_SITE = 6.0  # mm by which a piece's foot may lie outside its site's outline
BESIDE_PILE = 3.0  # and outside a pile's
SUREST = 0.999  # that is told of a piece
UNLIKELY_PIECE = 0.02  # chance below which nothing is said of a piece
# of the narrower's breadth: nearer than that two pieces of like size cannot lie, or flat ones of one
# form on each other
CLASH, FLAT_CLASH = 0.75, 0.5
# of both breadths' mean, as near as what stands can be, less what a foot is found off: an obelisk's end was taken
# for a figure 7.9 and 8.4 mm beside it
STANDING_CLASH = 0.9


class Finding(msgspec.Struct, frozen=True, eq=False):
    """A loose piece that may lie there. form: its number; top: (2,) mm of the board at which it is
    seen; foot: (2,) mm; chance: that a piece lies there; kinds: kind -> probability; sought: the form
    that was looked for there"""

    form: int
    top: np.ndarray
    foot: np.ndarray
    chance: float
    kinds: dict[str, float]
    sought: int

    @property
    def by_rival(self) -> bool:
        """Whether another form than its own was looked for"""
        return self.sought != self.form


def join_findings(found: Sequence[Finding]) -> Finding:
    """The first of several that can only be one piece, with the chance of all: of the places about a
    piece at which its form is found one is its own, so their chances add up"""
    chances: dict[int, float] = defaultdict(float)
    for f in found:
        chances[f.sought] += f.chance
    return msgspec.structs.replace(found[0], chance=min(max(chances.values()), SUREST))


class OutlineMap:
    """Sites that are read one way, by place. beside: mm by which a place may lie outside a site's outline"""

    def __init__(self, plan: Plan, reads: str, beside: float) -> None:
        both = [(s.id, o) for s in plan.site if s.reads == reads for o in s.outlines]
        self.beside, self.outlines = beside, [(i, o.astype(np.float32)) for i, o in both]
        self.low = np.array([o.min(0) for _, o in both]).reshape(-1, 2) - beside
        self.high = np.array([o.max(0) for _, o in both]).reshape(-1, 2) + beside

    def depths_about(self, mm: np.ndarray) -> dict[str, float]:
        """site -> mm by which (2,) mm lies inside its outline, less than 0 by which it lies outside"""
        out: dict[str, float] = {}
        for n in np.flatnonzero(((mm > self.low) & (mm < self.high)).all(1)):
            site, outline = self.outlines[n]
            depth = depth_within(outline, mm)
            if depth > -self.beside:
                out[site] = max(depth, out.get(site, depth))
        return out


class SiteMap:
    """Whose a place is: the cluster in whose outline it lies, or the nearest"""

    def __init__(self, plan: Plan) -> None:
        self.clusters = OutlineMap(plan, "cluster", BESIDE_SITE)

    def share_foot(self, foot: np.ndarray) -> dict[str, float]:
        """site -> chance that it stands there"""
        depths = self.clusters.depths_about(foot)
        if not depths:
            return {}
        best = max(depths, key=depths.get)
        chances = {s: 0.5 * (1 + math.erf(d / math.sqrt(2))) for s, d in depths.items()}
        total = sum(chances.values())
        if total < 1e-3:
            return {best: 1.0}
        return {s: p / total for s, p in chances.items() if p / total > 0.01}


class PileMap:
    """Which kinds of loose pieces belong on the piles about a place, and which do not"""

    def __init__(self, plan: Plan, groups: Sequence[SiteGroup], forms: Sequence[Form]) -> None:
        self.belonging = {i: belonging_kinds(plan, g) for g in groups for i in g.ids}
        self.strays = {k for form in forms for k in form.strays}
        self.piles = OutlineMap(plan, "pile", BESIDE_PILE)

    def leave_piled(self, found: Sequence[Finding]) -> list[Finding]:
        """Without the pieces that lie on piles where they belong, and loose nowhere: they are read
        there"""
        out = []
        for piece in found:
            if self.strays & piece.kinds.keys():
                piled = set().union(
                    *(self.belonging[i] for i in self.piles.depths_about(piece.foot))
                )
                kinds = {k: p for k, p in piece.kinds.items() if k not in piled & self.strays}
                left = sum(kinds.values())
                if left < UNLIKELY_PIECE:
                    continue
                kinds = {k: p / left for k, p in kinds.items()}
                piece = msgspec.structs.replace(piece, chance=piece.chance * left, kinds=kinds)
            out.append(piece)
        return out

    def find_strangers(self, found: Sequence[Finding], homes: SiteMap) -> dict[str, float]:
        """site -> chance that a piece lies on a pile on which it does not belong, nor loose there"""
        out: dict[str, float] = {}
        for piece in found:
            on = [i for i, depth in self.piles.depths_about(piece.foot).items() if depth > 0]
            if not on:
                continue
            about = [*on, *homes.share_foot(piece.foot)]
            known = set().union(*(self.belonging[i] for i in about if i in self.belonging))
            strange = piece.chance * sum(p for k, p in piece.kinds.items() if k not in known)
            out |= {i: max(strange, out.get(i, 0.0)) for i in on}
        return out


def clash_reach(one: Form, other: Form, by_rival: bool = False) -> float:
    """mm apart at which pieces of these forms, if of like size, would still lie in one another;
    negative where they never would. by_rival: whether one was found where another form was looked for:
    it may be the other's end then"""
    if max(one.width, other.width) > 2 * min(one.width, other.width):
        return -1.0
    if one.upright and other.upright:
        return STANDING_CLASH * (one.breadth + other.breadth) / 2
    stacked = one == other and is_flat(one.size, one.height) and not by_rival
    nearest = FLAT_CLASH if stacked else CLASH
    return nearest * min(one.breadth, other.breadth)
