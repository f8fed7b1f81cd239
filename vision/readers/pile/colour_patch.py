"""Sites that seem empty and show a patch in no colour that light or shadow give the empty board: a
coin on plain ground. Its value: Ground."""

from __future__ import annotations

from collections.abc import Callable

import cv2
import msgspec
import numpy as np

from vision.geometry.site_groups import nearest_others
from vision.photometry.colour_sampling import from_opponent
from vision.readers.pile.classifier import TILES, resized
from vision.readers.pile.fit_statistics import MORE_HERE, STEEP

CORE = 0.43  # of a site's side, from its middle: where a patch is looked for
LARGE = 0.12  # of that, how large a patch is at least
# sites that seem empty: nearest, and most of a colour. Light and paint make these look so, too
NEAR, ALIKE = 8, 4
ENOUGH = 12  # of them in a picture, below which nothing is told
FEW = 0.05  # share of their cells that are off by more than is usual
LEAST = np.float32([0.02, 0.015, 0.015])  # log units, brightness and tints, that are always usual
MOST = 2.5  # times as much as usual that a patch may be off
SHADE = 0.3  # of what a shadow takes off the brightness, that it may change tints by
EDGE = 0.7  # of how far a patch is off, what still is part of it


class Ground(msgspec.Struct, frozen=True, eq=False):
    """How the middles of empty sites look, by cells of theirs. low, high: (N, k, k, 3) opponent
    colours by which cells are off their own when the window lies a pixel beside; varied: likewise,
    their variance besides; plain: (N, 3) colours; core: the k of the TILES along a window that are
    looked at"""

    low: np.ndarray
    high: np.ndarray
    varied: np.ndarray
    plain: np.ndarray
    core: slice

    @classmethod
    def of(cls, empty: np.ndarray, varied: np.ndarray, half: float) -> Ground:
        """empty: (N, S, S, 3) windows; varied: (N, S, S, 3) variances; half: from their middles to
        their rims, in sites' sides"""
        size = empty.shape[1]
        wide = np.pad(empty, ((0, 0), (1, 1), (1, 1), (0, 0)), mode="edge")
        beside = [
            resized(np.ascontiguousarray(wide[:, i : i + size, j : j + size]), TILES)
            for i in range(3)
            for j in range(3)
        ]
        far = int(np.argmax(np.abs((np.arange(TILES) + 0.5) / TILES * 2 - 1) * half <= CORE))
        core = slice(far, TILES - far)
        *beside, varied = (v[:, core, core] for v in (*beside, resized(varied, TILES)))
        own = beside[4]
        low, high = np.min(beside, 0) - own, np.max(beside, 0) - own
        return cls(low, high, varied - varied.reshape(-1, 3).min(0), np.median(own, (1, 2)), core)

    def strange(
        self,
        other: np.ndarray,
        which: np.ndarray,
        bare: np.ndarray,
        centres: np.ndarray,
        hidden: Callable[[int], np.ndarray],
    ) -> np.ndarray:
        """(n,) probability that something lies on sites `which` (n,), of those that seem empty,
        bare: (n,) bool. other: (n, TILES, TILES, 3) by how much their cells are off the empty
        sites'; centres: (n, 2) mm; hidden: of a row (TILES, TILES) bool, where something known
        hides the ground.

        Gloss and lamps only add light, a shadow takes some off all of it: what is darker in one
        colour than the ground, and not in proportion, is paint. How far it is off counts beside
        what the others' cells are, and beyond what the nearest are and those alike"""
        out, seem = np.zeros(len(which)), np.flatnonzero(bare)
        if len(seem) < ENOUGH:
            return out
        own, centres = which[seem], centres[seem]
        other = other[seem, self.core, self.core]
        off = other - np.clip(other, self.low[own], self.high[own])
        much = np.abs(off)
        np.maximum(off[..., 0], 0, out=much[..., 0])
        usual = np.maximum(often(much.reshape(-1, 3)), LEAST)
        unsure = np.sqrt(usual**2 + self.varied[own])
        large = max(round(LARGE * off[0, ..., 0].size), 1)
        doubtful = np.flatnonzero(patch((much / unsure).max(-1), large) > MOST)
        if not len(doubtful):
            return out
        middle, plain = np.median(off, (1, 2)), self.plain[own]
        for i in doubtful:
            like = np.argsort(np.square(plain - plain[i]).sum(1))
            around = middle[[*like[like != i][:ALIKE], *nearest_others(centres, centres[i], NEAR)]]
            light = np.where(
                off[i] > 0, np.maximum(around, 0).max(0), np.maximum(-around, 0).max(0)
            )
            shade = SHADE * np.clip(-off[i, ..., 0], 0, max(-around[:, 0].min(), 0))
            light[..., 1:] = np.maximum(light[..., 1:], shade[..., None])
            left = (
                np.maximum(much[i] - light, 0)
                / unsure[i]
                * ~hidden(seem[i])[self.core, self.core, None]
            )
            each = patch(left.transpose(2, 0, 1), large)
            best = int(each.argmax())
            if each[best] > MOST:
                colours = from_opponent(other[i][left[..., best] >= EDGE * each[best]]).mean(0)
                if colours.min() < -MOST * usual[0]:
                    out[seem[i]] = 1 - np.exp(-min(STEEP * (each[best] - MOST), MORE_HERE))
        return out


def often(much: np.ndarray) -> np.ndarray:
    """(3,): what FEW of (n, 3) exceed"""
    last = int(len(much) * (1 - FEW))
    return np.array([np.partition(c, last)[last] for c in np.ascontiguousarray(much.T)])


def patch(much: np.ndarray, large: int) -> np.ndarray:
    """(n,) by how much (n, k, k) so many squares of four cells are off at least"""
    rows = np.minimum(much[:, :-1], much[:, 1:])
    fours = np.minimum(rows[:, :, :-1], rows[:, :, 1:]).reshape(len(much), -1)
    return np.partition(fours, -large, axis=1)[:, -large]


def hides(outlines: list[np.ndarray], side: int) -> np.ndarray:
    """(TILES, TILES) bool: cells of a window of so many pixels in which outlines (m, 2) px lie"""
    out = np.zeros((side, side), np.float32)
    for outline in outlines:
        cv2.fillConvexPoly(out, outline, 1)
    return cv2.resize(out, (TILES, TILES), interpolation=cv2.INTER_AREA) > 0
