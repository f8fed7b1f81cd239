"""Locates the board's four sides against the table in a picture, to a fraction of a pixel."""

from __future__ import annotations

import cv2
import msgspec
import numpy as np

from vision.geometry.coarse_grid import sample_at
from vision.geometry.pose import Pose

SIDE_STATIONS = 48
ALONG_SIDE = np.linspace(0.03, 0.97, SIDE_STATIONS)  # where a side is measured
# pixels between neighbouring lines; how clear the edge must be, relative to a printed line
LINES_APART_PX, NEARLY_AS_PLAIN = 3, 0.45
BOARD_SIDES = 4  # of a board: EdgePoints.line from this number on belongs to printed lines
SMOOTH = 1.2  # pixels
LEVEL = np.arange(256, dtype=np.float32) / 255
# amount of light per grey level (sRGB)
AMOUNT = 255 * np.where(LEVEL < 0.04045, LEVEL / 12.92, ((LEVEL + 0.055) / 1.055) ** 2.4).astype(
    np.float32
)


class EdgePoints(msgspec.Struct, frozen=True, eq=False):
    """mm: (N, 2) on the board's sides; px: (N, 2) where the edge was seen; normal: (N, 2) across
    it, unit pixels;
    unsure: (N,) pixels of error common to all points of a side: with a bevel or a dark rim it is
    unclear where the board ends; line: (N,) the side or line each belongs to, 0 to 3 for the
    board's sides."""

    mm: np.ndarray
    px: np.ndarray
    normal: np.ndarray
    unsure: np.ndarray
    line: np.ndarray

    @staticmethod
    def join(parts: list[EdgePoints]) -> EdgePoints:
        """The points of several sides together"""
        nowhere = np.zeros((0, 2))
        parts = parts or [EdgePoints(nowhere, nowhere, nowhere, np.zeros(0), np.zeros(0, int))]
        return EdgePoints(
            *(np.concatenate([getattr(p, f) for p in parts]) for f in EdgePoints.__struct_fields__)
        )

    def only(self, which: np.ndarray) -> EdgePoints:
        """Some of the points, (N,) bool"""
        return EdgePoints(*(getattr(self, f)[which] for f in EdgePoints.__struct_fields__))

    def distances(self, pose: Pose, height: float = 0.0) -> np.ndarray:
        """(N,) pixels beyond each point, along its normal, at which a pose puts it, `height` mm
        above the board"""
        return ((pose.to_px(self.mm, height) - self.px) * self.normal).sum(1)


def smooth_image(image: np.ndarray) -> np.ndarray:
    """The image, smoothed for the search for sides"""
    return cv2.GaussianBlur(image, (0, 0), SMOOTH)


def edge_profiles(image: np.ndarray, px: np.ndarray, normal: np.ndarray, reach: int) -> np.ndarray:
    """(N, 2 reach + 1, channels): the colour gradient along the normal through each of (N, 2)
    pixels, one pixel per step"""
    at = px[:, None] + normal[:, None] * np.arange(-reach - 1, reach + 2)[None, :, None]
    at = at.astype(np.float32)
    values = sample_at(image, at, cv2.BORDER_REPLICATE)
    values = values.reshape(*at.shape[:2], -1).astype(np.float32)
    return (values[:, 2:] - values[:, :-2]) / 2


