"""Where the board is in the picture: a camera pose with a lens, from board millimetres to pixels
and back."""

from __future__ import annotations

from functools import cached_property

import cv2
import msgspec
import numpy as np

from vision.kernels import Kernel
from vision.plan import Plan

_to_px, _to_mm = Kernel("to_px", "dddnd"), Kernel("to_mm", "ddxnd")


class Pose(msgspec.Struct, frozen=True, eq=False, dict=True):
    """Maps board millimetres (x right, y down, z up from the board's plane) to pixels.

    K: (3, 3) camera matrix; dist: (4,) OpenCV distortion, k1 k2 p1 p2; rvec, tvec: (3,) board to
    camera, mm (z of the board's frame points *into* the table, as x right and y down demand: a
    piece of height h has its top at z = -h).
    size: (width, height) of the picture in pixels; by, error_px: how it was found and its likely
    error; maybe_turned: the board looks the same when turned, and may be turned; as_well: rough
    poses of all placements that would look like this, turned or some squares off, including this
    one; empty if it is the only one.
    """

    K: np.ndarray
    dist: np.ndarray
    rvec: np.ndarray
    tvec: np.ndarray
    size: tuple[int, int]
    by: str = "markers"
    error_px: float = 0.0
    maybe_turned: bool = False
    as_well: tuple[Pose, ...] = ()

    def to_px(self, mm: np.ndarray, height: float | np.ndarray = 0.0) -> np.ndarray:
        """(N, 2) board mm at a height above the board (mm, one or (N,)) -> (N, 2) pixels"""
        # not cv2.projectPoints, which spends most of its time on derivatives
        mm = np.ascontiguousarray(mm, float).reshape(-1, 2)
        if _to_px:
            out, heights = np.empty_like(mm), np.empty(len(mm))
            heights[:] = height
            _to_px(self.camera, mm, heights, len(mm), out)
            return out
        R = cv2.Rodrigues(self.rvec)[0]
        z = np.broadcast_to(-np.asarray(height, float), len(mm))
        x, y, depth = R[:, :2] @ mm.T + R[:, 2:] * z + np.reshape(self.tvec, (3, 1))
        x, y = x / depth, y / depth
        k1, k2, p1, p2 = self.dist
        r2, xy = x * x + y * y, 2 * x * y
        radial = 1 + r2 * (k1 + r2 * k2)
        u = x * radial + p1 * xy + p2 * (r2 + 2 * x * x)
        v = y * radial + p1 * (r2 + 2 * y * y) + p2 * xy
        return np.column_stack([u * self.K[0, 0] + self.K[0, 2], v * self.K[1, 1] + self.K[1, 2]])

    @cached_property
    def camera(self) -> np.ndarray:
        """(20,) all parameters in one array, as the kernels need it"""
        R, K = cv2.Rodrigues(self.rvec)[0], self.K
        place, lens = np.append(R, self.tvec), [K[0, 0], K[1, 1], K[0, 2], K[1, 2]]
        return np.concatenate([place, np.ravel(self.dist), lens]).astype(float)

    def to_mm(self, px: np.ndarray, height: float = 0.0) -> np.ndarray:
        """(N, 2) pixels -> (N, 2) board mm in the plane `height` mm above the board"""
        if _to_mm:
            px = np.ascontiguousarray(px, float).reshape(-1, 2)
            out = np.empty_like(px)
            _to_mm(self.camera, px, height, len(px), out)
            return out
        px = np.asarray(px, float).reshape(-1, 1, 2)
        rays = cv2.undistortPoints(px, self.K, self.dist).reshape(-1, 2)
        R = cv2.Rodrigues(self.rvec)[0]
        H = np.column_stack([R[:, 0], R[:, 1], -height * R[:, 2] + self.tvec.ravel()])
        q = np.linalg.solve(H, np.column_stack([rays, np.ones(len(rays))]).T).T
        return q[:, :2] / q[:, 2:]

    def resized(self, size: tuple[int, int]) -> Pose:
        """The same view in a picture resized to (width, height)"""
        sx, sy = size[0] / self.size[0], size[1] / self.size[1]
        K = np.array(
            [
                [self.K[0, 0] * sx, 0, (self.K[0, 2] + 0.5) * sx - 0.5],
                [0, self.K[1, 1] * sy, (self.K[1, 2] + 0.5) * sy - 0.5],
                [0, 0, 1],
            ]
        )
        return msgspec.structs.replace(self, K=K, size=(int(size[0]), int(size[1])))

    def rectify_map(
        self, x0: float, y0: float, x1: float, y1: float, px_per_mm: float, height: float = 0.0
    ) -> tuple[np.ndarray, np.ndarray]:
        """cv2.remap maps (two float32 arrays, h x w) that show the board rectangle [x0, x1] x [y0,
        y1] mm from above"""
        w, h = round((x1 - x0) * px_per_mm), round((y1 - y0) * px_per_mm)
        xs = x0 + (np.arange(w) + 0.5) / px_per_mm
        ys = y0 + (np.arange(h) + 0.5) / px_per_mm
        grid = np.stack(np.meshgrid(xs, ys), -1).reshape(-1, 2)
        p = self.to_px(grid, height).reshape(h, w, 2).astype(np.float32)
        return p[..., 0], p[..., 1]

    def rectify(
        self,
        image: np.ndarray,
        x0: float,
        y0: float,
        x1: float,
        y1: float,
        px_per_mm: float,
        height: float = 0.0,
    ) -> np.ndarray:
        """That rectangle as a picture, px_per_mm pixels a millimetre"""
        a, b = self.rectify_map(x0, y0, x1, y1, px_per_mm, height)
        return cv2.remap(image, a, b, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)


def board_scale(pose: Pose, plan: Plan) -> float:
    """The picture's scale in the board's middle"""
    middle = np.array(plan.size) / 2
    a, b, c = pose.to_px(np.array([middle, middle + (1, 0), middle + (0, 1)]))
    return float(np.sqrt(abs(np.linalg.det(np.array([b - a, c - a])))))
