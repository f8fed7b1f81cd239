"""Millimetres to pixels and back, through a bent lens and at any size."""

from __future__ import annotations

import numpy as np
import pytest

from vision.geometry.pose import Pose
from vision.kernels import Kernel
from vision.registration.aruco_cards import detect_aruco
from vision.storage.image_array import to_grey


def test_there_and_back_at_any_height(board):
    pose = board.pose(turn=20, tilt=25)
    mm = np.random.default_rng(0).uniform(0, 200, (50, 2))
    for height in (0.0, 12.0):
        assert np.abs(pose.to_mm(pose.to_px(mm, height), height) - mm).max() < 1e-3


def test_what_stands_up_leans_away_from_the_middle(board):
    pose = board.pose(tilt=0)
    corner = board.plan.corners[:1]
    middle = (np.array(pose.size) - 1) / 2
    low, high = (np.linalg.norm(pose.to_px(corner, h) - middle) for h in (0.0, 30.0))
    assert high > low + 3


def test_a_resized_picture_shows_the_same(board):
    pose = board.pose(tilt=20)
    half = pose.resized((410, 308))
    mm = board.plan.corners
    assert np.abs((half.to_px(mm) + 0.5) * 2 - 0.5 - pose.to_px(mm)).max() < 1e-9


def test_rectified_sites_lie_where_the_plan_has_them(board, tools):
    pose = board.pose(turn=10, tilt=20)
    seen = pose.rectify(board.film(pose, noise=0), 41, 41, 119, 119, tools.DOTS)
    drawn = board.canvas[41 * tools.DOTS : 119 * tools.DOTS, 41 * tools.DOTS : 119 * tools.DOTS]
    assert seen.shape == drawn.shape
    a, b = seen.astype(float).ravel(), drawn.astype(float).ravel()
    assert np.corrcoef(a, b)[0, 1] > 0.9


def test_grey_of_any_picture():
    colour = np.random.default_rng(0).integers(0, 255, (8, 9, 3)).astype(np.uint8)
    one = to_grey(colour)
    assert one.shape == (8, 9)
    assert np.array_equal(to_grey(one), one)
    assert np.array_equal(to_grey(one[..., None]), one)
    assert np.array_equal(to_grey(np.dstack([colour, one])), one)


def test_a_card_seen_twice_is_no_card(carded):
    image = to_grey(carded.film(carded.pose(fill=0.6)))
    assert set(detect_aruco(image)) == {0, 1, 2, 3}
    double = np.hstack([image, image])
    assert not detect_aruco(double)


@pytest.mark.parametrize("height", [0.0, 12.5])
def test_the_way_back_is_as_opencv_has_it(height, monkeypatch):
    K = np.array([[1400.0, 0, 820], [0, 1410, 610], [0, 0, 1]])
    pose = Pose(
        K,
        np.array([0.11, -0.07, 0.002, -0.003]),
        np.array([0.2, -0.3, 0.1]),
        np.array([-150.0, -120, 700]),
        (1640, 1232),
    )
    px = np.random.default_rng(1).uniform((-100, -100), (1800, 1300), (500, 2))
    got = pose.to_mm(px, height)
    monkeypatch.setattr(Kernel, "__bool__", lambda self: False)
    assert np.abs(got - pose.to_mm(px, height)).max() < 1e-9
