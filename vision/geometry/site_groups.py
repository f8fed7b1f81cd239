"""Sites read as piles, in groups of equal size, and the blocks of sites that a large piece
covers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import cv2
import msgspec
import numpy as np

from vision.geometry.pose import Pose
from vision.plan import Plan, Site

GROUND = 40  # places a side at which it is known whose they are
HAND = 4.0  # mm off that hands lay a piece where nothing guides them
BORDER_SD_MM = 2.0  # mm over its border at which a site has lost its claim, one standard deviation


class SizeGroup(msgspec.Struct, frozen=True, eq=False):
    """Sites of one size. ids: N of them; centres: (N, 2) mm; side: mm, the larger side of the
    outline's box;
    members: the sites each covers, in reading order; one each, except in a group of blocks; boxes:
    (N, 2) mm, width and depth; plane: mm above the board where its windows are cut."""

    ids: tuple[str, ...]
    centres: np.ndarray
    side: float
    members: tuple[tuple[str, ...], ...]
    boxes: np.ndarray
    spans: tuple[int, int] = (1, 1)
    plane: float = 0.0

    @property
    def block(self) -> bool:
        """Whether its sites hold one piece that lies on several cells"""
        return self.spans != (1, 1)


def beyond_picture(sites: Sequence[Site], pose: Pose) -> set[str]:
    """Which of these have their middle where a picture shows nothing"""
    centres = np.array([s.centre for s in sites], float).reshape(-1, 2)
    return {s.id for s, out in zip(sites, places_beyond_picture(centres, pose)) if out}


def places_beyond_picture(mm: np.ndarray, pose: Pose) -> np.ndarray:
    """(n,) bool: which of (n, 2) mm lie where a picture shows nothing"""
    at = pose.to_px(mm)
    return np.any((at < 0) | (at > np.subtract(pose.size, 1)), axis=1)


def outline_mask(
    outlines: Iterable[np.ndarray],
    to_px: Callable[[np.ndarray], np.ndarray],
    shape: tuple[int, int],
) -> np.ndarray:
    """(h, w) bool: where a picture of that shape shows what lies within outlines (n, 2) mm; to_px:
    (n, 2) mm -> its pixels"""
    out = np.zeros(shape, np.uint8)
    for outline in outlines:
        cv2.fillPoly(out, [np.rint(to_px(outline)).astype(np.int32)], 1)
    return out > 0


def outline_size(site: Site) -> np.ndarray:
    """(2,) mm: width and depth of the outline"""
    o = np.array(site.outline, float)
    return o.max(0) - o.min(0)


def group_by_size(plan: Plan) -> list[SizeGroup]:
    """The plan's pile sites by size; sides within a tenth count as equal."""
    piles = [s for s in plan.site if s.reads == "pile"]
    out: list[list[Site]] = []
    for s in sorted(piles, key=lambda s: float(outline_size(s).max())):
        if out and outline_size(s).max() < 1.1 * outline_size(out[-1][0]).max():
            out[-1].append(s)
        else:
            out.append([s])
    order = {s.id: n for n, s in enumerate(plan.site)}
    found = []
    for sites in out:
        sites.sort(key=lambda s: order[s.id])
        boxes = np.array([outline_size(s) for s in sites])
        found.append(
            SizeGroup(
                tuple(s.id for s in sites),
                np.array([s.centre for s in sites]),
                float(boxes.max()),
                tuple((s.id,) for s in sites),
                boxes,
            )
        )
    return found


def spare_reach(plan: Plan, group: SizeGroup, largest: float) -> float:
    """How many mm more than its spot leaves it a piece may lie off and still be nobody else's: what
    the spots next to it are away, at most what hands are off, less the room inside. largest: mm
    along the largest piece. 0 for sites that are no spots
    inside a cell: their borders are printed, and people keep to them."""
    if group.block or any(plan.sites[s].of is None for s in group.ids):
        return 0.0
    piles = [s for s in plan.site if s.reads == "pile"]
    centres, halves = (
        np.array([s.centre for s in piles]),
        np.array([outline_size(s) for s in piles]) / 2,
    )
    gaps = []
    for centre, size in zip(group.centres, group.boxes):
        gap = (np.abs(centres - centre) - halves - size / 2).max(1)
        gaps.append(gap[np.abs(centres - centre).max(1) > 1e-6].min(initial=np.inf))
    return max(min(float(np.median(gaps)), HAND) - max(group.side - largest, 0) / 2, 0.0)


