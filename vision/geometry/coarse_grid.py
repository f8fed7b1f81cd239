"""Quantities that vary smoothly over a picture, computed at the nodes of a coarse grid and
interpolated."""

from __future__ import annotations

import cv2
import numpy as np


def grid_nodes(shape: tuple[int, ...], step: int) -> np.ndarray:
    """(h', w', 2) x and y of every `step`th pixel of a picture (h, w, ...), extending beyond its
    edges"""
    h, w = shape[:2]
    x, y = (np.arange(0, side + step, step, dtype=float) for side in (w, h))
    return np.stack(np.meshgrid(x, y), -1)


def sample_at(picture: np.ndarray, px: np.ndarray, border: int) -> np.ndarray:
    """A picture (h', w', ...) sampled at (h, w, 2) float32 pixel positions with linear
    interpolation; border: OpenCV's border mode"""
    # the type stubs do not know that one map may hold both coordinates
    return cv2.remap(picture, px, None, cv2.INTER_LINEAR, borderMode=border)  # type: ignore[call-overload]


def interpolate_nodes(values: np.ndarray, shape: tuple[int, ...], step: int) -> np.ndarray:
    """(h, w, ...) float32, interpolated from values at grid_nodes(), (h', w', ...)"""
    h, w = shape[:2]
    x, y = np.meshgrid(np.arange(w, dtype=np.float32) / step, np.arange(h, dtype=np.float32) / step)
    return cv2.remap(values.astype(np.float32), x, y, cv2.INTER_LINEAR)
