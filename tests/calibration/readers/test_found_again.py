"""A stone of which few are shown is looked for all over its site by the one whose rim is
clearest."""

from __future__ import annotations

from types import SimpleNamespace

import cv2
import numpy as np
import pytest
from calibration.readers.pile.cut_out import difference, edge_strength
from calibration.readers.pile.exemplars import Found, found_again

SCALE, SIDE = 2.0, 120
WINDOWS = SimpleNamespace(scale=SCALE, half=SIDE / SCALE / 2, side=SIDE)


def found(stone, shadow, offset, contents=("tide",)):
    """A window of white ground with a stone, its sign and a shadow at mm off the middle; offset:
    where the stone is thought to lie"""
    ground = np.full((SIDE, SIDE, 3), 200, np.uint8)
    window = ground.copy()
    x, y = (round(v * SCALE + SIDE / 2) for v in shadow)
    cv2.circle(window, (x, y), 14, (120, 120, 120), -1)
    window = cv2.GaussianBlur(window, (0, 0), 4)
    x, y = (round(v * SCALE + SIDE / 2) for v in stone)
    cv2.circle(window, (x, y), 12, (225, 225, 225), -1)
    cv2.circle(window, (x, y), 12, (60, 60, 60), 2)
    cv2.line(window, (x - 6, y - 2), (x + 6, y + 3), (40, 120, 40), 3)
    seen, bare = (
        np.log(cv2.GaussianBlur(w, (0, 0), 1).astype(np.float32)) for w in (window, ground)
    )
    edges = np.maximum(edge_strength(seen) - edge_strength(bare), 0)
    return Found(
        contents,
        (12.0, 12.0),
        True,
        "ebb1",
        2,
        seen,
        difference(seen, bare),
        edges,
        np.zeros((SIDE, SIDE), np.float32),
        np.array(offset, float),
        0.0,
    )


def test_a_stone_taken_for_its_shadow_is_found_again_by_the_other_one():
    clear = found((2, 3), (10, 12), (2, 3))
    mistaken = found((-6, -4), (6, 9), (6, 9))
    found_again([(WINDOWS, [clear]), (WINDOWS, [mistaken])])
    assert clear.offset == pytest.approx((2, 3))
    assert np.linalg.norm(mistaken.offset - (-6, -4)) < 2.0  # the rest is match()'s


def test_a_stone_that_lies_where_it_was_thought_stays_there():
    stones = [found((2, 3), (10, 12), (2, 3)), found((-6, -4), (6, 9), (-5.5, -4))]
    found_again([(WINDOWS, stones)])
    assert stones[1].offset == pytest.approx((-5.5, -4))
