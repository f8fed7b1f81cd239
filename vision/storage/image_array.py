"""Pictures as arrays: decoded from bytes, in grey, and smaller."""

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


def halve_image(image: np.ndarray) -> np.ndarray:
    """A picture or map of any type at half the size; ten times as fast as other area averages"""
    return cv2.resize(image, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA)


def reduce_image(image: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """(h, w, 3) uint8 of (width, height) pixels, from a larger picture in colour or grey"""
    while max(image.shape) >= 2 * max(size):
        image = halve_image(image)
    image = cv2.resize(image, size, interpolation=cv2.INTER_AREA)
    return image if image.ndim == 3 else cv2.cvtColor(image, cv2.COLOR_GRAY2BGR)
