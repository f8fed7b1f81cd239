"""Colours that a camera shows no brighter, beside others that it does show: light is told in spite
of them, and they are put right."""

from functools import cache

import cv2
import numpy as np
import pytest
from vision.photometry.clipped_channels import CopyColours, restore_clipped

from vision.geometry.pose import Pose
from vision.geometry.site_windows import Pyramid
from vision.photometry.colour_sampling import from_opponent, to_opponent
from vision.photometry.room_light import DARK, estimate_light, small_view

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


def colours(*pieces: tuple[int, int, int]) -> CopyColours:
    """Of the board and of pieces of one colour each"""
    parts = board(), *(np.full((9, 3), p, np.uint8) for p in pieces)
    return CopyColours.of(
        to_opponent(np.log(p.reshape(-1, 3).astype(np.float32) + DARK)) for p in parts
    )


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


@pytest.mark.parametrize("lamp", LAMPS.values(), ids=LAMPS)
def test_a_burnt_colour_is_put_right_on_the_board_and_on_pale_pieces(lamp):
    whole = board().copy()
    whole[300:360, 40:100], whole[100:160, 200:260] = 240, (60, 60, 170)
    seen = lit(whole, lamp)
    better = restore_clipped(
        Pyramid(seen), POSE, empty(), SIZE, lambda: colours((240, 240, 240), (60, 60, 170))
    )
    light = estimate_light(small_view(better, POSE, SIZE), empty(), SIZE)
    back = light.within(small_view(better, POSE, SIZE))
    before = estimate_light(small_view(Pyramid(seen), POSE, SIZE), empty(), SIZE).within(
        small_view(Pyramid(seen), POSE, SIZE)
    )
    true = small_view(Pyramid(whole), POSE, SIZE)
    off = np.abs(back - true).max(2)
    worse = np.abs(before - true).max(2)
    assert (worse > 0.1).mean() > 0.05 and (off > 0.1).mean() < 0.02
    assert worse[31:35, 5:9].max() > 0.4 and off[31:35, 5:9].max() < 0.15  # the pale piece


@pytest.mark.parametrize("lamp", [(1.0, 1.0, 1.0), (0.5, 0.8, 1.1)])
def test_a_picture_in_which_little_is_burnt_out_stays_itself(lamp):
    picture = Pyramid(lit(board(), lamp))
    assert restore_clipped(picture, POSE, empty(), SIZE, colours) is picture


def test_what_is_burnt_out_in_all_colours_is_white():
    picture = Pyramid(lit(board(), (1.8, 1.9, 2.6)))
    white = (picture.levels[0] == 255).all(2)
    better = restore_clipped(picture, POSE, empty(), SIZE, colours)
    light = estimate_light(small_view(better, POSE, SIZE), empty(), SIZE)
    paint = better.levels[0][white] / light.at(np.argwhere(white)[:, ::-1] / PX)
    assert (
        better is not picture
        and abs(np.median(paint) - 255) < 12
        and np.median(np.ptp(paint, 1)) < 25
    )


def test_a_colour_that_is_lost_is_that_of_what_shows_the_others():
    """Also in shadow, and of what is there most often where two things show the same"""
    known = CopyColours.of(
        to_opponent(np.log(np.float32(p) + DARK))
        for p in ([(40, 60, 180)] * 9, [(200, 200, 200)] * 9, [(40, 60, 120)])
    )
    paint = np.float32([(40, 60, 100), (200, 200, 90), (150, 150, 90), (200, 90, 90)])
    lost = np.array([(0, 0, 1), (0, 0, 1), (0, 0, 1), (0, 1, 1)], bool)
    told = known.told(paint, lost)
    assert np.abs(np.log(told[:, 2] / (180, 200, 150, 200))).max() < 0.12
    assert np.allclose(told[~lost], paint[~lost], rtol=1e-3)


def test_opponent_colours_are_turned_back():
    logs = np.random.default_rng(0).normal(4, 1, (5, 4, 3)).astype(np.float32)
    assert np.allclose(from_opponent(to_opponent(logs)), logs, atol=1e-4)
