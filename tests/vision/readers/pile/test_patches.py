"""Things on ground that shows no print: told where their colour is neither lit nor shaded ground"""

import numpy as np
import pytest

from vision.evidence.site_evidence import SiteEvidence
from vision.photometry.colour_sampling import from_opponent, to_opponent
from vision.readers.pile.border_pieces import more_foreign
from vision.readers.pile.classifier import TILES, resized
from vision.readers.pile.colour_patch import Ground, hides

# pixels along a window, of which it reaches so far beside the middle of a site
SIDE, HALF = 33, 0.75
GROUND = np.log([60.0, 120.0, 110.0])


@pytest.fixture
def board():
    """(36, S, S, 3) opponent windows of plain green sites with thin dark borders; (36, 2) their
    centres, 20 mm apart"""
    empty = np.tile(GROUND, (36, SIDE, SIDE, 1)) + np.random.default_rng(1).normal(
        0, 0.02, (36, SIDE, SIDE, 3)
    )
    for at in (5, 27):
        empty[:, at] -= 0.5
        empty[:, :, at] -= 0.5
    return to_opponent(empty.astype(np.float32)), 20.0 * np.stack(
        np.meshgrid(np.arange(6), np.arange(6)), -1
    ).reshape(-1, 2)


def nothing(row):
    return np.zeros((TILES, TILES), bool)


def strange(board, seen, bare=None, hidden=nothing):
    """The sites that a picture shows something on, by (36, S, S, 3) logs added to how they look
    empty"""
    empty, centres = board
    other = resized(
        to_opponent(seen + np.random.default_rng(2).normal(0, 0.02, seen.shape).astype(np.float32)),
        TILES,
    )
    bare = np.ones(len(empty), bool) if bare is None else bare
    told = Ground.of(empty, np.full_like(empty, 0.02), HALF).strange(
        other, np.arange(len(empty)), bare, centres, hidden
    )
    return np.flatnonzero(told > 0.9).tolist()


def disc(board, site, colour):
    """(36, S, S, 3) logs that a disc of a colour adds, B G R grey levels"""
    more, (y, x) = np.zeros((36, SIDE, SIDE, 3), np.float32), np.mgrid[:SIDE, :SIDE] - SIDE // 2
    more[site] = np.where(
        (np.hypot(x, y) < 8)[..., None], np.log(colour) - from_opponent(board[0][site]), 0
    )
    return more


@pytest.mark.parametrize("colour", [(120, 110, 105), (40, 45, 120), (20, 150, 140)])
def test_a_disc_of_another_colour(board, colour):
    assert strange(board, disc(board, 14, colour)) == [14]


def test_only_beside_enough_other_sites_that_seem_empty(board):
    on = disc(board, 4, (40, 45, 120))
    assert strange(board, on, np.arange(36) < 14) == [4]
    assert strange(board, on, np.arange(36) < 10) == [], "too few tell what is usual"
    assert strange(board, on, np.arange(36) != 4) == [], "a piece is known to lie there"


def test_what_a_piece_hides_tells_nothing(board):
    over = hides([np.array([[0, 0], [SIDE, 0], [SIDE, SIDE], [0, SIDE]])], SIDE)
    assert over.all()
    assert strange(board, disc(board, 14, (40, 45, 120)), hidden=lambda row: over) == []


@pytest.mark.parametrize("how", ["gloss", "lamp", "shadow", "blue shadow", "beside", "dim corner"])
def test_light_is_nothing_that_lies_there(board, how):
    ground, seen = from_opponent(board[0]), np.zeros((36, SIDE, SIDE, 3), np.float32)
    if how == "gloss":  # light of a lamp's colour on top, with an edge
        seen[14, :, 6:26] = (np.log(np.exp(ground) + (60, 90, 100)) - ground)[14, :, 6:26]
    elif how == "lamp":
        seen[:] = np.log([0.5, 0.9, 1.3])
    elif how == "shadow":
        seen[14, 4:28, 4:28] = np.log(0.4)
    elif how == "blue shadow":  # over three sites, what fills it in is blue
        seen[[14, 15, 16]] = np.log([0.52, 0.42, 0.38])
    elif how == "beside":  # the board was found a pixel off
        seen[:] = np.roll(ground, 1, 2) - ground
    else:
        seen[[0, 1, 2, 6, 7, 8, 12, 13]] = np.log([0.8, 0.7, 0.6])
    assert strange(board, seen) == []


def test_paint_that_looks_otherwise_in_this_light_does_on_all_sites_so_painted(board):
    empty, centres = board
    pink = [0, 9, 14, 21, 30]
    empty = empty.copy()
    empty[pink] = to_opponent(np.broadcast_to(np.log(np.float32([140, 90, 220])), (SIDE, SIDE, 3)))
    seen = np.zeros((36, SIDE, SIDE, 3), np.float32)
    seen[pink] = (0.15, -0.1, 0.05)
    assert strange((empty, centres), seen) == []


def test_as_much_of_its_being_empty_becomes_something_else():
    e = more_foreign(SiteEvidence((((), np.log(0.8)), (("a",), np.log(0.1))), np.log(0.1)), 0.75)
    assert np.exp(e.other) == pytest.approx(0.7)
    assert dict(e.options)[()] == pytest.approx(np.log(0.2))
    assert e.foreign
