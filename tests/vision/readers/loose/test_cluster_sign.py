"""Cards that differ only by a small sign are told apart by the strip of it that pieces leave to be
seen."""

import numpy as np
import pytest

from vision.photometry.canvas import Frame, pad_channels
from vision.readers.loose.cards.small_symbols import Cover, Signs
from vision.readers.loose.pieces.fit import Piece
from vision.readers.loose.pieces.search import clash
from vision.readers.loose.scene.polar_patches import Form

SIZE, SCALE = (40.0, 40.0), 2.0
FRAME = Frame(0, 0, SCALE, 120, 120)
STEPPED = Form((30.0, 30.0), 14.0, False)
STONE = Form((9.0, 9.0), 9.0, False)
COLOURS = np.array([[40, 160, 60], [200, 60, 50], [60, 90, 210]], np.float32)
SAND = np.array([120, 160, 190], np.float32)


def prints():
    """Three cards, alike but for the colour of their lower right corner"""
    out = np.full((3, 80, 80, 3), (90, 50, 120), np.float32)
    out[:, 54:78, 54:78] = COLOURS[:, None, None]
    return out


def piece(at, turn, form=STONE):
    return Piece(
        form,
        np.array(at, float),
        np.array(at, float),
        turn,
        ("a",),
        np.array([500.0]),
        0,
        500.0,
        500.0,
        0.9,
    )


@pytest.mark.parametrize("kind", range(3))
@pytest.mark.parametrize("sand", [SAND, COLOURS[0]])
def test_a_strip_is_enough(kind, sand):
    canvas = np.full((120, 120, 3), 30, np.float32)
    canvas[20:100, 20:100] = prints()[kind]
    canvas[36:96, 36:96] = sand  # 3 mm of the sign are left, on two sides
    cover = Cover(STEPPED, np.array([33.0, 33.0]), np.array([36.0, 36.0]), 0.0, sand)
    off = Signs(prints(), SIZE, SCALE).misfits(
        pad_channels(canvas.astype(np.uint8)),
        FRAME,
        np.arange(3),
        np.array([30.0, 30.0, 0.0]),
        np.ones(3),
        [cover],
    )
    assert off.argmin() == kind and np.sort(off)[1] - off.min() > 5


def test_what_is_hidden_whole_tells_nothing():
    canvas = pad_channels(np.full((120, 120, 3), 200, np.uint8))
    cover = Cover(
        Form((60.0, 60.0), 14.0, False), np.array([30.0, 30.0]), np.array([30.0, 30.0]), 0.3, SAND
    )
    off = Signs(prints(), SIZE, SCALE).misfits(
        canvas, FRAME, np.arange(3), np.array([30.0, 30.0, 0.0]), np.ones(3), [cover]
    )
    assert (off == 0).all()


@pytest.mark.parametrize(
    ("at", "turn", "clashes"),
    [
        ((9.0, 0.0), 0.0, False),
        ((8.5, 0.0), 0.0, False),
        ((7.9, 0.0), 0.0, True),
        ((9.3, 0.0), np.pi / 4, True),
        ((10.8, 0.0), np.pi / 4, False),
    ],
)
def test_two_stones_as_near_as_their_sides_allow(at, turn, clashes):
    assert clash(piece((0, 0), 0.0), piece(at, turn)) is clashes
