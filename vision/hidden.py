"""Where pieces hide the board from a camera. Its values: `hidden`, `laid_on`."""

from __future__ import annotations

from collections.abc import Mapping

import cv2
import numpy as np

from vision.cutout import height_of
from vision.evidence import Contents
from vision.like_print import lie_loose
from vision.plan import Plan
from vision.pose import Pose
from vision.sampler import covered_by_blocks
from vision.sites import box

BESIDE = 0.1  # of its site's side that a piece may lie beside where it should


def laid_on(plan: Plan, layout: Mapping[str, Contents]) -> set[str]:
    """The sites on which something lies"""
    return {
        s for s, contents in layout.items() if contents and s in plan.sites
    } | covered_by_blocks(plan, layout)


def hidden(
    plan: Plan,
    layout: Mapping[str, Contents],
    pose: Pose,
    shape: tuple[int, int],
    scale: float,
    origin: np.ndarray | float = 0.0,
) -> np.ndarray:
    """(h, w) uint8, pixels of the board seen from above, `scale` to a mm from `origin` (2,) mm on:
    1 where pieces may hide it, their tops seen off their feet"""
    out = np.zeros(shape, np.uint8)
    for site in laid_on(plan, layout):
        contents = layout.get(site) or ("?",)
        place = plan.sites[site]
        height = height_of(contents, plan)
        top = pose.to_mm(pose.to_px(place.centre[None], height))[0] - place.centre
        outlines, beside = list(place.outlines), 0.0
        if place.reads == "pile":
            half = max((max(plan.pieces[k].footprint) for k in contents if k != "?"), default=0) / 2
            outlines.append(place.centre + half * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]))
        if place.reads == "pile" or not lie_loose(plan, place, contents):
            beside = BESIDE * float(box(place).max())
        steps = int(np.ceil(np.abs(top).max() * scale / 2)) + 1
        for high in np.linspace(0, height, steps):
            for o in outlines:
                corners = np.rint((pose.to_mm(pose.to_px(o, high)) - origin) * scale).astype(
                    np.int32
                )
                cv2.fillPoly(out, [corners], 1)
                cv2.polylines(out, [corners], True, 1, 2 * round(beside * scale) + 1)
    return out
