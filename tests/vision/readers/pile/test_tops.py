"""A small piece on a larger one is found wherever it lies, and nothing is found where nothing lies."""

import numpy as np
import pytest

from vision.photometry.colour_sampling import to_opponent
from vision.readers.pile.exemplar import Patch
from vision.readers.pile.top_piece import Top

SIDE = 40
TILE, CUBE, STRIPE = (
    np.log(np.float32(c)) for c in ((60, 60, 190), (130, 190, 215), (235, 235, 240))
)


def tile():
    """(SIDE, SIDE, 3) log colours: a red tile with white stripes"""
    picture = np.tile(TILE, (SIDE, SIDE, 1)).astype(np.float32)
    picture[8:32, 10:14] = STRIPE
    picture[14:26, 20:24] = STRIPE
    return picture


def seen(rng, with_cube):
    picture = tile() + rng.normal(0, 0.05, (SIDE, SIDE, 3)).astype(np.float32) + rng.normal(0, 0.1)
    if with_cube:
        y, x = rng.integers(5, 24, 2)
        picture[y : y + 11, x : x + 11] = CUBE + rng.normal(0, 0.08)
    return to_opponent(picture)


@pytest.fixture(scope="module")
def top():
    patch = Patch(
        np.tile(CUBE, (14, 14, 1)).astype(np.float32),
        np.pad(np.ones((10, 10), np.float32), 2),
        1.4,
        4.0,
        8.0,
        CUBE,
        "any",
    )
    rng = np.random.default_rng(1)
    blank = Top.fit(0, 1, [patch], 13.0)
    there = rng.random(400) < 0.5
    pictures = np.stack([seen(rng, t) for t in there])
    return blank.taught(
        blank.features(pictures, np.repeat(to_opponent(tile())[None], 400, 0)), there, 1
    )


@pytest.mark.parametrize("with_cube", [True, False])
def test_told_wherever_it_lies(top, with_cube):
    rng = np.random.default_rng(2)
    pictures = np.stack([seen(rng, with_cube) for _ in range(60)])
    told = top.tells.answer(top.features(pictures, np.repeat(to_opponent(tile())[None], 60, 0)))
    assert (told.argmax(1) == int(with_cube)).mean() > 0.98


def test_no_pictures_no_features(top):
    assert top.features(
        np.zeros((0, SIDE, SIDE, 3), np.float32), np.zeros((0, SIDE, SIDE, 3), np.float32)
    ).shape == (0, 8)