def block_places(plan: Plan, spans: tuple[int, int]) -> SizeGroup | None:
    """Every place where a piece of `spans` columns and rows fits; its id is that of the upper left
    site."""
    piles = [s for s in plan.site if s.reads == "pile"]
    if not piles:
        return None
    centres = np.array([s.centre for s in piles])
    ids, middles, members, sizes = [], [], [], []
    for s in piles:
        w, h = outline_size(s)
        covered = []
        for row in range(spans[1]):
            for column in range(spans[0]):
                far = np.abs(centres - (s.centre + (column * w, row * h))).max(1)
                if far.min() < 0.3 * min(w, h):
                    covered.append(int(far.argmin()))
        if len(covered) == spans[0] * spans[1]:
            ids.append(s.id)
            middles.append(centres[covered].mean(0))
            sizes.append((spans[0] * w, spans[1] * h))
            members.append(tuple(piles[i].id for i in covered))
    if not ids:
        return None
    side = max(spans) * max(float(outline_size(s).max()) for s in piles)
    return SizeGroup(tuple(ids), np.array(middles), side, tuple(members), np.array(sizes), spans)


def nearest_others(centres: np.ndarray, at: np.ndarray, many: int) -> np.ndarray:
    """(K,) rows of centres (N, 2), so many at most: those nearest to a place (2,) that are not
    there, the nearest first; mm"""
    away = np.linalg.norm(centres - at, axis=1)
    order = np.argsort(away)
    return order[away[order] >= 1e-6][:many]


def depth_inside(points: np.ndarray, outline: np.ndarray) -> np.ndarray:
    """(P,) mm from each of (P, 2) points to an outline's (E, 2) nearest edge, negative outside"""
    a, b = outline, np.roll(outline, -1, 0)
    along, off = b - a, points[:, None] - a
    t = np.clip((off * along).sum(2) / np.maximum((along**2).sum(1), 1e-9), 0, 1)
    far = np.linalg.norm(off - t[..., None] * along, axis=2).min(1)
    y, x = points[:, 1:], points[:, :1]
    crosses = (a[:, 1] > y) != (b[:, 1] > y)
    slope = along[:, 0] / np.where(along[:, 1] == 0, 1e-9, along[:, 1])
    odd = (crosses & (x < a[:, 0] + (y - a[:, 1]) * slope)).sum(1) % 2 == 1
    return np.where(odd, far, -far)


class Grounds(msgspec.Struct, frozen=True, eq=False):
    """Whose a place is. maps: (N, G, G, 2): for places in a square of half side `half` mm round
    each site of a group, mm inside the site's outline (negative: outside), and the chance that a
    piece there is this site's and not another's."""

    maps: np.ndarray
    half: float

    @classmethod
    def of(cls, plan: Plan, group: SizeGroup, half: float) -> Grounds:
        """For the sites of a group; half: mm"""
        t = (np.arange(GROUND) + 0.5) / GROUND * 2 - 1
        grid = np.stack(np.meshgrid(t, t), -1).reshape(-1, 2) * half
        piles = [s for s in plan.site if s.reads == "pile"]
        middles = np.array([s.centre for s in piles])
        reach = np.array([np.linalg.norm(outline_size(s)) / 2 for s in piles])
        maps = []
        for centre, members in zip(group.centres, group.members):
            points = grid + centre
            own = np.max(
                [depth_inside(points, o) for m in members for o in plan.sites[m].outlines], 0
            )
            near = np.flatnonzero(np.abs(middles - centre).max(1) < 1.5 * half + reach)
            others = [
                np.max([depth_inside(points, o) for o in piles[i].outlines], 0)
                for i in near
                if piles[i].id not in members
            ]
            mine = np.exp(-0.5 * (np.minimum(own, 0) / BORDER_SD_MM) ** 2) + 1e-6
            total = mine + sum(
                np.exp(-0.5 * (np.minimum(o, 0) / BORDER_SD_MM) ** 2) for o in others
            )
            maps.append(np.stack([own, mine / total], -1).reshape(GROUND, GROUND, 2))
        return cls(np.array(maps, np.float32), half)

    def at(self, site: np.ndarray, mm: np.ndarray) -> np.ndarray:
        """(n, 2) map values at places (n, 2) mm off the middles of sites (n,)"""
        cell = np.clip(((mm / self.half + 1) / 2 * GROUND).astype(int), 0, GROUND - 1)
        return self.maps[site, cell[:, 1], cell[:, 0]]
