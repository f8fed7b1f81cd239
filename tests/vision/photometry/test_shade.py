"""A large shadow with a hard edge is lifted off the board; what only looks like one, or is as small
as a piece's, is left alone."""

import cv2
import numpy as np
import pytest

from vision.geometry.pose import Pose
from vision.photometry.canvas import Empty, Frame, spread_of
from vision.photometry.cast_shadows import find_shadows, remove_shadows
from vision.photometry.room_light import LOG_LEVELS

SIZE = (480.0, 320.0)
PX = 2.0  # of the picture a mm


@pytest.fixture(scope="module")
def board():
    """(640, 960, 3) uint8 seen straight from above, printed with squares"""
    rng = np.random.default_rng(3)
    squares = cv2.resize(
        rng.choice([90.0, 120, 150, 180], (16, 24)), (960, 640), interpolation=cv2.INTER_NEAREST
    )
    return (squares[..., None] * (1.0, 0.9, 0.8)).astype(np.uint8)


@pytest.fixture(scope="module")
def pose():
    """2 pixels a mm, the board filling the picture"""
    away = 2000.0
    return Pose(
        np.array([[PX * away, 0, -0.5], [0, PX * away, -0.5], [0, 0, 1]]),
        np.zeros(4),
        np.zeros(3),
        np.array([0, 0, away]),
        (960, 640),
    )


def view(picture):
    return LOG_LEVELS[cv2.resize(picture, (96, 64), interpolation=cv2.INTER_AREA)]


def shaded(picture, mask, by=(0.55, 0.5, 0.45)):
    return np.where(mask[..., None], picture * by, picture).astype(np.uint8)


def hand():
    """A mask (640, 960): 180 mm of a hand"""
    mask = np.zeros((640, 960), np.uint8)
    cv2.ellipse(mask, (500, 330), (180, 110), 20, 0, 360, 1, -1)
    return mask > 0


def test_a_shadow_is_lifted_and_a_piece_in_it_keeps_its_colour(board, pose):
    whole = board.copy()
    whole[300:340, 480:520] = (60, 60, 200)
    seen = shaded(whole, hand())
    found = find_shadows(view(seen), view(board), SIZE)
    assert len(found) == 1
    frame = Frame(-14.0, -14.0, 2.0, 1016, 696)
    canvas = frame.flatten(board, frame.maps(pose))
    out = remove_shadows(
        seen, pose, Empty(frame, canvas, spread_of(canvas.astype(np.float32))), found, SIZE
    )
    off = np.abs(out.astype(float) - whole).max(2)
    assert np.percentile(off, 95) < 12
    assert np.abs(out[320, 500].astype(float) - (60, 60, 200)).max() < 12
    assert (
        np.abs(
            out[~cv2.dilate(hand().astype(np.uint8), np.ones((25, 25))).astype(bool)].astype(float)
            - whole[~cv2.dilate(hand().astype(np.uint8), np.ones((25, 25))).astype(bool)]
        ).max()
        < 2
    )


@pytest.mark.parametrize(
    "picture",
    ["as it was", "darker all over", "a piece's shadow", "a dark card", "a coloured cloth"],
)
def test_what_is_no_such_shadow_is_left(board, picture):
    seen = board.copy()
    if picture == "darker all over":
        seen = (board * np.linspace(0.9, 0.4, 960)[None, :, None]).astype(np.uint8)
    elif picture == "a piece's shadow":
        seen[200:240, 200:250] = board[200:240, 200:250] * 0.5
    elif picture == "a dark card":
        seen[200:360, 200:340] = (70, 63, 56)
    elif picture == "a coloured cloth":
        seen[100:500, 200:700] = board[100:500, 200:700] * (0.3, 0.6, 0.9)
    assert find_shadows(view(seen), view(board), SIZE) == []
