"""Estimates the room light from all colours of a copy, for when things hide most of its board.
Central value: LightReference.

Each place of a picture shows the empty board, or one of the copy's colours, or something foreign,
in a light that varies smoothly over the board. Which of them it shows and what the light is are
estimated alternately, by expectation-maximisation (Dempster, Laird and Rubin 1977), from coarse to
fine.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import cv2
import msgspec
import numpy as np

from vision.geometry.pose import Pose
from vision.geometry.site_windows import Pyramid
from vision.photometry.room_light import (
    CLIPPED,
    LIGHT_FLOOR,
    LOG_LEVELS,
    MIDDLE_GREY,
    PLAIN_RENDITION,
    Rendition,
    RoomLight,
    estimate_light,
    sampled_basis,
    small_view,
)
from vision.storage.model_file import Arrays

COLOURS = 28  # of a copy: enough for a board of our four games with all its pieces, and some shades
# part of the colours' shares that is spread evenly: a game may show more of some than the samplers
# do
EVEN_SHARE = 0.5
STEP = 3  # every third pixel of a small view is enough to estimate light
BARE_SHARE = 0.35  # prior share of places that show the empty board
FOREIGN_SHARE, FOREIGN_DENSITY = 0.03, np.e  # of something foreign, of any colour
ROUNDS, SHARP_ROUNDS = 8, 2  # iterations; how many of them at the finest level
BLURRED, SHARPEST = 0.35, 0.08  # tolerance of a place in log units, at first and at last
TELLING = 0.1  # weight of a place, since an object is some ten places wide
# standard deviations of the light's constant, linear and quadratic terms, log units: of brightness;
# of hue, where the constant is the camera's white balance and lamps in one room differ little
BRIGHTNESS_SD, HUE_SD = (1.7, 0.9, 0.9, 0.5, 0.5, 0.5), (0.25, 0.08, 0.08, 0.05, 0.05, 0.05)
# log units by which half of a view may differ in the same light: at this size a camera's noise is
# 0.01, and a light that is 5 % brighter counts as different
STILL = 0.02
FEWEST = 20  # least number of places for estimating light
# standard deviation of a rendition's contrast and vividness; differences below which it is not
# undone, as between photos of one camera (docs/lab/2026-11-28-the-matchers-gone.md); tolerance of a
# place in each iteration
RENDITION_SD, LEAST_RENDITION, RENDITION_ROUNDS = 0.4, 0.03, (0.3, 0.2, 0.12, 0.12)
RENDITION_SPAN = (0.5, 2.0)  # range of contrast and vividness in any camera
# from B G R to brightness and two orthogonal hues
AXES = np.array([[1, 1, 1], [1, 0, -1], [1, -2, 1]]) / np.sqrt([[3], [2], [6]])
LIGHT_PRECISION = np.array([BRIGHTNESS_SD, HUE_SD, HUE_SD]).T ** -2.0


class KnownLight(msgspec.Struct, frozen=True, eq=False):
    """The light estimated for a small log view (h, w, 3)"""

    seen: np.ndarray
    light: RoomLight

    def holds_in(self, seen: np.ndarray) -> bool:
        """Whether another view has the same light: most of it looks the same"""
        return float(np.median(np.abs(seen - self.seen))) < STILL


class LightReference(msgspec.Struct, frozen=True, eq=False):
    """The reference for estimating a picture's light. view: (h, w, 3) float32 log, small, of the
    empty board of `size` mm; colours: (n, 4) float32, the copy's colours in that light, log B G R,
    and the share of each; empty if only the board is used"""

    view: np.ndarray
    size: tuple[float, float]
    colours: np.ndarray

    @classmethod
    def of(
        cls, view: np.ndarray, size: tuple[float, float], shown: Sequence[np.ndarray] = ()
    ) -> LightReference:
        """shown: small log views of photos that show the copy's pieces too, in any light"""
        size = (float(size[0]), float(size[1]))
        out = cls(view, size, np.zeros((0, 4), np.float32))
        for _ in range(2 if shown else 0):  # better colours give better light, and vice versa
            seen = [out.estimate_light(v).within(v) for v in shown]
            out = cls(view, size, cluster_colours(seen))
        return out

    def pack(self) -> Arrays:
        """What `unpack` takes"""
        return {"reference": self.view.astype(np.float32), "colours": self.colours}

    @classmethod
    def unpack(cls, arrays: Arrays, size: tuple[float, float]) -> LightReference:
        """Raises KeyError or ValueError where something is missing or odd"""
        view, colours = arrays["reference"], arrays["colours"]
        if view.ndim != 3 or view.shape[2] != 3 or colours.ndim != 2 or colours.shape[1] != 4:
            raise ValueError("the light's reference is odd")
        return cls(view, size, colours)

    def light_of(self, picture: Pyramid, pose: Pose) -> RoomLight:
        """The light of a picture with the board at this pose"""
        return self.estimate_light(small_view(picture, pose, self.size))

    def estimate_light(self, seen: np.ndarray) -> RoomLight:
        """The light of a small log view (h, w, 3)"""
        by_board = estimate_light(seen, self.view, self.size)
        if not len(self.colours):
            return by_board
        seen, bare, basis = sample_views(seen, self.view, self.size, STEP)
        known = np.maximum(seen, bare).max(1) < LOG_LEVELS[CLIPPED]
        if known.sum() < FEWEST:
            return by_board
        seen, bare = (v[known] @ AXES.T.astype(np.float32) for v in (seen, bare))
        colours = self.colours[:, :3] @ AXES.T.astype(np.float32)
        plain = np.zeros((6, 3))
        plain[0] = np.median(seen - bare, 0)
        begun = plain, by_board.weights @ AXES.T
        fits = [fit_light(w, seen, bare, basis[known], colours, self.colours[:, 3]) for w in begun]
        best = max(fits, key=lambda fit: fit[0])[1]
        paint = seen - basis[known] @ best.astype(np.float32)
        rendition = tell_rendition(paint, bare, colours)
        return RoomLight((best @ AXES).astype(np.float32), self.size, rendition)


