"""A small version of a picture with its pose. Central value: `View`."""

from __future__ import annotations

import cv2
import msgspec
import numpy as np

from vision.geometry.pose import Pose

SMALL_PX = 320  # longer side of the small pictures compared


class View(msgspec.Struct, frozen=True, eq=False):
    """A small version of a picture: (h, w, 3) uint8, and the pose at that size."""

    small: np.ndarray
    pose: Pose

    @classmethod
    def of(cls, image: np.ndarray, pose: Pose) -> View:
        """A small view of a picture (h, w, 3) or (h, w) uint8 with its pose"""
        small = image
        # halving is ten times as fast as any other area average
        while max(small.shape) >= 2 * SMALL_PX:
            small = cv2.resize(small, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA)
        scale = SMALL_PX / max(pose.size)
        size = round(pose.size[0] * scale), round(pose.size[1] * scale)
        small = cv2.resize(small, size, interpolation=cv2.INTER_AREA)
        return cls(
            small if small.ndim == 3 else cv2.cvtColor(small, cv2.COLOR_GRAY2BGR),
            pose.resized(size),
        )
