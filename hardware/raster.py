"""Rasterises drawing primitives (the plain dicts of art.toml's drawings: polygon, circle, line,
text, in mm)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import cv2
import numpy as np

FINE = 4  # fractional bits of the coordinates that cv2 draws with
FONT = cv2.FONT_HERSHEY_DUPLEX


def bgr_of(colour: str) -> tuple[int, int, int]:
    """ "#rrggbb" -> (b, g, r)"""
    return int(colour[5:7], 16), int(colour[3:5], 16), int(colour[1:3], 16)


def draw_scene(
    prims: Sequence[Mapping[str, Any]],
    x0: float,
    y0: float,
    width: int,
    height: int,
    px_per_mm: float,
    oversample: int = 2,
) -> np.ndarray:
    """(height, width, 4) uint8 BGRA; pixel (0, 0) shows the mm point (x0, y0). Alpha is 0 where
    nothing is drawn."""
    scale = px_per_mm * oversample
    w, h = width * oversample, height * oversample
    colour, alpha = np.zeros((h, w, 3), np.uint8), np.zeros((h, w), np.uint8)
    for p in prims:
        for layer, ink in ((colour, None), (alpha, (255,))):
            _draw_shape(layer, p, x0, y0, scale, ink)
    # Colour is weighted by alpha before downsampling, or the empty background would darken every
    # edge.
    out = cv2.merge([*cv2.split(colour), alpha])
    if oversample == 1:
        return out
    small_alpha = cv2.resize(alpha, (width, height), interpolation=cv2.INTER_AREA)
    covered = cv2.resize(colour, (width, height), interpolation=cv2.INTER_AREA).astype(np.float32)
    covered *= 255.0 / np.maximum(small_alpha, 1)[..., None]
    return cv2.merge([*cv2.split(np.clip(covered, 0, 255).astype(np.uint8)), small_alpha])


def _draw_shape(
    layer: np.ndarray,
    p: Mapping[str, Any],
    x0: float,
    y0: float,
    scale: float,
    ink: tuple[int, ...] | None,
) -> None:
    def px(points: Sequence[Sequence[float]]) -> np.ndarray:
        q = (np.array(points, float) - (x0, y0)) * scale - 0.5
        return np.round(q * (1 << FINE)).astype(np.int32)

    fill = (ink or bgr_of(p["fill"])) if p.get("fill") else ()
    stroke = (ink or bgr_of(p["stroke"])) if p.get("stroke") else ()
    thick = max(1, round(p.get("width", 0) * scale))
    if p["p"] == "polygon":
        points = px(p["points"])
        if fill:
            cv2.fillPoly(layer, [points], fill, cv2.LINE_AA, FINE)
        if stroke:
            cv2.polylines(layer, [points], True, stroke, thick, cv2.LINE_AA, FINE)
    elif p["p"] == "line":
        cv2.polylines(layer, [px(p["points"])], False, stroke, thick, cv2.LINE_AA, FINE)
    elif p["p"] == "circle":
        at, r = px([p["at"]])[0].tolist(), round(p["r"] * scale * (1 << FINE))
        if fill:
            cv2.circle(layer, at, r, fill, -1, cv2.LINE_AA, FINE)
        if stroke:
            cv2.circle(layer, at, r, stroke, thick, cv2.LINE_AA, FINE)
    else:
        _write_text(layer, p, px([p["at"]])[0] / (1 << FINE), scale, fill)


def _write_text(
    layer: np.ndarray, p: Mapping[str, Any], at: np.ndarray, scale: float, ink: tuple[int, ...]
) -> None:
    """Writes into a separate patch, then rotates that onto the layer: cv2 can only write
    upright."""
    big = 64
    unit = cv2.getFontScaleFromHeight(FONT, big, 6)
    (w, h), below = cv2.getTextSize(p["text"], FONT, unit, 8)
    patch = np.zeros((h + below + 40, w + 40), np.uint8)
    cv2.putText(patch, p["text"], (20, 20 + h), FONT, unit, 255, 8, cv2.LINE_AA)
    ratio = p["size"] * scale / big
    c, s = math.cos(math.radians(p["turn"])) * ratio, math.sin(math.radians(p["turn"])) * ratio
    mx, my = 20 + w / 2, 20 + h - big / 2
    there = np.array([[c, -s, at[0] - c * mx + s * my], [s, c, at[1] - s * mx - c * my]])
    radius = math.hypot(*patch.shape) * ratio / 2 + 2
    x0, y0 = max(0, int(at[0] - radius)), max(0, int(at[1] - radius))
    x1, y1 = (
        min(layer.shape[1], int(at[0] + radius) + 1),
        min(layer.shape[0], int(at[1] + radius) + 1),
    )
    if x1 <= x0 or y1 <= y0:
        return
    there[:, 2] -= x0, y0
    mask = cv2.warpAffine(
        patch, there, (x1 - x0, y1 - y0), flags=cv2.INTER_AREA if ratio < 0.5 else cv2.INTER_LINEAR
    )
    part = layer[y0:y1, x0:x1]
    weight = (mask / 255.0).reshape(*mask.shape, *(1,) * (part.ndim - 2))
    colour = np.array(ink if part.ndim == 3 else ink[0], float)
    part[:] = np.round(part * (1 - weight) + colour * weight)
