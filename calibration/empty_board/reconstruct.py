"""Pieces the empty board together from photos of positions, as one of them would show it, if nobody
took a photo of the empty board. Entry point: `reconstruct_empty_board`."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np

from calibration.empty_board.similar_print import AGREED, PRINT_OFFSET, Board, borrowed_print
from vision.geometry.coarse_grid import grid_nodes, interpolate_nodes
from vision.geometry.occlusion import hidden_mask, occupied_sites
from vision.geometry.posed_photo import Shot
from vision.geometry.site_windows import Pyramid, scale_at
from vision.photometry.room_light import (
    CLIPPED,
    LOG_LEVELS,
    estimate_light,
    sampled_basis,
    small_view,
)
from vision.plan import Plan

FADE = 8.0  # mm from a piece at which its shadow is gone: up to there, photos count less
LITTLE = 0.05  # share of the board that two photos must both show bare to compare their light
LIT = 32  # points along the board at which brightness is compared
LEVELS_APART, EVERY = 12, 16  # steps of grey level compared; one pixel in how many is used
LONGEST = 1600  # pixels along the assembled board
MESH_STEP = 8  # pixels between those whose positions are computed exactly
SOFT = 0.35  # share of FADE from a photo's own pieces, over which it is blended into the others
# mm over which brightness is averaged for comparison, so that misplaced edges do not count
COMPARED_MM = 3.0
# around a spot that only one photo shows: the mm within which the others reveal a reflected lamp,
# and the share of them that must agree with that photo
GLARE_REACH_MM, AGREEING_SHARE = 30.0, 0.5
HARDLY_SEEN = 1e-3  # weight below which a spot counts as not seen by any photo


def with_empty_board(plan: Plan, shots: Sequence[Shot]) -> list[Shot]:
    """These photos, followed by a reconstructed one if none of them shows the empty board"""
    if all(s.layout for s in shots):
        return [*shots, reconstruct_empty_board(plan, shots)]
    return list(shots)


def reconstruct_empty_board(plan: Plan, shots: Sequence[Shot]) -> Shot:
    """A photo of the empty board: the barest of these, with its pieces replaced by what other
    photos show bare there; if none does, by what similarly printed sites show (see `Shot.guessed`).
    """
    first = min(range(len(shots)), key=lambda n: sum(map(len, shots[n].layout.values())))
    shots = [shots[first], *(s for n, s in enumerate(shots) if n != first)]
    middle = plan.corners.mean(0, keepdims=True)
    scale = min(scale_at(shots[0].pose, middle), LONGEST / max(plan.size))
    clear, evened = [], []
    for s in shots:
        x, y = s.pose.rectify_map(0, 0, *plan.size, scale)
        view = cv2.remap(s.image, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        bare = hidden_mask(plan, s.layout, s.pose, x.shape, scale) == 0
        bare &= (np.minimum(x, y) >= 0) & (x <= s.pose.size[0] - 1) & (y <= s.pose.size[1] - 1)
        clear.append(cv2.distanceTransform(bare.astype(np.uint8), cv2.DIST_L2, 3) / scale)
        seen = view.astype(np.float32)
        if evened:
            both = np.minimum(clear[-1], clear[0])
            seen = as_dark(in_light(plan, s, shots[0], both, seen), evened[0], both)
        evened.append(seen)
    weight = np.minimum(clear, FADE)
    alike = agreement_of(evened, weight, scale)
    weight *= alike
    total = weight.sum(0)
    mixed = sum(w[..., None] * view for w, view in zip(weight, evened))
    board = Board(mixed / np.maximum(total, 1e-6)[..., None], total > HARDLY_SEEN, scale)
    layouts = [s.layout for s in shots]
    busy = {i for layout in layouts for i in occupied_sites(plan, layout)}
    whole, guessed = borrowed_print(plan, board, evened, layouts, busy)
    own = alike[0] * np.clip(clear[0] / (SOFT * FADE), 0, 1)
    return Shot(laid_in(shots[0], whole, own, scale), {}, shots[0].pose, guessed=guessed)


def agreement_of(seen: Sequence[np.ndarray], weight: np.ndarray, scale: float) -> np.ndarray:
    """(n, h, w) 0..1 how well the brightness of each of n views (h, w, 3) of a board agrees with
    most of them, which a reflected lamp does not. If two differ, the darker one is right; where
    only one view shows the board, its agreement nearby counts. weight: (n, h, w), 0 where a view
    shows no board"""
    edge, near = ((2 * round(mm * scale / 2) + 1,) * 2 for mm in (COMPARED_MM, 2 * GLARE_REACH_MM))
    logs = np.array([cv2.blur(np.log(v + PRINT_OFFSET).mean(2), edge) for v in seen])
    order = np.argsort(np.where(weight > 0, logs, np.inf), axis=0)
    votes = np.minimum(weight, SOFT * FADE)
    passed = np.cumsum(np.take_along_axis(votes, order, 0), axis=0)
    middle = np.argmax(passed >= passed[-1] / 2, axis=0)[None]
    usual = np.take_along_axis(logs, np.take_along_axis(order, middle, 0), 0)
    out = np.exp(-0.5 * ((logs - usual) / AGREED) ** 2)
    alone = (weight > SOFT * FADE).sum(0) < 2
    for view, here in zip(out, weight > 0):
        asked = (here & ~alone).astype(np.float32)
        about = cv2.blur(asked, near)
        share = cv2.blur(view.astype(np.float32) * asked, near) / (about + 1e-6)
        view[here & alone & (share < AGREEING_SHARE) & (about > 0)] = 0
    return out


def in_light(
    plan: Plan, shot: Shot, first: Shot, clear: np.ndarray, seen: np.ndarray
) -> np.ndarray:
    """A board seen from above (h, w, 3), relit as in the first photo by comparing what both show
    bare; clear: (h, w) mm from their pieces"""
    views = [small_view(Pyramid(s.image), s.pose, plan.size) for s in (shot, first)]
    bare = cv2.resize(clear, views[0].shape[1::-1], interpolation=cv2.INTER_AREA) > 0
    if bare.mean() > LITTLE:
        views[0] = np.where(bare[..., None], views[0], LOG_LEVELS[CLIPPED])  # clipped: not used
    light = estimate_light(*views, plan.size)
    brighter = np.exp(sampled_basis(LIT, LIT, plan.size) @ light.weights).reshape(LIT, LIT, 3)
    return seen / cv2.resize(brighter, seen.shape[1::-1], interpolation=cv2.INTER_LINEAR)


def as_dark(seen: np.ndarray, first: np.ndarray, clear: np.ndarray) -> np.ndarray:
    """The same with the tone curve of the first photo (h, w, 3), compared likewise: a camera's
    black level and curve differ in the evening"""
    bare = clear > 0
    if bare.mean() <= LITTLE:
        return seen
    out = np.empty_like(seen)
    for c in range(3):
        mine, theirs = np.sort(seen[..., c][bare][::EVERY]), np.sort(first[..., c][bare][::EVERY])
        at = np.linspace(0.02, 0.98, LEVELS_APART) * (len(mine) - 1)
        knots, by = mine[at.astype(int)], (theirs - mine)[at.astype(int)]
        out[..., c] = np.maximum(seen[..., c] + np.interp(seen[..., c], knots, by), 0)
    return out


def laid_in(shot: Shot, board: np.ndarray, own: np.ndarray, scale: float) -> np.ndarray:
    """The photo (h, w, 3) uint8 with the board (h, w, 3), seen from above at `scale` pixels a mm,
    drawn into it; own: (h, w) 0..1, how much of the photo is kept"""
    shape = shot.pose.size[::-1]
    at = grid_nodes(shape, MESH_STEP)
    mm = interpolate_nodes(shot.pose.to_mm(at.reshape(-1, 2)).reshape(at.shape), shape, MESH_STEP)
    x, y = ((mm * scale - 0.5)[..., k].astype(np.float32) for k in (0, 1))
    keep = cv2.remap(np.float32(own), x, y, cv2.INTER_LINEAR, borderValue=1)[..., None]
    put = cv2.remap(np.float32(board), x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return np.clip(np.rint(keep * shot.image + (1 - keep) * put), 0, 255).astype(np.uint8)
