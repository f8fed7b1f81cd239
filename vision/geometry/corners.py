"""Rectangles and other outlines by their corners, in the order of `Plan.corners`."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike


def rectangle_corners(low: ArrayLike, high: ArrayLike) -> np.ndarray:
    """(4, 2) from the lowest and the highest (x, y)"""
    (x0, y0), (x1, y1) = np.asarray(low, float), np.asarray(high, float)
    return np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1]])


def corner_turns(corners: ArrayLike) -> np.ndarray:
    """(N,) for each side of an outline (N, 2), twice the area of the triangle that it forms with
    the next: all above 0 if the outline is convex and goes round clockwise as seen"""
    sides = np.roll(corners, -1, 0) - np.asarray(corners)
    following = np.roll(sides, -1, 0)
    return sides[:, 0] * following[:, 1] - sides[:, 1] * following[:, 0]


def nearest_order(corners: np.ndarray, others: np.ndarray) -> int:
    """By how many places four corners (4, 2) have to be rolled to lie nearest to four others"""
    return min(
        range(4), key=lambda k: np.linalg.norm(np.roll(corners, k, 0) - others, axis=1).sum()
    )
