"""The size and height of piles of pieces, and the parallax between their tops and their feet."""

from __future__ import annotations

import cv2
import numpy as np

from vision.evidence.site_evidence import Contents
from vision.geometry.pose import Pose
from vision.geometry.site_groups import outline_size
from vision.plan import Plan, Site

STANDS = 1.2  # a piece counts as standing if its height is at least this many times its width
FILLS = 0.7  # least share of a site's width and depth that a card on it takes up
SEEN_PERCENTILE = 75  # above this percentile of the kinds' height to width, pieces must stand


def pile_height(contents: Contents, plan: Plan) -> float:
    """mm: a pile's top above the board; what is hidden counts as the thinnest kind"""
    thin = min(p.height for p in plan.piece)
    return sum(plan.pieces[k].height if k != "?" else thin for k in contents)


def lean_at(pose: Pose, mm: np.ndarray) -> np.ndarray:
    """(N, 2): how far from its foot the top of something upright is seen, in mm per mm of height"""
    if not len(mm):
        return np.zeros((0, 2))
    return (pose.to_mm(pose.to_px(mm, 10.0)) - mm) / 10.0


def camera_position(pose: Pose) -> np.ndarray:
    """(3,) mm: x and y on the board, and the height above it"""
    R = cv2.Rodrigues(pose.rvec)[0]
    x, y, z = -R.T @ np.ravel(pose.tvec)
    return np.array([x, y, -z])


def top_shift(camera: np.ndarray, mm: np.ndarray, height: float | np.ndarray) -> np.ndarray:
    """(N, 2) mm: how far from its foot, at (N, 2), the top of something upright and `height` mm
    high is seen. camera: (3,) mm, x, y and height, above the thing"""
    return (mm - camera[:2]) * (height / np.maximum(camera[2] - height, height / 10))


def depth_within(outline: np.ndarray, mm: np.ndarray) -> float:
    """mm by which (2,) mm lies inside an outline (n, 2), below 0 by which it lies outside"""
    at = float(mm[0]), float(mm[1])
    return cv2.pointPolygonTest(outline.astype(np.float32, copy=False), at, True)


def has_standing_pieces(plan: Plan) -> bool:
    """Whether the game has one piece per site, often standing pieces that are higher than wide"""
    if any(s.reads != "pile" for s in plan.site) or any(p.spans or p.over for p in plan.piece):
        return False
    return bool(
        np.percentile([p.height / max(p.footprint) for p in plan.piece], SEEN_PERCENTILE) > STANDS
    )


def lies_below(plan: Plan, site: Site, kind: str) -> bool:
    """Whether a piece of this kind lies below a site's loose pieces, as a card does: if the plan
    says so of any kind, as it says, otherwise if the piece fills the site in both directions; False
    for an unknown kind"""
    if plan.base or kind not in plan.pieces:
        return kind in plan.base
    size, room = np.sort(plan.pieces[kind].footprint), np.sort(outline_size(site))
    return bool((size >= FILLS * room).all())
