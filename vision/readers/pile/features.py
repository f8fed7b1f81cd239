"""What the classifier sees of a piece laid straight: strokes by direction in small cells, and
colours."""

from __future__ import annotations

from functools import cache

import cv2
import numpy as np

from vision.kernels import Kernel
from vision.photometry.colour_sampling import Field
from vision.readers.pile.coarse_search import FLOOR

PIXELS = 40  # a side of the straightened piece
CELLS = 10  # cells a side for strokes
TINTS = 10  # cells a side for colours
# cells a side for the darkest and lightest, reddest and bluest in them: thin strokes have colours
# too
PARTS = 5
WIDER = 1.12  # the straightened square's side as a multiple of the footprint's
DIRECTIONS = 8
STEP = 3  # pixels from one that counts to the next, where only a mean is wanted


def straight(
    field: Field, site: np.ndarray, middle: np.ndarray, turn: np.ndarray, half: np.ndarray
) -> np.ndarray:
    """(n, PIXELS, PIXELS, 3): sites (n,) of a field seen straight round `middle` (n, 2) mm, turned
    by `turn` (n,) radians, half a footprint `half` (n,) mm"""
    return field.sample(site, middle, turn, straight_grid(), half)


def straight_grid() -> np.ndarray:
    """(PIXELS, PIXELS, 2) offsets of its pixels, in half footprints"""
    t = ((np.arange(PIXELS, dtype=np.float32) + 0.5) / PIXELS * 2 - 1) * np.float32(WIDER)
    return np.stack(np.meshgrid(t, t), -1)


_describe, _held_against = Kernel("describe", "fnnnnnff"), Kernel("held_against", "fnflnnnfxff")


def describe(pictures: np.ndarray) -> np.ndarray:
    """(n, D) float32 of (n, P, P, 3) opponent colours"""
    n, p = pictures.shape[:2]
    out = np.empty(
        (n, CELLS * CELLS * DIRECTIONS + TINTS * TINTS * 3 + PARTS * PARTS * 6), np.float32
    )
    if n == 0:
        return out
    if _describe:
        _describe(pictures, n, p, CELLS, TINTS, PARTS, FLOOR, out)
        return out
    tall = pictures.reshape(n * p, p, 3)
    tints = cv2.resize(tall, (TINTS, n * TINTS), interpolation=cv2.INTER_AREA).reshape(
        n, TINTS * TINTS, 3
    )
    return np.concatenate(
        [strokes(pictures), (tints / (4 * FLOOR)).reshape(n, -1), extremes(pictures)], 1, out
    )


