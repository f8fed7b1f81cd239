"""How sharp the end of a board is seen, from how colours change across its side."""

from __future__ import annotations

import numpy as np
import pytest

from vision.edges import lopsided


def across(*flanks):
    """A side whose colour changes at each (place, strength), as a blurred camera shows it: (stations, steps, 3)"""
    steps = np.arange(-6, 7)[:, None]
    change = sum(strength * np.exp(-0.5 * ((steps - at) / 1.2) ** 2) for at, strength in flanks)
    return np.tile(change * [1.0, 0.8, 0.5], (20, 1, 1))


def test_a_plain_edge_ends_where_it_is_plainest():
    assert lopsided(across((0.0, 10.0))) == pytest.approx(0.0, abs=0.02)
    assert abs(lopsided(across((0.3, 10.0)))) < 0.35


def test_a_bevel_or_dark_rim_leaves_open_where_the_board_ends():
    assert lopsided(across((0.0, 10.0), (2.5, 7.0))) > 0.5
    assert lopsided(across((0.0, 10.0), (-2.5, 7.0))) < -0.5
