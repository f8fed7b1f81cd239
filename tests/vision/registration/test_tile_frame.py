"""Tiles tell how they are seen on a bare table, if they differ from it at all."""

import cv2
import numpy as np
import pytest

from tests.support.towers import camera
from vision.plan import parse_plan
from vision.registration.tile_frame import Tiles

SIDE = 24
PLAN = parse_plan(
    {
        "game": "tiles",
        "size": [4 * SIDE, 3 * SIDE],
        "site": [
            {
                "id": f"{x}{y}",
                "outline": [
                    [SIDE * (x + right), SIDE * (y + down)]
                    for right, down in ((0, 0), (1, 0), (1, 1), (0, 1))
                ],
            }
            for y in range(3)
            for x in range(4)
        ],
        "piece": [{"kind": "tile", "size": [SIDE - 2, SIDE - 2], "height": 1}],
    }
)
LAYOUT = {s.id: ("tile",) for n, s in enumerate(PLAN.site) if n % 2 == n // 4 % 2}


def photo_of(colour: tuple[int, int, int]) -> np.ndarray:
    """Tiles of a colour on a grey table"""
    pose = camera(tilt=0.0)
    image = np.full((pose.size[1], pose.size[0], 3), 120, np.uint8)
    for site in LAYOUT:
        corners = PLAN.sites[site].outlines[0]
        inner = corners + np.sign(PLAN.sites[site].centre - corners)
        cv2.fillPoly(image, [np.rint(pose.to_px(inner, 1.0)).astype(np.int32)], colour)
    return image


def test_tiles_that_stand_out_tell_in_which_colours():
    tiles = Tiles.learn(PLAN, [photo_of((120, 120, 220))], [camera(tilt=0.0)], [LAYOUT])
    assert len(tiles.centres) == len(PLAN.site)
    assert tiles.change == pytest.approx([0, 0, -1], abs=0.05)


def test_tiles_of_the_tables_colour_are_no_frame():
    assert Tiles.learn(PLAN, [photo_of((120, 120, 120))], [camera(tilt=0.0)], [LAYOUT]) is None