def light_profiles(image: np.ndarray, px: np.ndarray, normal: np.ndarray, reach: int) -> np.ndarray:
    """The same in amounts of light, smoothed; image: unsmoothed. A lens blurs light, not grey
    levels: in grey levels the steepest point of an edge is shifted to its dark side, by half a
    pixel where paper meets a dark table."""
    wide = round(2.5 * SMOOTH)
    along = np.column_stack([-normal[:, 1], normal[:, 0]])
    steps, beside = np.arange(-reach - 1 - wide, reach + 2 + wide), np.arange(-wide, wide + 1)
    at = (
        px[:, None, None]
        + along[:, None, None] * beside[:, None, None]
        + normal[:, None, None] * steps[:, None]
    ).astype(np.float32)
    n = len(px)
    seen = sample_at(image, at.reshape(n, -1, 2), cv2.BORDER_REPLICATE)
    weights = cv2.getGaussianKernel(2 * wide + 1, SMOOTH, cv2.CV_32F).ravel()
    lines = np.einsum("b,nbsc->nsc", weights, AMOUNT[seen].reshape(n, len(beside), len(steps), -1))
    values = sum(weight * lines[:, k : k + 2 * reach + 3] for k, weight in enumerate(weights))
    return (values[:, 2:] - values[:, :-2]) / 2


def find_side(
    image: np.ndarray,
    pose: Pose,
    a: np.ndarray,
    b: np.ndarray,
    reach: int,
    limit: int,
    sd: float,
    smooth: np.ndarray,
    over_dark: bool = True,
) -> tuple[EdgePoints | None, float]:
    """The edge near the straight line from a to b (mm), if one change of colour runs along all of
    it, at most `limit` pixels away and standing out within `reach` pixels; and the width in pixels
    of a dark band just inside it. sd: error of its ends in pixels; smooth: the blurred image;
    over_dark: whether to look beyond such a band."""
    mm = a + (b - a) * ALONG_SIDE[:, None]
    px, normal = side_stations(pose, mm)
    inside = in_picture(image, px, reach)
    if inside.sum() < SIDE_STATIONS // 2:
        return None, 0.0
    t, mm, px, normal = ALONG_SIDE[inside], mm[inside], px[inside], normal[inside]
    change = edge_profiles(smooth, px, normal, reach)
    offsets, dark = best_curve(change, t, reach, limit, sd, over_dark)
    if offsets is None:
        return None, dark
    light = light_profiles(image, px, normal, reach)
    return refine_edge(light, offsets, mm, px, normal, reach), dark


