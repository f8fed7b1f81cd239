"""Sites read as piles, in groups of equal size, and the blocks of sites that a large piece
covers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import cv2
import msgspec
import numpy as np

from vision.geometry.pose import Pose
from vision.plan import Plan, Site


class SizeGroup(msgspec.Struct, frozen=True, eq=False):
    """Sites of one size. ids: N of them; centres: (N, 2) mm; side: mm, the larger side of the
    outline's box;
    members: the sites each covers, in reading order; one each, except in a group of blocks; boxes:
    (N, 2) mm, width and depth"""

    ids: tuple[str, ...]
    centres: np.ndarray
    side: float
    members: tuple[tuple[str, ...], ...]
    boxes: np.ndarray


def beyond_picture(sites: Sequence[Site], pose: Pose) -> set[str]:
    """The ids of those sites whose middle is outside the picture"""
    centres = np.array([s.centre for s in sites], float).reshape(-1, 2)
    return {s.id for s, out in zip(sites, places_beyond_picture(centres, pose)) if out}


def places_beyond_picture(mm: np.ndarray, pose: Pose) -> np.ndarray:
    """(n,) bool: which of (n, 2) mm are outside the picture"""
    at = pose.to_px(mm)
    return np.any((at < 0) | (at > np.subtract(pose.size, 1)), axis=1)


def outline_mask(
    outlines: Iterable[np.ndarray],
    to_px: Callable[[np.ndarray], np.ndarray],
    shape: tuple[int, int],
) -> np.ndarray:
    """(h, w) bool: the part of a picture of that shape that is inside outlines (n, 2) mm; to_px:
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
        ids, centres = tuple(s.id for s in sites), np.array([s.centre for s in sites])
        boxes, members = np.array([outline_size(s) for s in sites]), tuple((i,) for i in ids)
        found.append(SizeGroup(ids, centres, float(boxes.max()), members, boxes))
    return found


def covered_numbers(site: Site, centres: np.ndarray, spans: tuple[int, int]) -> list[int]:
    """The numbers of the sites at (N, 2) mm that a piece of `spans` columns and rows covers if
    this is its upper left one; none where it does not fit"""
    w, h = outline_size(site)
    covered = []
    for row in range(spans[1]):
        for column in range(spans[0]):
            far = np.abs(centres - (site.centre + (column * w, row * h))).max(1)
            if far.min() >= 0.3 * min(w, h):
                return []
            covered.append(int(far.argmin()))
    return covered


def block_members(plan: Plan, site: str, spans: tuple[int, int]) -> tuple[str, ...]:
    """The sites that a piece of `spans` columns and rows covers if it is listed on this one, as of
    `block_places`; none where it does not fit"""
    piles = {s.id: s for s in plan.site if s.reads == "pile"}
    if site not in piles:
        return ()
    ids, centres = list(piles), np.array([s.centre for s in piles.values()])
    return tuple(ids[n] for n in covered_numbers(piles[site], centres, spans))


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
        covered = covered_numbers(s, centres, spans)
        if covered:
            ids.append(s.id)
            middles.append(centres[covered].mean(0))
            sizes.append((spans[0] * w, spans[1] * h))
            members.append(tuple(piles[i].id for i in covered))
    if not ids:
        return None
    side = max(spans) * max(float(outline_size(s).max()) for s in piles)
    return SizeGroup(tuple(ids), np.array(middles), side, tuple(members), np.array(sizes))
