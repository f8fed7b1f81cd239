"""Square windows of the board, seen from above, many at once. Its central value: Windows."""

from __future__ import annotations

from functools import cached_property

import cv2
import msgspec
import numpy as np

from vision.geometry.pose import Pose
from vision.storage.image_array import halve_image

# points per side whose pixels are computed exactly; the rest is interpolated by a parabola
EXACT_POINTS = 3


def scale_at(pose: Pose, mm: np.ndarray) -> float:
    """Pixels of the picture per millimetre of board, the mean over the points mm (N, 2)"""
    step = np.vstack(
        [pose.to_px(mm + d) for d in ((0.5, 0), (0, 0.5), (-0.5, 0), (0, -0.5))]
    ).reshape(4, -1, 2)
    a, b = step[0] - step[2], step[1] - step[3]
    return float(np.sqrt(np.abs(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0])).mean())


def spread_grid(base: np.ndarray, matrix: np.ndarray, grid: np.ndarray) -> np.ndarray:
    """(2, n, R * C) float32, x and y: base (n, 2) plus matrix (n, 2, 2) times a grid (R, C, 2)"""
    rows = np.concatenate([matrix, base[..., None]], 2).astype(np.float32)
    places = np.vstack([grid.reshape(-1, 2).T, np.ones(grid.size // 2)]).astype(np.float32)
    # one matrix product for all: hundreds of small ones are slow
    return rows.transpose(1, 0, 2) @ places


class Pyramid:
    """An image pyramid, computed when needed. views: other versions of the picture, cached by key
    (`small_view`)."""

    def __init__(self, image: np.ndarray) -> None:
        self.levels = [image]
        self.views: dict[tuple, np.ndarray] = {}

    @classmethod
    def of(cls, picture: np.ndarray | Pyramid) -> Pyramid:
        """The pyramid of a picture (h, w, 3) uint8; a pyramid is returned unchanged"""
        return picture if isinstance(picture, Pyramid) else cls(picture)

    def level(self, n: int) -> np.ndarray:
        """The picture halved n times, (h, w, 3) uint8"""
        while len(self.levels) <= n:
            self.levels.append(halve_image(self.levels[-1]))
        return self.levels[n]


class Windows(msgspec.Struct, frozen=True, dict=True, eq=False):
    """centres: (N, 2) mm; half: half a window's side in mm; scale: window pixels a millimetre."""

    centres: np.ndarray
    half: float
    scale: float

    @property
    def side(self) -> int:
        """Pixels per side"""
        return max(round(2 * self.half * self.scale), 8)

    @cached_property
    def basis(self) -> np.ndarray:
        """(EXACT_POINTS^2, side^2) float32: weights of the exact points at each window pixel"""
        t = (np.arange(self.side) + 0.5) / self.side * 2 - 1
        nodes = np.linspace(-1, 1, EXACT_POINTS)
        line = np.stack(
            [np.prod([(t - m) / (n - m) for m in nodes if m != n], axis=0) for n in nodes], 1
        )
        return np.ascontiguousarray(
            np.einsum("ya,xb->abyx", line, line).reshape(EXACT_POINTS**2, self.side**2), np.float32
        )

    def cut(self, pyramid: Pyramid, pose: Pose) -> np.ndarray:
        """(N, side, side, 3) uint8: the windows cut out of a picture"""
        nodes = np.linspace(-self.half, self.half, EXACT_POINTS)
        grid = np.stack(np.meshgrid(nodes, nodes), -1).reshape(-1, 2)
        px = pose.to_px((self.centres[:, None] + grid).reshape(-1, 2))
        finer = max(scale_at(pose, self.centres[:8]) / self.scale, 1.0)
        level = max(int(np.log2(finer) + 0.25), 0)
        points = ((px + 0.5) / 2**level - 0.5).reshape(-1, EXACT_POINTS**2, 2).astype(np.float32)
        x, y = points.transpose(2, 0, 1) @ self.basis
        return cv2.remap(
            pyramid.level(level), x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
        ).reshape(-1, self.side, self.side, 3)
