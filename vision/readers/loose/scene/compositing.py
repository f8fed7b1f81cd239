"""Cards laid on a scene: what was found becomes the ground on which loose pieces lie."""

from __future__ import annotations

import math

import cv2
import msgspec
import numpy as np

from vision.kernels import Kernel
from vision.photometry.canvas import channel_maximum, pad_channels
from vision.photometry.room_light import CLIPPED
from vision.readers.loose.cards.card_level import Sheet
from vision.readers.loose.scene.polar_patches import SCORE_NOISE
from vision.readers.loose.scene.resampling import is_whole
from vision.readers.loose.scene.scene import FOLD, Scene, corners_of

# grey levels by which a card laid may be off anywhere, and along its rim besides
CLEAR, RIM = 5.0, 15.0
WHOLE = 64  # of a grey level are a print's numbers for the kernel, as in lay.c
SHAKEN = 0.5  # canvas pixels by which its print may lie off
AROUND = np.ones((3, 3), np.uint8)
_lay = Kernel("lay_card", "BBffnnnnnsnndfffBBxx")


class Print(msgspec.Struct, frozen=True, eq=False):
    """How a card looks, (h, w, 8) float32: three colours, nothing, by how many grey levels each may
    be off where it changes, nothing;
    whole: the same as whole numbers, 64 a grey level, for the kernel"""

    planes: np.ndarray
    whole: np.ndarray

    @classmethod
    def of(cls, look: np.ndarray, size: tuple[float, float], scale: float) -> Print:
        """look: (h, w, 3); size: mm; scale: pixels a mm of the canvas on which it is to be laid"""
        h, w = look.shape[:2]
        wide = cv2.resize(
            look, tuple(max(round(v * scale), 4) for v in size), interpolation=cv2.INTER_LINEAR
        )
        soft = cv2.GaussianBlur(wide, (0, 0), 0.7)
        across, down = (
            cv2.Scharr(soft, cv2.CV_32F, *way, scale=SHAKEN / 32).reshape(len(soft), -1)
            for way in ((1, 0), (0, 1))
        )
        edge = cv2.magnitude(across, down)
        out = np.zeros((h, w, 8), np.float32)
        out[..., :3], out[..., 4:7] = (
            look,
            cv2.resize(edge.reshape(wide.shape), (w, h), interpolation=cv2.INTER_LINEAR),
        )
        return cls(out, (out * WHOLE).round().clip(-(2**15), 2**15 - 1).astype(np.int16))


