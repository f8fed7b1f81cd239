"""Colours that a camera shows no brighter, beside others that it does show: light is told in spite
of them."""

from functools import cache

import cv2
import numpy as np
import pytest

from vision.geometry.pose import Pose
from vision.geometry.site_windows import Pyramid
from vision.photometry.room_light import estimate_light, small_view

SIZE = (480.0, 320.0)
AWAY, PX = 2000.0, 2.0  # mm, and pixels of the picture a mm
POSE = Pose(
    np.array([[PX * AWAY, 0, -0.5], [0, PX * AWAY, -0.5], [0, 0, 1]]),
    np.zeros(4),
    np.zeros(3),
    np.array([0, 0, AWAY]),
    (960, 640),
)
LAMPS = {"warm": (0.4, 0.95, 1.8), "cold": (1.9, 1.0, 0.5)}  # B, G, R


@cache
def board() -> np.ndarray:
    """(640, 960, 3) uint8 seen straight from above, printed with squares of sand"""
    rng = np.random.default_rng(3)
    squares = cv2.resize(
        rng.choice([90.0, 120, 150, 180], (16, 24)), (960, 640), interpolation=cv2.INTER_NEAREST
    )
    return (squares[..., None] * (0.8, 0.9, 1.0)).astype(np.uint8)


def empty() -> np.ndarray:
    return small_view(Pyramid(board()), POSE, SIZE)


def lit(picture: np.ndarray, lamp: tuple[float, float, float], near: float = 1.1) -> np.ndarray:
    """By a lamp of that colour on the left, so bright there, as a camera shows it that is not set
    to it"""
    return (
        (picture * np.linspace(near, 0.8, 960)[None, :, None] * lamp).clip(0, 255).astype(np.uint8)
    )


@pytest.mark.parametrize("lamp", LAMPS.values(), ids=LAMPS)
def test_light_is_told_beside_a_colour_that_is_burnt_out(lamp):
    light = estimate_light(small_view(Pyramid(lit(board(), lamp, 2.0)), POSE, SIZE), empty(), SIZE)
    burnt = int(np.argmax(lamp))
    assert abs(np.log(light.at(np.array([[20.0, 160]]))[0, burnt] / (1.95 * lamp[burnt]))) < 0.1
