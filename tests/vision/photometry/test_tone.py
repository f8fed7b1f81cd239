"""A picture's tone: another camera's curve is undone, whatever the light and whatever lies on the
board."""

import numpy as np
import pytest

from vision.photometry.tone_response import apply_power

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
def test_another_tone_is_undone(power):
    seen = photographed(board(), power)
    plain = photographed(board(), 1.0).astype(float)
    assert np.abs(apply_power(seen, power) - plain).mean() < 0.1 * np.abs(seen - plain).mean()


def test_where_there_is_no_other_tone_nothing_is_undone():
    seen = photographed(board(), 1.0)
    assert apply_power(seen, 1) is seen
