"""Printed tiles tell a picture's tone where no printed board does."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from vision.photometry.camera_response import NEUTRAL_RESPONSE
from vision.photometry.canvas import Frame
from vision.readers.loose.cards.card_level import Sheet
from vision.readers.loose.cards.card_reader import Firsts, Place, Tried
from vision.readers.loose.cards.tone_from_tiles import rendition_by_tiles, renditions_among
from vision.readers.loose.scene.scene import Scene

FRAME = Frame(0.0, 0.0, 2.2, 352, 242)
LAMP = np.array([0.75, 0.85, 0.95])


def sheet(plain=False) -> Sheet:
    looks = np.full((1, 106, 106, 3), (90, 150, 180), np.float32)
    if not plain:
        looks[:, 20:70, 30:60], looks[:, 60:100, 70:100] = 230, (60, 50, 40)
    return Sheet((48.0, 48.0), 2.0, 2.2, ("tile:war/trade",), looks)


def scene(own: Sheet, power: float, tiles: int) -> tuple[Scene, list[Tried]]:
    """Six tiles at most, in a warm light that falls off to the right, on each a piece"""
    seen = np.full((FRAME.height, FRAME.width, 3), 60.0)
    tried = []
    for n in range(tiles):
        y, x = 6 + n // 3 * 114, 6 + n % 3 * 114
        seen[y : y + 106, x : x + 106] = own.looks[0] * LAMP
        seen[y + 70 : y + 90, x + 5 : x + 25] = 20, 30, 25
        at = FRAME.to_mm(np.array([[x + 52.5, y + 52.5]]))
        tried.append(
            Tried(
                own,
                np.zeros(1, int),
                np.column_stack([at, [0.0]]),
                np.ones((1, 3), np.float32),
                np.zeros(3),
            )
        )
    seen = (255 * (seen / 255 * np.linspace(1, 0.8, FRAME.width)[:, None]) ** power + 0.5).astype(
        np.uint8
    )
    weight = np.ones(seen.shape[:2], np.float32)
    return Scene(FRAME, None, seen, seen, weight, weight, np.ones((11, 16, 3), np.float32)), tried


@pytest.mark.parametrize("power", [0.7, 1.4])
def test_tiles_tell_another_tone(power):
    own = sheet()
    found = rendition_by_tiles([scene(own, power, 6)], Firsts((own,), {})).power
    assert abs(np.log(found / power)) < 0.25 * abs(np.log(power))


@pytest.mark.parametrize(
    ("power", "tiles", "plain"),
    [(1.0, 6, False), (1.05, 6, False), (1.4, 2, False), (1.4, 6, True)],
)
def test_none_where_light_and_pieces_alone_differ_or_too_little_is_printed(power, tiles, plain):
    own = sheet(plain)
    assert rendition_by_tiles([scene(own, power, tiles)], Firsts((own,), {})) == NEUTRAL_RESPONSE


@pytest.mark.parametrize("times", [0.7, 1.0, 1.4])
def test_tiles_tell_other_colours(times):
    own = sheet()
    one, tried = scene(own, 1.0, 6)
    grey = one.seen.mean(-1, keepdims=True)
    one.seen[:] = (grey + times * (one.seen - grey)).clip(0, 255)
    found = rendition_by_tiles([(one, tried)], Firsts((own,), {}))
    assert found.power == 1 and abs(np.log(found.chroma / times)) < 0.06


@pytest.mark.parametrize("times", [1.0, 0.7, 1.4])
def test_samplers_of_other_colours_are_brought_to_the_middle_of_all(times):
    own = sheet()
    scenes, placed = [], []
    for shot in range(2):
        one, tried = scene(own, 1.0, 6)
        if shot:
            grey = one.seen.mean(-1, keepdims=True)
            one.seen[:] = (grey + times * (one.seen - grey)).clip(0, 255)
        scenes.append(one)
        placed += [Place(shot, f"L{n}", own.kinds[0], 0, t.poses[0]) for n, t in enumerate(tried)]
    first, second = renditions_among(placed, scenes, Firsts((own,), {}))
    assert abs(np.log(second.chroma) - np.log(times) / 2) < 0.06 and first.chroma == pytest.approx(
        1 / second.chroma
    )
    assert first.power == second.power == 1
    assert (first == second == NEUTRAL_RESPONSE) == (times == 1)


def test_samplers_without_a_kind_in_common_stay_as_they_are():
    own = sheet()
    other = Sheet(own.size, own.height, own.scale, ("tile:tower",), own.looks)
    one, tried = scene(own, 1.0, 6)
    kinds = own.kinds + other.kinds
    placed = [
        Place(shot, f"L{n}", kinds[shot], 0, t.poses[0])
        for shot in range(2)
        for n, t in enumerate(tried)
    ]
    both = msgspec.structs.replace(own, kinds=kinds, looks=np.concatenate([own.looks, other.looks]))
    assert renditions_among(placed, [one, one], Firsts((both,), {})) == [
        NEUTRAL_RESPONSE,
        NEUTRAL_RESPONSE,
    ]
