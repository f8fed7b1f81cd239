"""The coarse search on made pictures: a piece is found where it lies, whatever shadow it casts."""

import cv2
import numpy as np
import pytest

from vision.photometry.colour_sampling import to_opponent
from vision.readers.pile.coarse_search import Coarse
from vision.readers.pile.exemplar import Exemplar, footprint_mask

SCALE, SIDE = 0.4, 18  # pixels a mm and along a window, as for squares of 30 mm
FINE = 8  # times as fine as that the pictures are made
SIZE = (21, 21)
SAND, INK, WOOD = (
    np.log(np.array(c) + 20).astype(np.float32)
    for c in ((150, 200, 220), (40, 38, 40), (140, 190, 225))
)


def disc(side, scale, at=(0.0, 0.0), grow=0.0):
    """(side, side, 1): 1 inside a disc `at` (2,) mm off the middle, `grow` mm larger all round"""
    moved = np.float32([[1, 0, at[0] * scale], [0, 1, at[1] * scale]])
    return cv2.warpAffine(footprint_mask(SIZE, True, side, scale, grow), moved, (side, side))[
        ..., None
    ]


def leader(sign, side, scale, at=(0.0, 0.0)):
    """(side, side, 3): a wooden disc with a black rim, signs of its own in black"""
    look = INK + (WOOD - INK) * disc(side, scale, at, -2)
    for spot in sign:
        look = look + (INK - look) * disc(side, scale, np.add(at, spot), -7.5)
    return look


def window(sign, at, shadow):
    """A square with a leader `at` (2,) mm off its middle, whose shadow falls up to `shadow` (2,) mm
    off it"""
    side, scale = SIDE * FINE, SCALE * FINE
    dark = np.max(
        [disc(side, scale, np.add(at, np.multiply(shadow, t))) for t in np.linspace(0.2, 1, 5)], 0
    )
    look, alpha = leader(sign, side, scale, at), disc(side, scale, at)
    picture = (SAND - 0.8 * dark) * (1 - alpha) + look * alpha
    return to_opponent(cv2.resize(picture, (SIDE, SIDE), interpolation=cv2.INTER_AREA))[None]


SIGNS = [((-4, 0), (0, 0)), ((3, 3), (-3, -3), (3, -3)), ((0, 4), (0, 0), (0, -4)), ((2, 0),)]


@pytest.fixture(scope="module")
def coarse():
    cuts = [
        [
            Exemplar(
                (str(n),),
                SIZE,
                True,
                SAND + (leader(s, 60, 2) - SAND) * disc(60, 2),
                2,
                "A1",
                0,
                lies="any",
            )
        ]
        for n, s in enumerate(SIGNS)
    ]
    return Coarse.fit(cuts, [(SIZE, True)], SCALE, SIDE, np.array([30, 30]), 3)


@pytest.mark.parametrize("shadow", [(0, 0), (9, 0), (7, 7), (0, -9), (-8, 6)])
def test_a_disc_is_found_beside_its_own_shadow(coarse, shadow):
    empty = to_opponent(np.ones((1, SIDE, SIDE, 3), np.float32) * SAND)
    at = -0.4 * np.array(shadow)
    for sign in SIGNS:
        gain, place = coarse.search(
            window(sign, at, shadow), empty, np.full_like(empty, 0.15), np.zeros((1, len(SIGNS), 2))
        )
        assert np.abs(place[0, gain[0].argmax()] - at).max() < 1.5
