"""Cards laid where none belongs: across narrow squares, over what a pile site shows; and flat
pieces that are no figures."""

from __future__ import annotations

from types import SimpleNamespace

import cv2
import numpy as np
import pytest

from vision.photometry.canvas import Frame
from vision.readers.loose.cards.card_level import Sheet
from vision.readers.loose.cards.card_reader import Firsts
from vision.readers.loose.cards.misplaced import holds, read_astray
from vision.readers.loose.pieces.occlusion_masks import fullness
from vision.readers.loose.scene.polar_patches import Form
from vision.readers.loose.scene.scene import FOLD, Scene

SIZE = (40.0, 40.0)
GROUND, PAPER, INK = 150, (190, 140, 70), (235, 235, 235)


def site(x0, y0, x1, y1, reads="cluster"):
    outline = np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1]], float)
    return SimpleNamespace(outlines=[outline], outline=outline, centre=outline.mean(0), reads=reads)


TRACK = {f"V{n}": site(10 + 22 * n, 20, 32 + 22 * n, 60) for n in range(6)}


@pytest.fixture(scope="module")
def sheet():
    looks = np.full((2, 88, 88, 3), PAPER, np.float32)
    looks[0, 10:22, 20:70] = INK
    looks[1, 10:22, 20:70] = looks[1, 66:78, 20:70] = INK
    return Sheet(SIZE, 0.0, 2.2, ("water:01", "water:11"), looks)


def scene_of(sheet, *cards, patches=()):
    """cards: (number of its kind, x, y); patches: (x, y, radius, colour) of discs, in mm"""
    frame = Frame(0.0, 0.0, 2.2, 352, 176)
    ground = np.full((176, 352, 3), GROUND, np.uint8)
    seen = ground.copy()
    for kind, x, y in cards:
        a, b = round(x * 2.2) - 44, round(y * 2.2) - 44
        seen[b : b + 88, a : a + 88] = sheet.looks[kind].astype(np.uint8)
    for x, y, radius, colour in patches:
        cv2.circle(seen, (round(x * 2.2), round(y * 2.2)), round(radius * 2.2), colour, -1)
    strange = (np.abs(seen.astype(int) - ground).max(-1) > 12).astype(np.float32)
    lean = SimpleNamespace(
        shift=lambda mm, h: np.zeros((len(mm), 2)), foot=lambda mm, h: np.asarray(mm)
    )
    return Scene(
        frame,
        lean,
        cv2.cvtColor(seen, cv2.COLOR_BGR2BGRA),
        cv2.cvtColor(ground, cv2.COLOR_BGR2BGRA),
        np.full((176, 352), 0.005, np.float32),
        strange[::FOLD, ::FOLD].copy(),
        np.ones((8, 15, 3), np.float32),
    )


@pytest.mark.parametrize("kind", [0, 1])
def test_a_card_across_squares_too_narrow_for_it_is_that_card_and_the_squares_beside_it_show_nothing(
    sheet, kind
):
    scene = scene_of(sheet, (kind, 66.0, 41.0))
    told = read_astray(scene, Firsts((sheet,), {}), TRACK)
    assert set(told) == {"V2"}
    assert max(told["V2"], key=told["V2"].get) == sheet.kinds[kind]
    assert scene.strange.mean() < 0.01


def test_what_is_no_card_is_left_to_others(sheet):
    crowd = [(40 + 19 * n, 40, 9, (60, 60, 200 - 20 * n)) for n in range(4)]
    cloth = [(70, 40, 28, (90, 200, 240))]
    for patches in (crowd, cloth, ()):
        assert read_astray(scene_of(sheet, patches=patches), Firsts((sheet,), {}), TRACK) == {}


def test_a_card_on_its_own_place_is_not_astray(sheet):
    places = {"L1": site(40, 20, 82, 62), "stock": site(100, 20, 142, 62, "pile")}
    assert all(holds(s, sheet) for s in places.values())
    assert (
        read_astray(
            scene_of(sheet, (0, 61.0, 41.0), (1, 121.0, 41.0)), Firsts((sheet,), {}), places
        )
        == {}
    )


def test_a_third_of_a_circle_is_no_place_for_a_card(sheet):
    third = site(0, 0, 1, 1, "pile")
    third.outlines = [
        np.array(
            [
                [60, 60],
                *(
                    [60 + 38 * np.cos(a), 60 + 38 * np.sin(a)]
                    for a in np.radians(np.arange(150, 271, 10))
                ),
            ]
        )
    ]
    third.outline, third.centre = (
        third.outlines[0],
        (third.outlines[0].min(0) + third.outlines[0].max(0)) / 2,
    )
    assert not holds(third, sheet)
    told = read_astray(scene_of(sheet, (1, 45.0, 42.0)), Firsts((sheet,), {}), {"flood": third})
    assert max(told["flood"], key=told["flood"].get) == "water:11"


def test_a_disc_is_full_wherever_a_figure_is_thought_to_stand_on_it_and_a_peg_is_not(sheet):
    marker, peg = Form((18.0, 18.0), 3.0, True), (70.0, 40.0, 5.0, (40, 40, 190))
    lying = scene_of(sheet, patches=[(70.0, 40.0, 9.0, (40, 40, 190))])
    assert fullness(lying, marker, np.array([73.0, 44.0])) > 0.95
    assert fullness(scene_of(sheet, patches=[peg]), marker, np.array([70.0, 40.0])) < 0.5
