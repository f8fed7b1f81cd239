"""Figures seen from the side: found by their feet, several side by side, and none twice."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from vision.geometry.pose import Pose
from vision.photometry.canvas import Frame, Lean
from vision.readers.loose.pieces.figures import TallLook, find_tall, on_edges, places_of, upright
from vision.readers.loose.scene.polar_patches import SCORE_NOISE, Form
from vision.readers.loose.scene.scene import FOLD, Scene

PEG = Form((10.0, 10.0), 22.0, True)
REACH = 8.0
COLOURS = {"peg:red": (40, 40, 190), "peg:white": (225, 230, 230)}


@pytest.fixture(scope="module")
def look():
    grid = upright(PEG, REACH)
    along = np.clip(grid[..., 0], 0, REACH)
    alpha = (np.hypot(grid[..., 0] - along, grid[..., 1]) < PEG.inner).astype(np.float32)
    pictures = np.stack(
        [np.broadcast_to(np.array(c, np.float32), (*alpha.shape, 3)) for c in COLOURS.values()]
    )
    return TallLook(PEG, REACH, tuple(COLOURS), pictures, alpha)


def filmed(look, pegs):
    """A grey board 160 x 120 mm, two pixels a mm, seen from 400 mm up; pegs: (kind, x, y)"""
    frame = Frame(0.0, 0.0, 2.0, 320, 240)
    K = np.array([[800, 0, 160], [0, 800, 120], [0, 0, 1.0]])
    pose = Pose(K, np.zeros(4), np.zeros(3), np.array([-20.0, -20.0, 400.0]), (320, 240))
    rng = np.random.default_rng(4)
    ground = np.full((240, 320, 3), 120, np.uint8)
    scene = Scene(
        frame,
        Lean(pose),
        ground.copy(),
        ground,
        np.full((240, 320), 1 / (5**2 + SCORE_NOISE**2), np.float32),
        np.zeros((240 // FOLD, 320 // FOLD), np.float32),
        np.ones((11, 14, 3), np.float32),
    )
    for kind, x, y in pegs:
        px = places_of(PEG, REACH, scene, np.array([[x, y]], float))[0][look.alpha > 0]
        mask = np.zeros((240, 320), np.uint8)
        mask[tuple(np.round(px).astype(int).T[::-1])] = 1
        scene.seen[cv2.morphologyEx(mask, cv2.MORPH_CLOSE, np.ones((3, 3))) > 0] = COLOURS[kind]
    off = np.abs(scene.seen.astype(np.float32) - ground).max(-1)
    scene.seen[:] = np.clip(scene.seen + rng.normal(0, 3, scene.seen.shape), 0, 255)
    scene.strange[:] = cv2.resize(
        ((off / 13 - 2) / 3).clip(0, 1), scene.strange.shape[::-1], interpolation=cv2.INTER_AREA
    )
    return scene


def everywhere(scene):
    return np.ones_like(scene.strange, np.uint8)


def test_pegs_side_by_side_are_found_once_each_by_their_feet(look):
    pegs = [("peg:red", 120.0, 60.0), ("peg:white", 134.0, 60.0), ("peg:red", 110.0, 95.0)]
    scene = filmed(look, pegs)
    sure = [p for p in find_tall(scene, [look], everywhere(scene)) if p.chance > 0.5]
    assert sorted(p.kind for p in sure) == sorted(k for k, _, _ in pegs)
    for kind, x, y in pegs:
        assert min(np.hypot(*(p.foot - (x, y))) for p in sure if p.kind == kind) < 1.5


@pytest.mark.parametrize("red, found", [(1, 2), (2, 3), (0, 3)])
def test_no_more_pegs_are_found_than_there_are(look, red, found):
    scene = filmed(
        look, [("peg:red", 120.0, 60.0), ("peg:white", 134.0, 60.0), ("peg:red", 110.0, 95.0)]
    )
    sure = [
        p
        for p in find_tall(scene, [look], everywhere(scene), {"peg:red": red, "peg:white": 1})
        if p.chance > 0.5
    ]
    assert len(sure) == found  # 0: any number


def test_pegs_half_behind_each_other_stay_where_they_stand(look):
    # in a line away from the camera
    pegs = [("peg:red", 100.0, 60.0), ("peg:white", 110.0, 65.0), ("peg:red", 120.0, 70.0)]
    scene = filmed(look, pegs[::-1])
    sure = [p for p in find_tall(scene, [look], everywhere(scene)) if p.chance > 0.5]
    assert sorted(p.kind for p in sure) == sorted(k for k, _, _ in pegs)
    for kind, x, y in pegs:
        assert min(np.hypot(*(p.foot - (x, y))) for p in sure if p.kind == kind) < 2


def test_a_bare_board_has_no_pegs(look):
    scene = filmed(look, [])
    assert find_tall(scene, [look], everywhere(scene)) == []


def test_no_peg_stands_where_none_may(look):
    scene = filmed(look, [("peg:red", 120.0, 60.0)])
    left = everywhere(scene)
    left[:, 80:] = 0
    assert not [p for p in find_tall(scene, [look], left) if p.chance > 0.5]


def test_a_peg_lit_otherwise_than_it_was_learnt_is_the_same_peg(look):
    dark = TallLook(PEG, REACH, look.kinds, look.looks * 0.6, look.alpha)
    pegs = [("peg:red", 120.0, 60.0), ("peg:white", 90.0, 90.0)]
    scene = filmed(look, pegs)
    sure = [p for p in find_tall(scene, [dark], everywhere(scene)) if p.chance > 0.5]
    assert sorted(p.kind for p in sure) == ["peg:red", "peg:white"]


def test_a_foot_is_where_its_edges_are_though_a_shadow_lies_before_it(look):
    at = np.array([118.0, 62.0])
    scene = filmed(look, [])
    lean = scene.lean.shift(at[None], PEG.height)[0]
    behind = at - 5.0 * lean / np.linalg.norm(lean)
    shadow = np.ones(scene.seen.shape[:2], np.float32)
    cv2.circle(shadow, tuple(np.rint(scene.frame.to_px(behind)).astype(int).tolist()), 12, 0.5, -1)
    scene.seen[:] = scene.seen * cv2.GaussianBlur(shadow, (0, 0), 3)[..., None]
    cv2.circle(
        scene.seen,
        tuple(np.rint(scene.frame.to_px(at)).astype(int).tolist()),
        10,
        COLOURS["peg:red"],
        -1,
        cv2.LINE_AA,
    )
    strange = (np.abs(scene.seen.astype(np.float32) - scene.ground).max(-1) > 20).astype(np.float32)
    assert np.linalg.norm(on_edges(scene, PEG, behind, strange) - at) < 1.2
