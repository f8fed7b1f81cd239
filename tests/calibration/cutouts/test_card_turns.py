"""Whether the cards of one part of the board lie turned against those of another."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from calibration.cutouts.card_turns import kinds_told_by_turn, tell_turns
from calibration.cutouts.specimens import Specimen, align_quarters
from vision.plan import parse_plan

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


WATER = parse_plan(
    {
        "game": "water",
        "size": [200, 100],
        "site": [
            {"id": "F1", "reads": "cluster", "outline": [[5, 5], [50, 5], [50, 50], [5, 50]]},
            {"id": "P1", "reads": "pile", "outline": [[60, 5], [105, 5], [105, 50], [60, 50]]},
        ],
        "piece": [
            *({"kind": k, "size": [44, 44], "height": 1} for k in ("02", "20", "12")),
            *({"kind": f"long {k}", "size": [40, 44], "height": 1} for k in ("02", "20")),
            *({"kind": f"round {k}", "size": 44, "height": 1} for k in ("02", "20")),
            {"kind": "turned 02", "size": [44, 44], "looks": "02", "turned": 180},
        ],
    }
)


def specimen_of(kind, look, site="F1"):
    clear = np.ones(look.shape[:2], np.float32)
    return Specimen(0, site, kind, np.zeros(2), 0.0, 0.0, look.astype(np.float32), clear)


def shown_once(*kinds, site="F1"):
    """A card of each kind, as the samplers show it"""
    rng = np.random.default_rng(3)
    return [specimen_of(k, card(rng, k[-2:], False), site) for k in kinds]


def shown_turned(one, other, quarters):
    """Two kinds of which one is printed as the other is, turned"""
    look = card(np.random.default_rng(3), "02", False)
    return [specimen_of(one, look), specimen_of(other, np.rot90(look, quarters))]


@pytest.mark.parametrize("site, way", [("F1", "cluster"), ("P1", "pile")])
def test_cards_printed_alike_but_for_half_a_turn_are_told_by_how_they_lie(site, way):
    square = shown_once("02", "12", "20", site=site)
    assert kinds_told_by_turn(WATER, square) == {(way, (44.0, 44.0), k) for k in ("02", "20")}
    long = shown_once("long 02", "long 20", site=site)
    kinds = ("long 02", "long 20")
    assert kinds_told_by_turn(WATER, long) == {(way, (40.0, 44.0), k) for k in kinds}


def test_square_cards_are_told_by_a_quarter_of_a_turn_too():
    told = kinds_told_by_turn(WATER, shown_turned("02", "12", 1))
    assert told == {("cluster", (44.0, 44.0), k) for k in ("02", "12")}
    assert not kinds_told_by_turn(WATER, shown_turned("long 02", "long 20", 1))


def test_cards_of_other_prints_are_not_told_by_how_they_lie():
    assert not kinds_told_by_turn(WATER, shown_once("02", "12"))


def test_cards_with_a_little_in_common_when_turned_are_not_told_by_how_they_lie():
    noise = np.random.default_rng(3).normal(0, 1, (2, SIDE, SIDE, 3))
    one, other = (cv2.GaussianBlur(v, (0, 0), 4) for v in noise)
    assert not kinds_told_by_turn(
        WATER, [specimen_of("02", one), specimen_of("12", np.rot90(one, 2) + other)]
    )


def test_cards_that_look_alike_as_they_lie_are_not_told_by_how_they_lie():
    rng = np.random.default_rng(3)
    assert not kinds_told_by_turn(
        WATER, [specimen_of(k, card(rng, "11", False)) for k in ("02", "20")]
    )


def test_discs_and_kinds_that_are_others_turned_say_nothing_of_how_cards_lie():
    assert not kinds_told_by_turn(WATER, shown_turned("round 02", "round 20", 2))
    assert not kinds_told_by_turn(WATER, shown_turned("02", "turned 02", 2))


def test_cards_on_a_pile_are_not_compared_with_those_on_the_board():
    assert not kinds_told_by_turn(WATER, shown_once("02") + shown_once("20", site="P1"))


@pytest.mark.parametrize(("turned", "one_way"), [("12", True), ("02", False)])
def test_only_cards_that_are_told_by_it_say_whether_their_size_lies_one_way_up(turned, one_way):
    """A desert of faint print may be taken for one turned by a quarter"""
    rng, size = np.random.default_rng(4), ("cluster", (44.0, 44.0))
    shown = ("02", False), ("20", False), ("12", False), (turned, True)
    some = [specimen_of(k, np.log(np.maximum(card(rng, k, way), 1))) for k, way in shown]
    told = {(*size, "02"), (*size, "20")}
    assert (size in align_quarters(WATER, some, told)) == one_way
