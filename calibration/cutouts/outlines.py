"""How well the outline of a piece fits at each place of a picture of the board."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import cv2
import numpy as np

SHADE_WEIGHT = 0.3  # of differences of brightness alone, which light and shadows make too


@lru_cache(512)  # pieces of a form all ask for the same: some 40 turns, four sizes, 10 kB each
def footprint_mask(
    size: tuple[float, float],
    disc: bool,
    side: int,
    scale: float,
    grow: float,
    tilt: float,
) -> np.ndarray:
    """(side, side) float32 in 0..1: the footprint in the middle of a picture, its edge soft over a
    pixel; not to be changed.

    grow: mm added all round; tilt: degrees clockwise as seen."""
    t = (np.arange(side) + 0.5 - side / 2) / scale
    x, y = np.meshgrid(t, t)
    if disc:
        inside = size[0] / 2 + grow - np.hypot(x, y)
    else:
        a = np.deg2rad(tilt)
        u, v = x * np.cos(a) + y * np.sin(a), -x * np.sin(a) + y * np.cos(a)
        inside = np.minimum(size[0] / 2 + grow - np.abs(u), size[1] / 2 + grow - np.abs(v))
    return np.clip(inside * scale + 0.5, 0, 1).astype(np.float32)


def colour_difference(seen: np.ndarray, empty: np.ndarray) -> np.ndarray:
    """(..., h, w) float32: how unlike each pixel is; colour counts more than brightness
    (shadows)"""
    d = seen - empty
    squares, bright = np.einsum("...c,...c->...", d, d), d @ np.full(3, 1 / 3, d.dtype)
    # what is left of the squares once the brightness is gone, and a share of that; in one pass, as
    # sums over so few numbers are slow
    return np.sqrt(np.maximum(squares - (3 - SHADE_WEIGHT) * bright**2, 0))


def sweep_mask(mask: np.ndarray, by: np.ndarray) -> np.ndarray:
    """The mask together with all its places on the way to `by` (2,) px: a tall piece's top and the
    sides seen below it"""
    steps = int(np.ceil(np.abs(by).max()))
    out = mask
    for k in range(1, steps + 1):
        x, y = by * k / steps
        move = np.float32([[1, 0, x], [0, 1, y]])
        out = np.maximum(out, cv2.warpAffine(mask, move, mask.shape[::-1]))
    return out


def mask_side(size: tuple[float, float], by: np.ndarray, scale: float, most: int) -> int:
    """Pixels a side, odd, of a mask that holds a footprint and its rim, swept by (2,) px; most:
    the window's"""
    return min(int(np.ceil(max(size) * 1.35 * scale + 2 * np.abs(by).max())), most) | 1


def rim_score(
    unlike: np.ndarray,
    edges: np.ndarray,
    size: tuple[float, float],
    disc: bool,
    scale: float,
    foot: np.ndarray,
) -> Callable[[float], np.ndarray]:
    """tilt -> (S, S): how well a footprint's middle lies at each pixel: unlike the board inside
    more than round about, edges along its rim. unlike: (S, S) difference to the empty site; edges:
    (S, S) strength of edges that the empty site has not; foot: (2,) mm from the top's middle, which
    is sought, to the foot's"""
    by = foot * scale
    side = len(unlike)
    m = mask_side(size, by, scale, side)
    pad = cv2.BORDER_REFLECT
    # of the window that the piece takes
    share = min(size[0] * size[1] * scale**2 / unlike.size, 1.0)
    level = unlike / np.float32(np.percentile(unlike, 100 - 30 * share) + 1e-6)
    strength = edges / np.float32(np.percentile(edges, 100 - 10 * share) + 1e-6)

    def score(tilt: float) -> np.ndarray:
        grown = [
            sweep_mask(footprint_mask(size, disc, m, scale, px / scale, tilt), by)
            for px in (-1.0, -0.5, 0.5, 2.0)
        ]
        inner, outer, rim = grown[1], grown[3] - grown[2], grown[2] - grown[0]
        contrast = inner / inner.sum() - outer / outer.sum()
        inside = cv2.filter2D(level, cv2.CV_32F, contrast, borderType=pad)
        return inside + cv2.filter2D(strength, cv2.CV_32F, rim / rim.sum(), borderType=pad)

    return score


def doubt_map(
    side: int, scale: float, free: np.ndarray, expected: np.ndarray, give: float
) -> np.ndarray:
    """(S, S): how unlikely a piece's middle is at each pixel of a window. free: (2,) mm either way
    that it may lie off `expected` (2,) mm without sticking out of its site; give: mm beyond that
    cost one."""
    t = (np.arange(side) + 0.5 - side / 2) / scale
    x = np.maximum(np.abs(t - expected[0]) - free[0], 0)
    y = np.maximum(np.abs(t - expected[1]) - free[1], 0)
    return ((x[None] ** 2 + y[:, None] ** 2) / give**2).astype(np.float32)


def edge_strength(logs: np.ndarray) -> np.ndarray:
    """(S, S) float32: gradient's length, the strongest of the colours"""
    gx = cv2.Sobel(logs, cv2.CV_32F, 1, 0, ksize=3)
    gy = cv2.Sobel(logs, cv2.CV_32F, 0, 1, ksize=3)
    return np.sqrt(gx * gx + gy * gy).max(-1)
