"""A small version of a picture with its pose. Central value: `View`."""

from __future__ import annotations

import msgspec
import numpy as np

from vision.geometry.pose import Pose
from vision.storage.image_array import reduce_image

SMALL_PX = 320  # longer side of the small pictures compared


class View(msgspec.Struct, frozen=True, eq=False):
    """A small version of a picture: (h, w, 3) uint8, and the pose at that size."""

    small: np.ndarray
    pose: Pose

    @classmethod
    def of(cls, image: np.ndarray, pose: Pose) -> View:
        """A small view of a picture (h, w, 3) or (h, w) uint8 with its pose"""
        scale = SMALL_PX / max(pose.size)
        size = round(pose.size[0] * scale), round(pose.size[1] * scale)
        return cls(reduce_image(image, size), pose.resized(size))
