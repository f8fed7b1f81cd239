"""What is learnt of each kind of thing that stands: its form, and how it looks as it leans more or
less. Its values: Man, Looks."""

from __future__ import annotations

from collections.abc import Iterable

import cv2
import msgspec
import numpy as np

from vision.kernels import Kernel
from vision.readers.standing.lean_geometry import SLICES, Frame, needed, rises, uppermost

WORST = 16.0  # misfit of a pixel beyond which all are alike
# what light and noise alone change: log units, edges
FLOOR = np.array([0.17, 0.09, 0.09, 0.15], np.float32)
SHADOW = 3.0  # most that a pixel costs which is only darker
DARKEST = 1.3  # log units by which a shadow darkens at most
MATTER = np.array([0.45, 0.10, 0.10], np.float32)  # least spread of the colours of one thing
UNSURE = 8.0  # most that a pixel may speak for or against a form
STEADY = 2.0  # what a slice costs, a mm that it is wider than the next
SLACK = 1.25  # how much wider than the plan says a thing may be
# slices that are made wider or narrower together, one try after another
TOGETHER = 12, 6, 3, 1, 6, 3, 1
CHANNELS = len(FLOOR)
BOARD = -2.0  # below that much a pixel speaks for the board and against a man
PRIOR = 8.0  # pixels of its usual colour that each place of a kind is thought to have shown
_gain = Kernel("form_gain", "BBfinnndd")
_changed = Kernel("form_changed", "BBinnnn")


class Man(msgspec.Struct, eq=False):
    """Something that stands in a calibration photo. kind: its number; photo, site: theirs; foot:
    (2,) mm; along: (2,) the way it leans, lean: mm a mm of height; above: mm that the camera was
    above the board; window, bare: (V, U, CHANNELS) what is seen round its foot, (V, U) its misfit
    with the empty board; clear: (V, U) bool where no other of the photo's men shows."""

    kind: int
    photo: int
    site: int
    foot: np.ndarray
    along: np.ndarray
    lean: float
    above: float
    window: np.ndarray
    bare: np.ndarray
    clear: np.ndarray


