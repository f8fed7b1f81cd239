"""How vivid a camera's colours are: found on the board and undone, whatever the light and whatever
lies there."""

import numpy as np
import pytest

from tests.vision.photometry.test_tone import SIZE, board, photographed
from vision.photometry.colour_response import estimate_chroma, undo_chroma
from vision.photometry.room_light import LOG_LEVELS
from vision.photometry.tone_response import sample_views


def painted() -> np.ndarray:
    """(64, 96, 3) uint8: the board of test_tone, every fourth square blue, another red"""
    squares = np.kron(np.random.default_rng(5).choice(4, (8, 12)), np.ones((8, 8), int))
    return (
        (board() * np.array([(1, 1, 1), (1.2, 0.8, 0.5), (0.6, 0.7, 1.15), (1, 1, 1)])[squares])
        .clip(0, 255)
        .astype(np.uint8)
    )


def told(seen: np.ndarray, known: np.ndarray) -> float:
    return estimate_chroma(*sample_views(LOG_LEVELS[seen], LOG_LEVELS[known], SIZE, 2))


def vivid(picture: np.ndarray, times: float) -> np.ndarray:
    grey = picture.mean(-1, keepdims=True)
    return (grey + times * (picture - grey)).clip(0, 255).astype(np.uint8)


@pytest.mark.parametrize("times", [0.65, 0.8, 1.25, 1.5])
def test_other_colours_are_found_and_undone(times):
    plain = photographed(painted(), 1.0)
    seen = vivid(plain.astype(float), times)
    found = told(seen, painted())
    assert abs(np.log(found / times)) < 0.25 * abs(np.log(times))
    assert (
        np.abs(undo_chroma(seen, found) - plain.astype(float)).mean()
        < 0.4 * np.abs(seen - plain.astype(float)).mean()
    )


@pytest.mark.parametrize("power", [1.0, 1.05])
def test_a_lamps_light_and_pieces_alone_are_no_other_colours(power):
    seen = photographed(painted(), power)
    assert told(seen, painted()) == 1
    assert undo_chroma(seen, 1) is seen


def test_a_grey_board_tells_nothing():
    grey = np.repeat(board()[..., :1], 3, -1)
    assert told(photographed(grey, 1.0), grey) == 1
