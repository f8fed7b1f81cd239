"""Tone and colours of another camera together, undone in a picture."""

import numpy as np

from tests.vision.photometry.test_chroma import painted, vivid
from tests.vision.photometry.test_tone import photographed
from vision.photometry.camera_response import NEUTRAL_RESPONSE, CameraResponse


def test_a_tone_and_vivid_colours_are_both_undone():
    plain = photographed(painted(), 1.0)
    lively = vivid(plain.astype(float), 1.35)
    seen = (255 * (lively / 255) ** 0.75).astype(np.uint8)
    assert (
        np.abs(CameraResponse(0.75, 1.35).undone(seen) - plain.astype(float)).mean()
        < 0.4 * np.abs(seen - plain.astype(float)).mean()
    )


def test_a_picture_by_the_same_camera_stays_itself():
    seen = photographed(painted(), 1.0)
    assert NEUTRAL_RESPONSE.undone(seen) is seen
