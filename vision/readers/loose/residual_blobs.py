"""What remains of a picture whose board, cards and pieces are known: compact lumps are strangers.
Its values: left_on, littered, left_bare."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import msgspec
import numpy as np

from vision.geometry.posed_photo import Shot
from vision.kernels import Kernel
from vision.photometry.canvas import Empty, Frame, channel_maximum, site_trust
from vision.plan import Plan
from vision.readers.loose.scene.polar_patches import SCORE_NOISE
from vision.readers.loose.scene.resampling import is_canvas, is_whole
from vision.readers.loose.scene.scene import FOLD, Scene, Stage

UNKNOWN = 0.9  # of what is strange, above which it is surely neither ground nor a piece found
STRANGE = 0.6  # how strange a pixel is at least that counts
SHADED = 0.4  # of its light that ground keeps in the shadow of what stands beside it
NOISY = 3.0  # times the noise, by which ground may be off the colours that a shadow makes of it
LEVELS = 5.0  # grey levels of noise, at the least
# of the largest lump that samplers leave, of the smallest piece's inner radius: a lump larger than
# both
BEYOND, LEAST = 1.3, 0.35
SLOPE = 0.08  # is something else; of that, how sharply so
# times as large a disc, which what is surely strange would fill, tells as much as a lump; some of
# it
PATCHED = 1.15
LIT = 1.6  # is no shadow then: at most so many times the lump
_left = Kernel("left_on", "BBfnfnfnnnnnnBxxxxxxf")


class Place(msgspec.Struct, frozen=True, eq=False):
    """An outline on the map of what is strange: of it the part from `lo` to `hi`, (2,) each, and
    its mask (h, w) uint8"""

    lo: np.ndarray
    hi: np.ndarray
    mask: np.ndarray

    @classmethod
    def of(cls, frame: Frame, outline: np.ndarray) -> Place:
        """outline: (n, 2) mm"""
        px = frame.to_px(outline) / FOLD
        lo = np.floor(px.min(0)).astype(int).clip(0)
        hi = np.maximum(
            np.minimum(
                np.ceil(px.max(0)).astype(int) + 1, (frame.width // FOLD, frame.height // FOLD)
            ),
            lo,
        )
        mask = np.zeros(hi[::-1] - lo[::-1], np.uint8)
        if mask.size:
            cv2.fillPoly(mask, [np.round(px - lo).astype(np.int32)], 1)
        return cls(lo, hi, mask)


class Left(msgspec.Struct, frozen=True):
    """What nothing explains on a place. unknown: mm² of it; patch: mm² of the largest that hangs
    together; lump: mm, how large a disc is strange all over, its radius and that of one which is no
    shadow besides, in the geometric mean: a shadow has none, a coin some brighter part; lit: mm² of
    the largest patch that is no shadow: those of a heap run into one"""

    unknown: float
    patch: float
    lump: float
    lit: float

    def filled(self, beside: bool) -> float:
        """mm: the radius of a disc as large as the patch, as far as that is no shadow; beside: of
        what stands there, and casts some"""
        return min(((self.lit if beside else self.patch) / np.pi) ** 0.5 / PATCHED, LIT * self.lump)


def left_on(scene: Scene, at: Place) -> Left:
    """What nothing explains on a place of a scene"""
    k = scene.frame.scale / FOLD
    if not at.mask.size:
        return Left(0.0, 0.0, 0.0, 0.0)
    canvases = scene.ground, scene.weight, scene.strange
    if _left and is_canvas(scene.seen) and is_whole(*canvases):
        out = np.empty(5, np.float32)
        light = np.ascontiguousarray(scene.light, np.float32)
        _left(
            scene.seen,
            scene.ground,
            scene.weight,
            scene.seen.shape[1],
            scene.strange,
            scene.strange.shape[1],
            light,
            *light.shape[:2],
            *at.lo.tolist(),
            *at.mask.shape[::-1],
            at.mask,
            UNKNOWN,
            STRANGE,
            SHADED,
            NOISY,
            LEVELS,
            SCORE_NOISE,
            out,
        )
        unknown, patch, outer, inner, lit = out.tolist()
        return Left(unknown / k**2, patch / k**2, (outer * inner) ** 0.5 / k, lit / k**2)
    part = scene.strange[at.lo[1] : at.hi[1], at.lo[0] : at.hi[0]]
    sure = (cv2.erode(part, np.ones((3, 3))) * at.mask > UNKNOWN).astype(np.uint8)
    mask = at.mask & (part > STRANGE)
    if not mask.any():
        return Left(0.0, 0.0, 0.0, 0.0)
    clear = ~shadow(scene, at.lo, at.hi)
    patch, lit = (
        cv2.connectedComponentsWithStats(m)[2][1:, cv2.CC_STAT_AREA].max(initial=0)
        for m in (sure, sure * clear)
    )
    lump = float(np.sqrt(radius(mask) * radius(mask & clear)))
    return Left(float(sure.sum()) / k**2, float(patch) / k**2, lump / k, float(lit) / k**2)


def littered(lump: float, usual: float, inner: float) -> float:
    """Probability that such a lump (or what is filled) is something else. usual: mm of the largest
    that samplers leave, inf where that is not known; inner: mm of the smallest piece's inner
    radius"""
    most = max(BEYOND * usual, LEAST * inner)
    return (
        1 / (1 + np.exp(np.clip((most - lump) / (SLOPE * most), -30, 30)))
        if np.isfinite(most)
        else 0.0
    )


def left_bare(
    plan: Plan, frame: Frame, bare: Sequence[Shot], canvases: Sequence[np.ndarray]
) -> float:
    """mm of the largest lump that the empty board shows in one photo to whom only the others showed
    it: what hollows, gloss and a lamp make of it in another light is nothing that lies there. 0 of
    a single photo"""
    places = [Place.of(frame, o) for s in plan.site if s.reads == "cluster" for o in s.outlines]
    most = 0.0
    for n, shot in enumerate(bare):
        if others := [*canvases[:n], *canvases[n + 1 :]]:
            scene = Stage(Empty.of(frame, others), site_trust(frame, plan)).scene(
                shot.image, shot.pose
            )
            most = max([most, *(left_on(scene, at).lump for at in places)])
    return most


def radius(mask: np.ndarray) -> float:
    """Pixels from the middle to the rim of the largest disc in a mask (h, w)"""
    return (
        float(cv2.distanceTransform(np.pad(mask, 1), cv2.DIST_L2, 3).max()) if mask.any() else 0.0
    )


def shadow(scene: Scene, lo: np.ndarray, hi: np.ndarray) -> np.ndarray:
    """(h, w) bool: where a part of the map of what is strange, from `lo` to `hi`, shows the ground
    in less light"""
    wide = slice(lo[1] * FOLD, hi[1] * FOLD), slice(lo[0] * FOLD, hi[0] * FOLD)
    size = tuple((hi - lo).tolist())
    seen, ground = (
        cv2.resize(c[wide], size, interpolation=cv2.INTER_AREA)[..., :3].astype(np.float32)
        for c in (scene.seen, scene.ground)
    )
    x, y = np.meshgrid(np.arange(lo[0], hi[0]), np.arange(lo[1], hi[1]))
    mm = scene.frame.to_mm((np.stack([x, y], -1).reshape(-1, 2) + 0.5) * FOLD - 0.5)
    seen *= scene.light_at(mm).reshape(seen.shape).astype(np.float32)
    share = ((seen * ground).sum(-1) / np.maximum((ground * ground).sum(-1), 1)).clip(SHADED, 1)
    weight = scene.weight[wide][::FOLD, ::FOLD][: size[1], : size[0]]
    noise = np.sqrt(np.maximum(1 / np.maximum(np.abs(weight), 1e-6) - SCORE_NOISE**2, LEVELS**2))
    return channel_maximum(np.abs(seen - share[..., None] * ground)) < NOISY * noise
