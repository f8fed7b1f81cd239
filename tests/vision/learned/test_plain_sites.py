"""Sites that look as when they are empty: nothing more is asked of them."""

import numpy as np
import pytest

from vision.learned.groups import EMPTY
from vision.learned.network import square_axes
from vision.learned.plain_sites import average_cells, differ_from_empty, plain_logs


def test_a_site_differs_where_a_corner_of_it_does():
    empty = np.full((64, 96, 3), 4.5, np.float32)
    seen = empty.copy()
    seen[12:16, 40:44, 2] += 0.3  # in the second site's corner, of one colour
    off = average_cells(seen) - average_cells(empty)
    at, axes = np.array([[15.5, 31.5], [55.5, 31.5]]), square_axes(np.full(2, 40.0))
    assert differ_from_empty(off, at, axes).max(1) == pytest.approx([0.0, 0.3], abs=0.1)


def test_noise_differs_little():
    rng = np.random.default_rng(0)
    empty = np.full((64, 64, 3), 4.5, np.float32)
    noise = rng.normal(0, 0.03, empty.shape).astype(np.float32)
    off = average_cells(empty + noise) - average_cells(empty)
    axes = square_axes(np.array([50.0]))
    assert differ_from_empty(off, np.array([[31.5, 31.5]]), axes).max() < 0.04


def test_what_is_plain_is_told_surely():
    chances = np.exp(plain_logs(40))
    assert chances.argmax() == EMPTY and chances.sum() == pytest.approx(1, abs=1e-4)
