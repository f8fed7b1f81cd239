"""Things in the board's own colour, told by the print that they hide, and things of a piece's
outline, told by how bright they are"""

import numpy as np
import pytest

from vision.readers.pile.brightness import Bright, Evenly
from vision.readers.pile.group_reader import uncovered
from vision.readers.pile.hidden_print import WHOLE, Printing, Shown

SIDE = 24


@pytest.fixture
def board():
    """(25, S, S, 3) windows of crossings, printed in lines on wood, 24 mm apart; (25, 2) their
    centres"""
    rng = np.random.default_rng(1)
    empty = np.zeros((25, SIDE, SIDE, 3), np.float32)
    empty[..., 0] = rng.normal(5, 0.01, (25, SIDE, SIDE))
    empty[:, 11:13, :, 0] -= 0.3
    empty[:, :, 11:13, 0] -= 0.3
    return empty, 24.0 * np.stack(np.meshgrid(np.arange(5), np.arange(5)), -1).reshape(-1, 2)


def seen_on(empty, centres, seen):
    """(25,) how likely print is hidden on a board, if all sites seem empty"""
    shown = Printing.of(empty, 18.0, 24.0).shown(
        seen, np.arange(len(seen)), np.arange(len(seen)), centres
    )
    return shown.hidden(shown)


def photo(empty, much=1.0, noise=0.02):
    return (
        much * (empty - 5)
        + 5
        + np.random.default_rng(2).normal(0, noise, empty.shape).astype(np.float32)
    )


def test_a_disc_in_the_colour_of_wood_hides_the_crossing(board):
    empty, centres = board
    seen = photo(empty)
    y, x = np.mgrid[:SIDE, :SIDE] - SIDE / 2 + 0.5
    seen[7, np.hypot(x, y) < 8] = (5.05, 0, 0)
    assert np.flatnonzero(seen_on(empty, centres, seen) > 0.9).tolist() == [7]
    none = Printing.of(empty, 18.0, 24.0).shown(
        seen, np.zeros(0, int), np.zeros(0, int), centres[:0]
    )
    assert not len(none.hidden(none)), "a board full of pieces"


def test_a_sheet_of_paper_hides_the_print_of_those_around_too(board):
    empty, centres = board
    whole, every = Printing.of(empty, 18.0, 24.0, WHOLE), np.arange(25)
    seen = photo(empty)
    seen[5:] = (5.1, 0, 0) + np.random.default_rng(4).normal(0, 0.005, seen[5:].shape)
    shown = whole.shown(seen, every, every, centres)
    assert (
        shown.none().tolist() == list(range(5, 25)) and (shown.under_sheet(shown)[5:] > 0.9).all()
    )
    assert (seen_on(empty, centres, seen) < 0.5)[10:].all(), "those around are hidden too"
    faded = photo(empty, 0.3, 0.003)
    faded[5:] = 5 + 0.02 * (empty[5:] - 5)
    shown = whole.shown(faded, every, every, centres)
    assert len(shown.none()) and (shown.under_sheet(shown) < 0.5).all(), (
        "gloss: nowhere is much to be seen"
    )


@pytest.mark.parametrize(
    "how", ["dim", "beside", "pale", "gloss", "shadow", "alone", "noise", "plain"]
)
def test_print_that_is_seen_less_is_not_hidden(board, how):
    empty, centres = board
    if how == "plain":
        empty[:, :, :, 0] = 5 + 0.05 * (empty[:, :, :, 0] - 5)  # no print to speak of
    seen, x = photo(empty, noise=0.4 if how == "noise" else 0.02), np.arange(SIDE)
    if how == "dim":
        seen[:5] -= (2.0, 0, 0)
    elif how == "beside":  # the board was found a little off
        seen = np.roll(seen, 1, 2)
    elif how == "pale":  # as badly as all about it
        seen = photo(empty, 0.1)
    elif how == "gloss":
        seen[7, ..., 0] = np.log(np.exp(seen[7, ..., 0]) + 3 * np.exp(5))
    elif how == "shadow":  # its edge
        seen[7, :, x > x.mean() + 3, 0] -= 1.0
    elif how == "alone":
        seen[7] = (5, 0, 0)
        empty, centres, seen = empty[5:8], centres[5:8], seen[5:8]
    assert (seen_on(empty, centres, seen) < 0.5).all()


def test_a_site_whose_print_is_hidden_is_not_empty_and_others_stay_as_they_were():
    told = np.log(np.array([[0.05, 0.08, 0.87], [0.1, 0.0999, 0.8001]]))
    out = np.exp(uncovered(told, np.array([0.999, 0.0]), np.zeros(2)))
    assert (
        out[0, 2] < 0.01
        and out[0, 1] / out[0, 0] == pytest.approx(1.6, abs=0.01)
        and np.allclose(out[1], np.exp(told[1]))
    )
    sheet = np.exp(uncovered(told, np.array([0.999, 0.0]), np.array([0.9, 0.0])))
    assert sheet[0, 1] > 0.9 and np.isclose(sheet[0].sum(), 1), "no piece is as large"


def stones(bright):
    """Pieces so bright (n,), one beside the other"""
    return Bright(
        np.stack([24.0 * np.arange(len(bright)), np.zeros(len(bright))], 1),
        bright - 0.01,
        bright,
        bright + 0.01,
    )


@pytest.mark.parametrize(
    ("bright", "odd"),
    [({}, []), ({7: -0.4}, [7]), ({7: 0.4}, [7]), ({7: -0.4, 8: -0.4}, []), ({7: 0.06}, [])],
)
def test_a_piece_of_another_brightness_than_its_like_is_something_else_unless_it_lies_in_a_shadow(
    bright, odd
):
    level = 0.3 + np.random.default_rng(3).normal(0, 0.02, 30)
    for i, off in bright.items():
        level[i] += off
    pieces, look, none = (
        stones(level),
        np.zeros(30, int),
        Shown(np.zeros((0, 2)), np.zeros(0), np.zeros(0), np.zeros(0)),
    )
    lit = Evenly(0.03).here(pieces, look, none, 1)
    assert np.flatnonzero(lit.stranger(pieces, look) > 3).tolist() == odd
    assert Evenly(0.03).here(stones(level[:3]), look[:3], none, 1) is None


def test_how_evenly_bright_pieces_are_is_told_by_cut_outs_of_the_same_look():
    pictures = np.zeros((4, 20, 20, 3), np.float32)
    pictures[:, :, :, 0] = np.array([0.1, 0.2, 3.0, 0.15])[:, None, None]
    assert Evenly.of(pictures, np.array([0, 0, 1, 0])).off == pytest.approx(
        0.1 / 3 * 1.5**0.5, abs=0.001
    )
    assert Evenly.of(pictures[2:], np.array([0, 1])) is None
