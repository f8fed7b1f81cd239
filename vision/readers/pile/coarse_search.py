"""Coarse search: the looks' means, slid over small windows, tell roughly what lies where."""

from __future__ import annotations

import msgspec
import numpy as np

from vision.kernels import Kernel
from vision.photometry.colour_sampling import to_opponent
from vision.readers.pile.exemplar import Exemplar, footprint_mask, turned

FLOOR = np.array([0.15, 0.08, 0.08], np.float32)  # log units: what light and noise alone change
STRANGER = 16.0  # misfit of a pixel beyond which it is just not the board
SHADED = 4.0  # that of a pixel which is only darker: a shadow may have fallen on it
AT_ONCE = 500_000  # numbers copied at once: they stay near the processor
HOPELESS = 4.0  # doubt beyond which a place is not tried

_patches, _best = Kernel("slide_patches", "ffnnnnnffff"), Kernel("slide_best", "ffnnnfxffxff")


class Slide(msgspec.Struct, frozen=True, eq=False):
    """The looks of one footprint. looks: (K,) their numbers; mean: (K, m*m*3); weight: (m*m*3,),
    nought outside the footprint; mask: (m, m); free: (2,) pixels either way that a piece may lie
    without sticking out of its site;
    give: pixels beyond that cost one."""

    looks: np.ndarray
    mean: np.ndarray
    weight: np.ndarray
    mask: np.ndarray
    free: np.ndarray
    give: float

    @classmethod
    def fit(
        cls,
        looks: dict[int, list[Exemplar]],
        scale: float,
        window: int,
        free: np.ndarray,
        give: float,
    ) -> Slide:
        """window: pixels of a window's side; free: (2,) mm that the site is larger than the
        footprint, halved; give: mm that a piece may stick out without surprise"""
        first = next(iter(looks.values()))[0]
        side = min(int(np.ceil(max(first.size) * scale)) + 1, window - 2)
        mask = footprint_mask(first.size, first.disc, side, scale, -0.4 / scale)
        means, variances = [], []
        for pieces in looks.values():
            turns = {"any": np.arange(16) * 22.5, "quarters": (0, 90, 180, 270), "upright": (0,)}[
                first.lies
            ]
            views = np.stack(
                [
                    to_opponent(turned(e.picture, t, scale / e.scale, side))
                    for e in pieces
                    for t in turns
                ]
            )
            means.append(views.mean(0).ravel())
            variances.append(views.var(0))
        weight = mask[..., None] / (np.mean(variances, 0) + FLOOR**2)
        return cls(
            np.array(list(looks)),
            np.array(means, np.float32),
            weight.ravel().astype(np.float32),
            mask,
            free * scale,
            give * scale,
        )

    def search(
        self, seen: np.ndarray, bare: np.ndarray, expected: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """(gain (n, K), place (n, K, 2)) in (n, S, S, 3) windows; bare: (n, S, S) misfit of the
        empty site; expected: (n, K, 2) pixels off the middle where each look is seen when it lies
        in the middle of its site"""
        few = max(AT_ONCE // (self.mean.shape[1] * (seen.shape[1] - len(self.mask) + 1) ** 2), 1)
        parts = [slice(a, a + few) for a in range(0, max(len(seen), 1), few)]
        found = [self.search_few(seen[p], bare[p], expected[p]) for p in parts]
        return tuple(np.concatenate(part) for part in zip(*found))

    def search_few(
        self, seen: np.ndarray, bare: np.ndarray, expected: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """search() for no more than the processor has at hand at once"""
        n, side, m, looks = len(seen), seen.shape[1], len(self.mask), len(self.mean)
        reach = int(
            np.ceil(
                self.free.max() + np.sqrt(HOPELESS) * self.give + np.abs(expected).max(initial=0)
            )
        )
        skip = max((side - m + 1) // 2 - reach, 0)  # places at the rim that are hopeless
        k = side - m + 1 - 2 * skip
        wm = self.weight * self.mean
        patches, before = self.patches(seen, bare, skip, k)
        fit = (patches @ wm.T).reshape(n, k * k, looks)
        return self.highest(fit, before.reshape(n, k * k), (wm * self.mean).sum(1), expected, k)

    def patches(
        self, seen: np.ndarray, bare: np.ndarray, skip: int, k: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """((n * k * k, m * m * 3) what is seen under the footprint at each place, (n * k * k,) the
        part of its gain that all looks share)"""
        n, m = len(seen), len(self.mask)
        if _patches:
            patches, before = (
                np.empty((n * k * k, m * m * 3), np.float32),
                np.empty(n * k * k, np.float32),
            )
            _patches(
                seen, bare, n, seen.shape[1], skip, k, m, self.weight, self.mask, patches, before
            )
            return patches, before
        part = slice(skip, skip + k + m - 1)
        window = np.lib.stride_tricks.sliding_window_view
        before = (
            window(bare[:, part, part], (m, m), (1, 2)).reshape(n * k * k, m * m)
            @ self.mask.ravel()
        )
        patches = (
            window(seen[:, part, part], (m, m), (1, 2))
            .transpose(0, 1, 2, 4, 5, 3)
            .reshape(n * k * k, m * m * 3)
        )
        return patches, before - np.square(patches) @ self.weight

    def highest(
        self, fit: np.ndarray, before: np.ndarray, own: np.ndarray, expected: np.ndarray, k: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """What search() gives, of the products with the looks (n, k * k, looks), what all looks
        share (n, k * k), and of each look's product with itself (looks,)"""
        n, _, looks = fit.shape
        share = 0.5 / float(self.mask.sum())
        if _best:
            top, place = np.empty((n, looks), np.float32), np.empty((n, looks, 2), np.float32)
            room = self.free.astype(np.float32)
            _best(
                fit,
                before,
                n,
                k,
                looks,
                own,
                share,
                np.ascontiguousarray(expected, np.float32),
                room,
                self.give,
                top,
                place,
            )
            return top, place
        gain = (2 * fit + before[..., None] - own) * np.float32(share)
        at = (np.arange(k) - (k - 1) / 2)[None, :, None]
        x, y = (
            np.maximum(np.abs(at - expected[:, None, :, d]) - self.free[d], 0) / self.give
            for d in (0, 1)
        )
        gain -= (y[:, :, None] ** 2 + x[:, None] ** 2).reshape(n, k * k, looks).astype(np.float32)
        best = gain.argmax(1)  # (n, K)
        top = np.take_along_axis(gain, best[:, None], 1)[:, 0]
        y, x = best // k, best % k
        grid = gain.reshape(n, k, k, looks)
        rows, cols = np.arange(n)[:, None], np.arange(looks)[None]
        dx = peak(
            grid[rows, y, np.maximum(x - 1, 0), cols],
            top,
            grid[rows, y, np.minimum(x + 1, k - 1), cols],
        )
        dy = peak(
            grid[rows, np.maximum(y - 1, 0), x, cols],
            top,
            grid[rows, np.minimum(y + 1, k - 1), x, cols],
        )
        middle = (k - 1) / 2
        return top, np.stack([x + dx - middle, y + dy - middle], -1)


def peak(before: np.ndarray, top: np.ndarray, after: np.ndarray) -> np.ndarray:
    """How far from its highest sample a parabola through three samples is highest, -0.5 to 0.5"""
    curve = np.minimum(before + after - 2 * top, -1e-6)
    return np.clip(0.5 * (before - after) / curve, -0.5, 0.5)


class Coarse(msgspec.Struct, frozen=True, eq=False):
    """Every look slid over small windows. slides: one a footprint; scale: pixels a millimetre;
    side: of a window, pixels."""

    slides: list[Slide]
    scale: float
    side: int

    @classmethod
    def fit(
        cls,
        looks: list[list[Exemplar]],
        shapes: list[tuple[tuple[float, float], bool]],
        scale: float,
        window: int,
        box: np.ndarray,
        give: float,
    ) -> Coarse:
        """looks: the cut-outs of each look; window: pixels of a window's side; box: (2,) mm of a
        site; give: mm that a piece may stick out without surprise"""
        by_shape: dict[int, dict[int, list[Exemplar]]] = {n: {} for n in range(len(shapes))}
        for k, pieces in enumerate(looks):
            by_shape[shapes.index((pieces[0].size, pieces[0].disc))][k] = pieces
        return cls(
            [
                Slide.fit(
                    by_shape[n],
                    scale,
                    window,
                    np.maximum(box / 2 - np.array(shapes[n][0]) / 2, 0),
                    give,
                )
                for n in sorted(by_shape)
            ],
            scale,
            window,
        )

    def search(
        self, seen: np.ndarray, empty: np.ndarray, spread: np.ndarray, expected: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """(gain (n, K), place (n, K, 2)): how much better than the empty site each look explains
        the window at its best place, log-likelihood a pixel of footprint; and that place, mm off
        the window's middle (x, y).

        seen, empty, spread: (n, S, S, 3) opponent colours and the empty site's standard deviation;
        expected: (n, K, 2) mm off the middle where each look is seen when it lies in the middle of
        its site."""
        light, *colour = np.moveaxis((seen - empty) / spread, -1, 0)
        bare = np.where(light < 0, np.minimum(light**2, SHADED), light**2) + sum(
            c**2 for c in colour
        )
        np.minimum(bare, STRANGER, out=bare)
        looks = sum(len(s.looks) for s in self.slides)
        gain, place = (
            np.empty((len(seen), looks), np.float32),
            np.empty((len(seen), looks, 2), np.float32),
        )
        for s in self.slides:
            gain[:, s.looks], place[:, s.looks] = s.search(
                seen, bare, expected[:, s.looks] * self.scale
            )
        return gain, place / self.scale
