"""Faces are told by their pattern, wherever on the site they lie and however strongly the light
shows the print."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from vision.photometry.colour_sampling import WindowField, to_opponent
from vision.readers.pile.classifier import WORST, next_best
from vision.readers.pile.exemplar import Exemplar
from vision.readers.pile.face_match import FAINT, Faces
from vision.readers.pile.features import PIXELS, WIDER, as_strong, held_against, print_misfits
from vision.readers.pile.fine_match import ONE, PRINT, Fine

LETTERS = "EFILOQUV"
SCALE = 2.0  # pixels a mm


def drawn(letter, side, at=(0.0, 0.0), turn=0.0, ink=1.0, pale=5.3):
    """(side, side, 3) log: a tile of 19 mm with a letter, its middle `at` mm off the picture's"""
    big = 8
    print_ = np.zeros((side * big, side * big), np.uint8)
    (w, h), _ = cv2.getTextSize(letter, cv2.FONT_HERSHEY_SIMPLEX, 7.5, 20)
    middle = side * big / 2
    cv2.putText(
        print_,
        letter,
        (round(middle - w / 2), round(middle + h / 2)),
        cv2.FONT_HERSHEY_SIMPLEX,
        7.5,
        255,
        20,
    )
    move = cv2.getRotationMatrix2D((middle, middle), -turn, 1)
    move[:, 2] += np.array(at) * SCALE * big
    picture = pale - ink / 255 * cv2.warpAffine(print_, move, print_.shape).astype(np.float32)
    return np.repeat(
        cv2.resize(picture, (side, side), interpolation=cv2.INTER_AREA)[..., None], 3, 2
    )


@pytest.fixture(scope="module")
def faces():
    return Faces.fit(
        [
            Exemplar((k,), (19.0, 19.0), False, drawn(k, 48), SCALE, "A1", 0, lies="upright")
            for k in LETTERS
        ]
    )


@pytest.mark.parametrize("ink", [0.4, 1.6])
def test_a_letter_laid_askew_is_known_in_a_paler_print(faces, ink):
    rng = np.random.default_rng(1)
    at, turns = rng.uniform(-1.6, 1.6, (len(LETTERS), 2)), rng.uniform(-7, 7, len(LETTERS))
    seen = np.stack([drawn(k, 64, a, t, ink, 4.9) for k, a, t in zip(LETTERS, at, turns)])
    seen += rng.normal(0, 0.03, seen.shape).astype(np.float32)
    misfit, place, turn = faces.compare(
        WindowField(to_opponent(seen), SCALE), np.arange(len(LETTERS)), np.zeros((len(LETTERS), 2))
    )
    assert "".join(LETTERS[k] for k in misfit.argmin(1)) == LETTERS
    own = np.arange(len(LETTERS))
    assert np.abs(place[own, own] - at).max() < 0.8
    assert np.abs(np.degrees(turn[own, own]) - turns).max() < 9


def test_a_blank_tile_is_not_taken_for_a_letter():
    faces = Faces.fit(
        [
            Exemplar((k,), (19.0, 19.0), False, drawn(k, 48), SCALE, "A1", 0, lies="upright")
            for k in LETTERS + " "
        ]
    )
    blank = to_opponent(
        drawn(" ", 64, ink=0.0, pale=5.0)
        + np.random.default_rng(2).normal(0, 0.03, (64, 64, 1)).astype(np.float32)
    )
    misfit = faces.compare(WindowField(blank[None], SCALE), np.zeros(1, int), np.zeros((1, 2)))[0][
        0
    ]
    assert misfit.argmin() == len(LETTERS)


def test_a_pale_letter_is_not_taken_for_one_with_less_ink():
    """Uncorrected, the cut-out with the fewest strokes is nearest to any pale print."""
    seen = np.repeat(to_opponent(drawn("B", 40, ink=0.4)[None]), 2, 0)
    models = np.stack([to_opponent(drawn(k, 40, ink=1.6)) for k in "BI"])
    plain, strong = (
        print_misfits(seen, models)[:, 0],
        print_misfits(seen, as_strong(seen, models, FAINT))[:, 0],
    )
    assert plain[1] < plain[0] and strong[0] < 0.8 * strong[1]


def test_a_kind_that_gloss_made_pale_in_a_sampler_is_not_what_every_pale_letter_is_taken_for():
    cuts = [(k, 1.6) for k in LETTERS + "B"] + [("B", 0.45)]
    faces = Faces.fit(
        [
            Exemplar(
                (k,), (19.0, 19.0), False, drawn(k, 48, ink=ink), SCALE, "A1", 0, lies="upright"
            )
            for k, ink in cuts
        ]
    )
    rng = np.random.default_rng(3)
    seen = np.stack([drawn(k, 64, ink=0.45, pale=5.4) for k in LETTERS]) + rng.normal(
        0, 0.03, (len(LETTERS), 64, 64, 1)
    )
    field = WindowField(to_opponent(seen.astype(np.float32)), SCALE)
    misfit = faces.compare(field, np.arange(len(LETTERS)), np.zeros((len(LETTERS), 2)))[0]
    assert "".join((LETTERS + "BB")[k] for k in misfit.argmin(1)) == LETTERS


def tile(letter, side, beside, at=(0.0, 0.0)):
    """A letter's tile as drawn(), on ground so much paler or darker on its left, right, upper and
    lower side"""
    out = drawn(letter, side, at)
    x, y = ((np.arange(side) + 0.5 - side / 2) / SCALE - a for a in at)
    for where, by in zip((x < -9.5, x > 9.5), beside[:2]):
        out[:, where] += by
    for where, by in zip((y < -9.5, y > 9.5), beside[2:]):
        out[where] += by
    return cv2.GaussianBlur(out, (0, 0), 0.7)


def test_what_lies_beside_a_letter_does_not_lay_it_astray():
    """Cut out on one ground and seen on another, beside other tiles: its print says where it lies"""
    cut = Exemplar(
        ("E",),
        (19.0, 19.0),
        False,
        tile("E", 48, (-0.8, 0.5, -0.3, 0.4)),
        SCALE,
        "A1",
        0,
        lies="upright",
    )
    at = np.array([[0.7, -0.5]])
    seen = WindowField(
        to_opponent(tile("E", 64, (0.5, -0.8, 0.4, -0.6), at[0])[None].astype(np.float32)), SCALE
    )
    fits = (Fine.fit([cut], PIXELS, WIDER, part) for part in (1.0, PRINT))
    off = [
        float(
            np.linalg.norm(fit.straightened(seen, ONE, ONE, np.zeros((1, 2)), np.zeros(1))[0] - at)
        )
        for fit in fits
    ]
    assert off[1] < 0.15 and off[1] < 0.5 * off[0]


def test_of_a_letter_two_cut_outs_are_laid():
    misfit = np.array([[0.2, 0.3, 0.1, WORST, 0.4]], np.float32)
    assert next_best(misfit, np.array([0, 0, 0, 1, 1]), np.array([[2, 4]])).tolist() == [[0, -1]]


def test_no_pictures_to_compare_is_no_fault_without_kernels_either(monkeypatch):
    monkeypatch.setattr("vision.readers.pile.features._held_against", None)
    left, misfit = held_against(
        np.zeros((0, 24, 24, 3), np.float32),
        np.zeros((2, 24, 24, 3), np.float32),
        np.zeros(0, int),
        0.5,
    )
    assert len(left) == len(misfit) == 0
