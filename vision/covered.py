"""Sites that seem empty and are hidden by something that no piece looks like: told by how the picture's other empty sites look.
Its value: covered."""

from __future__ import annotations

import math

import msgspec
import numpy as np

from vision.field import SPREAD
from vision.usual import RARELY_HERE, STEEP, Usual

MIDDLE = 1              # cells round the middle one: what lies beside a site hides none of them
SOFT = 0.05             # squared spreads by which any empty site differs
DARKEST, LIGHTEST = math.log(0.55), 0.15        # brightness that light alone changes
ENOUGH = 20             # empty sites that tell how such look in a picture
RARE = STEEP * math.log(RARELY_HERE / 0.001)    # log odds against: one empty site in a thousand may look so


def covered(cells: np.ndarray, empty: np.ndarray) -> np.ndarray:
    """(n,) probability that something hides sites if they seem empty. cells: (n, T, T, 3) by how much they differ from the empty
    board, in opponent colours; empty: (n,) bool, those taken for empty"""
    if empty.sum() < ENOUGH:
        return np.zeros(len(cells))
    left, look = SOFT + unlike(cells), np.zeros(len(cells), int)
    usual = Usual.of(left[empty], look[empty], np.ones(1, bool)).here(left[empty], look[empty])
    odds = msgspec.structs.replace(usual, more=2 * RARE).stranger(left, look)
    return 1 / (1 + np.exp(RARE - odds))


def unlike(cells: np.ndarray) -> np.ndarray:
    """(n,) squared spreads by which the middles of sites (n, T, T, 3) differ, in the median, lit or in a shadow"""
    m = cells.shape[1] // 2
    middle = cells[:, m - MIDDLE:m + MIDDLE + 1, m - MIDDLE:m + MIDDLE + 1].reshape(len(cells), -1, 3).copy()
    middle[..., 0] -= np.median(middle[..., 0], 1, keepdims=True).clip(DARKEST, LIGHTEST)
    return np.median(((middle / SPREAD) ** 2).mean(2), 1)
