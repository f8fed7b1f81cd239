"""The empty board as photos with pieces show it: in another light and by another look of the camera than
where it lies empty."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np

from vision.evidence.site_evidence import Contents
from vision.geometry.footprints import camera_position, pile_height, top_shift
from vision.geometry.posed_photo import Shot
from vision.learned.canvas import Canvas
from vision.learned.groups import covered_sites
from vision.plan import Plan, Site

HIDDEN_BESIDE = 8.0  # mm about what lies on a site that may show a piece's edge or its shadow
LIGHT_AROUND = 15.0  # mm over which light is told from the board that shows beside a piece
LIGHT_COARSER = 4  # times coarser at which that is done
SOFT_EDGE = 1.5  # pixels over which what was seen turns into what is filled in
LEAST_BARE = 0.15  # of a board that must show for its photo to be told from


def clear_boards(
    plan: Plan,
    view: Canvas,
    shots: Sequence[Shot],
    canvases: Sequence[np.ndarray],
    empty: np.ndarray,
) -> list[np.ndarray]:
    """(H, W, 3) log canvases of the photos with pieces, where these lie filled in from the empty board in the light
    about them; without those that show little of it. canvases: (H, W, 3) log of each"""
    board, out = cover_board(plan, view), []
    for shot, canvas in zip(shots, canvases):
        hidden = cover_pieces(plan, view, shot) if shot.layout else board
        bare = board * (1 - hidden)
        if bare.sum() > LEAST_BARE * board.sum():
            out.append(fill_board(canvas, empty, hidden, bare, view.scale))
    return out


def cover_board(plan: Plan, view: Canvas) -> np.ndarray:
    """(H, W) uint8, 1 where the board lies, on a canvas that shows the table about it, too"""
    out = np.zeros(view.shape, np.uint8)
    cv2.fillConvexPoly(out, np.rint(view.to_px(plan.corners)).astype(np.int32), 1)
    return out


def cover_pieces(plan: Plan, view: Canvas, shot: Shot) -> np.ndarray:
    """(H, W) uint8, 1 where a photo may show pieces"""
    out, camera = np.zeros(view.shape, np.uint8), camera_position(shot.pose)
    filled = {i: tuple(c) for i, c in shot.layout.items() if c}
    under = covered_sites(plan, filled)
    for site in (plan.sites[i] for i in filled | under):
        height = height_of(plan, site, filled.get(site.id, filled.get(under.get(site.id, ""), ())))
        for outline in site.outlines:
            ends = np.vstack([outline, outline + top_shift(camera, np.array(outline), height)])
            hull = cv2.convexHull(view.to_px(ends).astype(np.float32))
            cv2.fillConvexPoly(out, np.rint(hull).astype(np.int32), 1)
    across = 2 * round(HIDDEN_BESIDE * view.scale) + 1
    return cv2.dilate(out, cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (across, across)))


def height_of(plan: Plan, site: Site, contents: Contents) -> float:
    """mm above the board of what lies on a site: of a pile all of it, of a cluster the highest piece on its
    card"""
    if site.reads == "pile":
        return pile_height(contents, plan)
    heights = [plan.pieces[k].height for k in contents if k in plan.pieces]
    return sum(heights[:1]) + max(heights, default=0.0)


def fill_board(
    canvas: np.ndarray, empty: np.ndarray, hidden: np.ndarray, bare: np.ndarray, scale: float
) -> np.ndarray:
    """A log canvas with the empty one, both (H, W, 3), where pieces hide it (H, W), in the light of the bare board
    (H, W) about them. scale: pixels a mm"""
    h, w = hidden.shape
    size = w // LIGHT_COARSER, h // LIGHT_COARSER
    shows = bare.astype(np.float32)
    off, some = (
        cv2.resize(v, size, interpolation=cv2.INTER_AREA)
        for v in ((canvas - empty) * shows[..., None], shows)
    )
    usual = off.sum((0, 1)) / some.sum()
    wide = LIGHT_AROUND * scale / LIGHT_COARSER
    light = cv2.GaussianBlur(off, (0, 0), wide) + 1e-3 * usual.astype(np.float32)
    light /= cv2.GaussianBlur(some, (0, 0), wide)[..., None] + np.float32(1e-3)
    light = cv2.resize(light, (w, h), interpolation=cv2.INTER_LINEAR)
    soft = cv2.GaussianBlur(hidden.astype(np.float32), (0, 0), SOFT_EDGE)[..., None]
    return canvas + soft * (empty + light - canvas)
