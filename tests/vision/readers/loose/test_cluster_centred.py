"""Cards found by each other's print may all lie aside of it: what is strange of the board says
where they end."""

import cv2
import numpy as np
import pytest

from vision.photometry.canvas import Frame
from vision.readers.loose.cards.card_sheet import centred_on, composed

FRAME = Frame(-10.0, -10.0, 2.0, 480, 360)
SIZE = (48.0, 48.0)


def table(poses: np.ndarray) -> np.ndarray:
    """(h, w) 0..1: cards laid side by side, a gap of 1 mm between them"""
    out = np.zeros((FRAME.height, FRAME.width), np.float32)
    for x, y, a in poses:
        box = cv2.boxPoints(
            (
                FRAME.to_px(np.array([[x, y]]))[0].tolist(),
                (np.array(SIZE) * FRAME.scale).tolist(),
                np.degrees(a),
            )
        )
        cv2.fillConvexPoly(out, box.round().astype(np.int32), 1.0)
    return out


@pytest.fixture
def poses() -> np.ndarray:
    rng = np.random.default_rng(2)
    places = np.stack(np.meshgrid(np.arange(4) * 49.0 + 26, np.arange(3) * 49.0 + 26), -1).reshape(
        -1, 2
    )
    return np.column_stack(
        [
            places + rng.normal(0, 0.2, places.shape),
            rng.normal(0, 0.01, len(places)) + np.pi * (places[:, 0] > 100),
        ]
    )


def test_cards_that_all_lie_aside_are_centred(poses):
    aside = np.array([composed(p, np.array([1.5, -2.0, 0.0])) for p in poses])
    found = centred_on([table(poses)], FRAME, SIZE, [0] * len(poses), aside)
    assert np.abs(found - poses).max() < 0.35


def test_cards_that_lie_right_stay(poses):
    assert centred_on([table(poses)], FRAME, SIZE, [0] * len(poses), poses) is poses


def test_a_frame_printed_within_cards_is_not_where_they_end(poses):
    strange = 0.3 + 0.7 * table(poses)  # neighbours' prints beside them
    for x, y, a in poses:  # a dark line, 2.5 mm inside on two sides
        c, s = np.cos(a), np.sin(a)
        line = np.array([(21.5, -21.5), (-21.5, -21.5), (-21.5, 21.5)]) @ np.array(
            [[c, s], [-s, c]]
        ) + (x, y)
        cv2.polylines(strange, [FRAME.to_px(line).round().astype(np.int32)], False, 0.0, 2)
    found = centred_on([strange], FRAME, SIZE, [0] * len(poses), poses)
    assert np.abs(found - poses).max() < 0.6
