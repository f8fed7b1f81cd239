"""Tone and colours of another camera together: told of one picture and undone in it."""

import numpy as np

from tests.vision.photometry.test_chroma import painted, vivid
from tests.vision.photometry.test_tone import SIZE, photographed
from vision.photometry.camera_response import NEUTRAL_RESPONSE, estimate_response
from vision.photometry.room_light import LOG_LEVELS


def test_a_tone_and_vivid_colours_are_told_apart_and_both_undone():
    plain = photographed(painted(), 1.0)
    lively = vivid(plain.astype(float), 1.35)
    seen = (255 * (lively / 255) ** 0.75).astype(np.uint8)
    found = estimate_response(LOG_LEVELS[seen], LOG_LEVELS[painted()], SIZE)
    assert abs(found.power - 0.75) < 0.1 and abs(found.chroma - 1.35) < 0.15
    assert (
        np.abs(found.undone(seen) - plain.astype(float)).mean()
        < 0.4 * np.abs(seen - plain.astype(float)).mean()
    )


def test_a_picture_by_the_same_camera_stays_itself():
    seen = photographed(painted(), 1.0)
    assert estimate_response(LOG_LEVELS[seen], LOG_LEVELS[painted()], SIZE) == NEUTRAL_RESPONSE
    assert NEUTRAL_RESPONSE.undone(seen) is seen
