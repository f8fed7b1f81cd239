"""What changes gently over a picture, worked out at the nodes of a coarse grid and filled in
between."""

from __future__ import annotations

import cv2
import numpy as np


def grid_nodes(shape: tuple[int, ...], step: int) -> np.ndarray:
    """(h', w', 2) x and y of every `step`th pixel of a picture (h, w, ...), to beyond its ends"""
    h, w = shape[:2]
    return np.stack(
        np.meshgrid(
            np.arange(0, w + step, step, dtype=float), np.arange(0, h + step, step, dtype=float)
        ),
        -1,
    )


def node_maps(shape: tuple[int, ...], step: int) -> tuple[np.ndarray, np.ndarray]:
    """cv2.remap's maps, (h, w) each: where every pixel lies among grid_nodes()"""
    h, w = shape[:2]
    x, y = np.meshgrid(np.arange(w, dtype=np.float32) / step, np.arange(h, dtype=np.float32) / step)
    return x, y


def sample_at(picture: np.ndarray, px: np.ndarray, border: int) -> np.ndarray:
    """A picture (h', w', ...) at (h, w, 2) float32 pixels of it, between pixels linearly; border:
    OpenCV's name for what lies beyond its edge"""
    # the type stubs do not know that one map may say both
    return cv2.remap(picture, px, None, cv2.INTER_LINEAR, borderMode=border)  # type: ignore[call-overload]


def interpolate_nodes(values: np.ndarray, shape: tuple[int, ...], step: int) -> np.ndarray:
    """(h, w, ...) float32 of what is known at grid_nodes(), (h', w', ...)"""
    return cv2.remap(values.astype(np.float32), *node_maps(shape, step), cv2.INTER_LINEAR)
