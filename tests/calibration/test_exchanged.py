"""Two pieces written down the wrong way round are found by what they look like."""

from __future__ import annotations

import cv2
import msgspec
import numpy as np

from calibration.cutouts.specimens import Specimen
from calibration.swapped_labels import find_swapped
from vision.plan import parse_plan

SIDE = 60  # pixels of a tile, 3 a millimetre
PLAN = parse_plan(
    {
        "game": "letters",
        "size": [200, 200],
        "piece": [{"kind": k, "size": [20, 20], "height": 4} for k in "EFKX"],
        "site": [{"id": "a", "outline": [[0, 0], [24, 0], [24, 24], [0, 24]]}],
    }
)


def piece(sign: str, site: str, photo: int) -> Specimen:
    """A pale tile of 20 mm with a dark letter, as another photo has it"""
    rng = np.random.default_rng(ord(site) + 7 * photo)
    picture, x, y = (
        np.full((SIDE, SIDE, 3), 180, np.uint8),
        *(int(v) for v in rng.integers(3, size=2)),
    )
    cv2.putText(
        picture, sign, (14 + x, 46 + y), cv2.FONT_HERSHEY_SIMPLEX, 1.5, (40, 40, 40), 5, cv2.LINE_AA
    )
    look = np.log(picture * rng.uniform(0.8, 1.1) + rng.normal(0, 3, picture.shape) + 20)
    clear = np.ones((SIDE, SIDE), np.float32)
    return Specimen(photo, site, sign, np.zeros(2), 0.0, 0.0, look.astype(np.float32), clear)


def said_to_be(sign: str, s: Specimen) -> Specimen:
    return msgspec.structs.replace(s, kind=sign)


def test_two_pieces_that_changed_places_are_named_and_alike_ones_are_not():
    honest = [
        piece(sign, site, photo) for photo in (0, 1) for sign, site in zip("EEFFKK", "abcdef")
    ]
    assert find_swapped(PLAN, honest) == []
    wrong = [said_to_be("K", honest[2]), said_to_be("F", honest[4])]
    found = find_swapped(PLAN, [*honest[:2], wrong[0], honest[3], wrong[1], *honest[5:]])
    assert [(a.site, b.site, a.photo) for a, b in found] == [("c", "e", 0)]
    single = [s for s in honest if s.photo == 0 and s.site in "ac"]
    assert find_swapped(PLAN, single) == [], "of two kinds shown once nothing can be told"


def test_a_kind_shown_once_has_not_changed_places():
    pieces = [piece(sign, site, photo) for photo in (0, 1) for sign, site in zip("EEFF", "abcd")]
    for alone in (0, len(pieces)):
        some = [*pieces[:alone], piece("X", "e", 0), *pieces[alone:]]
        assert find_swapped(PLAN, some) == []


def test_what_nothing_shows_of_a_piece_tells_nothing():
    """Of the two that changed places one is covered but for an edge"""
    honest = [piece(sign, site, photo) for photo in (0, 1) for sign, site in zip("EEKK", "abcd")]
    covered = np.zeros((SIDE, SIDE), np.float32)
    covered[:6] = 1
    wrong = [said_to_be("K", honest[0]), said_to_be("E", honest[2])]
    named = find_swapped(PLAN, [wrong[0], honest[1], wrong[1], *honest[3:]])
    assert [(a.site, b.site) for a, b in named] == [("a", "c")]
    wrong[0] = msgspec.structs.replace(wrong[0], clear=covered)
    assert find_swapped(PLAN, [wrong[0], honest[1], wrong[1], *honest[3:]]) == []
