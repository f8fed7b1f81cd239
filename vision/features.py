"""What the classifier sees of a piece laid straight: strokes by direction in small cells, and colours."""

from __future__ import annotations

import cv2
import numpy as np

from vision.field import Field
from vision.slide import FLOOR

PIXELS = 40          # a side of the straightened piece
CELLS = 10           # cells a side for strokes
TINTS = 10           # cells a side for colours
PARTS = 5            # cells a side for the darkest and lightest, reddest and bluest in them: thin strokes have colours too
WIDER = 1.12         # the straightened square's side as a multiple of the footprint's
DIRECTIONS = 8


def straight(field: Field, site: np.ndarray, middle: np.ndarray, turn: np.ndarray, half: np.ndarray) -> np.ndarray:
    """(n, PIXELS, PIXELS, 3): sites (n,) of a field seen straight round `middle` (n, 2) mm, turned by `turn` (n,) radians,
    half a footprint `half` (n,) mm"""
    t = (np.arange(PIXELS, dtype=np.float32) + 0.5) / PIXELS * 2 - 1
    x, y = np.meshgrid(t, t)
    offsets = np.stack([x, y], -1).reshape(1, -1, 2) * (np.asarray(half, np.float32) * WIDER)[:, None, None]
    return field.sample(site, middle, turn, offsets).reshape(len(site), PIXELS, PIXELS, 3)


def describe(pictures: np.ndarray) -> np.ndarray:
    """(n, D) float32 of (n, P, P, 3) opponent colours"""
    n, p = pictures.shape[:2]
    if n == 0:
        return np.zeros((0, CELLS * CELLS * DIRECTIONS + TINTS * TINTS * 3 + PARTS * PARTS * 6), np.float32)
    tall = pictures.reshape(n * p, p, 3)
    bright = np.ascontiguousarray(tall[..., 0])
    gx = cv2.Sobel(bright, cv2.CV_32F, 1, 0, ksize=3, scale=0.125)
    gy = cv2.Sobel(bright, cv2.CV_32F, 0, 1, ksize=3, scale=0.125)
    for g in (gx, gy):
        seams = g.reshape(n, p, p)
        seams[:, 0] = seams[:, -1] = 0
    strokes = np.empty((n, DIRECTIONS, CELLS, CELLS), np.float32)
    for d in range(DIRECTIONS // 2):
        a = d * 2 * np.pi / DIRECTIONS
        along = cv2.addWeighted(gx, np.cos(a), gy, np.sin(a), 0)
        for sign, at in ((1, d), (-1, d + DIRECTIONS // 2)):
            part = cv2.threshold(along if sign > 0 else -along, 0, 0, cv2.THRESH_TOZERO)[1]
            strokes[:, at] = cv2.resize(part, (CELLS, n * CELLS), interpolation=cv2.INTER_AREA).reshape(n, CELLS, CELLS)
    strokes = np.sqrt(strokes.reshape(n, -1) / 0.1)
    tints = cv2.resize(tall, (TINTS, n * TINTS), interpolation=cv2.INTER_AREA).reshape(n, TINTS * TINTS, 3)
    parts = pictures.reshape(n, PARTS, p // PARTS, PARTS, p // PARTS, 3)
    ends = np.stack([parts.min((2, 4)), parts.max((2, 4))], -1)
    return np.hstack([strokes, (tints / (4 * FLOOR)).reshape(n, -1), (ends / (6 * FLOOR[:, None])).reshape(n, -1)])


def unexplained(pictures: np.ndarray, model: np.ndarray) -> np.ndarray:
    """(n, D): where pictures differ from the cut-outs they are taken for, both (n, P, P, 3): by cells, and in the cells
    that differ most together, as where something lies on top"""
    n, p = pictures.shape[:2]
    if n == 0:
        return np.zeros((0, CELLS * CELLS + 4), np.float32)
    edge = p // 8
    left = pictures - model
    left[..., 0] -= left[:, edge:-edge:3, edge:-edge:3, 0].mean((1, 2))[:, None, None]
    left /= FLOOR
    np.abs(left, out=left)
    np.minimum(left, 4, out=left)
    cells = cv2.resize(left.reshape(n * p, p, 3), (CELLS, n * CELLS), interpolation=cv2.INTER_AREA)
    cells = cells.mean(-1).reshape(n, CELLS, CELLS)
    inner = cells[:, 1:-1, 1:-1]
    pairs = (inner[:, :-1, :-1] + inner[:, 1:, :-1] + inner[:, :-1, 1:] + inner[:, 1:, 1:]).reshape(n, -1) / 4
    order = np.sort(pairs, 1)
    pooled = [order[:, -1], order[:, -6], order[:, len(order[0]) // 2], inner.mean((1, 2))]
    return np.hstack([cells.reshape(n, -1), np.stack(pooled, 1)])


def misfits(pictures: np.ndarray, models: np.ndarray) -> np.ndarray:
    """(n, 2): how far pictures (n, P, P, 3) are from the cut-outs they are taken for, in brightness and in colour"""
    edge = pictures.shape[1] // 8
    left = (pictures - models)[:, edge:-edge, edge:-edge]
    left[..., 0] -= left[..., 0].mean((1, 2))[:, None, None]
    left = np.minimum(np.abs(left / FLOOR), 4)
    return np.stack([left[..., 0].mean((1, 2)), left[..., 1:].mean((1, 2, 3))], 1)


def contest(misfit: np.ndarray, look: np.ndarray, looks: int) -> np.ndarray:
    """(n, 2 * looks): by how much each look tried fits better than the best of the others tried; nought for the rest.

    misfit: (n, T, 2) of the looks tried; look: (n, T) which they are"""
    n, tried, measures = misfit.shape
    out = np.zeros((n, measures, looks), np.float32)
    for t in range(tried):
        others = np.delete(misfit, t, 1)
        lead = np.clip((others.min(1) - misfit[:, t]) * 5, -4, 4)
        for m in range(measures):
            out[np.arange(n), m, look[:, t]] = lead[:, m]
    return out.reshape(n, -1)
