"""The board seen from above as a flat picture, its light evened out, and what of it differs from
the empty board."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import msgspec
import numpy as np

from vision.geometry.coarse_grid import sample_at
from vision.geometry.pose import Pose
from vision.kernels import Kernel
from vision.photometry.room_light import CLIPPED, telling_cells
from vision.plan import Plan

MARGIN = 14.0  # mm of table kept around board and sites: tall pieces lean over the edge
BRIGHT = 0.999  # share of a canvas that is no brighter than what counts as its brightest
# grey levels that the average of a few pixels, most of them too bright, may be below that
BLENDED = 8
MOST_CANVAS_PIXELS = 1.9e6  # of a canvas: more than a camera of this class resolves


class Frame(msgspec.Struct, frozen=True):
    """Where the canvas lies: its upper left in mm, pixels a millimetre, (width, height) in
    pixels."""

    x0: float
    y0: float
    scale: float
    width: int
    height: int

    @classmethod
    def of(cls, plan: Plan, poses: Sequence[Pose]) -> Frame:
        """As fine as the pictures are in their middle, and no finer than is quick to work on."""
        points = np.vstack([plan.corners, *(o for s in plan.site for o in s.outlines)])
        lo, hi = points.min(0) - MARGIN, points.max(0) + MARGIN
        middle = plan.corners.mean(0)
        step = np.array([[0, 0], [10, 0], [0, 10.0]])
        scales = []
        for pose in poses:
            px = pose.to_px(middle + step)
            scales.append(np.linalg.norm(px[1:] - px[0], axis=1).mean() / 10)
        scale = min(
            float(np.median(scales)) * 1.05, float(np.sqrt(MOST_CANVAS_PIXELS / np.prod(hi - lo)))
        )
        w, h = np.ceil((hi - lo) * scale).astype(int)
        return cls(float(lo[0]), float(lo[1]), scale, int(w), int(h))

    def part(self, x0: int, y0: int, x1: int, y1: int) -> Frame:
        """The same for some of the canvas's pixels"""
        return Frame(
            self.x0 + x0 / self.scale, self.y0 + y0 / self.scale, self.scale, x1 - x0, y1 - y0
        )

    def to_px(self, mm: np.ndarray) -> np.ndarray:
        """(..., 2) board mm -> (..., 2) canvas pixels (a pixel's centre is at a whole number)"""
        return (np.asarray(mm, float) - (self.x0, self.y0)) * self.scale - 0.5

    def to_mm(self, px: np.ndarray) -> np.ndarray:
        """(..., 2) canvas pixels -> (..., 2) board mm"""
        return (np.asarray(px, float) + 0.5) / self.scale + (self.x0, self.y0)

    def maps(self, pose: Pose) -> tuple[np.ndarray, np.ndarray]:
        """Fixed-point cv2.remap maps from picture to canvas; computed on a coarse net, as a lens
        bends slowly"""
        step = 16
        nx, ny = self.width // step + 2, self.height // step + 2
        gx, gy = np.meshgrid(np.arange(nx) * step, np.arange(ny) * step)
        px = (
            pose.to_px(self.to_mm(np.stack([gx, gy], -1).reshape(-1, 2)))
            .reshape(ny, nx, 2)
            .astype(np.float32)
        )
        at_x, at_y = np.meshgrid(
            np.arange(self.width, dtype=np.float32) / step,
            np.arange(self.height, dtype=np.float32) / step,
        )
        fine = cv2.remap(px, at_x, at_y, cv2.INTER_LINEAR)
        return cv2.convertMaps(fine[..., 0], fine[..., 1], cv2.CV_16SC2)

    def flatten(self, image: np.ndarray, maps: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
        """(height, width, 3) uint8: the picture on the canvas"""
        return cv2.remap(image, *maps, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)


class Lean:
    """How far pieces lean in a picture: where a point above the board appears on the canvas, in
    mm."""

    def __init__(self, pose: Pose) -> None:
        self.pose = pose
        p = np.array([[0, 0], [20, 0], [0, 20.0]]) + pose.to_mm(
            np.array([[pose.size[0] / 2, pose.size[1] / 2]])
        )
        top = pose.to_mm(pose.to_px(p, 10.0))
        grown = np.linalg.norm(top[1:] - top[0], axis=1).mean() / 20
        self.grow = (grown - 1) / 10  # how much bigger a shape looks, per mm of height

    def shift(self, mm: np.ndarray, height: float) -> np.ndarray:
        """(N, 2) points of the board -> (N, 2) mm: where what stands `height` mm above each
        appears, less the point"""
        mm = np.asarray(mm, float).reshape(-1, 2)
        if height == 0 or not len(mm):
            return np.zeros_like(mm)
        return self.pose.to_mm(self.pose.to_px(mm, height)) - mm

    def foot(self, seen: np.ndarray, height: float) -> np.ndarray:
        """(N, 2) canvas mm at which points `height` mm up appear -> (N, 2) the board's points below
        them"""
        seen = np.asarray(seen, float).reshape(-1, 2)
        if height == 0 or not len(seen):
            return seen
        return self.pose.to_mm(self.pose.to_px(seen), height)


def pad_channels(canvas: np.ndarray) -> np.ndarray:
    """(h, w, 4) with a channel that means nothing: cv2.remap of four is several times as quick as
    of three"""
    return cv2.cvtColor(canvas, cv2.COLOR_BGR2BGRA)


_flatten = Kernel("flatten", "BnnsHnB")


def remap_canvas(image: np.ndarray, at: np.ndarray, share: np.ndarray) -> np.ndarray:
    """(h, w, 4) an image (.., .., 3) through fixed-point maps"""
    if _flatten and min(image.shape[:2]) > 2:
        out = np.empty((*at.shape[:2], 4), np.uint8)
        _flatten(
            np.ascontiguousarray(image),
            *image.shape[:2],
            np.ascontiguousarray(at),
            np.ascontiguousarray(share),
            share.size,
            out,
        )
        return out
    lo, hi = at.min((0, 1)).clip(0), at.max((0, 1)) + 2
    part = pad_channels(image[lo[1] : hi[1], lo[0] : hi[0]])  # no more of it than is seen
    return cv2.remap(part, at - lo, share, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)


_colours, _floats = Kernel("sample_colours", "Bnnfnf"), Kernel("sample_floats", "fnnnfnf")


def sample_canvas(canvas: np.ndarray, px: np.ndarray) -> np.ndarray:
    """Bilinear samples of a canvas at (..., 2) pixels -> (..., channels) float32, of a padded one 3
    channels"""
    shape = px.shape[:-1]
    flat = np.ascontiguousarray(px.reshape(-1, 2), np.float32)
    n = len(flat)
    channels = 1 if canvas.ndim == 2 else canvas.shape[2]
    if _colours and canvas.flags.c_contiguous and (channels == 4 or canvas.dtype == np.float32):
        out = np.empty((*shape, min(channels, 3)), np.float32)
        if channels == 4:
            _colours(canvas, *canvas.shape[:2], flat, n, out)
        else:
            _floats(canvas, *canvas.shape[:2], channels, flat, n, out)
        return out
    if not n:
        return np.empty((*shape, min(channels, 3)), np.float32)
    # rows for remap, of which the last is filled up: few places make short ones
    wide = min(max(n // 8 // 64 * 64, 64), 4096)
    pad = -n % wide
    if pad:
        flat = np.vstack([flat, np.zeros((pad, 2), np.float32)])
    got = sample_at(canvas, flat.reshape(-1, wide, 2), cv2.BORDER_REPLICATE)
    got = got.reshape(-1, channels)[:n]
    if channels == 4:
        got = cv2.cvtColor(got[:, None], cv2.COLOR_BGRA2BGR)
    return got.reshape(*shape, min(channels, 3)).astype(np.float32, copy=False)


def quadratic_terms(frame: Frame, mm: np.ndarray) -> np.ndarray:
    """(N, 6) terms of a quadratic over the canvas, for (N, 2) mm"""
    x = ((mm[:, 0] - frame.x0) * frame.scale / frame.width * 2 - 1).astype(np.float32)
    y = ((mm[:, 1] - frame.y0) * frame.scale / frame.height * 2 - 1).astype(np.float32)
    return np.stack([np.ones_like(x), x, y, x * y, x * x, y * y], 1)


class CanvasLight(msgspec.Struct, frozen=True, eq=False):
    """What to multiply a canvas with to see it in the empty board's light: exp of a quadratic per
    channel, (6, 3)."""

    terms: np.ndarray

    def at(self, frame: Frame, mm: np.ndarray) -> np.ndarray:
        """(N, 2) mm -> (N, 3) factors"""
        return np.exp(quadratic_terms(frame, mm) @ self.terms)

    def over(self, frame: Frame) -> np.ndarray:
        """(height, width, 3) float32 factors for the whole canvas"""
        step = 24
        nx, ny = frame.width // step + 2, frame.height // step + 2
        gx, gy = np.meshgrid(np.arange(nx) * step, np.arange(ny) * step)
        coarse = self.at(frame, frame.to_mm(np.stack([gx, gy], -1).reshape(-1, 2))).reshape(
            ny, nx, 3
        )
        at_x, at_y = np.meshgrid(
            np.arange(frame.width, dtype=np.float32) / step,
            np.arange(frame.height, dtype=np.float32) / step,
        )
        return cv2.remap(coarse.astype(np.float32), at_x, at_y, cv2.INTER_LINEAR)


def match_light(
    frame: Frame, canvas: np.ndarray, empty: np.ndarray, sure: np.ndarray | None = None
) -> CanvasLight:
    """The light that makes `canvas` look like `empty`, both (h, w, 3); pieces lying about are
    outliers to it.

    sure: (h, w) weights 0..1 of places that can be trusted to show the empty board."""
    size = (max(frame.width // 16, 8), max(frame.height // 16, 8))
    a = cv2.resize(canvas, size, interpolation=cv2.INTER_AREA).astype(np.float32).reshape(-1, 3)
    b = cv2.resize(empty, size, interpolation=cv2.INTER_AREA).astype(np.float32).reshape(-1, 3)
    gx, gy = np.meshgrid(
        (np.arange(size[0]) + 0.5) * frame.width / size[0],
        (np.arange(size[1]) + 0.5) * frame.height / size[1],
    )
    X = quadratic_terms(frame, frame.to_mm(np.stack([gx, gy], -1).reshape(-1, 2) - 0.5))
    ratio = np.log((b + 4) / (a + 4))
    base = np.ones(len(X), np.float32)
    if sure is not None:
        base = (
            cv2.resize(sure.astype(np.float32), size, interpolation=cv2.INTER_AREA).ravel() + 1e-3
        )
    terms, ratios, clipped = (np.ascontiguousarray(v.T) for v in (X, ratio, are_clipped(a)))
    return CanvasLight(robust_terms(terms, ratios, base, clipped))


def are_clipped(colours: np.ndarray) -> np.ndarray:
    """(...) bool: which averages of some pixels are too bright for the camera to tell how bright"""
    return colours >= CLIPPED - BLENDED


def robust_terms(
    X: np.ndarray, ratio: np.ndarray, trusted: np.ndarray, most: np.ndarray
) -> np.ndarray:
    """(6, 3) terms of the quadratic that most of the trusted cells follow; what lies about is
    outlier.

    X: (6, N); most: (3, N) bool, which ratios (3, N) only say that the light's are no greater"""
    terms = np.zeros((6, 3), np.float32)
    for c in range(3):
        order = np.argsort(ratio[c])
        total = np.cumsum(trusted[order])
        terms[0, c] = ratio[c, order[np.searchsorted(total, total[-1] / 2)]]
    ridge = np.diag([0, 1, 1, 2, 2, 2]).astype(np.float32) * trusted.sum() * 0.002
    for scale in (0.3, 0.15, 0.08, 0.05, 0.05, 0.05):
        fit = terms.T @ X
        off, told = telling_cells(ratio - fit, most)
        w = trusted / (1 + (np.abs(off).max(0) / scale) ** 2) ** 2 * told.clip(0.01)
        A = X * w
        start = np.zeros((6, 3), np.float32)
        start[0] = terms[0]
        terms = np.linalg.solve(A @ X.T + ridge, A @ (fit + off).T + ridge @ start).astype(
            np.float32
        )
    return terms


class Empty(msgspec.Struct, frozen=True, eq=False):
    """The empty board: (h, w, 3) uint8 and how far a pixel of it may be off without meaning
    anything, (h, w) float32."""

    frame: Frame
    canvas: np.ndarray
    spread: np.ndarray

    @classmethod
    def of(cls, frame: Frame, canvases: Sequence[np.ndarray]) -> Empty:
        """From the canvases of one or more photos of the empty board, whatever their light"""
        first = canvases[0]
        evened = [first.astype(np.float32)]
        for c in canvases[1:]:
            evened.append(c * match_light(frame, c, first).over(frame))
        mean = np.mean(evened, 0)
        off = (
            np.max([np.abs(e - mean).max(-1) for e in evened], 0)
            if len(evened) > 1
            else np.zeros(mean.shape[:2])
        )
        return cls(
            frame, mean.clip(0, 255).astype(np.uint8), spread_of(mean, off.astype(np.float32))
        )

    def below_white(self, samplers: Sequence[np.ndarray], sure: np.ndarray) -> Empty:
        """The same, darker where canvases of samplers were taken with less exposure because their
        pieces are brighter than the board: in its light these would be beyond white. sure: as of
        match_light()"""
        beyond = [
            np.exp(match_light(self.frame, c, self.canvas, sure).terms[0])
            * np.quantile(channel_maximum(c), BRIGHT)
            / CLIPPED
            for c in samplers
        ]
        level = max(1.0, float(np.median(beyond))) if beyond else 1.0
        return (
            self
            if level == 1
            else Empty(self.frame, (self.canvas / level).astype(np.uint8), self.spread / level)
        )


def spread_of(mean: np.ndarray, off: np.ndarray | None = None, shift: float = 0.5) -> np.ndarray:
    """(h, w) float32: grey levels a pixel may differ by: noise, plus what `shift` pixels of
    misregistration do at edges"""
    soft = cv2.GaussianBlur(mean, (0, 0), 0.7)
    gx = cv2.Scharr(soft, cv2.CV_32F, 1, 0) / 32
    gy = cv2.Scharr(soft, cv2.CV_32F, 0, 1) / 32
    edge = np.sqrt(channel_maximum(gx**2 + gy**2))
    noise = 5.0 if off is None else np.maximum(cv2.blur(off, (9, 9)), 5.0)
    return np.sqrt(noise**2 + (shift * edge) ** 2).astype(np.float32)


def channel_maximum(a: np.ndarray) -> np.ndarray:
    """(h, w) the largest of three channels"""
    return cv2.max(cv2.max(a[..., 0], a[..., 1]), a[..., 2])


def site_trust(frame: Frame, plan: Plan, inside: float = 0.15) -> np.ndarray:
    """(h, w) float32: 1 where no site is, so that hardly anything ever lies there; `inside` on the
    sites"""
    out = np.ones((frame.height, frame.width), np.float32)
    for s in plan.site:
        for o in s.outlines:
            cv2.fillPoly(out, [np.round(frame.to_px(o)).astype(np.int32)], inside)
    return cv2.erode(out, np.ones((5, 5)))


def undo_falloff(empty: Empty, falloff: np.ndarray) -> Empty:
    """The empty board as if lit evenly: falloff, (6,) terms of the logarithm of how much brighter
    it was lit where"""
    light = CanvasLight(np.repeat(-falloff[:, None], 3, 1).astype(np.float32)).over(empty.frame)
    return Empty(
        empty.frame,
        (empty.canvas * light).clip(0, 255).astype(np.uint8),
        (empty.spread * light[..., 0]).astype(np.float32),
    )