def strokes(pictures: np.ndarray) -> np.ndarray:
    """(n, D): how strong edges of brightness are in each cell, by direction"""
    n, p = pictures.shape[:2]

    def pooled(edges: np.ndarray) -> np.ndarray:
        return cv2.resize(edges, (CELLS, n * CELLS), interpolation=cv2.INTER_AREA).reshape(
            n, CELLS, CELLS
        )

    bright = np.ascontiguousarray(pictures[..., 0]).reshape(n * p, p)
    gx, gy = (cv2.Sobel(bright, cv2.CV_32F, x, 1 - x, ksize=3, scale=0.125) for x in (1, 0))
    for g in (gx, gy):
        seams = g.reshape(n, p, p)
        seams[:, 0] = seams[:, -1] = 0
    mean_x, mean_y = pooled(gx), pooled(gy)
    out = np.empty((n, DIRECTIONS, CELLS, CELLS), np.float32)
    for d in range(DIRECTIONS // 2):
        c, s = np.cos(d * 2 * np.pi / DIRECTIONS), np.sin(d * 2 * np.pi / DIRECTIONS)
        rising = pooled(cv2.threshold(cv2.addWeighted(gx, c, gy, s, 0), 0, 0, cv2.THRESH_TOZERO)[1])
        out[:, d], out[:, d + DIRECTIONS // 2] = rising, rising - (mean_x * c + mean_y * s)
    return np.sqrt(np.maximum(out.reshape(n, -1), 0) / 0.1)


def extremes(pictures: np.ndarray) -> np.ndarray:
    """(n, D): the least and the most of each channel in large cells"""
    n, p = pictures.shape[:2]
    wide = p // PARTS
    ends = []
    for end in (np.minimum, np.maximum):  # whole rows first: they lie together in memory
        rows = reduced(end, pictures.reshape(n * PARTS, wide, p * 3))
        ends.append(reduced(end, rows.reshape(n * PARTS * PARTS, wide, 3)))
    return (np.stack(ends, -1) / (6 * FLOOR[:, None])).reshape(n, -1)


def reduced(pick: np.ufunc, values: np.ndarray) -> np.ndarray:
    """(n, d) of (n, w, d): what pick.reduce gives along w, by halves: many short rows one after the
    other are slow"""
    while (w := values.shape[1]) > 1:
        # of an odd w the middle is in both
        first, second = values[:, : w - w // 2], values[:, w // 2 :]
        values = pick(first, second)
    return values[:, 0]


def held_against(
    pictures: np.ndarray, models: np.ndarray, piece: np.ndarray, faint: float
) -> tuple[np.ndarray, np.ndarray]:
    """(unexplained(), misfits()) of pictures (n, P, P, 3) and the cut-outs they are taken for:
    models (E, P, P, 3), piece (n,).
    faint: 0, or prints may be as_strong() as they are seen and count as print_misfits()"""
    n, p = pictures.shape[:2]
    left, misfit = np.empty((n, CELLS * CELLS + 4), np.float32), np.empty((n, 2), np.float32)
    if not n:
        return left, misfit
    if _held_against:
        _held_against(
            pictures,
            n,
            models,
            np.asarray(piece, np.int64),
            p,
            CELLS,
            STEP,
            FLOOR,
            faint,
            left,
            misfit,
        )
        return left, misfit
    mine = as_strong(pictures, models[piece], faint) if faint else models[piece]
    return unexplained(pictures, mine), (print_misfits if faint else misfits)(pictures, mine)


def unexplained(pictures: np.ndarray, model: np.ndarray) -> np.ndarray:
    """(n, D): where pictures differ from the cut-outs they are taken for, both (n, P, P, 3): by
    cells, and in the cells that differ most together, as where something lies on top"""
    n, p = pictures.shape[:2]
    if n == 0:
        return np.zeros((0, CELLS * CELLS + 4), np.float32)
    left = apart(pictures, model, STEP)
    cells = cv2.resize(left.reshape(n * p, p, 3), (CELLS, n * CELLS), interpolation=cv2.INTER_AREA)
    cells = cells.mean(-1).reshape(n, CELLS, CELLS)
    inner = cells[:, 1:-1, 1:-1]
    pairs = (inner[:, :-1, :-1] + inner[:, 1:, :-1] + inner[:, :-1, 1:] + inner[:, 1:, 1:]).reshape(
        n, -1
    ) / 4
    order = np.sort(pairs, 1)
    pooled = [order[:, -1], order[:, -6], order[:, len(order[0]) // 2], inner.mean((1, 2))]
    return np.hstack([cells.reshape(n, -1), np.stack(pooled, 1)])


def misfits(pictures: np.ndarray, models: np.ndarray) -> np.ndarray:
    """(n, 2): how far pictures (n, P, P, 3) are from the cut-outs they are taken for, in brightness
    and in colour"""
    light, colour = inner(pictures.shape[1], 1)
    return apart(pictures, models, 1).reshape(len(pictures), -1) @ np.stack([light, colour], 1)


def strength(like: np.ndarray, square: np.ndarray, faint: float) -> np.ndarray:
    """(...) times as strong as learnt a print is seen. like: print times what is seen; square:
    print times itself; faint: what another strength costs, as a share of the print"""
    return np.clip((like + faint * square) / ((1 + faint) * square + 1e-6), 0.3, 2.0)


def as_strong(pictures: np.ndarray, models: np.ndarray, faint: float) -> np.ndarray:
    """The cut-outs (n, P, P, 3) with their print as strong as pictures, likewise, show it: light,
    gloss and blur make it paler.
    faint: how reluctantly, see Faces"""
    n, p = models.shape[:2]
    weight = inner(p, 1)[0].reshape(p * p, 3)[:, 0]
    seen, print_ = (v[..., 0].reshape(n, -1) for v in (pictures, models))
    mean = print_ @ weight
    print_ = print_ - mean[:, None]
    like, square = (
        (seen * print_) @ weight - (seen @ weight) * (print_ @ weight),
        np.square(print_) @ weight,
    )
    out = models.copy()
    out[..., 0] = (print_ * strength(like, square, faint)[:, None] + mean[:, None]).reshape(n, p, p)
    return out


def print_misfits(pictures: np.ndarray, models: np.ndarray) -> np.ndarray:
    """(n, 2): misfits() with the root of the mean square in brightness: a stroke missing counts
    more than many faint edges"""
    n, p = pictures.shape[:2]
    weight = inner(p, 1)[0].reshape(p * p, 3)[:, 0]
    left = (pictures - models)[..., 0].reshape(n, -1) / FLOOR[0]
    square = np.square(left) @ weight - np.square(left @ weight)
    return np.stack([np.sqrt(np.maximum(square, 0)), misfits(pictures, models)[:, 1]], 1)


def apart(pictures: np.ndarray, models: np.ndarray, step: int) -> np.ndarray:
    """(n, P, P, 3): how far apart they are, in units of FLOOR, 4 at most; brightness against its
    mean over every step-th pixel of the inner part"""
    n, p = pictures.shape[:2]
    # a row at a time: numpy is slow where only three numbers lie together
    left = (pictures - models).reshape(n, p, p * 3)
    left *= np.tile(1 / FLOOR, p)
    mean = left.reshape(n, -1) @ inner(p, step)[0]
    left -= mean[:, None, None] * np.tile(np.float32([1, 0, 0]), p)
    np.abs(left, out=left)
    return np.minimum(left, 4, out=left).reshape(n, p, p, 3)


@cache
def inner(p: int, step: int) -> tuple[np.ndarray, np.ndarray]:
    """Two (p * p * 3,) weights: the means of brightness and of colour over every step-th pixel of a
    picture's inner part"""
    edge = p // 8
    out = np.zeros((2, p, p, 3), np.float32)
    out[0, edge:-edge:step, edge:-edge:step, 0] = out[1, edge:-edge:step, edge:-edge:step, 1:] = 1
    return tuple(w.ravel() / w.sum() for w in out)


def contest(misfit: np.ndarray, look: np.ndarray, looks: int) -> np.ndarray:
    """(n, 2 * looks): by how much each look tried fits better than the best of the others tried;
    nought for the rest.

    misfit: (n, T, 2) of the looks tried; look: (n, T) which they are"""
    n, tried, measures = misfit.shape
    out = np.zeros((n, measures, looks), np.float32)
    for t in range(tried):
        others = np.delete(misfit, t, 1)
        lead = np.clip((others.min(1) - misfit[:, t]) * 5, -4, 4)
        for m in range(measures):
            out[np.arange(n), m, look[:, t]] = lead[:, m]
    return out.reshape(n, -1)
