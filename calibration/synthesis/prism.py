"""Pieces that stand on a square foot, seen as no sampler shows them: turned about themselves, other
sides lit. Its central value: PrismProfile."""

from __future__ import annotations

from functools import lru_cache

import cv2
import msgspec
import numpy as np

from calibration.cutouts.specimens import footprint_polygon, seen_sides
from calibration.cutouts.standing import StandingLook
from vision.plan import Piece

LAYERS = 16  # into which a piece is cut, from its foot to its top
# log units by which sides are lighter or darker than in the sampler, all of them and towards a lamp. What faces
# away from the only lamp of a room is seen a third as bright as what faces it, but with twice as much obelisks
# were taken for figures more often (docs/lab/2026-11-29-what-was-never-shown.md)
SIDES_TONE, LAMP_TONE = 0.25, 0.35
TOP_TONE = 0.15  # and what faces upwards is lighter than the sides
PIXEL_BITS = 4  # parts of a pixel that polygons are drawn to, as a power of two
NEARLY_SQUARE = 0.8  # of its longer side that a square foot's shorter one has at least


class PrismProfile(msgspec.Struct, frozen=True, eq=False):
    """widths: (LAYERS + 1,) mm of a square piece from its foot up; colours: (LAYERS + 1, 3) log"""

    widths: np.ndarray
    colours: np.ndarray


def stands_square(piece: Piece) -> bool:
    """Whether it stands on a square foot"""
    return not piece.disc and min(piece.footprint) >= NEARLY_SQUARE * max(piece.footprint)


@lru_cache(maxsize=256)
def profile_of(look: StandingLook) -> PrismProfile:
    """How wide a look is from foot to top, by its mask, and of which colour its sides are"""
    foot, rows = max(look.piece.footprint), np.arange(look.mask.shape[0])
    up = np.linspace(0, 1, LAYERS + 1)

    def columns_at(mm: np.ndarray) -> np.ndarray:
        at = ((mm + look.beside) * look.scale - 0.5).round().astype(int)
        return np.clip(at, 0, look.mask.shape[1] - 1)

    inside = np.pad((look.mask > 0.5).astype(np.uint8), 1)
    radius = cv2.distanceTransform(inside, cv2.DIST_L2, 5)[len(rows) // 2 + 1, 1:-1]
    radius = radius[columns_at(up * look.reach)] / look.scale
    widths = np.minimum.accumulate(np.clip(2 * np.where(up > 0, radius, foot), 0.15 * foot, foot))
    # the side of a layer is seen before its middle
    before = columns_at(up * look.reach - 0.55 * widths * (up < 1))
    near = np.abs(rows[:, None] / look.scale - look.beside) < 0.35 * widths
    weight = (near * look.mask[:, before])[..., None] + 1e-6
    colours = (weight * look.patch[:, before]).sum(0) / weight.sum(0)
    return PrismProfile(widths, colours)


def draw_prism(
    rng: np.random.Generator,
    look: StandingLook,
    foot: np.ndarray,
    shift: np.ndarray,
    scale: float,
    size: tuple[int, int],
) -> tuple[np.ndarray, np.ndarray]:
    """((h, w, 3) log, (h, w) 0..1): what stands with its foot at (2,) px of a picture of this size, its
    top `shift` (2,) px off, turned by any angle; scale: pixels a mm"""
    profile = profile_of(look)
    outline = footprint_polygon((scale, scale), False, rng.uniform(0, 90))  # of what is 1 mm wide
    up = np.linspace(0, 1, LAYERS + 1)[:, None, None]
    rings = foot + shift * up + profile.widths[:, None, None] * outline  # (LAYERS + 1, 4, 2)
    lamp = rng.uniform(0, 2 * np.pi)
    facing = np.cos(lamp + np.pi / 2 * np.arange(4))
    tones = rng.uniform(-SIDES_TONE, SIDES_TONE) + rng.uniform(0, LAMP_TONE) * facing
    top = rng.normal(TOP_TONE, TOP_TONE)
    face, mask = np.zeros((*size, 3), np.float32), np.zeros(size, np.uint8)

    def fill_polygon(points: np.ndarray, colour: np.ndarray) -> None:
        ring = np.rint(points * (1 << PIXEL_BITS)).astype(np.int32)
        cv2.fillPoly(face, [ring], tuple(map(float, colour)), cv2.LINE_8, PIXEL_BITS)
        cv2.fillPoly(mask, [ring], 255, cv2.LINE_AA, PIXEL_BITS)

    for n in range(LAYERS):
        for side, quad, _ in seen_sides(rings[n], rings[n + 1]):
            fill_polygon(quad, profile.colours[n] + tones[side])
        fill_polygon(rings[n + 1], profile.colours[n + 1] + top)
    wide = cv2.dilate(face, np.ones((5, 5)))
    face = cv2.GaussianBlur(np.where(face.any(2, keepdims=True), face, wide), (0, 0), 0.6)
    return face, mask.astype(np.float32) / 255
