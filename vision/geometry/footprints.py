"""How large and how high piles of pieces are, and how far their tops are seen off their feet."""

from __future__ import annotations

import cv2
import numpy as np

from vision.evidence.site_evidence import Contents
from vision.geometry.pose import Pose
from vision.geometry.site_groups import outline_size
from vision.plan import Plan, Site

STANDS = 1.2  # times its width that a thing is high which stands
FILLS = 0.7  # of a site's width and depth that a card lying on it takes at least
SEEN_PERCENTILE = 75  # per cent of the things seen, of which some must be so


def pile_height(contents: Contents, plan: Plan) -> float:
    """mm: a pile's top above the board; what is hidden counts as the thinnest kind"""
    thin = min(p.height for p in plan.piece)
    return sum(plan.pieces[k].height if k != "?" else thin for k in contents)


def lean_at(pose: Pose, mm: np.ndarray) -> np.ndarray:
    """(N, 2): how far, in mm a mm of height, the top of something upright is seen off its foot"""
    if not len(mm):
        return np.zeros((0, 2))
    return (pose.to_mm(pose.to_px(mm, 10.0)) - mm) / 10.0


def camera_position(pose: Pose) -> np.ndarray:
    """(3,) mm: x and y on the board, and how high above it"""
    R = cv2.Rodrigues(pose.rvec)[0]
    x, y, z = -R.T @ np.ravel(pose.tvec)
    return np.array([x, y, -z])


def top_shift(camera: np.ndarray, mm: np.ndarray, height: float) -> np.ndarray:
    """(N, 2) mm: how far the top of something upright, `height` mm high with its foot at (N, 2), is
    seen off its foot. camera: (3,) mm, x, y and height; it is higher than the thing"""
    return (mm - camera[:2]) * (height / max(camera[2] - height, height / 10))


def has_standing_pieces(plan: Plan) -> bool:
    """Whether this is a game of things, one on each site, that often stand higher than wide"""
    if any(s.reads != "pile" for s in plan.site) or any(p.spans or p.over for p in plan.piece):
        return False
    return bool(
        np.percentile([p.height / max(p.footprint) for p in plan.piece], SEEN_PERCENTILE) > STANDS
    )


def lies_below(plan: Plan, site: Site, kind: str) -> bool:
    """Whether a piece of this kind lies on a site below its loose pieces, as a card does: as the
    plan says of any kind, or else if it fills the site, along as well as across; False for an
    unknown kind"""
    if plan.base or kind not in plan.pieces:
        return kind in plan.base
    size, room = np.sort(plan.pieces[kind].footprint), np.sort(outline_size(site))
    return bool((size >= FILLS * room).all())
