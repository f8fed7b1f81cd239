"""How steep edges are along the outline of a piece."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np

from vision.photometry.canvas import sample_canvas
from vision.readers.loose.scene.polar_patches import Form

POINTS = np.linspace(-0.85, 0.85, 9)  # of half a side: where edges are looked at


STEEP = 12.0  # grey levels a pixel beyond which an edge does not count for more


def sides_of(form: Form) -> tuple[np.ndarray, np.ndarray]:
    """(S, P, 2) mm: points on each side of an outline, and (S, P, 2) the way out of it there"""
    if form.disc:
        a = np.arange(36).reshape(4, 9) * np.pi / 18
        out = np.stack([np.cos(a), np.sin(a)], -1)
        return out * form.inner, out
    w, d = form.size[0] / 2, form.size[1] / 2
    one = np.ones_like(POINTS)
    sides = (
        (one * w, POINTS * d),
        (-one * w, POINTS * d),
        (POINTS * w, one * d),
        (POINTS * w, -one * d),
    )
    at = np.stack([np.stack(p, -1) for p in sides])
    out = np.array([[1, 0], [-1, 0], [0, 1], [0, -1.0]])
    return at, np.repeat(out[:, None], len(POINTS), 1)


def slopes_of(view: np.ndarray) -> list[np.ndarray]:
    """Two of (h, w, 3): how a picture changes to the right and down, in grey levels a pixel"""
    return [cv2.Scharr(view, cv2.CV_32F, dx, 1 - dx, scale=1 / 32) for dx in (1, 0)]


def across(slopes: Sequence[np.ndarray], places: np.ndarray, out: np.ndarray) -> np.ndarray:
    """(...) how steep edges are, at most STEEP, at (..., 2) pixels of a picture with these slopes,
    across the way (..., 2) `out`"""
    along = sum(
        sample_canvas(g, places) * out[..., i, None].astype(np.float32)
        for i, g in enumerate(slopes)
    )
    return np.minimum(np.abs(along).max(-1), STEEP)
