"""Where the network's maps and pictures are looked at: of sites, of loose pieces, close up."""

from __future__ import annotations

import cv2
import numpy as np

from vision.geometry.footprints import top_shift
from vision.learned.groups import (
    SiteGroup,
)
from vision.learned.network import (
    ANGLES,
    CLOSE_UP,
    FINER,
    FOOT_REACH,
    SITE_PIXELS,
    SITE_REACH,
    grid_places,
    lean_axes,
    polar_places,
    square_axes,
    standing_axes,
)


def frame_standing(
    centres: np.ndarray, g: SiteGroup, camera: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The close-ups of a group's sites at (r, 2) mm: (r, 2) mm from their centres, (r, 2, 2) mm
    sides. camera: (3,) mm"""
    return standing_axes(top_shift(camera, centres, g.tall), FOOT_REACH * g.foot)


def frame_pieces(
    at: np.ndarray, camera: np.ndarray, width: float | np.ndarray, standing: float | np.ndarray
) -> np.ndarray:
    """(r, 2, 2) px, the sides of what shows loose pieces found at (r, 2) px, along and across: where
    one stands, from its foot to its top. camera: (3,) px, x, y and height; width, standing: px, one
    or (r,), `width` and `standing_height` of their forms"""
    width, standing = (np.reshape(v, (-1, 1)) for v in (width, standing))
    feet = at - (at - camera[:2]) * (standing / (2 * camera[2]))  # each is found by its middle
    length, along, across = lean_axes(top_shift(camera, feet, standing))
    return np.stack([along * (length + width), across * width], 1)


def close_up(canvas: np.ndarray, middle: np.ndarray, sides: np.ndarray) -> np.ndarray:
    """(*CLOSE_UP, C) the part of a canvas about (2,) px whose sides are (2, 2) px, as it is where
    it reaches beyond"""
    h, w = CLOSE_UP
    m = np.column_stack([sides[0] / w, sides[1] / h, np.zeros(2)])
    m[:, 2] = middle - m[:, :2] @ ((w - 1) / 2, (h - 1) / 2)
    return cv2.warpAffine(
        canvas,
        m,
        (w, h),
        flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP,
        borderMode=cv2.BORDER_REPLICATE,
    )


def whole_close_up() -> tuple[np.ndarray, np.ndarray]:
    """(1, 2) px the middle of a close-up, (1, 2, 2) px its sides"""
    h, w = CLOSE_UP
    return np.array([[(w - 1) / 2, (h - 1) / 2]]), np.array([[[w, 0.0], [0.0, h]]])


def frame_tops(
    at: np.ndarray, axes: np.ndarray, side: np.ndarray, tops: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Where pictures of sites are taken, (r, 2) px, and their sides, (r, 2, 2) px: about the piece
    that lies uppermost where such pieces lie loose elsewhere, for there it may lie anywhere, turned
    in a way that tells what it is. at, axes: of the sites; side: (r,) px across such pieces, 0 where
    there are none; tops: (r, 2) px where one is seen, nan where none is"""
    closer = side > 0
    found = closer & ~np.isnan(tops[:, 0])
    return (
        np.where(found[:, None], tops, at),
        np.where(closer[:, None, None], square_axes(SITE_REACH * side), axes),
    )


def nearest_tops(at: np.ndarray, reach: np.ndarray, points: np.ndarray) -> np.ndarray:
    """(r, 2) the nearest of points (n, 2) to each of (r, 2), nan where none lies within (r,)"""
    if not len(points):
        return np.full(at.shape, np.nan)
    away = np.hypot(*(at[:, None] - points[None]).transpose(2, 0, 1))
    near = away.min(1, keepdims=True) <= np.reshape(reach, (-1, 1))
    return np.where(near, points[away.argmin(1)], np.nan)


def sample_map(
    features: np.ndarray, at: np.ndarray, axes: np.ndarray, grid: int, stride: int
) -> np.ndarray:
    """(r, grid^2, c) of a feature map (h, w, c)"""
    return gather_places(features, *grid_places(at, axes, grid, stride, features.shape[:2]))


def sample_polar(picture: np.ndarray, at: np.ndarray, axes: np.ndarray) -> np.ndarray:
    """(r, ANGLES, FINER * RINGS, c) of a picture (h, w, c) about (r, 2) px, of pieces with sides
    (r, 2, 2) px"""
    places = polar_places(at, axes, picture.shape[:2])
    return gather_places(picture, *places).reshape(len(at), ANGLES, -1, picture.shape[-1])


def sample_pictures(picture: np.ndarray, at: np.ndarray, axes: np.ndarray) -> np.ndarray:
    """(r, n, n, c) of a picture (h, w, c) about (r, 2) px, sides (r, 2, 2) px; n: FINER * SITE_PIXELS"""
    n = FINER * SITE_PIXELS
    return sample_map(picture, at, axes, n, 1).reshape(-1, n, n, picture.shape[-1])


def gather_places(features: np.ndarray, index: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """(r, n, c) of a map (h, w, c) at places as `neighbours_of` gives them"""
    if features.flags.c_contiguous:
        flat = features.reshape(-1, features.shape[-1])
        return np.einsum("rgkc,rgk->rgc", flat[index], weight)
    # as the network gives them, channel by channel: to copy them whole takes longer
    planes = features.transpose(2, 0, 1).reshape(features.shape[-1], -1)
    return np.einsum("crgk,rgk->rgc", planes[:, index], weight)
