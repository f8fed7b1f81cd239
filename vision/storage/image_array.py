"""Pictures as arrays: decoded from bytes, and in grey."""

from __future__ import annotations

import cv2
import numpy as np


def decode_image(data: np.ndarray, flags: int) -> np.ndarray:
    """A picture (h, w[, 3]) uint8 from (N,) bytes of a file; flags: OpenCV's. Raises ValueError."""
    image = cv2.imdecode(np.asarray(data, np.uint8), flags)
    if image is None:
        raise ValueError("a picture cannot be decoded")
    return image


def to_grey(image: np.ndarray) -> np.ndarray:
    """(h, w) uint8 of a colour, grey or four-channel picture"""
    if image.ndim == 2:
        return image
    if image.shape[2] == 1:
        return np.ascontiguousarray(image[..., 0])
    return cv2.cvtColor(image, cv2.COLOR_BGR2GRAY if image.shape[2] == 3 else cv2.COLOR_BGRA2GRAY)
