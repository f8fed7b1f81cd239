"""Pieces cut out of photos, as the matchers compare them. Its values: `Exemplar`, `Patch`."""

from __future__ import annotations

from typing import Literal

import cv2
import msgspec
import numpy as np

from vision.evidence.site_evidence import Contents

ASKEW = 12  # degrees that a piece which is laid straight may lie askew


# in any turn; straight, in one of four turns; straight and one way up
Lies = Literal["any", "quarters", "upright"]


class Exemplar(msgspec.Struct, frozen=True, eq=False):
    """One piece as one photo shows it. contents: what lies there; size: the footprint seen, (w, d)
    mm, disc: round;
    picture: (m, m, 3) float32 log colours in the reference light, the footprint's middle in the
    middle, its sides along the picture's; scale: pixels a millimetre; where: the site; photo: its
    number; borrowed: it lies on a site of another group, in any turn; lies: how such pieces may
    lie."""

    contents: Contents
    size: tuple[float, float]
    disc: bool
    picture: np.ndarray
    scale: float
    where: str
    photo: int
    borrowed: bool = False
    lies: Lies = "quarters"


def footprint_mask(
    size: tuple[float, float],
    disc: bool,
    side: int,
    scale: float,
    grow: float = 0.0,
    tilt: float = 0.0,
) -> np.ndarray:
    """(side, side) float32 in 0..1: the footprint in the middle of a picture, its edge soft over a
    pixel.

    grow: mm added all round; tilt: degrees clockwise as seen."""
    t = (np.arange(side) + 0.5 - side / 2) / scale
    x, y = np.meshgrid(t, t)
    if disc:
        inside = size[0] / 2 + grow - np.hypot(x, y)
    else:
        a = np.deg2rad(tilt)
        u, v = x * np.cos(a) + y * np.sin(a), -x * np.sin(a) + y * np.cos(a)
        inside = np.minimum(size[0] / 2 + grow - np.abs(u), size[1] / 2 + grow - np.abs(v))
    return np.clip(inside * scale + 0.5, 0, 1).astype(np.float32)


def turned(picture: np.ndarray, angle: float, zoom: float, side: int) -> np.ndarray:
    """(side, side, C): a cut-out turned by `angle` degrees (clockwise as seen), `zoom` times as
    large"""
    m = len(picture)
    soft = picture if zoom >= 0.8 else cv2.GaussianBlur(picture, (0, 0), 0.4 / zoom)
    a = np.deg2rad(angle)
    inverse = np.array([[np.cos(a), np.sin(a)], [-np.sin(a), np.cos(a)]]) / zoom
    shift = m / 2 - 0.5 - inverse @ np.array([side / 2 - 0.5, side / 2 - 0.5])
    return cv2.warpAffine(
        soft,
        np.column_stack([inverse, shift]).astype(np.float32),
        (side, side),
        flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP,
        borderMode=cv2.BORDER_REPLICATE,
    )


class Patch(msgspec.Struct, frozen=True, eq=False):
    """Something to lay down. picture: (m, m, 3) log; alpha: (m, m) 0..1; scale: px a mm; radius:
    mm; height: mm;
    side: (3,) log colour of its side; lies: how it may lie."""

    picture: np.ndarray
    alpha: np.ndarray
    scale: float
    radius: float
    height: float
    side: np.ndarray
    lies: Lies