def tell_rendition(paint: np.ndarray, bare: np.ndarray, colours: np.ndarray) -> Rendition:
    """Estimates how a camera renders these colours, alternately with which places show the board or
    one of them. paint: (N, 3) in the reference's light; bare: (N, 3) of the empty board; colours:
    (n, 3) of the copy; all in brightness and hues"""
    middle = np.float32(math.sqrt(3) * math.log(MIDDLE_GREY + LIGHT_FLOOR))
    told = Rendition()
    for off in RENDITION_ROUNDS:
        grey = (paint[:, :1] - middle - math.sqrt(3) * told.brighter) / told.contrast + middle
        undone = np.column_stack([grey, paint[:, 1:] / told.vivid])
        far = np.square(undone[:, None] - colours).sum(2)
        own = colours[far.argmin(1)]
        nearest, board = far.min(1), np.square(undone - bare).sum(1)
        own = np.where((board <= nearest)[:, None], bare, own)
        near = np.minimum(nearest, board)
        counts = TELLING * np.exp(-near / (2 * off**2)) / off**2
        grey, shown = own[:, 0] - middle, paint[:, 0] - middle
        rows = np.column_stack([np.ones(len(grey)), grey])
        square = (rows * counts[:, None]).T @ rows + np.diag([1e-6, RENDITION_SD**-2])
        wanted = rows.T @ (counts * shown) + np.array([0.0, RENDITION_SD**-2])
        brighter, contrast = np.linalg.solve(square, wanted)
        hues = counts[:, None] * own[:, 1:]
        vivid = ((hues * paint[:, 1:]).sum() + RENDITION_SD**-2) / (
            (hues * own[:, 1:]).sum() + RENDITION_SD**-2
        )
        contrast, vivid = np.clip((contrast, vivid), *RENDITION_SPAN).tolist()
        told = Rendition(contrast, vivid, float(brighter) / math.sqrt(3))
    changes = abs(math.log(told.contrast)), abs(math.log(told.vivid))
    return told if max(changes) > LEAST_RENDITION else PLAIN_RENDITION


