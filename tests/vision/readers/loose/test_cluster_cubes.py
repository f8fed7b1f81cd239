"""Cubes: lit from a side that no sampler showed, on ground of their own colour, close together."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from vision.geometry.pose import Pose
from vision.photometry.canvas import Frame, Lean
from vision.readers.loose.pieces.fit import Fine, Piece
from vision.readers.loose.pieces.search import find, kits_of, not_smaller
from vision.readers.loose.scene.polar_patches import SCORE_NOISE, Form, Rings
from vision.readers.loose.scene.scene import FOLD, Scene

SCALE = 2.2
CUBE = Form((9.0, 9.0), 9.0, False)
WIDTH, HEIGHT = 330, 264
WHITE, BLUE = (225, 228, 230), (180, 100, 60)


def cubes(shades):
    """As learnt: plain white and blue ones whose sides are so dark and so bright"""
    looks = (
        np.ones((2, *Rings.around(CUBE, SCALE).cell.shape, 3), np.float32)
        * np.array([WHITE, BLUE], np.float32)[:, None, None]
    )
    return kits_of(
        [Fine(CUBE, SCALE, ["white", "blue"], looks, np.array([shades, shades], np.float32))]
    )


def filmed(pieces, ground, side):
    """A plain board of 150 x 120 mm; pieces: (x, y, turn, colour); side: how bright the sides that
    show are"""
    frame = Frame(0.0, 0.0, SCALE, WIDTH, HEIGHT)
    K = np.array([[800, 0, 160], [0, 800, 120], [0, 0, 1.0]])
    lean = Lean(Pose(K, np.zeros(4), np.zeros(3), np.array([20.0, 10.0, 420.0]), (150, 120)))
    picture = np.full((HEIGHT, WIDTH, 3), ground, np.float32)
    for x, y, turn, colour in pieces:
        foot = CUBE.outline(np.array([x, y]), turn)
        top = foot + lean.shift(foot, CUBE.height)
        hull = cv2.convexHull(np.vstack([foot, top]).astype(np.float32)).reshape(-1, 2)
        for outline, tone in ((hull, side), (top, 1.0)):
            cv2.fillPoly(
                picture,
                [np.round(frame.to_px(outline) * 16).astype(np.int32)],
                tuple(tone * c for c in colour),
                cv2.LINE_AA,
                4,
            )
    picture = cv2.GaussianBlur(picture, (0, 0), 0.7)
    off = np.abs(picture - ground).max(-1)
    seen = (
        (picture + np.random.default_rng(2).normal(0, 3, picture.shape))
        .clip(0, 255)
        .astype(np.uint8)
    )
    strange = cv2.resize(
        ((off / 6 - 2) / 3).clip(0, 1),
        (WIDTH // FOLD, HEIGHT // FOLD),
        interpolation=cv2.INTER_AREA,
    )
    bare = np.full((HEIGHT, WIDTH, 3), ground, np.uint8)
    return Scene(
        frame,
        lean,
        seen,
        bare,
        np.full((HEIGHT, WIDTH), 1 / (6**2 + SCORE_NOISE**2), np.float32),
        strange,
        np.ones((12, 15, 3), np.float32),
    )


def found(scene, shades=(0.6, 0.8)):
    return [
        p
        for p in find(scene, cubes(shades), np.ones_like(scene.strange, np.uint8))
        if p.chance > 0.5
    ]


def kinds_at(pieces, places):
    return [sorted(p.kind for p in pieces if np.hypot(*(p.foot - at)) < 1.5) for at in places]


def test_sides_brighter_than_any_sampler_showed_are_sides():
    places = [(30, 30), (75, 60), (120, 90), (110, 30)]
    pieces = found(
        filmed([(*at, 0.3 * i, WHITE) for i, at in enumerate(places)], (90, 60, 120), 1.1)
    )
    assert len(pieces) == 4 and kinds_at(pieces, places) == [["white"]] * 4


def test_a_cube_on_ground_of_its_own_colour_is_told_by_its_sides():
    places = [(30, 35), (120, 90)]
    pieces = found(filmed([(*at, 0.4, WHITE) for at in places], (236, 236, 236), 0.7))
    assert len(pieces) == 2 and kinds_at(pieces, places) == [["white"]] * 2


def test_cubes_that_touch_are_counted():
    places = [(60, 50), (69.2, 50), (60, 59.2), (69.2, 59.2), (78.4, 55)]
    pieces = found(filmed([(*at, 0.0, BLUE) for at in places], (90, 160, 200), 0.7))
    assert len(pieces) == 5 and kinds_at(pieces, places) == [["blue"]] * 5


@pytest.mark.parametrize(
    ("tower", "cubes", "left"),
    [
        (1100, (940, 930), ["cube", "cube"]),
        (850, (845,), ["cube"]),
        (1848, (940, 930), ["cube", "cube", "tower"]),
        (1400, (940,), ["cube", "tower"]),
        (1100, (540, 530), ["cube", "cube", "tower"]),
    ],
)
def test_cubes_that_touch_are_no_larger_piece_that_hardly_fits(tower, cubes, left):
    def piece(kind, form, x, gain, ideal):
        at = np.array([x, 50.0])
        return Piece(form, at, at, 0.0, (kind,), np.array([float(gain)]), 0, ideal, ideal, 0.3)

    found = [piece("tower", Form((14.0, 14.0), 12.0, True), 55.0, tower, 2100.0)]
    found += [piece("cube", CUBE, 50.0 + 9.5 * i, gain, 1000.0) for i, gain in enumerate(cubes)]
    assert sorted(p.kind for p in not_smaller(found)) == left


def test_a_cube_hardly_paler_than_its_ground_is_told_by_its_outline():
    places = [(30, 35), (120, 90)]
    pieces = found(filmed([(*at, 0.4, BLUE) for at in places], (164, 86, 44), 0.9))
    assert kinds_at(pieces, places) == [["blue"]] * 2 and min(p.chance for p in pieces) > 0.9


def test_a_shadow_as_dark_as_a_cube_has_no_outline_of_one():
    scene = filmed([], (90, 160, 90), 0.7)
    dark = np.zeros(scene.seen.shape[:2], np.float32)
    cv2.circle(dark, (160, 130), 14, 1.0, -1)
    dark = cv2.GaussianBlur(dark, (0, 0), 6)
    scene.seen[..., :3] = (scene.seen[..., :3] * (1 - 0.75 * dark[..., None])).astype(np.uint8)
    scene.strange[:] = cv2.resize(
        (dark * 3).clip(0, 1), scene.strange.shape[::-1], interpolation=cv2.INTER_AREA
    )
    looks = np.full((1, *Rings.around(CUBE, SCALE).cell.shape, 3), (38, 44, 38), np.float32)
    kits = kits_of([Fine(CUBE, SCALE, ["black"], looks, np.array([(0.5, 0.8)], np.float32))])
    assert not [
        p for p in find(scene, kits, np.ones_like(scene.strange, np.uint8)) if p.chance > 0.5
    ]
