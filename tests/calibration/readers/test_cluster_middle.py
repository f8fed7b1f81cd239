"""Blocks are learnt in their own middle, whatever their shape with sides and shadow made one
think."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from calibration.readers.loose.centre_samples import middled, outlined, rimmed
from calibration.readers.loose.locate_samples import Found, by_shape, silhouette
from vision.photometry.canvas import Frame
from vision.readers.loose.count_evidence import evidence_of
from vision.readers.loose.pieces.fit import Piece
from vision.readers.loose.scene.polar_patches import Form
from vision.readers.loose.scene.scene import Scene

SCALE = 2.2
FRAME = Frame(0.0, 0.0, SCALE, 330, 330)
CUBE = Form((9.0, 9.0), 9.0, False)
TOKEN = Form((18.0, 18.0), 3.0, True)
LEAN = np.array([3.0, -1.5])
AT = np.array([[30.0, 30.0], [75.0, 32.0], [118.0, 40.0], [32.0, 110.0], [100.0, 105.0]])
TURNS = np.radians([4.0, 21.0, -17.0, 33.0, 10.0])


@pytest.fixture
def scene():
    """Five blue cubes with a white dot, sides and shadows, on grounds that differ"""
    rng = np.random.default_rng(4)
    image = np.full((330, 330, 3), 120, np.uint8)
    for y in range(0, 330, 66):
        for x in range(0, 330, 66):
            image[y : y + 66, x : x + 66] = rng.integers(60, 200, 3)
    for at, turn in zip(AT, TURNS):
        for outline, colour in (
            (silhouette(CUBE, at - 0.5 * LEAN + (-3, 2), turn, LEAN), (50, 50, 50)),
            (silhouette(CUBE, at, turn, LEAN), (110, 40, 20)),
            (CUBE.outline(at, turn), (200, 90, 40)),
        ):
            cv2.fillPoly(
                image, [np.rint(FRAME.to_px(outline) * 16).astype(np.int32)], colour, cv2.LINE_AA, 4
            )
        cv2.circle(
            image,
            tuple(np.rint(FRAME.to_px(at)).astype(int).tolist()),
            3,
            (240, 240, 240),
            -1,
            cv2.LINE_AA,
        )
    image = cv2.GaussianBlur(image, (0, 0), 0.8)
    light = np.ones((15, 15, 3), np.float32)
    return Scene(FRAME, None, image, image, image[..., 0], image[..., 0], light)


def off(found, turns=TURNS):
    """mm and degrees (modulo a quarter turn) by which pieces lie off where they were drawn, the
    worst of each"""
    quarter = (np.degrees([f.turn for f in found] - turns) + 45) % 90 - 45
    return max(np.linalg.norm(f.at - at) for f, at in zip(found, AT)), np.abs(quarter).max()


def test_edges_tell_where_each_block_lies(scene):
    rng = np.random.default_rng(1)
    found = [
        Found(i, CUBE, at + rng.uniform(-1.6, 1.6, 2), 1.0, "blue", turn + rng.uniform(-0.3, 0.3))
        for i, (at, turn) in enumerate(zip(AT, TURNS))
    ]
    outlined(found, [0] * 5, [scene], FRAME)
    assert off(found)[0] < 0.6 and off(found)[1] < 6


def test_a_kind_learnt_off_its_middle_is_put_right(scene):
    found = []
    for i, (at, turn) in enumerate(zip(AT, TURNS)):
        c, s = np.cos(turn), np.sin(turn)
        found.append(
            Found(i, CUBE, at + np.array([[c, -s], [s, c]]) @ (1.2, -0.8), 1.0, "blue", turn)
        )
    middled(found, [0] * 5, [scene], FRAME)
    assert off(found)[0] < 0.6 and off(found)[1] < 6


def test_a_shape_is_looked_for_with_its_sides():
    strange = np.zeros((330, 330), np.float32)
    cv2.fillPoly(
        strange, [np.rint(FRAME.to_px(silhouette(CUBE, AT[4], 0.0, LEAN))).astype(np.int32)], 1.0
    )
    area = AT[4] + np.array([[-14, -14], [14, -14], [14, 14], [-14, 14.0]])
    ((_, at, _, _),) = by_shape(strange, FRAME, area, {CUBE: 1}, {CUBE: LEAN}, straight=True)
    assert np.linalg.norm(at - AT[4]) < 1


def test_a_piece_of_one_kind_or_another_is_there_for_sure():
    unsure = Piece(
        TOKEN,
        AT[0],
        AT[0],
        0.0,
        ("red", "blue", "green"),
        np.array([1900.0, 1850.0, 400.0]),
        0,
        2000.0,
        2000.0,
    )
    e = evidence_of({}, [(unsure, 1.0)], 0.0, ("red", "blue", "green"))
    assert e.logp(("red",)) > -0.2 and -3 < e.logp(("blue",)) < -2, (
        "the second kind is as likely as it looks"
    )
    assert e.logp(()) < -6 and e.logp(("red", "blue")) < -5, "neither nothing nor both"


def test_a_disc_is_learnt_where_its_rim_is_and_not_where_its_shadow_ends():
    rng = np.random.default_rng(2)
    ground = np.full((330, 330, 3), (90, 150, 110), np.uint8)
    shadow, image = np.ones((330, 330), np.float32), ground.copy()
    for at in AT:
        cv2.circle(
            shadow,
            tuple(np.rint(FRAME.to_px(at + (1.5, 2.5))).astype(int).tolist()),
            round(10 * SCALE),
            0.5,
            -1,
        )
    image = (image * cv2.GaussianBlur(shadow, (0, 0), 3.5)[..., None]).astype(np.uint8)
    for at in AT:
        # a ring near the rim
        for radius, colour in ((9.0, (60, 60, 190)), (7.2, (220, 220, 220)), (6.2, (60, 60, 190))):
            px = np.rint(FRAME.to_px(at) * 16).astype(int).tolist()
            cv2.circle(image, px, round(radius * SCALE * 16), colour, -1, cv2.LINE_AA, 4)
    image = cv2.GaussianBlur(image, (0, 0), 0.8)
    lit = Scene(
        FRAME, None, image, ground, image[..., 0], image[..., 0], np.ones((15, 15, 3), np.float32)
    )
    found = [
        Found(i, TOKEN, at + (0.8, 1.4) + rng.uniform(-0.5, 0.5, 2), 1.0) for i, at in enumerate(AT)
    ]
    rimmed(found, [0] * 5, [lit], FRAME)
    assert max(np.linalg.norm(f.at - at) for f, at in zip(found, AT)) < 0.5


def test_a_disc_that_hardly_stands_out_stays_where_it_was():
    image = np.full((330, 330, 3), 120, np.uint8)
    clear, faint = FRAME.to_px(AT[:3]), FRAME.to_px(AT[3:])
    for places, colour in ((clear, (40, 40, 200)), (faint, (121, 121, 121))):
        for px in places:
            cv2.circle(
                image,
                tuple(np.rint(px).astype(int).tolist()),
                round(9 * SCALE),
                colour,
                -1,
                cv2.LINE_AA,
            )
    ground = np.full_like(image, 120)
    flat = Scene(
        FRAME, None, image, ground, image[..., 0], image[..., 0], np.ones((15, 15, 3), np.float32)
    )
    found = [Found(i, TOKEN, at + (1.0, 0.6), 1.0) for i, at in enumerate(AT)]
    rimmed(found, [0] * 5, [flat], FRAME)
    assert max(np.linalg.norm(f.at - at) for f, at in zip(found[:3], AT)) < 0.5
    assert [f.at.tolist() for f in found[3:]] == [(at + (1.0, 0.6)).tolist() for at in AT[3:]]
