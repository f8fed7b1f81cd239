"""A picture's tone: another camera's curve is found and undone, whatever the light and whatever
lies on the board."""

import numpy as np
import pytest

from vision.photometry.room_light import LOG_LEVELS
from vision.photometry.tone_response import apply_power, estimate_power

SIZE = (480.0, 320.0)


def board() -> np.ndarray:
    """(64, 96, 3) uint8: light and dark squares with some paint"""
    rng = np.random.default_rng(3)
    squares = np.kron(rng.choice([70.0, 105, 150, 190], (8, 12)), np.ones((8, 8)))
    return (
        (squares[..., None] + rng.normal(0, 6, (64, 96, 3)) + (5, 0, -5))
        .clip(0, 255)
        .astype(np.uint8)
    )


def photographed(picture: np.ndarray, power: float) -> np.ndarray:
    """As another camera shows it by a warm lamp that stands on the left, with pieces on a third of
    the board"""
    lamp = np.linspace(1.0, 0.6, 96)[None, :, None] * np.array([0.7, 0.85, 0.95])
    lit = picture * lamp
    rng = np.random.default_rng(4)
    for y, x in zip(rng.integers(0, 8, 32) * 8, rng.integers(0, 12, 32) * 8):
        lit[y : y + 8, x : x + 8] = rng.uniform(20, 220, 3)
    return (255 * (lit / 255) ** power).clip(0, 255).astype(np.uint8)


@pytest.mark.parametrize("power", [0.7, 0.85, 1.25, 1.4])
def test_another_tone_is_found_and_undone(power):
    seen = photographed(board(), power)
    found = estimate_power(LOG_LEVELS[seen], LOG_LEVELS[board()], SIZE)
    assert abs(np.log(found / power)) < 0.4 * abs(np.log(power))
    plain = photographed(board(), 1.0).astype(float)
    assert np.abs(apply_power(seen, found) - plain).mean() < 0.5 * np.abs(seen - plain).mean()


def test_light_and_pieces_alone_are_no_tone():
    seen = photographed(board(), 1.0)
    power = estimate_power(LOG_LEVELS[seen], LOG_LEVELS[board()], SIZE)
    assert power == 1
    assert apply_power(seen, power) is seen


@pytest.mark.parametrize("power", [0.95, 1.06])
def test_as_little_as_light_alone_looks_like_is_left_alone(power):
    """A tone wrongly undone takes more from reading than a small one left"""
    seen = photographed(board(), power)
    assert estimate_power(LOG_LEVELS[seen], LOG_LEVELS[board()], SIZE) == 1


def test_a_board_of_one_colour_tells_no_tone():
    plain = np.full((64, 96, 3), 150, np.uint8)
    assert (
        estimate_power(
            LOG_LEVELS[(255 * (plain / 255) ** 0.7).astype(np.uint8)], LOG_LEVELS[plain], SIZE
        )
        == 1
    )
