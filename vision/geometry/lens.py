"""A lens: focal length and distortion in units of the picture's longer side, so that any resolution
will do."""

from __future__ import annotations

from contextlib import suppress

import cv2
import msgspec
import numpy as np

from vision.geometry.pose import Pose

# in units of the longer side: between a phone's main camera (0.75), a Pi camera (0.8) and longer
# lenses
USUAL_FOCAL = 0.9
FOCALS = USUAL_FOCAL * np.exp(np.linspace(-0.7, 0.7, 15))


class Lens(msgspec.Struct, frozen=True):
    """focal, in longer sides of the picture; k1, k2: OpenCV's radial distortion; the axis goes
    through the middle."""

    focal: float = USUAL_FOCAL
    k1: float = 0.0
    k2: float = 0.0

    def K(self, size: tuple[int, int]) -> np.ndarray:
        """(3, 3) camera matrix for a picture of (width, height) pixels"""
        f = self.focal * max(size)
        return np.array([[f, 0, (size[0] - 1) / 2], [0, f, (size[1] - 1) / 2], [0, 0, 1]], float)

    @property
    def dist(self) -> np.ndarray:
        """(4,) OpenCV distortion"""
        return np.array([self.k1, self.k2, 0, 0], float)

    def pose(
        self, mm: np.ndarray, px: np.ndarray, size: tuple[int, int], by: str
    ) -> tuple[Pose, np.ndarray]:
        """The pose that best maps (N, 2) board mm to (N, 2) pixels, and its (N,) errors in pixels;
        N >= 4.

        Raises ValueError if no camera could see the board like that."""
        points = np.column_stack([mm, np.zeros(len(mm))]).astype(float)
        px = np.ascontiguousarray(px, float).reshape(-1, 1, 2)
        K = self.K(size)
        rough: list[tuple[np.ndarray, np.ndarray]] = []
        with suppress(cv2.error):
            found = cv2.solvePnPGeneric(points, px, K, self.dist, flags=cv2.SOLVEPNP_IPPE)
            rough = list(zip(*found[1:3]))
        fitted = []
        for rvec, tvec in rough:
            if tvec[2] <= 0 or not np.isfinite(rvec).all():
                continue
            rvec, tvec = cv2.solvePnPRefineLM(points, px, K, self.dist, rvec, tvec)
            pose = Pose(K, self.dist, rvec.ravel(), tvec.ravel(), size, by)
            off = np.linalg.norm(pose.to_px(mm) - px.reshape(-1, 2), axis=1)
            fitted.append((pose, off))
        if not fitted:
            raise ValueError("these points are not a board seen by a camera")
        return min(fitted, key=lambda fit: fit[1] @ fit[1])


def usual_lens(mm: np.ndarray, px: np.ndarray, size: tuple[int, int], noise: float) -> Lens:
    """A lens without distortion whose focal length explains one view best, kept near the usual one;
    noise: error of a point in pixels."""

    def cost(focal: float) -> float:
        try:
            _, off = Lens(focal).pose(mm, px, size, "")
        except ValueError:
            return np.inf
        return (off @ off) / noise**2 + (np.log(focal / USUAL_FOCAL) / 0.25) ** 2

    return Lens(float(min(FOCALS, key=cost)))


def pack_pose(pose: Pose) -> np.ndarray:
    """(8,) rvec, tvec, width, height"""
    return np.concatenate([pose.rvec, pose.tvec, pose.size])


def unpack_pose(lens: Lens, a: np.ndarray) -> Pose:
    """The inverse of `pack_pose`, given the lens"""
    size = int(a[6]), int(a[7])
    return Pose(lens.K(size), lens.dist, np.array(a[:3], float), np.array(a[3:6], float), size)
