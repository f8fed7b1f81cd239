"""What stands hides more of the board's print than its foot does."""

import cv2
import numpy as np

from tests.support.towers import camera, photo, towers_plan
from vision.registration.print_map import compose_board


def test_heads_seen_off_their_feet_are_no_print():
    plan = towers_plan()
    rng, pose = np.random.default_rng(6), camera(tilt=0.9)
    layout = {"11": ("night",), "22": ("night",)}
    made = [
        compose_board(plan, [photo(plan, lies, pose, rng)], [pose], [lies]) for lies in (layout, {})
    ]
    (seen, bare, _, _), (empty, _, _, _) = made
    off = np.abs(
        cv2.GaussianBlur(seen, (0, 0), 4).astype(float) - cv2.GaussianBlur(empty, (0, 0), 4)
    )
    inside = cv2.erode(bare.astype(np.uint8), np.ones((25, 25))) > 0
    assert off[inside].max() < 12 and bare.mean() > 0.4
