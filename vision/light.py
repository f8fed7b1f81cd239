"""Room light: how much brighter, in each colour, a picture is than the empty board's reference, smoothly over the board.

A picture is divided by its light before anything is compared; what is left is paint. Paint is compared as the logarithm
of grey levels, with some added so that noise and the camera's black level do not count in dark places.
"""

from __future__ import annotations

import cv2
import msgspec
import numpy as np

from vision.pose import Pose

SIDE = 96            # pixels along the board's longer side of the small pictures that are compared
DARK = 20.0          # grey levels added before the logarithm
LOG = np.log(np.arange(256, dtype=np.float32) + 4)   # for comparing light, where dark places hardly count


def small_view(image: np.ndarray, pose: Pose, size: tuple[float, float]) -> np.ndarray:
    """(h, w, 3) float32 log picture of the whole board, about SIDE pixels along its longer side"""
    scale = SIDE / max(size)
    shrink = max(int(pose.size[0] / SIDE / 6), 1)
    soft = cv2.resize(image, (max(image.shape[1] // shrink, 1), max(image.shape[0] // shrink, 1)),
                      interpolation=cv2.INTER_AREA)
    a, b = pose.rectify_map(0, 0, size[0], size[1], scale)
    fx, fy = soft.shape[1] / image.shape[1], soft.shape[0] / image.shape[0]
    a, b = (a + 0.5) * np.float32(fx) - 0.5, (b + 0.5) * np.float32(fy) - 0.5
    return LOG[cv2.remap(soft, a, b, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)]


def surface(mm: np.ndarray, size: tuple[float, float]) -> np.ndarray:
    """(N, 6) float32: the smooth functions of the board's place that light is made of"""
    x, y = (np.asarray(mm, np.float32).reshape(-1, 2) / np.float32(size) * 2 - 1).T
    return np.stack([np.ones_like(x), x, y, x * y, x * x - 0.5, y * y - 0.5], 1)


class Light(msgspec.Struct, frozen=True, eq=False):
    """weights: (6, 3) of the smooth functions, log units, B G R; spread: what is left over on the board, log units."""

    weights: np.ndarray
    size: tuple[float, float]
    spread: float = 0.05

    def at(self, mm: np.ndarray) -> np.ndarray:
        """(N, 3) float32: how many times as bright as the reference it is at these places"""
        return np.exp(surface(mm, self.size) @ self.weights)


def paint(pictures: np.ndarray, gain: np.ndarray) -> np.ndarray:
    """(n, S, S, 3) float32 logarithms of grey levels in the reference light, of pictures (n, S, S, 3) uint8 or float in a
    light `gain` (n, 3) times as bright"""
    n, rows, columns = pictures.shape[:3]
    out = pictures.reshape(n, rows, columns * 3).astype(np.float32)
    out *= np.tile((1 / gain).astype(np.float32), columns)[:, None]     # whole rows: numpy is slow where three numbers lie together
    out += DARK
    return cv2.log(out, out).reshape(n, rows, columns, 3)


def grey_levels(logs: np.ndarray) -> np.ndarray:
    """The reverse of paint: grey levels in the reference light"""
    return np.exp(logs) - DARK


def compare(seen: np.ndarray, empty: np.ndarray, size: tuple[float, float]) -> Light:
    """The light of a small view against the empty board's, both (h, w, 3) log. Pieces are outliers and do not count."""
    h, w = empty.shape[:2]
    ys, xs = np.mgrid[0:h, 0:w]
    mm = np.stack([(xs + 0.5) / w * size[0], (ys + 0.5) / h * size[1]], -1).reshape(-1, 2)
    basis = surface(mm, size)
    ratio = (seen - empty).reshape(-1, 3)
    usable = ((seen < LOG[250]) & (empty < LOG[250])).all(2).ravel().astype(np.float32)
    centre = np.median(ratio[usable > 0], 0) if usable.any() else np.zeros(3, np.float32)
    weights = np.zeros((6, 3), np.float32)
    weights[0] = centre
    scale = 0.3
    for _ in range(8):
        left = np.abs(ratio - basis @ weights).max(1)
        good = usable / (1 + (left / scale) ** 2) ** 2
        a = (basis * good[:, None]).T @ basis + 1e-3 * good.sum() * np.diag([0, 1, 1, 1, 1, 1]).astype(np.float32) * 0.01
        weights = np.linalg.solve(a + 1e-6 * np.eye(6, dtype=np.float32), (basis * good[:, None]).T @ ratio)
        scale = max(0.75 * scale, 0.06)
    left = np.abs(ratio - basis @ weights).max(1)
    return Light(weights.astype(np.float32), size, float(np.median(left[left < 3 * scale])) if (left < 3 * scale).any()
                 else scale)