def misfit(seen: np.ndarray, empty: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """(...) how badly the empty board explains what is seen, both (..., 3); being darker costs
    little, it may be a shadow"""
    d = seen - empty
    e = d * d * weight
    dark = d[..., 0]
    shade = (
        np.minimum(e[..., 0], SHADOW) + np.square(np.minimum(dark + DARKEST, 0)) * weight[..., 0]
    )
    return np.minimum(
        np.where(dark < 0, np.minimum(e[..., 0], shade), e[..., 0]) + e[..., 1:].sum(-1), WORST
    )


class Outlines(msgspec.Struct, eq=False):
    """How far kinds of those forms are seen. leans: (B,); part: (K, B, V, U) int8 the slice seen,
    -1 outside"""

    leans: np.ndarray
    part: np.ndarray

    @classmethod
    def of(
        cls, frame: Frame, heights: np.ndarray, forms: np.ndarray, leans: np.ndarray, above: float
    ) -> Outlines:
        """heights: (K,) mm; forms: (K, SLICES) radii, mm; above: mm of the camera"""
        return cls(
            np.asarray(leans),
            np.array(
                [
                    [uppermost(needed(frame, h, lean, above), f).astype(np.int8) for lean in leans]
                    for h, f in zip(heights, forms)
                ]
            ),
        )

    def nearest(self, lean: np.ndarray) -> np.ndarray:
        """(n,) the number of the lean nearest to each"""
        return np.abs(np.asarray(lean)[:, None] - self.leans).argmin(1)

    def solid(self, kind: int, b: int) -> np.ndarray:
        """(V, U) float32: one where a kind is seen that leans so"""
        return (self.part[kind, b] >= 0).astype(np.float32)


def first_form(size: float) -> np.ndarray:
    """(SLICES,) radii that a thing `size` mm wide is supposed to have"""
    return (
        size
        / 2
        * np.interp((np.arange(SLICES) + 0.5) / SLICES, [0, 0.1, 0.3, 1], [1, 0.9, 0.6, 0.45])
    )


def spoken_for(men: list[Man], frame: Frame, height: float, radii: np.ndarray) -> list[np.ndarray]:
    """Of each man (V, U): how much each pixel speaks for showing a thing of the colours that they
    have in common"""
    inner = [uppermost(needed(frame, height, m.lean, m.above), 0.6 * radii) >= 0 for m in men]
    core = np.concatenate([m.window[..., :3][i & m.clear] for m, i in zip(men, inner)])
    if not len(core):
        core = np.concatenate([m.window[..., :3][i] for m, i in zip(men, inner)])
    middle = np.median(core, 0)
    spread = np.maximum(1.48 * np.median(np.abs(core - middle), 0), MATTER)
    own = [np.minimum(np.square((m.window[..., :3] - middle) / spread).sum(-1), WORST) for m in men]
    return [
        np.where(m.clear, np.clip(m.bare - o - 1, -UNSURE, UNSURE), 0).astype(np.float32)
        for m, o in zip(men, own)
    ]


def moved(speaks: np.ndarray, mask: np.ndarray, slop: int) -> tuple[int, int]:
    """(x, y) pixels by which a form (V, U) bool is best moved to lie on what speaks for it"""
    padded = cv2.copyMakeBorder(speaks, slop, slop, slop, slop, cv2.BORDER_CONSTANT)
    found = cv2.matchTemplate(padded, mask.astype(np.float32), cv2.TM_CCORR)
    t = np.arange(-slop, slop + 1) / slop
    found = found - 0.02 * mask.sum() * (t[None] ** 2 + t[:, None] ** 2)
    y, x = np.unravel_index(int(found.argmax()), found.shape)
    return int(x) - slop, int(y) - slop


def fitted_form(
    speaks: Iterable[np.ndarray], needs: Iterable[np.ndarray], radii: np.ndarray, widest: float
) -> np.ndarray:
    """(SLICES,) radii for which most of what lies inside the form speaks for it; needs: (SLICES, V,
    U) each"""
    step = max(0.5, widest / 250)
    n = int(widest / step) + 1
    wide = np.arange(n + 1) * step
    radii, at = radii.copy(), np.minimum(radii / step, n).astype(np.int32)
    men = []
    for s, need in zip(speaks, needs):
        can = need.min(0) <= wide[-1]
        which = np.minimum(np.ceil(need[:, can] / np.float32(step)), n + 1).astype(
            np.uint8, order="C"
        )
        men.append(
            (
                np.ascontiguousarray(s[can], np.float32),
                which,
                (which <= at[:, None]).sum(0, dtype=np.uint8),
            )
        )
    for many in TOGETHER:  # one of many that hide each other cannot be changed alone
        for k in range(0, SLICES - many + 1, max(many // 2, 1)):
            part = slice(k, k + many)
            gain, now = np.zeros(n + 2), np.zeros(1)
            for s, need, cover in men:
                speaking(need, cover, s, at, part, gain, now)
            gain, now = np.cumsum(gain)[: n + 1], float(now[0])
            for other in (k - 1, k + many):
                if 0 <= other < SLICES:
                    gain -= STEADY * len(men) * np.minimum(np.abs(wide - radii[other]), 4)
            gain[0] = -np.inf
            now -= (
                STEADY
                * len(men)
                * np.minimum(np.abs(np.diff(radii[max(k - 1, 0) : k + many + 1])), 4).sum()
            )
            best = int(gain.argmax())
            if gain[best] <= now:
                continue
            for _, need, cover in men:
                if _changed:
                    _changed(need, cover, at, len(cover), k, k + many, best)
                else:
                    cover += (need[part] <= best).sum(0, dtype=np.uint8) - (
                        need[part] <= at[part, None]
                    ).sum(0, dtype=np.uint8)
            radii[part], at[part] = wide[best], best
    return radii


def speaking(
    need: np.ndarray,
    cover: np.ndarray,
    speaks: np.ndarray,
    at: np.ndarray,
    part: slice,
    gain: np.ndarray,
    now: np.ndarray,
) -> None:
    """Adds to gain (n + 2,), by the radius from which on one of some slices would be seen, what the
    pixels that no other slice covers speak for the thing; to now (1,) what those do that one of
    these slices covers. need: (SLICES, p) the numbers of these radii; cover: (p,) slices seen;
    speaks: (p,); at: (SLICES,) the numbers of their radii"""
    if _gain:
        _gain(need, cover, speaks, at, len(cover), part.start, part.stop, gain, now)
        return
    free = cover == (need[part] <= at[part, None]).sum(0, dtype=np.uint8)
    gain += np.bincount(need[part, free].min(0), speaks[free], len(gain))
    now += speaks[free & (cover > 0)].sum(dtype=float)


def own_part(speaks: np.ndarray, inside: np.ndarray) -> np.ndarray:
    """(V, U) float32: how much of each pixel is a man's, of what lies inside (V, U) bool the form;
    what shines in his midst is his"""
    own = cv2.blur(speaks, (3, 3))
    sure = ((own > BOARD) & inside).astype(np.uint8)
    outline, _ = cv2.findContours(sure, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    filled = cv2.drawContours(np.zeros_like(sure), outline, -1, 1, -1)
    return filled.astype(np.float32)


class Looks(Outlines):
    """How kinds look at some leans. colour, weight: (P, CHANNELS)
    the mean of what is seen there and one by its variance, pixel by pixel of the kinds' parts;
    sprites: (Q, CHANNELS) float16 the same of each man as he would be seen; first: (K, B), start:
    (E, B) where each begins; kinds: (E,) of the men;
    shown: (E, B) what share of each was seen in his photo."""

    colour: np.ndarray
    weight: np.ndarray
    first: np.ndarray
    sprites: np.ndarray
    start: np.ndarray
    kinds: np.ndarray
    shown: np.ndarray

    def usual(self, kind: int, b: int) -> tuple[np.ndarray, np.ndarray]:
        """Two of (V, U, CHANNELS): colour and weight of a kind that leans so, nought outside"""
        there = self.part[kind, b] >= 0
        rows = slice(self.first[kind, b], self.first[kind, b] + there.sum())
        out = np.zeros((2, *there.shape, CHANNELS), np.float32)
        out[0, there], out[1, there] = self.colour[rows], self.weight[rows]
        return out[0], out[1]

    def sprite(self, man: int, b: int) -> np.ndarray:
        """(p, CHANNELS) float32: what is seen of a man who leans so, pixel by pixel of his kind's
        part"""
        begin = self.start[man, b]
        return self.sprites[begin : begin + (self.part[self.kinds[man], b] >= 0).sum()].astype(
            np.float32
        )

    @classmethod
    def fit(
        cls,
        men: list[Man],
        frame: Frame,
        heights: np.ndarray,
        forms: np.ndarray,
        leans: np.ndarray,
        above: float,
    ) -> Looks:
        """heights: (K,) mm; forms: (K, SLICES) radii, mm; above: mm of the camera that the looks
        are for"""
        kinds = len(heights)
        part = Outlines.of(frame, heights, forms, leans, above).part
        pixels, own = (part >= 0).sum((2, 3)), np.array([m.kind for m in men])
        first, start = (
            np.cumsum(many).reshape(many.shape) - many for many in (pixels, pixels[own])
        )
        colour, weight = np.zeros((2, pixels.sum(), CHANNELS), np.float32)
        sprites, share = (
            np.zeros((pixels[own].sum(), CHANNELS), np.float16),
            np.zeros(start.shape, np.float32),
        )
        for k in range(kinds):
            mine = np.flatnonzero(own == k)
            slices = [
                uppermost(needed(frame, heights[k], men[n].lean, men[n].above), forms[k]).astype(
                    np.int8
                )
                for n in mine
            ]
            seen = np.concatenate(
                [men[n].window[(at >= 0) & men[n].clear] for n, at in zip(mine, slices)]
            )
            if not len(seen):
                seen = np.concatenate([men[n].window[at >= 0] for n, at in zip(mine, slices)])
            usual, varied = seen.mean(0), seen.var(0)
            for b, lean in enumerate(leans):
                views = np.array(
                    [
                        leant(men[n], at, frame, heights[k], part[k, b], lean, above)
                        for n, at in zip(mine, slices)
                    ]
                )
                valid = ~np.isnan(views[..., :1])
                views = np.nan_to_num(views, copy=False)
                count = PRIOR + valid.sum(0)
                mean = (PRIOR * usual + views.sum(0)) / count
                squares = (PRIOR * (varied + usual**2) + (views**2).sum(0)) / count
                rows = slice(first[k, b], first[k, b] + len(mean))
                colour[rows], weight[rows] = (
                    mean,
                    1 / (np.maximum(squares - mean**2, 0) + FLOOR[: mean.shape[1]] ** 2),
                )
                for n, view, ok in zip(mine, views, valid):
                    sprites[start[n, b] : start[n, b] + len(view)] = np.where(ok, view, mean)
                    share[n, b] = ok.mean()
        return cls(np.asarray(leans), part, colour, weight, first, sprites, start, own, share)


def leant(
    man: Man,
    own: np.ndarray,
    frame: Frame,
    height: float,
    shown: np.ndarray,
    lean: float,
    above: float,
) -> np.ndarray:
    """(p, CHANNELS) a man as he would be seen with another lean, pixel by pixel of `shown` that is
    none of -1, nan where the photo does not show that of him. own, shown: (V, U) the slices seen in
    the photo and as he shall be seen"""
    rows, columns = (
        slice(at[0], at[-1] + 1) for at in (np.flatnonzero((shown >= 0).any(a)) for a in (1, 0))
    )
    shown = shown[rows, columns]
    (x, y), k = frame.ticks, np.maximum(shown, 0)
    off, larger = rises(height, lean, above)
    own_off, own_larger = rises(height, man.lean, man.above)
    zoom = (own_larger / larger)[k]
    across, along = x[columns] * zoom, (y[rows, None] - off[k]) * zoom + own_off[k]
    at = np.stack(
        [(across + frame.wide) * frame.scale - 0.5, (along + frame.back) * frame.scale - 0.5], -1
    ).astype(np.float32)
    picture = cv2.remap(man.window, at, None, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    own = np.where(man.clear, own, -99).astype(np.float32)
    slices = cv2.remap(
        own, at, None, cv2.INTER_NEAREST, borderMode=cv2.BORDER_CONSTANT, borderValue=-9
    )
    there = shown >= 0
    picture = picture[there]
    picture[np.abs(slices[there] - shown[there]) > SLICES // 12] = np.nan
    return picture
