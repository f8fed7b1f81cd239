"""The board's own edge against the table: where its four sides run in a picture, to a fraction of a pixel."""

from __future__ import annotations

import cv2
import msgspec
import numpy as np

from vision.pose import Pose

STATIONS = 48
APART, NEARLY = 3, 0.45      # pixels from one line to the next; how nearly as plain as a printed line the edge must be


class EdgePoints(msgspec.Struct, frozen=True, eq=False):
    """mm: (N, 2) on the board's sides; px: (N, 2) where the edge was seen; normal: (N, 2) across it, unit pixels;
    unsure: (N,) pixels, as if each point were off by itself: a bevel or a dark rim leaves open where the board ends, for all of
    a side alike."""

    mm: np.ndarray
    px: np.ndarray
    normal: np.ndarray
    unsure: np.ndarray

    @staticmethod
    def join(parts: list[EdgePoints]) -> EdgePoints:
        parts = parts or [EdgePoints(*np.zeros((3, 0, 2)), np.zeros(0))]
        return EdgePoints(*(np.vstack([getattr(p, f) for p in parts]) for f in ("mm", "px", "normal")),
                          np.concatenate([p.unsure for p in parts]))


def profiles(image: np.ndarray, px: np.ndarray, normal: np.ndarray, reach: int) -> np.ndarray:
    """(N, 2 reach + 1, channels): how colours change along the normal through each of (N, 2) pixels, one pixel a step"""
    at = px[:, None] + normal[:, None] * np.arange(-reach - 1, reach + 2)[None, :, None]
    at = at.astype(np.float32)
    values = cv2.remap(image, at[..., 0], at[..., 1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    values = values.reshape(*at.shape[:2], -1).astype(np.float32)
    return (values[:, 2:] - values[:, :-2]) / 2


def find_side(image: np.ndarray, pose: Pose, a: np.ndarray, b: np.ndarray, reach: int, limit: int, sd: float, over_dark: bool = True
              ) -> tuple[EdgePoints | None, bool]:
    """The edge near the straight line from a to b (mm), if one change of colour runs along all of it, at most `limit`
    pixels away and standing out within `reach` pixels, and whether a dark band runs along just within it; sd: pixels by which
    its ends may be off; over_dark: whether to look beyond such a band; image blurred."""
    t = np.linspace(0.03, 0.97, STATIONS)
    mm = a + (b - a) * t[:, None]
    px, normal = stations(pose, mm)
    h, w = image.shape[:2]
    inside = ((px > reach / 2) & (px < (w - reach / 2, h - reach / 2))).all(1)
    if inside.sum() < STATIONS // 2:
        return None, False
    t, mm, px, normal = t[inside], mm[inside], px[inside], normal[inside]
    change = profiles(image, px, normal, reach)
    offsets, strength, dark = best_curve(change, t, reach, limit, sd, over_dark)
    if offsets is None:
        return None, dark
    return sharpen(change, offsets, strength, mm, px, normal, reach), dark


def best_curve(change: np.ndarray, t: np.ndarray, reach: int, limit: int, sd: float, over_dark: bool = True
               ) -> tuple[np.ndarray | None, np.ndarray, bool]:
    """(N,) offsets of the gently bent line along which the same change of colour is seen all the way, and (channels,)
    that change; None where no line stands out from its parallels. Whether a dark band runs along just within that line.

    A line printed along the border may be plainer than the board's own edge: what is nearer counts more."""
    coarse = max(limit // 8, 1)
    wide = cv2.filter2D(change, -1, np.ones((1, 2 * coarse - 1), np.float32) / (2 * coarse - 1))
    ends = np.arange(-limit, limit + 1, coarse)
    bows = np.arange(-(limit // 2), limit // 2 + 1, coarse)
    curve, total = score_curves(wide, t, reach, ends, ends, bows, limit)
    best, dark = outermost(curve, likely(curve, total, sd), total.mean(1), over_dark)
    if coarse > 1:
        near = np.arange(-coarse, coarse + 1)
        a, b, bow = curve[best]
        curve, total = score_curves(change, t, reach, a + near, b + near, bow + near, 2 * limit)
        best = likely(curve, total, sd).argmax()
    a, b, bow = curve[best]
    typical = float(np.median(np.linalg.norm(change.mean(0), axis=1)))
    if np.linalg.norm(total[best]) < max(4 * typical, 2.0):
        return None, total[best], dark
    return a * (1 - t) + b * t + bow * 4 * t * (1 - t), total[best], dark


def likely(curve: np.ndarray, total: np.ndarray, sd: float) -> np.ndarray:
    """(M,) how well each curve shows, weighed by how far off its ends are"""
    return np.linalg.norm(total, axis=1) * np.exp(-0.5 * (curve[:, :2] ** 2).sum(1) / sd ** 2)


def outermost(curve: np.ndarray, score: np.ndarray, lighter: np.ndarray, over_dark: bool) -> tuple[int, bool]:
    """The best curve, or one clear of it further out that is nearly as good: beyond its edge a board has no more lines; and
    whether what lies between is a dark band. lighter: (M,) by how much it is lighter beyond each curve; over_dark: whether to
    go beyond such a band"""
    middle = curve[:, 0] + curve[:, 1] + curve[:, 2]    # twice how far out, about
    best, dark = int(score.argmax()), False
    while True:
        good = (middle > middle[best] + 2 * APART) & (score > NEARLY * score[best])
        if not over_dark and lighter[best] < 0:
            good &= lighter < 0
        if not good.any():
            return best, dark
        beyond = int(np.where(good, score, 0).argmax())
        dark = bool(lighter[best] < 0 < lighter[beyond])
        best = beyond


def score_curves(change: np.ndarray, t: np.ndarray, reach: int, starts: np.ndarray, stops: np.ndarray,
                 bows: np.ndarray, slant: float) -> tuple[np.ndarray, np.ndarray]:
    """(M, 3) where each curve starts, ends and how it bows, (M, channels) the mean change of colour along it"""
    curve = np.stack(np.meshgrid(starts, stops, bows, indexing="ij"), -1).reshape(-1, 3)
    curve = curve[np.abs(curve[:, 0] - curve[:, 1]) <= slant]
    index = curve @ np.stack([1 - t, t, 4 * t * (1 - t)])
    index = np.clip(np.rint(index).astype(np.int32) + reach, 0, 2 * reach)
    flat = change.reshape(-1, change.shape[2])
    row = (np.arange(len(t)) * change.shape[1])[None]
    return curve, np.concatenate([flat[index[k:k + 4096] + row].mean(1) for k in range(0, len(index), 4096)])


def sharpen(change: np.ndarray, offsets: np.ndarray, strength: np.ndarray, mm: np.ndarray, px: np.ndarray,
            normal: np.ndarray, reach: int) -> EdgePoints | None:
    """Each station's own peak near the common curve, between the pixels; those that stray or are faint are left out."""
    along = change @ (strength / np.linalg.norm(strength))
    centre = np.rint(offsets).astype(int) + reach
    window = np.clip(centre[:, None] + np.arange(-6, 7), 1, 2 * reach - 1)
    row = np.arange(len(along))
    near = window[:, 3:-3]
    peak = near[row, along[row[:, None], near].argmax(1)]
    left, mid, right = (along[row, peak + d] for d in (-1, 0, 1))
    bend = left - 2 * mid + right
    shift = np.where(bend < 0, 0.5 * (left - right) / np.where(bend < 0, bend, -1), 0.0)
    found = peak - reach + np.clip(shift, -0.5, 0.5)
    smooth = np.polyval(np.polyfit(np.arange(len(found)), found, 3), np.arange(len(found)))
    off = np.abs(found - smooth)
    good = (mid > 0.35 * np.median(mid)) & (off < max(3 * np.median(off), 0.5))
    if good.sum() < STATIONS // 3:
        return None
    unsure = abs(lopsided(change[row[:, None], window])) * np.sqrt(good.sum())
    return EdgePoints(mm[good], (px + normal * found[:, None])[good], normal[good], np.full(good.sum(), unsure))


def lopsided(change: np.ndarray) -> float:
    """How far the middle of an edge is from its peak, pixels; change: (N, steps, channels) across it, much the same all along"""
    profile = np.linalg.norm(np.median(change, 0), axis=1)
    peak = int(profile[1:-1].argmax()) + 1
    half = profile[peak] / 2
    inner, outer = profile[peak::-1], profile[peak:]
    return (falls_below(outer, half) - falls_below(inner, half)) / 2


def falls_below(profile: np.ndarray, level: float) -> float:
    """After how many steps, parts of steps too, a profile has fallen to a level"""
    below = np.flatnonzero(profile < level)
    if not len(below):
        return float(len(profile) - 1)
    k = int(below[0])
    return k - (level - profile[k]) / (profile[k - 1] - profile[k])


def plainness(image: np.ndarray, pose: Pose, corners: np.ndarray, reach: int) -> float:
    """How plainly lines that the pose's lens makes straight run along the sides of the board, in grey levels a side"""
    smooth = cv2.GaussianBlur(image, (0, 0), 1.2)
    ends, t, total = np.arange(-reach, reach + 1, 2), np.linspace(0.03, 0.97, STATIONS), 0.0
    for a, b in zip(corners, np.roll(corners, -1, 0)):
        px, normal = stations(pose, a + (b - a) * t[:, None])
        change = profiles(smooth, px, normal, reach)
        total += float(np.linalg.norm(score_curves(change, t, reach, ends, ends, np.zeros(1), reach)[1], axis=1).max())
    return total / 4


def stations(pose: Pose, mm: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(N, 2) pixels of (N, 2) mm along a side, and (N, 2) which way is across it, outwards"""
    px = pose.to_px(mm)
    along = np.gradient(px, axis=0)
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    return px, np.column_stack([along[:, 1], -along[:, 0]])


def board_edges(image: np.ndarray, pose: Pose, corners: np.ndarray, reach: int, limit: int, sd: float = np.inf
                ) -> list[EdgePoints]:
    """What is seen of the sides of the board whose corners (4, 2) mm are given, at most `limit` pixels from where the
    pose has them; sd: pixels by which the corners are off, as a standard deviation."""
    smooth = cv2.GaussianBlur(image, (0, 0), 1.2)
    found = [find_side(smooth, pose, a, b, reach, limit, sd) for a, b in zip(corners, np.roll(corners, -1, 0))]
    bands = sum(dark for _, dark in found)
    if 0 < bands < 4:       # a dark line is printed along all four sides; a shadow, or the side of a thick board, is not
        found = [find_side(smooth, pose, a, b, reach, limit, sd, over_dark=False) if dark else (side, dark)
                 for a, b, (side, dark) in zip(corners, np.roll(corners, -1, 0), found)]
    return [s for s, _ in found if s is not None]
