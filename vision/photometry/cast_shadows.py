"""Cast shadows with hard edges, larger than pieces cast: found where the empty board shows through
them, and lifted off the picture."""

from __future__ import annotations

import cv2
import numpy as np

from vision.geometry.coarse_grid import grid_nodes, interpolate_nodes, sample_at
from vision.geometry.pose import Pose
from vision.photometry.canvas import Empty, Frame, channel_maximum, match_light
from vision.photometry.room_light import CLIPPED, LIGHT_FLOOR, LOG_LEVELS, VIEW_STEP, estimate_light

DEEP = 0.12  # log units by which a shadow is darker at least
# of a shadow's depth by which one colour may be off the others: what fills it in is of another
# colour
TINTED = 0.4
LARGE = 900.0  # mm² of a shadow that is worth lifting: what pieces cast is less
LEAST_WIDTH_MM = 12.0  # mm that it is wide
# of the variance of the board's print that may be left in a shadow on it: a dark card hides the
# print
PRINT_LEFT = 0.3
# variance of log brightness that a print has at least, to tell a shadow from a card by
PRINTED = 0.003
AROUND_SHADOW_MM = 6.0  # mm around that say whether what hides the board lies in the shadow too
MESH = 16  # pixels between those where what is lifted is worked out
SOFT_EDGE_MM = 0.6  # mm that its edge is wide, where that cannot be seen
EDGE_MM = 2.5  # mm either way of it in which that may be seen


def find_shadows(
    seen: np.ndarray, empty: np.ndarray, size: tuple[float, float]
) -> list[np.ndarray]:
    """Masks (h, w) bool, one a shadow, of a small view against the empty board's, both (h, w, 3)
    log; none as a rule"""
    light = estimate_light(seen[::VIEW_STEP, ::VIEW_STEP], empty[::VIEW_STEP, ::VIEW_STEP], size)
    off = light.within(seen) - empty
    dark = shadow_candidates(off, channel_maximum(cv2.max(seen, empty)) < LOG_LEVELS[CLIPPED])
    mm = size[0] / empty.shape[1]
    across = max(round(LEAST_WIDTH_MM / mm), 1)
    labels = cv2.connectedComponents(
        cv2.morphologyEx(dark.astype(np.uint8), cv2.MORPH_OPEN, np.ones((across, across)))
    )[1]
    out = []
    for part in range(1, labels.max() + 1):
        mine = labels == part
        inner = cv2.erode(mine.astype(np.uint8), np.ones((3, 3))) > 0
        if mine.sum() * mm**2 < LARGE or inner.sum() < 9:
            continue
        print_ = float(empty.mean(2)[inner].var())
        if print_ > PRINTED and off.mean(2)[inner].var() < PRINT_LEFT * print_:
            out.append(mine)
    return out


def shadow_candidates(off: np.ndarray, known: np.ndarray) -> np.ndarray:
    """(h, w) bool: where (h, w, 3) log differences may be a shadow's"""
    b, g, r = cv2.split(off)  # one colour at a time: numpy is slow where three numbers lie together
    depth = (b + g + r) / 3
    apart = np.maximum(np.maximum(np.abs(b - depth), np.abs(g - depth)), np.abs(r - depth))
    return known & (depth < -DEEP) & (apart < -TINTED * depth)


def remove_shadows(
    image: np.ndarray, pose: Pose, empty: Empty, found: list[np.ndarray], size: tuple[float, float]
) -> np.ndarray:
    """An image uint8 without the shadows found in its small view. empty: the board as the picture's
    pieces lie on it"""
    f = empty.frame
    half = Frame(f.x0, f.y0, f.scale / 2, f.width // 2, f.height // 2)
    ground = cv2.resize(empty.canvas, (half.width, half.height), interpolation=cv2.INTER_AREA)
    seen = half.flatten(cv2.GaussianBlur(image, (0, 0), 0.8), half.maps(pose))
    light = np.log(match_light(half, seen, ground).over(half))
    off = LOG_LEVELS[seen] + light - LOG_LEVELS[ground]
    dark, lit = (
        shadow_candidates(off, channel_maximum(seen) < CLIPPED),
        np.abs(off).max(2) < DEEP / 2,
    )
    corner = half.to_px(np.array([[0.0, 0.0], size]))
    gain = np.zeros(seen.shape, np.float32)
    for mine in found:
        k = (corner[1] - corner[0]) / mine.shape[::-1]
        M = np.array([[k[0], 0, corner[0, 0] + k[0] / 2], [0, k[1], corner[0, 1] + k[1] / 2]])
        near = cv2.warpAffine(
            cv2.dilate(mine.astype(np.uint8), np.ones((5, 5))),
            M,
            (half.width, half.height),
            flags=cv2.INTER_NEAREST,
        )
        here = dark & (near > 0)
        if not here.any():
            continue
        depth = np.median(off[here], 0)
        here &= off.mean(2) < depth.mean() / 2
        votes = cv2.GaussianBlur(
            here.astype(np.float32) - (lit | (near == 0)), (0, 0), AROUND_SHADOW_MM * half.scale
        )
        inside = np.where(here, 1, np.where(lit, 0, votes > 0)).astype(np.uint8) * near
        gain += shadow_share(cv2.medianBlur(inside, 5), off, depth, half.scale)[
            ..., None
        ] * depth.astype(np.float32)
    return subtract_canvas(image, pose, half, gain)


def shadow_share(
    inside: np.ndarray, off: np.ndarray, depth: np.ndarray, scale: float
) -> np.ndarray:
    """(h, w) 0..1: how much of a shadow lies on each pixel, `scale` a mm: inside, a mask, but in
    its edge as much as the board shows"""
    soft = cv2.GaussianBlur(inside.astype(np.float32), (0, 0), SOFT_EDGE_MM * scale)
    seen = (off.mean(2) / depth.mean()).clip(0, 1).astype(np.float32)
    board = np.abs(off - seen[..., None] * depth).max(2) < DEEP
    reach = np.ones((2 * round(EDGE_MM * scale) + 1,) * 2)
    edge = cv2.dilate(inside, reach) - cv2.erode(inside, reach) > 0
    return np.where(board & edge, cv2.blur(seen, (3, 3)), soft)


def subtract_canvas(image: np.ndarray, pose: Pose, frame: Frame, gain: np.ndarray) -> np.ndarray:
    """An image with what a canvas (h, w, 3) says in log units taken from it"""
    at = grid_nodes(image.shape, MESH)
    fine = interpolate_nodes(
        frame.to_px(pose.to_mm(at.reshape(-1, 2))).reshape(at.shape), image.shape, MESH
    )
    factor = cv2.exp(-sample_at(gain, fine, cv2.BORDER_CONSTANT))
    return ((image + LIGHT_FLOOR) * factor - LIGHT_FLOOR).clip(0, 255).astype(np.uint8)
