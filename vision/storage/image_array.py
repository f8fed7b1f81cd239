"""Handles differences in result shapes between OpenCV 4 and 5 (an axis was dropped from several
results)."""

from __future__ import annotations

from functools import cache

import cv2
import numpy as np


def as_points(found: np.ndarray | None) -> np.ndarray:
    """(N, 2) floats from whatever corners, findNonZero or goodFeaturesToTrack gave; (0, 2) for
    None"""
    return np.zeros((0, 2)) if found is None else np.asarray(found, float).reshape(-1, 2)


def as_ids(found: np.ndarray | None) -> list[int]:
    """ArUco's ids, (N, 1) in OpenCV 4 and (N,) in 5, as a list"""
    return [] if found is None else np.asarray(found).ravel().astype(int).tolist()


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


@cache
def _make_detector(refine: bool) -> cv2.aruco.ArucoDetector:
    p = cv2.aruco.DetectorParameters()
    p.minDistanceToBorder = 0  # a card whose white margin is cropped by the picture is still good
    p.cornerRefinementMethod = (
        cv2.aruco.CORNER_REFINE_SUBPIX if refine else cv2.aruco.CORNER_REFINE_NONE
    )
    return cv2.aruco.ArucoDetector(cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_50), p)


def detect_aruco(grey_image: np.ndarray, refine: bool = True) -> dict[int, np.ndarray]:
    """id -> (4, 2) pixels of a card's black corners, clockwise from its own upper left; an id seen
    twice is left out"""
    corners, ids, _ = _make_detector(refine).detectMarkers(grey_image)
    seen = as_ids(ids)
    return {i: as_points(c) for i, c in zip(seen, corners or ()) if seen.count(i) == 1}
