"""What pieces hide of the ground, and how much of a place is not the board's."""

from __future__ import annotations

import cv2
import numpy as np

from vision.readers.loose.pieces.fit import Piece
from vision.readers.loose.scene.polar_patches import Form
from vision.readers.loose.scene.scene import FOLD, Scene


def fullness(scene: Scene, form: Form, foot: np.ndarray) -> float:
    """The largest share of a flat form's outline that is not the board's, wherever it lies over a
    foot (2,)"""
    k = scene.frame.scale / FOLD
    n = int(np.ceil(2 * form.outer * k)) + 2
    x, y = np.round(scene.frame.to_px(foot) / FOLD).astype(int)
    near = scene.strange[max(y - n, 0) : y + n + 1, max(x - n, 0) : x + n + 1]
    outline = cv2.getStructuringElement(
        cv2.MORPH_ELLIPSE, (max(round(2 * form.inner * k), 1),) * 2
    ).astype(np.float32)
    reach = int(form.inner * k)
    full = cv2.filter2D(near, cv2.CV_32F, outline / outline.sum(), borderType=cv2.BORDER_CONSTANT)
    return float(
        full[
            max(min(y, n) - reach, 0) : min(y, n) + reach + 1,
            max(min(x, n) - reach, 0) : min(x, n) + reach + 1,
        ].max(initial=0)
    )


def shade(scene: Scene, p: Piece, mask: np.ndarray, grown: float = 1.5) -> None:
    """Marks what a piece hides, and a little around it for its shadow"""
    base = p.form.outline(p.foot, p.turn, grown)
    hull = cv2.convexHull(
        np.vstack([base, base + scene.lean.shift(base, p.form.height)]).astype(np.float32)
    ).reshape(-1, 2)
    cv2.fillPoly(mask, [np.round(scene.frame.to_px(hull)).astype(np.int32)], 1)
