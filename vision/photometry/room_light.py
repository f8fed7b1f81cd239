"""Room light: by what factor a picture is brighter, in each colour, than the reference of the empty
board; it varies smoothly over the board.

A picture is divided by its light before anything is compared; what remains is called paint
(reflectance). Paint is compared as logarithms of grey levels, plus an offset so that noise and the
camera's black level do not count in dark places.
"""

from __future__ import annotations

import math
from functools import lru_cache

import cv2
import msgspec
import numpy as np

from vision.geometry.pose import Pose
from vision.geometry.site_windows import Pyramid

LIGHT_VIEW_PX = 96  # pixels along the board's longer side of the small pictures that are compared
DARK = 20.0  # grey levels added before the logarithm
LIGHT_FLOOR = 4.0  # ... when light is compared, so that dark places hardly count
MIDDLE_GREY = 170.0  # usual grey level of a board's ground
BLACK = 8  # grey levels below this are clipped by the camera and say nothing
# grey level at which a camera saturates: the actual brightness is this or more
CLIPPED = 250
# share of the board saturated in some but not all colours above which this is corrected for
BURNT = 0.1
# iterations of rejecting objects on the board; and of estimating a saturated colour from the others
LIGHT_ROUNDS, BURNT_ROUNDS = 8, 4
HARDLY = 0.95  # share of its brightness: what is no darker than this counts as the same


def to_logs(levels: np.ndarray) -> np.ndarray:
    """Logarithms float32 of grey levels, for comparing light"""
    return np.log(np.asarray(levels, np.float32) + np.float32(LIGHT_FLOOR))


LOG_LEVELS = to_logs(np.arange(256))


