"""Where a board ends, and how sharp that is seen, from how colours change across its side."""

from __future__ import annotations

import numpy as np
import pytest

from vision.geometry.pose import Pose
from vision.registration.board_edges import board_edges, edge_offset


def across(*flanks):
    """A side whose colour changes at each (place, strength), as a blurred camera shows it:
    (stations, steps, 3)"""
    steps = np.arange(-6, 7)[:, None]
    change = sum(strength * np.exp(-0.5 * ((steps - at) / 1.2) ** 2) for at, strength in flanks)
    return np.tile(change * [1.0, 0.8, 0.5], (20, 1, 1))


def test_a_plain_edge_ends_where_it_is_plainest():
    assert edge_offset(across((0.0, 10.0))) == pytest.approx(0.0, abs=0.02)
    assert abs(edge_offset(across((0.3, 10.0)))) < 0.35


def test_a_bevel_or_dark_rim_leaves_open_where_the_board_ends():
    assert edge_offset(across((0.0, 10.0), (2.5, 7.0))) > 0.5
    assert edge_offset(across((0.0, 10.0), (-2.5, 7.0))) < -0.5


@pytest.mark.parametrize("sides, ends", [((1,), 0.0), ((1, 2), 0.0), ((0, 1, 2, 3), 6.0)])
def test_a_shadow_beside_a_board_is_not_the_board_and_a_rim_all_round_is(sides, ends):
    corners = np.array([[0, 0], [400, 0], [400, 300], [0, 300]], float)
    pose = Pose(
        np.array([[1000.0, 0, 60], [0, 1000, 60], [0, 0, 1]]),
        np.zeros(4),
        np.zeros(3),
        np.array([0.0, 0, 1000]),
        (520, 420),
    )
    image = np.full((420, 520, 3), 150, np.uint8) + np.random.default_rng(3).integers(
        0, 5, (420, 520, 1), np.uint8
    )
    for k in sides:  # 6 pixels wide, outside the plan's corners
        x0, y0, x1, y1 = [(0, -6, 400, 0), (400, 0, 406, 300), (0, 300, 400, 306), (-6, 0, 0, 300)][
            k
        ]
        image[60 + y0 : 60 + y1, 60 + x0 : 60 + x1] = 60
    image[60:360, 60:460] = 200
    seen = [
        edge
        for edge in board_edges(image, pose, corners, 20, 18, 20.0)
        if edge.mm[:, 0].min() > 399
    ]
    off = ((seen[0].px - pose.to_px(seen[0].mm)) * seen[0].normal).sum(1)
    assert np.median(off) + 0.5 == pytest.approx(ends, abs=0.6)
