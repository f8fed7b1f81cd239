"""The board under things that stand, where no photo shows it empty: from the photos that show each
place, else from sites alike.
Its values: behind_things, uncovered."""

from __future__ import annotations

from collections.abc import Iterable

import cv2
import numpy as np

from vision.readers.standing.lean_geometry import Sheet, rises

AROUND = 0.75  # of a site's side either way of its middle, in which sites are compared
EVERY = 4  # of so many pixels one is compared, both ways
# sites most like another, of those that show a place, of which it is learnt what lies there
LENDERS = 4
LEAST = 0.04  # share of what is compared that two sites must both show
# log units from which on a difference counts no more: something stands there after all, or shines
PLAIN = 0.5
SHIFT = 4  # bits of a pixel's fraction


def behind_things(
    sheet: Sheet, things: Iterable[tuple[np.ndarray, np.ndarray, float, float, float, np.ndarray]]
) -> np.ndarray:
    """(h, w) bool: where a sheet shows things and not the board; of each its foot (2,) mm, the way
    it leans (2,), how far (mm a mm), its height and that of the camera in mm, (SLICES,) radii in
    mm"""
    out = np.zeros(sheet.shape, np.uint8)
    for foot, along, lean, height, above, radii in things:
        off, larger = rises(height, lean, above)
        places = np.rint(sheet.px(foot + along * off[:, None]) * 2**SHIFT).astype(int).tolist()
        wide = np.rint(radii * larger * sheet.scale * 2**SHIFT).astype(int).tolist()
        for place, radius in zip(places, wide):
            cv2.circle(out, place, radius, 1, -1, shift=SHIFT)
    return out > 0


def uncovered(
    views: list[np.ndarray], hides: list[np.ndarray], sheet: Sheet, centres: np.ndarray, side: float
) -> tuple[np.ndarray, np.ndarray]:
    """Two of (h, w, 3): the empty board on a sheet, and how much that may vary (its variance).
    views: (h, w, 3) each photo's, hides: (h, w) bool where something stands; centres: (N, 2) mm of
    sites as large as each other, side: theirs"""
    count = np.sum([~h for h in hides], 0, dtype=np.float32)[..., None]
    total = np.sum([np.where(h[..., None], 0, v) for v, h in zip(views, hides)], 0)
    ground = np.where(count > 0, total / np.maximum(count, 1), np.median(views, 0))
    varied = np.sum(
        [np.where(h[..., None], 0, np.square(v - ground)) for v, h in zip(views, hides)], 0
    ) / np.maximum(count, 1)
    varied[count[..., 0] == 0] = np.var(views, 0)[count[..., 0] == 0]
    half = int(AROUND * side * sheet.scale)
    corners = np.rint(sheet.px(centres)).astype(int) - half
    parts = [(slice(y, y + 2 * half), slice(x, x + 2 * half)) for x, y in corners]
    shown = np.array([count[p][..., 0] > 0 for p in parts])
    few = (slice(None), slice(None, None, EVERY), slice(None, None, EVERY))
    small, known = np.array([ground[p] for p in parts])[few], shown[few]
    lent, spread = ground.copy(), varied.copy()
    for i, part in enumerate(parts):
        if shown[i].all():
            continue
        both = known & known[i]
        unlike = np.minimum(np.square(small - small[i]).sum(-1), PLAIN**2)
        told = np.where(
            both.mean((1, 2)) > LEAST,
            (unlike * both).sum((1, 2)) / np.maximum(both.sum((1, 2)), 1),
            np.inf,
        )
        left, many = np.full(shown[i].shape, LENDERS), np.zeros(shown[i].shape, np.float32)
        mean, squares = np.zeros((2, *ground[part].shape), np.float32)
        for j in np.argsort(told):
            if j == i or not np.isfinite(told[j]) or not (left * ~shown[i]).any():
                continue
            gives = (shown[j] & ~shown[i] & (left > 0)).astype(np.float32)
            left, many = left - gives.astype(int), many + gives
            of = ground[parts[j]]
            mean, squares = (
                mean + of * gives[..., None],
                squares + (np.square(of) + told[j] / 3) * gives[..., None],
            )
        got = many > 0
        mean, squares = (a[got] / many[got, None] for a in (mean, squares))
        lent[part][got], spread[part][got] = mean, np.maximum(squares - np.square(mean), 0)
    return lent.astype(np.float32), spread.astype(np.float32)
