"""Whether the cards of one part of the board lie turned against those of another."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from vision.cluster_turns import turns_of

SIDE = 88


def card(rng, ends, turned):
    """(SIDE, SIDE, 3): as many waves at its upper and lower end as `ends` says, a millimetre off, in some light"""
    picture = np.full((SIDE, SIDE, 3), (150, 110, 40), np.float32)
    cv2.circle(picture, (SIDE // 2, SIDE // 2), 14, (120, 80, 20), -1)
    x = np.arange(14, SIDE - 14)
    for n, top in ((int(ends[0]), True), (int(ends[1]), False)):
        for row in range(n):
            y = 8 + 7 * row + 2 * np.sin(x / 3)
            line = np.stack([x, y if top else SIDE - y], -1).astype(np.int32)
            cv2.polylines(picture, [line], False, (220, 220, 200), 3)
    picture = np.rot90(picture, 2).copy() if turned else picture
    by = np.array([[1, 0, rng.uniform(-2, 2)], [0, 1, rng.uniform(-2, 2)]], np.float32)
    moved = cv2.warpAffine(picture, by, (SIDE, SIDE), borderMode=cv2.BORDER_REPLICATE)
    return moved * rng.uniform(0.8, 1.1) + rng.normal(0, 3, picture.shape)


@pytest.mark.parametrize("left, right", [(["02", "22", "12"], ["01", "10", "11", "20", "21"]),      # none is shown on both sides
                                         (["02", "12", "11"], ["02", "11", "21", "10"])])
def test_cards_turned_on_one_side_are_told_by_their_kinds(left, right):
    rng = np.random.default_rng(3)
    kinds = [f"water:{k}" for k in (*left, *right)]
    groups = ["L"] * len(left) + ["R"] * len(right)
    for turned in (False, True):
        patches = np.stack([card(rng, k, turned and g == "R") for k, g in zip((*left, *right), groups)]).astype(np.float32)
        assert turns_of(patches, kinds, groups, square=True) == {"L": 0, "R": 2 if turned else 0}
