"""Sites read as piles, in groups of equal size, and the blocks of sites that a large piece covers."""

from __future__ import annotations

import msgspec
import numpy as np

from vision.plan import Plan, Site


class Group(msgspec.Struct, frozen=True, eq=False):
    """Sites of one size. ids: N of them; centres: (N, 2) mm; side: mm, the larger side of the outline's box;
    members: the sites each covers, in reading order; one each, except in a group of blocks; boxes: (N, 2) mm, width and
    depth."""

    ids: tuple[str, ...]
    centres: np.ndarray
    side: float
    members: tuple[tuple[str, ...], ...]
    boxes: np.ndarray
    spans: tuple[int, int] = (1, 1)

    @property
    def block(self) -> bool:
        return self.spans != (1, 1)


def box(site: Site) -> np.ndarray:
    """(2,) mm: width and depth of the outline"""
    o = np.array(site.outline, float)
    return o.max(0) - o.min(0)


def groups(plan: Plan) -> list[Group]:
    """The plan's pile sites by size; sides within a tenth count as equal."""
    piles = [s for s in plan.site if s.reads == "pile"]
    out: list[list[Site]] = []
    for s in sorted(piles, key=lambda s: float(box(s).max())):
        if out and box(s).max() < 1.1 * box(out[-1][0]).max():
            out[-1].append(s)
        else:
            out.append([s])
    order = {s.id: n for n, s in enumerate(plan.site)}
    found = []
    for sites in out:
        sites.sort(key=lambda s: order[s.id])
        boxes = np.array([box(s) for s in sites])
        found.append(Group(tuple(s.id for s in sites), np.array([s.centre for s in sites]), float(boxes.max()),
                           tuple((s.id,) for s in sites), boxes))
    return found


def blocks(plan: Plan, spans: tuple[int, int]) -> Group | None:
    """Every place where a piece of `spans` columns and rows fits; its id is that of the upper left site."""
    piles = [s for s in plan.site if s.reads == "pile"]
    if not piles:
        return None
    centres = np.array([s.centre for s in piles])
    ids, middles, members, sizes = [], [], [], []
    for s in piles:
        w, h = box(s)
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
    side = max(spans) * max(float(box(s).max()) for s in piles)
    return Group(tuple(ids), np.array(middles), side, tuple(members), np.array(sizes), spans)
