"""Where pieces hide the board from a camera: `hidden_mask`, `occupied_sites`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import cv2
import numpy as np

from vision.evidence.site_evidence import Contents
from vision.geometry.corners import rectangle_corners
from vision.geometry.footprints import pile_height
from vision.geometry.pose import Pose
from vision.geometry.site_groups import block_members, outline_size
from vision.plan import Plan, Site

LOOSELY = 0.5  # share of a site that pieces may cover with most of it visible in some photo
LAID_ASIDE = 0.1  # how far a piece may be off its place, as a share of its site's side


def occupied_sites(plan: Plan, layout: Mapping[str, Contents]) -> set[str]:
    """The sites on which something lies"""
    lying = {s for s, contents in layout.items() if contents and s in plan.sites}
    return lying | covered_by_blocks(plan, layout)


def hidden_mask(
    plan: Plan,
    layout: Mapping[str, Contents],
    pose: Pose,
    shape: tuple[int, int],
    scale: float,
    origin: np.ndarray | float = 0.0,
) -> np.ndarray:
    """(h, w) uint8 of the board from above, `scale` pixels a mm, starting at `origin` (2,) mm: 1
    where pieces may hide it, including the parallax of their tops"""
    out = np.zeros(shape, np.uint8)
    for site in occupied_sites(plan, layout):
        contents = layout.get(site) or ("?",)
        place = plan.sites[site]
        height = pile_height(contents, plan)
        top = pose.to_mm(pose.to_px(place.centre[None], height))[0] - place.centre
        outlines, beside = list(place.outlines), 0.0
        if place.reads == "pile":
            half = max((max(plan.pieces[k].footprint) for k in contents if k != "?"), default=0) / 2
            outlines.append(rectangle_corners(place.centre - half, place.centre + half))
        if place.reads == "pile" or not lie_loose(plan, place, contents):
            beside = LAID_ASIDE * float(outline_size(place).max())
        steps = int(np.ceil(np.abs(top).max() * scale / 2)) + 1
        for high in np.linspace(0, height, steps):
            for o in outlines:
                seen = pose.to_mm(pose.to_px(o, high))
                corners = np.rint((seen - origin) * scale).astype(np.int32)
                cv2.fillPoly(out, [corners], 1)
                cv2.polylines(out, [corners], True, 1, 2 * round(beside * scale) + 1)
    return out


def covered_by_blocks(plan: Plan, layout: Mapping[str, Sequence[str]]) -> set[str]:
    """Sites under a piece that covers several sites"""
    out: set[str] = set()
    for site, contents in layout.items():
        spans = plan.pieces[contents[-1]].spans if contents and contents[-1] != "?" else None
        if spans:
            out |= set(block_members(plan, site, spans))
    return out


def buried_pieces(contents: Sequence[str], plan: Plan) -> list[bool]:
    """For each piece of a pile, whether it is "?" or an equally large one lies on it, so that it
    cannot be seen"""

    def area(kind: str) -> float:
        w, d = plan.pieces[kind].footprint
        return w * d * (0.785 if plan.pieces[kind].disc else 1)

    return [
        kind == "?" or any(area(k) >= 0.95 * area(kind) for k in contents[i + 1 :] if k != "?")
        for i, kind in enumerate(contents)
    ]


def visible_counts(plan: Plan, layout: Mapping[str, Sequence[str]]) -> Counter[str]:
    """How many pieces of each kind a layout shows, without those completely under others"""
    hidden = covered_by_blocks(plan, layout)
    out: Counter[str] = Counter()
    for site, contents in layout.items():
        if site in hidden:
            out.update(k for k in contents if plan.pieces[k].spans)
        else:
            pile = plan.sites[site].reads == "pile"
            buried = buried_pieces(contents, plan) if pile else [False] * len(contents)
            out.update(k for k, under in zip(contents, buried) if not under)
    return out


def lie_loose(plan: Plan, site: Site, contents: Contents) -> bool:
    """Whether most of a site is visible between the pieces on it"""
    pieces = [plan.pieces[k].footprint for k in contents if k != "?"]
    room = sum(cv2.contourArea(o.astype(np.float32)) for o in site.outlines)
    return sum(w * d for w, d in pieces) < LOOSELY * room
