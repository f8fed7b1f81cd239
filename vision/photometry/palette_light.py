"""Room light told by all colours that a copy has, where things hide most of its board. Its central
value: LightReference.

Each place of a picture shows the empty board, or one of the copy's colours, or something foreign,
in a light that is smooth over the board. Which of them, and in what light, is told in turns, by
expectation-maximisation (Dempster, Laird and Rubin 1977), blurred at first and ever finer.
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

COLOURS = 28  # of a copy: as many as four games' boards with all their pieces have, and some shades
# of a colour's share is the same for all: a game may show more of some than the samplers do
EVEN_SHARE = 0.5
STEP = 3  # every third pixel of a small view tells light as well as all
BARE_SHARE = 0.35  # of the places show the empty board, before anything is seen
FOREIGN_SHARE, FOREIGN_DENSITY = 0.03, np.e  # of them something else, whose colour may be any
ROUNDS, SHARP_ROUNDS = 8, 2  # of telling both; how many of them as fine as it gets
BLURRED, SHARPEST = 0.35, 0.08  # log units by which a place may be off, at first and at last
TELLING = 0.1  # of a place counts: what lies there is some ten of them wide
# one standard deviation, log units: how much brighter it is all over, sloping, curved; how much
# redder or bluer, as a camera sets its white otherwise, and lamps of one room differ little
BRIGHTNESS_SD, HUE_SD = (1.7, 0.9, 0.9, 0.5, 0.5, 0.5), (0.25, 0.08, 0.08, 0.05, 0.05, 0.05)
# log units by which half of a view may look otherwise in the same light: a camera's noise is
# 0.01 in pixels made so small, and a light that is 5 % brighter is another
STILL = 0.02
FEWEST = 20  # places to tell light by
# one standard deviation of a rendition's contrast and vividness; by how little they differ that is
# left, from photo to photo of one camera (docs/lab/2026-11-28-the-matchers-gone.md); how far off a
# place may be in each turn
RENDITION_SD, LEAST_RENDITION, RENDITION_ROUNDS = 0.4, 0.03, (0.3, 0.2, 0.12, 0.12)
RENDITION_SPAN = (0.5, 2.0)  # of contrast and vividness: no camera is farther off
# brightness and two hues at right angles, of B G R
AXES = np.array([[1, 1, 1], [1, 0, -1], [1, -2, 1]]) / np.sqrt([[3], [2], [6]])
LIGHT_PRECISION = np.array([BRIGHTNESS_SD, HUE_SD, HUE_SD]).T ** -2.0


class KnownLight(msgspec.Struct, frozen=True, eq=False):
    """The light that was told of a small log view (h, w, 3)"""

    seen: np.ndarray
    light: RoomLight

    def holds_in(self, seen: np.ndarray) -> bool:
        """Whether another view is lit as this one: most of it looks the same"""
        return float(np.median(np.abs(seen - self.seen))) < STILL


class LightReference(msgspec.Struct, frozen=True, eq=False):
    """What tells the light of a picture. view: (h, w, 3) float32 log, small, of the empty board of
    `size` mm; colours: (n, 4) float32, the copy's in that light, log B G R, and the share of each;
    none where only the board tells the light"""

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
        for _ in range(2 if shown else 0):  # colours tell the light better, which tells the colours
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
        """A picture's, in which the board lies so"""
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
        return RoomLight((best @ AXES).astype(np.float32), self.size, rendition=rendition)


def tell_rendition(paint: np.ndarray, bare: np.ndarray, colours: np.ndarray) -> Rendition:
    """How a camera shows these colours: by the places that show the board or one of them, told in
    turns with that. paint: (N, 3) in the reference's light; bare: (N, 3) of the empty board;
    colours: (n, 3) of the copy; all in brightness and hues"""
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
    """(COLOURS, 4) float32 as of `LightReference`, of small log views in the reference's light"""
    pixels = np.concatenate([v.reshape(-1, 3) for v in seen]).astype(np.float32)
    of, colours = cluster_pixels(pixels, COLOURS)
    shares = np.bincount(of, minlength=COLOURS) / len(pixels)
    shares = (1 - EVEN_SHARE) * shares + EVEN_SHARE / COLOURS
    return np.column_stack([colours, shares]).astype(np.float32)


def cluster_pixels(pixels: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """((n,) whose each of pixels (n, 3) float32 is, (count, 3) colours), by k-means"""
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
    """(how likely it is, log; (6, 3) weights as of `RoomLight`) of the light near these weights, in
    brightness and hues. seen, bare: (N, 3) places, and of the empty board; basis: (N, 6); colours:
    (n, 3) of the copy, shares: (n,)"""
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
    """Every `step`th pixel of two small views (h, w, 3), both (N, 3), and the smooth functions
    (N, 6) of their places"""
    basis = sampled_basis(*empty.shape[:2], size, step)
    seen, empty = (np.ascontiguousarray(v[::step, ::step].reshape(-1, 3)) for v in (seen, empty))
    return seen, empty, basis
