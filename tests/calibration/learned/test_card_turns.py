"""Whether the cards of one part of the board lie turned against those of another."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from calibration.learned.card_turns import tell_turns

SIDE = 88


def artwork_of(kinds):
    """As plans say it: "water:02" shows water, 0 and 2, "tile:war/trade" war and trade"""
    return {
        k: ("water", *k[-2:]) if k.startswith("water") else tuple(k.partition(":")[2].split("/"))
        for k in kinds
    }


def card(rng, ends, turned):
    """(SIDE, SIDE, 3): as many waves at its upper and lower end as `ends` says, a millimetre off,
    in some light"""
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


@pytest.mark.parametrize(
    "left, right",
    [
        (["02", "22", "12"], ["01", "10", "11", "20", "21"]),  # none is shown on both sides
        (["02", "12", "11"], ["02", "11", "21", "10"]),
        (["22", "01", "11"], ["20", "21", "12", "10", "11", "02"]),  # one tells
        (["12", "22"], ["20", "01"]),
    ],
)
def test_cards_turned_on_one_side_are_told_by_their_kinds(left, right):
    rng = np.random.default_rng(3)
    kinds = [f"water:{k}" for k in (*left, *right)]
    groups = ["L"] * len(left) + ["R"] * len(right)
    for turned in (False, True):
        patches = np.stack(
            [card(rng, k, turned and g == "R") for k, g in zip((*left, *right), groups)]
        ).astype(np.float32)
        assert tell_turns(patches, kinds, groups, True, artwork_of(kinds)) == {
            "L": 0,
            "R": 2 if turned else 0,
        }


def tile(rng, kind, covered):
    """(SIDE, SIDE, 3): a large sign and the small one of the other side; covered: pieces on it"""
    large, small = kind.split(":")[1].split("/")
    picture = np.full((SIDE, SIDE, 3), 110, np.float32)
    cv2.rectangle(picture, (2, 2), (SIDE - 3, SIDE - 3), (235, 235, 235), 3)
    for sign, (x, y), r in ((large, (40, 38), 22), (small, (72, 72), 9)):
        if sign == "war":
            cv2.line(picture, (x - r, y - r), (x + r, y + r), (235, 235, 235), max(r // 4, 2))
            cv2.line(picture, (x - r, y + r), (x + r, y - r), (235, 235, 235), max(r // 4, 2))
        elif sign in ("trade", "culture"):
            cv2.circle(
                picture, (x, y), r, (235, 235, 235), max(r // 4, 2) if sign == "trade" else -1
            )
        elif sign == "agriculture":
            cv2.line(picture, (x, y - r), (x, y + r), (235, 235, 235), max(r // 2, 2))
        else:
            cv2.rectangle(picture, (x - r, y - r), (x + r, y + r), (235, 235, 235), max(r // 4, 2))
    for _ in range(covered):
        x, y = rng.integers(10, SIDE - 26, 2)
        picture[y : y + 16, x : x + 16] = rng.uniform(0, 255, 3)
    return picture * rng.uniform(0.8, 1.1) + rng.normal(0, 3, picture.shape)


@pytest.mark.parametrize("seed", range(4))
def test_tiles_with_a_sign_in_common_may_look_alike(seed):
    rng = np.random.default_rng(seed)
    signs = ("agriculture", "trade", "culture", "politics", "war")
    kinds = [f"tile:{a}/{b}" for a in signs for b in signs if a != b]
    table = kinds * 2
    patches = np.stack(
        [tile(rng, k, n % 3) for n, k in enumerate(table)] + [tile(rng, k, 0) for k in kinds[-2:]]
    ).astype(np.float32)
    groups = ["A"] * len(kinds) + ["B"] * len(kinds) + ["spare"] * 2
    assert tell_turns(patches, table + kinds[-2:], groups, True, artwork_of(kinds)) == {
        "A": 0,
        "B": 0,
        "spare": 0,
    }
