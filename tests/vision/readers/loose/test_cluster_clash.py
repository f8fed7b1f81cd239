"""Two pieces do not lie in one another."""

import numpy as np
import pytest

from vision.readers.loose.pieces.fit import Piece
from vision.readers.loose.pieces.search import clash
from vision.readers.loose.scene.polar_patches import Form

STONE = Form((9.0, 9.0), 9.0, False)


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