def lay(
    scene: Scene,
    print_: Print,
    size: tuple[float, float],
    pose: np.ndarray,
    unsure: float = 0.0,
    gain: np.ndarray | float = 1.0,
) -> None:
    """A card found becomes the ground on which loose pieces lie; pose: x, y in mm, radians; unsure:
    grey levels by which it may look different; gain: (3,) by what its colours are multiplied."""
    f = scene.frame
    corners = f.to_px(corners_of(size, pose))
    (least_x, least_y), (most_x, most_y) = corners.min(0).tolist(), corners.max(0).tolist()
    x0, x1 = folded(least_x, most_x, f.width)
    y0, y1 = folded(least_y, most_y, f.height)
    if x1 <= x0 or y1 <= y0:
        return
    a, b = print_.planes.shape[1], print_.planes.shape[0]
    there = corners - (x0, y0)
    mask = np.zeros((y1 - y0, x1 - x0), np.uint8)
    cv2.fillConvexPoly(mask, np.round(there).astype(np.int32), 1)
    rim = cv2.morphologyEx(mask, cv2.MORPH_GRADIENT, AROUND)
    light, gain = (
        scene.light_at(pose[None, :2])[0],
        np.broadcast_to(np.asarray(gain, np.float32), 3),
    )
    limit = (CLIPPED * np.minimum(light, 1.02)).astype(np.float32)
    scene.laid.append((x0, y0, x1, y1))
    canvases = scene.seen, scene.ground, scene.weight, scene.strange
    if _lay and scene.off is None and is_whole(*canvases) and scene.seen.shape[2] == 4:
        _lay(
            *canvases,
            f.width,
            x0,
            y0,
            x1 - x0,
            y1 - y0,
            print_.whole,
            b,
            a,
            into(there, a, b),
            gain.copy(),
            light.astype(np.float32),
            limit,
            mask,
            rim,
            unsure**2,
            SCORE_NOISE**2,
        )
        return
    M = cv2.invertAffineTransform(into(there, a, b))
    there = slice(y0, y1), slice(x0, x1)
    got, off = (
        cv2.warpAffine(
            np.ascontiguousarray(part * gain),
            M,
            (x1 - x0, y1 - y0),
            flags=cv2.INTER_LINEAR,
            borderMode=cv2.BORDER_REPLICATE,
        )
        for part in (print_.planes[..., :3], print_.planes[..., 4:7])
    )
    spread = np.sqrt(channel_maximum(off * off) + (CLEAR**2 + unsure**2))
    spread[rim > 0] += RIM
    paper = cv2.min(got, (*map(float, limit), 0.0)).astype(np.uint8)
    cv2.copyTo(pad_channels(paper), mask, scene.ground[there])
    cv2.copyTo(
        (1 / (spread**2 + SCORE_NOISE**2)).astype(np.float32), mask | rim, scene.weight[there]
    )
    even = cv2.multiply(
        cv2.cvtColor(scene.seen[there], cv2.COLOR_BGRA2BGR),
        (*map(float, light), 0.0),
        dtype=cv2.CV_8U,
    )
    off = channel_maximum(cv2.absdiff(even, paper)) / spread
    if scene.off is not None:
        scene.off[there][mask > 0] = off[mask > 0]
    small = (x1 - x0) // FOLD, (y1 - y0) // FOLD
    coarse = slice(y0 // FOLD, y0 // FOLD + small[1]), slice(x0 // FOLD, x0 // FOLD + small[0])
    strange = cv2.resize(
        ((off - 2) / 3).clip(0, 1).astype(np.float32), small, interpolation=cv2.INTER_AREA
    )
    cv2.copyTo(
        strange, cv2.resize(mask, small, interpolation=cv2.INTER_NEAREST), scene.strange[coarse]
    )


def folded(least: float, most: float, length: int) -> tuple[int, int]:
    """(first, end) in whole FOLDs of a side of a canvas, from the least pixel to the most"""
    first, whole = max(math.floor(least), 0) // FOLD * FOLD, length // FOLD * FOLD
    return first, min(first + -(-(min(math.ceil(most) + 2, whole) - first) // FOLD) * FOLD, whole)


def into(corners: np.ndarray, wide: int, high: int) -> np.ndarray:
    """(2, 3) from pixels to those of a print, wide x high, that lies with its (4, 2) corners
    there"""
    (x, y), (u, v), (s, t) = (
        corners[0].tolist(),
        (corners[1] - corners[0]).tolist(),
        (corners[2] - corners[1]).tolist(),
    )
    area = u * t - v * s
    a, b, c, d = wide * t / area, -wide * s / area, -high * v / area, high * u / area
    return np.array([[a, b, -a * x - b * y - 0.5], [c, d, -c * x - d * y - 0.5]])


def paint(
    scene: Scene, sheet: Sheet, kind: int, pose: np.ndarray, gain: np.ndarray | float = 1.0
) -> None:
    """lay() for a kind of a sheet; gain: (3,) by what this very card must be brightened to look as
    its kind does"""
    key = kind, scene.frame.scale
    if key not in sheet.prints:
        sheet.prints[key] = Print.of(sheet.looks[kind], sheet.size, scene.frame.scale)
    lay(scene, sheet.prints[key], sheet.size, pose, gain=1 / np.asarray(gain))
