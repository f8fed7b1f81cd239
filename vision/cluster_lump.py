"""What remains of a picture whose board, cards and pieces are known: compact lumps are strangers. Its values: lump_of, littered."""

from __future__ import annotations

import cv2
import numpy as np

from vision.cluster_canvas import largest
from vision.cluster_polar import SCORE_NOISE
from vision.cluster_scene import FOLD, Scene

STRANGE = 0.6           # how strange a pixel is at least that counts
SHADED = 0.4            # of its light that ground keeps in the shadow of what stands beside it
NOISY = 3.0             # times the noise, by which ground may be off the colours that a shadow makes of it
LEVELS = 5.0            # grey levels of noise, at the least
BEYOND, LEAST = 1.3, 0.35       # of the largest lump that samplers leave, of the smallest piece's inner radius: a lump larger than both
SLOPE = 0.08            # is something else; of that, how sharply so


def lump_of(scene: Scene, outline: np.ndarray) -> float:
    """mm: how large a disc in an outline (n, 2) mm is strange all over, its radius and that of one which is no shadow besides, in the
    geometric mean: a shadow has none, a coin some brighter part"""
    px = scene.frame.to_px(outline) / FOLD
    h, w = scene.strange.shape
    lo, hi = np.floor(px.min(0)).astype(int).clip(0), np.minimum(np.ceil(px.max(0)).astype(int) + 1, (w, h))
    if (hi <= lo).any():
        return 0.0
    part = scene.strange[lo[1]:hi[1], lo[0]:hi[0]]
    mask = np.zeros(part.shape, np.uint8)
    cv2.fillPoly(mask, [np.round(px - lo).astype(np.int32)], 1)
    mask &= part > STRANGE
    if not mask.any():
        return 0.0
    return float(np.sqrt(radius(mask) * radius(mask & ~shadow(scene, lo, hi)))) * FOLD / scene.frame.scale


def littered(lump: float, usual: float, inner: float) -> float:
    """Probability that such a lump is something else. usual: mm of the largest that samplers leave, inf where that is not known; inner:
    mm of the smallest piece's inner radius"""
    most = max(BEYOND * usual, LEAST * inner)
    return 1 / (1 + np.exp(np.clip((most - lump) / (SLOPE * most), -30, 30))) if np.isfinite(most) else 0.0


def radius(mask: np.ndarray) -> float:
    """Pixels from the middle to the rim of the largest disc in a mask (h, w)"""
    return float(cv2.distanceTransform(np.pad(mask, 1), cv2.DIST_L2, 3).max()) if mask.any() else 0.0


def shadow(scene: Scene, lo: np.ndarray, hi: np.ndarray) -> np.ndarray:
    """(h, w) bool: where a part of the map of what is strange, from `lo` to `hi`, shows the ground in less light"""
    wide = slice(lo[1] * FOLD, hi[1] * FOLD), slice(lo[0] * FOLD, hi[0] * FOLD)
    size = tuple((hi - lo).tolist())
    seen, ground = (cv2.resize(c[wide], size, interpolation=cv2.INTER_AREA)[..., :3].astype(np.float32)
                    for c in (scene.seen, scene.ground))
    x, y = np.meshgrid(np.arange(lo[0], hi[0]), np.arange(lo[1], hi[1]))
    mm = scene.frame.to_mm((np.stack([x, y], -1).reshape(-1, 2) + 0.5) * FOLD - 0.5)
    seen *= scene.light_at(mm).reshape(seen.shape).astype(np.float32)
    share = ((seen * ground).sum(-1) / np.maximum((ground * ground).sum(-1), 1)).clip(SHADED, 1)
    weight = scene.weight[wide][::FOLD, ::FOLD][:size[1], :size[0]]
    noise = np.sqrt(np.maximum(1 / np.maximum(np.abs(weight), 1e-6) - SCORE_NOISE ** 2, LEVELS ** 2))
    return largest(np.abs(seen - share[..., None] * ground)) < NOISY * noise
