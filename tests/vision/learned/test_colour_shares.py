"""How much of a place each of a copy's own colours takes."""

import numpy as np
import pytest

from vision.learned.colour_shares import (
    OWN_COLOURS,
    PIECE_ZONES,
    map_zones,
    share_colours,
    tabulate_colours,
)
from vision.learned.network import ANGLES, FINER, RINGS, SITE_PIXELS

RED, BLUE, WHITE = np.array([[0.1, 0.2, 1.4], [1.3, 0.4, 0.1], [2.0, 2.0, 2.0]])
COLOURS = np.array([RED, BLUE, WHITE], np.float32)
TABLE = tabulate_colours(COLOURS)
SIDE = FINER * SITE_PIXELS


def test_each_shade_is_told_as_the_nearest_colour():
    shades = np.concatenate([COLOURS, COLOURS + 0.15, [[-9, -9, 9.0]]]).astype(np.float32)
    shown = shades.reshape(-1, 1, 1, 3) * np.ones((1, SIDE, SIDE, 1), np.float32)
    shares = share_colours("site", shown, TABLE, 3).reshape(len(shades), -1, 3)
    assert (shares.argmax(2) == np.array([[0], [1], [2], [0], [1], [2], [0]])).all()
    assert shares.max(2) == pytest.approx(np.ones(shares.shape[:2]))


def test_a_thin_line_shows_wherever_it_lies():
    place = np.empty((2, SIDE, SIDE, 3), np.float32)
    place[:] = WHITE
    place[0, 17] = place[1, :, 18] = BLUE
    line, across = share_colours("site", place, TABLE, 3).reshape(2, -1, 3)
    assert line[:, 1] == pytest.approx(across[:, 1], abs=0.02)
    assert (line[:, 1] > 0.1).all() and (line[:, 0] == 0).all()
    assert np.square(line).sum(1) == pytest.approx(np.ones(len(line)))


def test_what_lies_beyond_a_site_is_told_apart():
    zones = map_zones("site")
    assert zones[SIDE // 2, SIDE // 2] == 0 and zones[0, 0] == zones[SIDE // 2, 0] == 3
    assert sorted(np.unique(zones)) == [0, 1, 2, 3]
    assert (zones == np.rot90(zones)).all()


def test_a_piece_is_told_ring_by_ring_however_it_is_turned():
    rng = np.random.default_rng(1)
    piece = COLOURS[rng.integers(3, size=(1, ANGLES, FINER * RINGS))]
    one, turned = (share_colours("piece", p, TABLE, 3) for p in (piece, np.roll(piece, 5, 1)))
    assert one.shape == (1, PIECE_ZONES * 3) and (one == turned).all()
    piece[:, :, -1] = RED
    assert (share_colours("piece", piece, TABLE, 3)[0, :6] == one[0, :6]).all()


def test_places_that_nobody_asks_for_take_no_time():
    none = np.zeros((0, SIDE, SIDE, 3), np.float32)
    assert share_colours("site", none, TABLE, OWN_COLOURS).shape == (0, 4 * OWN_COLOURS)
