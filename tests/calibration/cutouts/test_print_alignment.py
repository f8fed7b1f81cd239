"""Cards of a kind are laid on each other by their prints, in whatever light each lies."""

import cv2
import numpy as np
import pytest

from calibration.cutouts.print_alignment import align_prints, in_tone
from calibration.cutouts.seek import Samplers
from calibration.cutouts.specimens import Specimen
from tests.support.drawn_pieces import found_piece
from vision.learned.canvas import Canvas
from vision.plan import parse_plan

CARD = 30.0  # mm
VIEW = Canvas((100.0, 100.0), 4.0)
MIDDLE = np.array([50.0, 50.0])
PLAN = parse_plan(
    {
        "game": "drawn",
        "size": [100, 100],
        "site": [{"id": "F1", "reads": "cluster", "outline": [[30, 30], [70, 30], [70, 70]]}],
        "piece": [
            {"kind": k, "size": [CARD, CARD], "height": 1, "artwork": words}
            for k, words in (
                ("sea:one", ["sea", "one"]),
                ("sea:two", ["sea", "two"]),
                ("sea:few", ["sea", "few"]),
                ("land", ["land", "many"]),
            )
        ],
    },
    "drawn",
)


def rough_print(seed: int, contrast: float) -> np.ndarray:
    """(h, w, 3) log of a card, as fine as VIEW"""
    side = round(CARD * VIEW.scale)
    noise = np.random.default_rng(seed).normal(0, 1, (side, side, 3)).astype(np.float32)
    noise = cv2.GaussianBlur(noise, (0, 0), 5)
    return 4.5 + contrast * noise / noise.std()


def photo_of(picture: np.ndarray, light: tuple[float, ...]) -> np.ndarray:
    """A canvas on which a card lies in the middle"""
    canvas = np.full((*VIEW.shape, 3), 5.0, np.float32)
    h, w = picture.shape[:2]
    x, y = np.round(VIEW.to_px(MIDDLE) - np.array([w, h]) / 2 + 0.5).astype(int)
    canvas[y : y + h, x : x + w] = picture
    return canvas + np.float32(light)


def found_cards(photos, found) -> tuple[Samplers, list[Specimen]]:
    """Photos of a card each, and these cards as they were found: (kind, mm right and down of where
    it lies)"""
    samplers = Samplers(PLAN, VIEW, (), photos, photos)
    cards = [found_piece(n, kind, MIDDLE + off) for n, (kind, off) in enumerate(found)]
    for s in cards:
        samplers.cut_look(s)
    return samplers, cards


LIGHTS = [(0.0, 0.0, 0.0), (0.3, 0.1, -0.2), (-0.3, 0.2, 0.3)]


@pytest.mark.parametrize("light", LIGHTS)
def test_two_cards_of_a_kind_are_laid_on_each_other_in_whatever_light(light):
    picture = rough_print(1, 0.2)
    photos = [photo_of(picture, (0, 0, 0)), photo_of(picture, light)]
    samplers, (one, other) = found_cards(photos, [("land", (0.6, -0.4)), ("land", (-0.5, 0.5))])
    align_prints(samplers, [one, other])
    assert np.hypot(*(one.top - other.top)) < 0.25
    assert abs(one.turn - other.turn) < 0.5


@pytest.mark.parametrize("light", LIGHTS)
def test_kinds_that_share_a_part_are_laid_by_it_alone_in_whatever_light(light):
    """The numbers of two of them are alike but not in the same place: laid by these they would lie
    beside each other"""
    sea, number, other = rough_print(1, 0.2), rough_print(2, 0.4), rough_print(3, 0.4)
    shared = round(0.45 * sea.shape[1])
    prints = {}
    for kind, shown in (
        ("sea:one", number),
        ("sea:two", np.roll(number, 5, 1)),
        ("sea:few", other),
    ):
        prints[kind] = sea.copy()
        prints[kind][:, shared:] = shown[:, shared:]
    prints["land"] = rough_print(4, 0.2)  # else nothing told that they show the sea
    lights = dict.fromkeys(prints, (0.0, 0.0, 0.0)) | {"sea:two": light, "sea:few": LIGHTS[1]}
    photos = [photo_of(v, lights[k]) for k, v in prints.items()]
    samplers, cards = found_cards(photos, [(k, (0.0, 0.0)) for k in prints])
    align_prints(samplers, cards)
    lie = {s.kind: s.top for s in cards}
    assert np.hypot(*(lie["sea:one"] - lie["sea:two"])) < 0.25


def test_a_picture_comes_to_the_light_of_another_whatever_lies_on_a_part_of_it():
    picture = rough_print(1, 0.2)
    covered = picture + np.float32((0.3, -0.1, 0.2))
    covered[:40] = 2.0
    assert in_tone(picture, covered)[40:] == pytest.approx(covered[40:], abs=0.03)
