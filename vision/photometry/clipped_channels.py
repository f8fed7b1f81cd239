"""Colours that a camera shows no brighter, as red does of a warm lamp that it is not set to: told
by the colours that it does show, as those of something known of the copy, the board or a piece."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from itertools import product

import msgspec
import numpy as np

from vision.geometry.coarse_grid import grid_nodes, interpolate_nodes
from vision.geometry.pose import Pose
from vision.geometry.site_windows import Pyramid
from vision.photometry.colour_sampling import from_opponent
from vision.photometry.room_light import (
    BURNT,
    CLIPPED,
    DARK,
    LOG_LEVELS,
    estimate_light,
    grey_levels,
    sampled_basis,
    small_view,
)

WHITE = 255.0  # what a picture in the reference light shows at most
LIGHT_STEP = 16  # pixels between those where light is reckoned
BRIGHTEST = 0.98  # of the board is no brighter lit than what there is room for above white
PART_PIXELS = 4000  # pixels that a part of the copy tells its colours by
COLOUR_STEP = 0.08  # log units by which colours told apart differ, and by which one may be off
SHADED = 0.25  # log units by which something may be darker or brighter throughout
# of paint, log, for which it is worked out once which colour shows them; white by far
LEVELS = np.log(DARK) + np.arange(56) * 0.06


class CopyColours(msgspec.Struct, frozen=True, eq=False, dict=True):
    """Those of a copy's board and pieces. paint: (N, 3) log; often: (N,) share of pixels, log"""

    paint: np.ndarray
    often: np.ndarray

    @classmethod
    def of(cls, parts: Iterable[np.ndarray]) -> CopyColours:
        """parts: (..., 3) opponent colours in the reference light, each of which counts as much"""
        few = [p.reshape(-1, 3)[:: p.size // (3 * PART_PIXELS) + 1] for p in parts if p.size]
        bins, at = np.unique(
            np.round(from_opponent(np.concatenate(few)) / COLOUR_STEP).astype(int),
            axis=0,
            return_inverse=True,
        )
        often = np.bincount(at.ravel(), np.concatenate([np.full(len(p), 1 / len(p)) for p in few]))
        return cls((bins * COLOUR_STEP).astype(np.float32), np.log(often / len(few)))

    def told(self, paint: np.ndarray, lost: np.ndarray) -> np.ndarray:
        """(N, 3) levels in the reference light with those that are lost, (N, 3) bool, by the
        others; white where all are"""
        logs = np.log(paint.clip(0) + DARK)
        steps = (
            np.round((logs - LEVELS[0]) / (LEVELS[1] - LEVELS[0]))
            .astype(int)
            .clip(0, len(LEVELS) - 1)
        )
        out = logs.copy()
        for some, told in self.tables.items():
            gone, rows = np.flatnonzero(some), np.flatnonzero((lost == some).all(1))
            out[rows[:, None], gone] = told[tuple(steps[rows][:, ~np.array(some)].T)]
        return np.where(lost.all(1, keepdims=True), np.float32(WHITE), grey_levels(out))

    @cached_property
    def tables(self) -> dict[tuple[bool, ...], np.ndarray]:
        """Which colours are lost -> table() of these"""
        return {
            some: self.table(~np.array(some))
            for some in product((False, True), repeat=3)
            if 0 < sum(some) < 3
        }

    def table(self, kept: np.ndarray) -> np.ndarray:
        """(56, [56,] colours lost): logarithms of these for every level of those kept, (3,) bool"""
        known = kept.sum()
        levels = np.stack(np.meshgrid(*[LEVELS] * known, indexing="ij"), -1).reshape(-1, known)
        best, cost = np.zeros(len(levels), int), np.full(len(levels), np.inf)
        for i, (colour, often) in enumerate(zip(self.paint, self.often)):
            off = levels - colour[kept]
            more = off.mean(1)
            now = (
                np.square(off - more[:, None]).sum(1) / COLOUR_STEP**2
                + np.square(more / SHADED)
                - often
            )
            best, cost = np.where(now < cost, i, best), np.minimum(now, cost)
        told = self.paint[best][:, ~kept] + (levels - self.paint[best][:, kept]).mean(1)[:, None]
        return told.reshape(*[len(LEVELS)] * known, -1)


def restore_clipped(
    picture: Pyramid,
    pose: Pose,
    empty: np.ndarray,
    size: tuple[float, float],
    colours: Callable[[], CopyColours],
) -> Pyramid:
    """The picture with colours that are burnt out alone as bright as the others tell, and these
    colours darker throughout to make room; itself as a rule. empty: (h, w, 3) log, the empty board
    of that size, mm; colours: asked for where they are needed"""
    image, view = picture.levels[0], small_view(picture, pose, size)
    if partly_clipped(view >= LOG_LEVELS[CLIPPED]).mean() < BURNT:
        return picture
    light = estimate_light(view, empty, size)
    room = (
        np.quantile(np.exp(sampled_basis(*empty.shape[:2], size) @ light.weights), BRIGHTEST, 0)
        .clip(1)
        .astype(np.float32)
    )
    at = grid_nodes(image.shape, LIGHT_STEP)
    mm = pose.to_mm(at.reshape(-1, 2)).clip(0, size)
    lost = image >= CLIPPED
    some = lost.any(2)
    gain = interpolate_nodes(light.at(mm).reshape(*at.shape[:2], 3), image.shape, LIGHT_STEP)[some]
    out = image.astype(np.float32)
    paint = out[some] / gain
    told = np.where(lost[some], colours().told(paint, lost[some]), 0)
    out[some] = np.maximum(paint, told).clip(0, WHITE) * gain
    return Pyramid(np.rint(out / np.where(lost.any((0, 1)), room, 1)).clip(0, 255).astype(np.uint8))


def partly_clipped(lost: np.ndarray) -> np.ndarray:
    """(...) bool: where some colours (..., 3) are burnt out, but not all"""
    return np.any(lost, axis=-1) & ~np.all(lost, axis=-1)