def best_curve(
    change: np.ndarray, t: np.ndarray, reach: int, limit: int, sd: float, over_dark: bool
) -> tuple[np.ndarray | None, float]:
    """(N,) offsets of the slightly bent line with the same change of colour all along it, None if
    no line stands out from its parallels; and the width of a dark band just inside that line, 0 for
    none.

    A line printed along the border may be clearer than the board's own edge, so nearer lines count
    more."""
    coarse = max(limit // 8, 1)
    wide = cv2.filter2D(change, -1, np.ones((1, 2 * coarse - 1), np.float32) / (2 * coarse - 1))
    ends = np.arange(-limit, limit + 1, coarse)
    bows = np.arange(-(limit // 2), limit // 2 + 1, coarse)
    curve, total = score_curves(wide, t, reach, ends, ends, bows, limit)
    score = curve_likelihood(curve, total, sd)
    best, dark = outermost_curve(curve, score, total.mean(1), over_dark)
    if coarse > 1:
        near = np.arange(-coarse, coarse + 1)
        a, b, bow = curve[best]
        curve, total = score_curves(change, t, reach, a + near, b + near, bow + near, 2 * limit)
        best = int(curve_likelihood(curve, total, sd).argmax())
    a, b, bow = curve[best]
    typical = float(np.median(np.linalg.norm(change.mean(0), axis=1)))
    if np.linalg.norm(total[best]) < max(4 * typical, 2.0):
        return None, dark
    return a * (1 - t) + b * t + bow * 4 * t * (1 - t), dark


def curve_likelihood(curve: np.ndarray, total: np.ndarray, sd: float) -> np.ndarray:
    """(M,) how clear each curve is, weighted by the distance of its ends"""
    return np.linalg.norm(total, axis=1) * np.exp(-0.5 * (curve[:, :2] ** 2).sum(1) / sd**2)


def outermost_curve(
    curve: np.ndarray, score: np.ndarray, lighter: np.ndarray, over_dark: bool
) -> tuple[int, float]:
    """The best curve, or a separate one farther out that is nearly as good, since there are no
    lines beyond a board's edge; and the width of the dark band between the two, if it is one.
    lighter: (M,) how much lighter it is beyond each curve; over_dark: whether to go beyond such a
    band"""
    # how far out its ends and its middle are
    at = curve @ np.array([[1, 0, 0], [0, 1, 0], [0.5, 0.5, 1]]).T
    best, dark = int(score.argmax()), 0.0
    while True:
        further = at - at[best]
        # all along: a curve that crosses the best one contains half of it
        good = (further.min(1) >= LINES_APART_PX) & (score > NEARLY_AS_PLAIN * score[best])
        if not over_dark and lighter[best] < 0:
            good &= lighter < 0
        if not good.any():
            return best, dark
        beyond = int(np.where(good, score, 0).argmax())
        dark = float(further[beyond].mean()) if lighter[best] < 0 < lighter[beyond] else 0.0
        best = beyond


def score_curves(
    change: np.ndarray,
    t: np.ndarray,
    reach: int,
    starts: np.ndarray,
    stops: np.ndarray,
    bows: np.ndarray,
    slant: float,
) -> tuple[np.ndarray, np.ndarray]:
    """(M, 3) start, end and bow of each curve, (M, channels) the mean change of colour along it"""
    curve = np.stack(np.meshgrid(starts, stops, bows, indexing="ij"), -1).reshape(-1, 3)
    curve = curve[np.abs(curve[:, 0] - curve[:, 1]) <= slant]
    index = curve @ np.stack([1 - t, t, 4 * t * (1 - t)])
    index = np.clip(np.rint(index).astype(np.int32) + reach, 0, 2 * reach)
    flat = change.reshape(-1, change.shape[2])
    row = (np.arange(len(t)) * change.shape[1])[None]
    parts = [flat[index[k : k + 4096] + row].mean(1) for k in range(0, len(index), 4096)]
    return curve, np.concatenate(parts)


def refine_edge(
    change: np.ndarray,
    offsets: np.ndarray,
    mm: np.ndarray,
    px: np.ndarray,
    normal: np.ndarray,
    reach: int,
) -> EdgePoints | None:
    """The subpixel peak at each position near the common curve; outliers and faint ones are left
    out."""
    centre = np.clip(np.rint(offsets).astype(int) + reach, 0, 2 * reach)
    strength = change[np.arange(len(centre)), centre].mean(0)
    along = change @ (strength / max(float(np.linalg.norm(strength)), 1e-6))
    window = np.clip(centre[:, None] + np.arange(-6, 7), 1, 2 * reach - 1)
    row = np.arange(len(along))
    near = window[:, 3:-3]
    peak = near[row, along[row[:, None], near].argmax(1)]
    left, mid, right = (along[row, peak + d] for d in (-1, 0, 1))
    found = peak - reach + peaks_between(left, mid, right)
    smooth = np.polyval(np.polyfit(np.arange(len(found)), found, 3), np.arange(len(found)))
    off = np.abs(found - smooth)
    good = (mid > 0.35 * np.median(mid)) & (off < max(3 * np.median(off), 0.5))
    if good.sum() < SIDE_STATIONS // 3:
        return None
    unsure = abs(edge_offset(change[row[:, None], window]))
    seen, n = px + normal * found[:, None], good.sum()
    return EdgePoints(mm[good], seen[good], normal[good], np.full(n, unsure), np.zeros(n, int))


def edge_offset(change: np.ndarray) -> float:
    """The distance between the middle of an edge and its peak, pixels; change: (N, steps, channels)
    across it, similar all along"""
    profile = np.linalg.norm(np.median(change, 0), axis=1)
    peak = int(profile[1:-1].argmax()) + 1
    half = profile[peak] / 2
    inner, outer = profile[peak::-1], profile[peak:]
    return (falls_below(outer, half) - falls_below(inner, half)) / 2


def falls_below(profile: np.ndarray, level: float) -> float:
    """The (fractional) number of steps after which a profile has fallen to a level"""
    below = np.flatnonzero(profile < level)
    if not len(below):
        return float(len(profile) - 1)
    k = int(below[0])
    return k - (level - profile[k]) / (profile[k - 1] - profile[k])


def in_picture(image: np.ndarray, px: np.ndarray, reach: int) -> np.ndarray:
    """(N,) which of (N, 2) pixels of a side are far enough inside the picture to be seen as an
    edge"""
    h, w = image.shape[:2]
    return np.all((px > reach / 2) & (px < (w - reach / 2, h - reach / 2)), axis=1)


def board_sides(corners: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """(a, b) mm: the sides of the board whose corners (4, 2) mm are given"""
    return list(zip(corners, np.roll(corners, -1, 0)))


def shown_sides(
    image: np.ndarray, pose: Pose, corners: np.ndarray, reach: int
) -> list[tuple[np.ndarray, np.ndarray]]:
    """The sides of which more than half is inside the picture"""
    return [
        (a, b)
        for a, b in board_sides(corners)
        if 2 * in_picture(image, pose.to_px(a + (b - a) * ALONG_SIDE[:, None]), reach).sum()
        > SIDE_STATIONS
    ]


def line_contrast(
    smooth: np.ndarray, pose: Pose, lines: list[tuple[np.ndarray, np.ndarray]], reach: int
) -> float:
    """How clear edges are along these lines (mm) with the pose's lens, in grey levels per line;
    smooth: from smooth_image()"""
    ends, total = np.arange(-reach, reach + 1, 2), 0.0
    for a, b in lines:
        px, normal = side_stations(pose, a + (b - a) * ALONG_SIDE[:, None])
        change = edge_profiles(smooth, px, normal, reach)
        _, clear = score_curves(change, ALONG_SIDE, reach, ends, ends, np.zeros(1), reach)
        total += float(np.linalg.norm(clear, axis=1).max())
    return total / max(len(lines), 1)


def side_stations(pose: Pose, mm: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(N, 2) pixels of (N, 2) mm along a side, and (N, 2) its outward normals"""
    px = pose.to_px(mm)
    along = np.gradient(px, axis=0)
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    return px, np.column_stack([along[:, 1], -along[:, 0]])


def peaks_between(left: np.ndarray, middle: np.ndarray, right: np.ndarray) -> np.ndarray:
    """(...) peak positions of parabolas through three neighbouring values, -0.5 to 0.5 from the
    middle"""
    bend = left - 2 * middle + right
    at = np.where(bend < 0, 0.5 * (left - right) / np.where(bend < 0, bend, -1), 0.0)
    return at.clip(-0.5, 0.5)


def board_edges(
    image: np.ndarray, pose: Pose, corners: np.ndarray, reach: int, limit: int, sd: float = np.inf
) -> list[EdgePoints]:
    """The visible edges of a board with corners (4, 2) mm, at most `limit` pixels from where the
    pose puts them; sd: standard deviation of the corners, pixels."""
    smooth = smooth_image(image)
    found = [
        find_side(image, pose, a, b, reach, limit, sd, smooth) for a, b in board_sides(corners)
    ]
    bands = sum(dark > 0 for _, dark in found)
    # a printed dark line runs along all four sides; a shadow, or the side face of a thick board,
    # does not
    if 0 < bands < 4:
        for k, (a, b) in enumerate(board_sides(corners)):
            side, dark = found[k]
            if dark:
                side, _ = find_side(image, pose, a, b, reach, limit, sd, smooth, over_dark=False)
                if side is not None:
                    unsure = np.hypot(side.unsure, dark / 2)
                    side = msgspec.structs.replace(side, unsure=unsure)
                found[k] = side, dark
    return [
        msgspec.structs.replace(s, line=np.full(len(s.mm), k))
        for k, (s, _) in enumerate(found)
        if s is not None
    ]
