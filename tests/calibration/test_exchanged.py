"""Two pieces written down the wrong way round are found by what they look like."""

from __future__ import annotations

import cv2
import numpy as np
from vision.readers.pile.exemplar import Exemplar

from calibration.swapped_labels import find_swapped


def piece(sign: str, site: str, photo: int) -> Exemplar:
    """A pale tile of 20 mm with a dark letter, 3 pixels a millimetre, as another photo has it"""
    rng = np.random.default_rng(ord(site) + 7 * photo)
    picture, x, y = np.full((72, 72, 3), 180, np.uint8), *(int(v) for v in rng.integers(3, size=2))
    cv2.putText(
        picture, sign, (20 + x, 52 + y), cv2.FONT_HERSHEY_SIMPLEX, 1.5, (40, 40, 40), 5, cv2.LINE_AA
    )
    logs = np.log(picture * rng.uniform(0.8, 1.1) + rng.normal(0, 3, picture.shape)).astype(
        np.float32
    )
    return Exemplar((sign,), (20.0, 20.0), False, logs, 3.0, site, photo)


def test_two_pieces_that_changed_places_are_named_and_alike_ones_are_not():
    honest = [
        piece(sign, site, photo) for photo in (0, 1) for sign, site in zip("EEFFKK", "abcdef")
    ]
    assert find_swapped(honest) == []

    def said_to_be(sign: str, e: Exemplar) -> Exemplar:
        return Exemplar((sign,), e.size, e.disc, e.picture, e.scale, e.where, e.photo)

    wrong = [said_to_be("K", honest[2]), said_to_be("F", honest[4])]
    found = find_swapped([*honest[:2], wrong[0], honest[3], wrong[1], *honest[5:]])
    assert [(a.where, b.where, a.photo) for a, b in found] == [("c", "e", 0)]
    single = [e for e in honest if e.photo == 0 and e.where in "ac"]
    assert find_swapped(single) == [], "of two kinds shown once nothing can be told"


def test_a_kind_shown_once_has_not_changed_places():
    pieces = [piece(sign, site, photo) for photo in (0, 1) for sign, site in zip("EEFF", "abcd")]
    for alone in (0, len(pieces)):
        assert find_swapped([*pieces[:alone], piece("X", "e", 0), *pieces[alone:]]) == []