def cluster_colours(seen: Sequence[np.ndarray]) -> np.ndarray:
    """(COLOURS, 4) float32 as in `LightReference`, from small log views in the reference's light"""
    pixels = np.concatenate([v.reshape(-1, 3) for v in seen]).astype(np.float32)
    of, colours = cluster_pixels(pixels, COLOURS)
    shares = np.bincount(of, minlength=COLOURS) / len(pixels)
    shares = (1 - EVEN_SHARE) * shares + EVEN_SHARE / COLOURS
    return np.column_stack([colours, shares]).astype(np.float32)


def cluster_pixels(pixels: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """((n,) cluster of each of pixels (n, 3) float32, (count, 3) cluster colours), by k-means"""
    until = cv2.TERM_CRITERIA_EPS + cv2.TERM_CRITERIA_MAX_ITER, 40, 1e-3
    cv2.setRNGSeed(1)
    none = np.zeros((len(pixels), 1), np.int32)
    _, of, colours = cv2.kmeans(pixels, count, none, until, 2, cv2.KMEANS_PP_CENTERS)
    return of.ravel(), colours


def fit_light(
    weights: np.ndarray,
    seen: np.ndarray,
    bare: np.ndarray,
    basis: np.ndarray,
    colours: np.ndarray,
    shares: np.ndarray,
) -> tuple[float, np.ndarray]:
    """Fits the light starting from these weights: (its log-likelihood; (6, 3) weights as in
    `RoomLight`), in brightness and hues. seen, bare: (N, 3) places, and the same of the empty
    board; basis: (N, 6); colours: (n, 3) of the copy, shares: (n,)"""
    priors = np.log(np.concatenate([[BARE_SHARE], (1 - BARE_SHARE) * shares]))
    foreign = np.log(FOREIGN_SHARE * FOREIGN_DENSITY)
    finer = (SHARPEST / BLURRED) ** (np.arange(ROUNDS) / (ROUNDS - SHARP_ROUNDS - 1))
    likely = 0.0
    for off in np.maximum(BLURRED * finer, SHARPEST):
        paint = seen - basis @ weights.astype(np.float32)
        far = np.empty((len(paint), 1 + len(colours)), np.float32)
        far[:, 0] = np.square(paint - bare).sum(1)
        far[:, 1:] = (
            np.square(paint).sum(1)[:, None] - 2 * paint @ colours.T + np.square(colours).sum(1)
        )
        logs = (priors - 3 * np.log(off)).astype(np.float32) - far / np.float32(2 * off**2)
        most = np.maximum(logs.max(1), foreign)[:, None]
        chances = np.exp(logs - most)
        total = chances.sum(1) + np.exp(foreign - most[:, 0])
        chances /= total[:, None]
        likely = TELLING * float((most[:, 0] + np.log(total)).sum())
        likely -= 0.5 * float((LIGHT_PRECISION * weights**2).sum())
        told = chances.sum(1)[:, None] * seen - chances[:, :1] * bare - chances[:, 1:] @ colours
        square = (basis * chances.sum(1)[:, None]).T @ basis
        wanted = basis.T @ told
        telling = TELLING / off**2
        weights = np.column_stack(
            [
                np.linalg.solve(telling * square + np.diag(need), telling * column)
                for need, column in zip(LIGHT_PRECISION.T, wanted.T)
            ]
        )
    return likely, weights


def sample_views(
    seen: np.ndarray, empty: np.ndarray, size: tuple[float, float], step: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Every `step`th pixel of two small views (h, w, 3), both (N, 3), and the smooth basis
    functions (N, 6) there"""
    basis = sampled_basis(*empty.shape[:2], size, step)
    seen, empty = (np.ascontiguousarray(v[::step, ::step].reshape(-1, 3)) for v in (seen, empty))
    return seen, empty, basis
