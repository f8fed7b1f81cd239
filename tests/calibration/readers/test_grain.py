"""What pieces of a kind differ in is found from their cut-outs, and laid on others of which
pictures to learn from are made."""

from __future__ import annotations

import cv2
import numpy as np
from calibration.readers.pile.piece_variation import grained, grains
from calibration.readers.pile.synthesis import as_patch
from tests.vision.readers.pile.test_faces import SCALE, drawn
from vision.readers.pile.exemplar import Exemplar
from vision.readers.pile.features import PIXELS, WIDER
from vision.readers.pile.fine_match import PRINT, Fine


def cut(letter, band, at=(0.0, 0.0)):
    """A tile's cut-out with fibres darker where `band` (48,) says so"""
    picture = drawn(letter, 48, at).astype(np.float32) - np.float32(band)[:, None, None]
    return Exemplar(
        (letter,),
        (19.0, 19.0),
        False,
        cv2.GaussianBlur(picture, (0, 0), 0.6),
        SCALE,
        "A1",
        0,
        lies="upright",
    )


def found(*pieces):
    return grains(
        Fine.fit(list(pieces), PIXELS, WIDER, PRINT), pieces, [e.contents for e in pieces]
    )


def test_grain_is_what_two_pieces_of_a_kind_differ_in_and_not_their_print():
    y = np.arange(48)
    one, other = 0.1 * np.exp(-(((y - 15) / 2.0) ** 2)), 0.1 * np.exp(-(((y - 32) / 2.0) ** 2))
    (left,) = found(cut("E", one), cut("E", other, (0.3, -0.2)), cut("F", one))
    rows = left[:, 8:-8].mean(1)
    assert abs(rows.argmin() - rows.argmax()) > 10 and np.ptp(rows) > 0.05
    (same,) = found(cut("E", 0 * one), cut("E", 0 * one, (0.3, -0.2)))
    assert np.abs(same).max() < 0.03  # print a third of a millimetre aside is none


def test_a_grained_piece_keeps_its_print_and_its_rim():
    plain = as_patch(cut("E", np.zeros(48)), 4.0)
    (one,) = found(cut("F", np.zeros(48)), cut("F", 0.1 * (np.arange(48) % 8 < 3)))
    seen = grained(np.random.default_rng(1), plain, [one])
    off = np.abs(seen.picture - plain.picture)[..., 0]
    assert 0.01 < off.max() < 0.3 and max(off[:4].max(), off[:, :4].max()) < 1e-4
    assert seen.alpha is plain.alpha and seen.radius == plain.radius