def small_view(pyramid: Pyramid, pose: Pose, size: tuple[float, float]) -> np.ndarray:
    """(h, w, 3) float32 log picture of the whole board, about LIGHT_VIEW_PX pixels along its longer
    side"""
    if (pose, size) not in pyramid.views:
        level = max(int(np.log2(max(pose.size[0] / LIGHT_VIEW_PX / 6, 1))), 0)
        a, b = pose.rectify_map(0, 0, size[0], size[1], LIGHT_VIEW_PX / max(size))
        a, b = ((m + 0.5) / 2**level - 0.5 for m in (a, b))
        pyramid.views[pose, size] = LOG_LEVELS[
            cv2.remap(pyramid.level(level), a, b, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        ]
    return pyramid.views[pose, size]


def light_basis(mm: np.ndarray, size: tuple[float, float]) -> np.ndarray:
    """(N, 6) float32: the smooth basis functions of board position that light is a combination
    of"""
    x, y = (np.asarray(mm, np.float32).reshape(-1, 2) / np.array(size, np.float32) * 2 - 1).T
    return np.stack([np.ones_like(x), x, y, x * y, x * x - 0.5, y * y - 0.5], 1)


class Rendition(msgspec.Struct, frozen=True):
    """How a camera renders paint differently from the reference. contrast: factor of the distance
    between dark and bright; vivid: factor of the distance of colours from grey; brighter: log units
    by which `MIDDLE_GREY` is brighter"""

    contrast: float = 1.0
    vivid: float = 1.0
    brighter: float = 0.0

    def undo(self, logs: np.ndarray) -> np.ndarray:
        """(h, w, 3) float32 logarithms of paint, as the reference shows it; unchanged if there is
        nothing to undo"""
        if self == PLAIN_RENDITION:
            return logs
        grey = np.full((3, 3), 1 / 3)
        matrix = (np.eye(3) - grey) / self.vivid + grey / self.contrast
        middle = math.log(MIDDLE_GREY + DARK)
        offset = middle - (middle + self.brighter) / self.contrast
        return cv2.transform(logs, np.column_stack([matrix, np.full(3, offset)]))


PLAIN_RENDITION = Rendition()


class RoomLight(msgspec.Struct, frozen=True, eq=False):
    """weights: (6, 3) of the basis functions, log units, B G R; rendition: how the camera renders
    the lit colours."""

    weights: np.ndarray
    size: tuple[float, float]
    rendition: Rendition = PLAIN_RENDITION

    def at(self, mm: np.ndarray) -> np.ndarray:
        """(N, 3) float32: brightness at these places, as a multiple of the reference"""
        return np.exp(light_basis(mm, self.size) @ self.weights)

    def within(self, view: np.ndarray) -> np.ndarray:
        """A small log view (h, w, 3) converted to the reference's light"""
        h, w = view.shape[:2]
        return view - (sampled_basis(h, w, self.size) @ self.weights).reshape(view.shape)


def to_reference_logs(pictures: np.ndarray, gain: np.ndarray) -> np.ndarray:
    """(n, S, S, 3) float32 logarithms of grey levels in the reference light, of pictures (n, S, S,
    3) uint8 or float in a light `gain` (n, 3) times as bright"""
    n, rows, columns = pictures.shape[:3]
    out = pictures.reshape(n, rows, columns * 3).astype(np.float32)
    # whole rows: numpy is slow on a last axis of length 3
    out *= np.tile((1 / gain).astype(np.float32), columns)[:, None]
    out += DARK
    return cv2.log(out, out).reshape(n, rows, columns, 3)


def grey_levels(logs: np.ndarray) -> np.ndarray:
    """The inverse of `to_reference_logs`: grey levels in the reference light"""
    return cv2.exp(logs) - DARK


def estimate_light(seen: np.ndarray, empty: np.ndarray, size: tuple[float, float]) -> RoomLight:
    """The light of a small view against the empty board's, both (h, w, 3) log. Pieces are outliers
    and do not count; saturated colours are assumed to differ by as much as the others, as in light
    of one colour."""
    basis = sampled_basis(*empty.shape[:2], size).T
    ratio = np.ascontiguousarray((seen - empty).reshape(-1, 3).T)
    burnt = np.ascontiguousarray(seen.reshape(-1, 3).T) >= LOG_LEVELS[CLIPPED]
    known = empty.max(2).ravel() < LOG_LEVELS[CLIPPED]
    whole, some = ((known & ~lost).astype(np.float32) for lost in (burnt.any(0), burnt.all(0)))
    usable = whole if whole.any() else some
    weights = np.zeros((6, 3), np.float32)
    weights[0] = np.median(ratio[:, usable > 0], 1) if usable.any() else 0
    small = np.diag(np.array([0, 1, 1, 1, 1, 1], np.float32)) * 1e-5
    scale, shown = 0.3, ratio
    for turn in range(LIGHT_ROUNDS + (BURNT_ROUNDS if (some - whole).mean() >= BURNT else 0)):
        if turn >= LIGHT_ROUNDS or usable is some:
            fit, usable = weights.T @ basis, some
            shown = fit - telling_cells(fit - ratio, burnt)[0]
        good = usable / np.square(1 + np.square(left_over(shown, basis, weights) / scale))
        held = basis * good
        a = held @ basis.T + good.sum() * small + 1e-6 * np.eye(6, dtype=np.float32)
        weights = np.linalg.solve(a, held @ shown.T)
        scale = max(0.75 * scale, 0.06)
    return RoomLight(weights.astype(np.float32), size)


def telling_cells(off: np.ndarray, most: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """((3, N) differences of cells from a light, (N,) whether they are informative), from (3, N)
    differences and where these are only upper limits (saturated): such a colour is assumed to
    differ by as much as the others, since a lamp has one colour"""
    if not most.any():
        return off, np.ones(off.shape[1], bool)
    free = most & (off > 0)
    known = 3 - free.sum(0)
    return np.where(free, (off * ~free).sum(0) / np.maximum(known, 1), off), known > 0


def left_over(ratio: np.ndarray, basis: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """(N,) the largest residual over the channels of a ratio (3, N), given the weights of a basis
    (6, N)"""
    return np.abs(ratio - weights.T @ basis).max(0)


@lru_cache(16)
def sampled_basis(h: int, w: int, size: tuple[float, float], step: int = 1) -> np.ndarray:
    """(N, 6) float32: the basis functions at every `step`th pixel of a small view (h, w);
    read-only"""
    ys, xs = np.mgrid[0:h:step, 0:w:step]
    mm = np.stack([(xs + 0.5) / w * size[0], (ys + 0.5) / h * size[1]], -1)
    return np.ascontiguousarray(light_basis(mm, size).T).T  # numpy is fast along rows
