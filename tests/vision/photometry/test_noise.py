"""A sensor's noise is told from what is fine in a print, and taken off where it is more than the
calibration photos have."""

import cv2
import numpy as np
import pytest

from tests.vision.photometry.test_burnt import POSE, SIZE, board
from vision.photometry.denoise import NOISE_WORTH_REMOVING, denoise_image, estimate_noise


def filmed(noise: float, seed: int = 0) -> np.ndarray:
    """(640, 960, 3) uint8: the board as a sensor with a mosaic shows it, its pixels so many grey
    levels off"""
    seen = board().astype(float)
    raw = np.zeros(seen.shape[:2])
    for y, x, colour in ((0, 0, 2), (0, 1, 1), (1, 0, 1), (1, 1, 0)):
        raw[y::2, x::2] = seen[y::2, x::2, colour]
    raw += np.random.default_rng(seed).normal(0, 1, raw.shape) * noise
    return cv2.cvtColor(raw.clip(0, 255).astype(np.uint8), cv2.COLOR_BAYER_BG2BGR)


@pytest.mark.parametrize("noise", [12, 25])
def test_noise_is_told_and_mostly_taken_off(noise):
    seen = filmed(noise)
    told = estimate_noise(seen, POSE, SIZE)
    assert told > NOISE_WORTH_REMOVING
    calm = denoise_image(seen, told, 0.0)
    assert (
        np.abs(calm - board().astype(float)).mean()
        < 0.65 * np.abs(seen - board().astype(float)).mean()
    )


@pytest.mark.parametrize("step", [1, 2, 4])
def test_what_is_fine_in_a_print_is_no_noise(step):
    """Nor is a picture out of focus, or a print that is finer still"""
    rng = np.random.default_rng(1)
    specks = rng.choice([0.8, 1.0], (640 // 16, 960 // 16))
    fine = board() * cv2.resize(specks, (960, 640), interpolation=cv2.INTER_LINEAR)[..., None]
    lines = np.where(np.arange(960) // step % 6 == 0, 0.7, 1.0)[None, :, None]
    for seen in (board(), fine, fine * lines, cv2.GaussianBlur(fine, (0, 0), 2)):
        assert estimate_noise(seen.astype(np.uint8), POSE, SIZE) < NOISE_WORTH_REMOVING


def test_a_picture_as_calm_as_usual_stays_itself():
    seen = filmed(12)
    told = estimate_noise(seen, POSE, SIZE)
    assert denoise_image(seen, told, 0.8 * told) is seen
    assert denoise_image(board(), estimate_noise(board(), POSE, SIZE), 0.0).shape == board().shape


def test_a_board_mostly_beyond_the_picture_tells_no_noise():
    assert estimate_noise(filmed(25)[:100, :100], POSE, SIZE) == 0
