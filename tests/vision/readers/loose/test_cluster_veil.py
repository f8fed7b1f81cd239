"""Lamps mirrored by cards."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from vision.photometry.canvas import Frame
from vision.readers.loose.cards.card_level import Level
from vision.readers.loose.cards.coarse_search import Rough
from vision.readers.loose.cards.glare import levels, lit, taken_off, veiled_as, veiled_unlike
from vision.readers.loose.cards.hypotheses import attempts
from vision.readers.loose.scene.scene import Scene

SIZE = 48.0, 48.0
HOME = np.array([[30.0, 30.0, 0.0]])
EVEN = np.ones((1, 3))


def prints() -> np.ndarray:
    """Three kinds: a sign on paper each"""
    looks = np.empty((3, 106, 106, 3), np.float32)
    for look, (paper, ink), x in zip(
        looks, (((60, 50, 170), 230), ((150, 60, 110), 30), ((50, 160, 190), 60)), (20, 35, 50)
    ):
        look[:] = paper
        look[30:80, x : x + 35] = ink
    return looks


def scene_of(look: np.ndarray, pose=(30.0, 30.0, 0.0)) -> Scene:
    c, s = np.cos(pose[2]), np.sin(pose[2])
    M = np.array([[c, -s, 0], [s, c, 0]])
    M[:, 2] = np.array(pose[:2]) * 2.2 - M[:, :2] @ (53, 53)
    seen = np.full((132, 132, 4), 90, np.uint8)
    there = cv2.warpAffine(np.ones(look.shape[:2], np.uint8), M, (132, 132)) > 0
    seen[there, :3] = cv2.warpAffine(look, M, (132, 132), flags=cv2.INTER_LINEAR)[there].clip(
        0, 255
    )
    board = np.full_like(seen, 90)
    return Scene(
        Frame(0.0, 0.0, 2.2, 132, 132),
        None,
        seen,
        board.copy(),
        np.ones((132, 132), np.float32),
        np.zeros((66, 66), np.float32),
        np.ones((6, 6, 3), np.float32),
        board=board,
    )


def mirrored(look: np.ndarray) -> np.ndarray:
    """With a lamp to the left, mirrored"""
    x, y = np.meshgrid(np.linspace(-1, 1, 106), np.linspace(-1, 1, 106))
    return levels(lit(look) + (0.25 - 0.1 * (x + 0.5) ** 2 - 0.08 * y**2)[..., None])


def shaded(look: np.ndarray) -> np.ndarray:
    return look * np.where(np.arange(106) < 60, 0.6, 1.0)[:, None]


def tried(scene: Scene, looks: np.ndarray | None = None):
    looks = prints() if looks is None else looks
    coarse = Level(looks, SIZE, 2.2, 4)
    return coarse, attempts(scene, Rough(looks, SIZE), coarse, HOME, EVEN)


def test_a_lamp_mirrored_by_a_card_is_taken_off_the_picture():
    scene = scene_of(mirrored(prints()[0]))
    coarse, before = tried(scene)
    veils = veiled_as(scene, coarse, before, EVEN)
    assert list(veils) == [0]
    taken_off(scene, veils.values())
    _, after = tried(scene)
    assert after.misfit[0].argmin() == 0 and after.misfit[0, 0] < 0.3 * before.misfit.min()
    off = scene.seen[20:112, 20:112, :3].astype(float) - prints()[0][7:99, 7:99]
    assert np.median(np.abs(off)) < 6


@pytest.mark.parametrize("change", [shaded, lambda look: look, lambda look: np.full_like(look, 90)])
def test_shadows_and_bare_ground_are_no_lamps(change):
    scene = scene_of(change(prints()[0]))
    coarse, tries = tried(scene)
    assert not veiled_as(scene, coarse, tries, EVEN)


def test_of_photographed_cards_of_a_kind_the_veiled_one_is_told_by_the_others():
    look = prints()[1]
    covered = look.copy()
    covered[50:80, 60:90] = 240  # a piece lies on one
    seen = np.stack([shaded(look), mirrored(look), covered, look])
    level = Level(seen, SIZE, 2.2, 8)
    light = np.ones((4, 3))
    assert list(
        veiled_unlike(level.grid, level.looks, level.looks, level.surety, light, ["a"] * 4)
    ) == [1]
    assert not veiled_unlike(
        level.grid, level.looks, level.looks, level.surety, light, list("abcd")
    )


def test_a_card_that_lies_far_off_and_turned_is_found():
    looks = np.empty((2, 106, 106, 3), np.float32)
    for look, paper in zip(looks, ((70, 130, 70), (60, 50, 170))):
        look[:] = paper
        cv2.circle(look, (53, 53), 37, (230, 235, 240), -1)
        cv2.circle(look, (88, 18), 13, (60, 60, 160), -1)
    pose = np.array([22.5, 30.0, -0.12])
    _, tries = tried(scene_of(looks[0], pose), looks)
    assert tries.misfit[0].argmin() == 0 and np.abs(tries.poses[0, 0] - pose).max() < 0.3
