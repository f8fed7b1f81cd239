"""Of cards, how they look where nothing lies on them: for every group that tells two at least."""

import numpy as np
import pytest

from calibration.learned.card_looks import LOOKS_OF_CARD, draw_card_banks
from calibration.learned.compose import Look
from vision.learned.cards import CARD_SAMPLES
from vision.learned.groups import group_sites
from vision.plan import parse_plan

PLAN = parse_plan(
    {
        "game": "drawn",
        "size": [200, 100],
        "piece": [
            {"kind": "field", "size": [60, 40], "height": 1},
            {"kind": "forest", "size": [60, 40], "height": 1},
            {"kind": "cube", "size": [9, 9], "height": 9},
            {"kind": "tile", "size": [20, 20], "height": 2},
            {"kind": "other", "size": [20, 20], "height": 2},
        ],
        "site": [
            {"id": "F1", "reads": "cluster", "outline": [[10, 10], [75, 10], [75, 55], [10, 55]]},
            {"id": "P1", "reads": "pile", "outline": [[100, 10], [122, 10], [122, 32], [100, 32]]},
        ],
    }
)
LAYOUTS = [{}, {"F1": ("field", "cube"), "P1": ("tile",)}, {"F1": ("forest",), "P1": ("other",)}]
GROUPS = group_sites(PLAN, LAYOUTS)


def look_of(kind, value, lies="upright"):
    """Of one colour, at 2 pixels a millimetre"""
    piece = PLAN.pieces[kind]
    w, h = (round(2 * v) for v in piece.footprint)
    patch = np.full((h, w, 3), value, np.float32)
    return Look(piece, patch, np.ones((h, w)), np.zeros(3), 2.0, lies)


@pytest.fixture
def kind_looks():
    return {
        "field": [look_of("field", v) for v in (4.0, 4.1)],
        "forest": [look_of("forest", 3.0)] * (LOOKS_OF_CARD + 3),
        "cube": [look_of("cube", 5.0, "any")],
        "tile": [look_of("tile", 5.0)],
        "other": [look_of("other", 4.0)],
    }


def test_cards_are_drawn_as_they_look_by_the_class_that_they_are(kind_looks):
    [(group, bank)] = draw_card_banks(PLAN, GROUPS, kind_looks, 1.6).items()
    assert GROUPS[group].ids == ("F1",), "piles show no cards"
    [cards] = bank.looks
    assert cards.pictures.shape[1:] == (round(40 * CARD_SAMPLES / 60), CARD_SAMPLES, 3)
    assert not cards.quarters
    told = {
        GROUPS[group].classes[c]: set(cards.pictures[cards.classes == c].mean((1, 2, 3)).round(2))
        for c in bank.known_classes()
    }
    assert told == {("field",): {np.float32(4.0), np.float32(4.1)}, ("forest",): {np.float32(3.0)}}
    assert (cards.classes == GROUPS[group].classes.index(("forest",))).sum() == LOOKS_OF_CARD


def test_a_card_alone_is_not_told_from_others(kind_looks):
    del kind_looks["field"]
    assert draw_card_banks(PLAN, GROUPS, kind_looks, 1.6) == {}


def test_cards_that_lie_any_way_round_are_kept_apart(kind_looks):
    kind_looks["field"] = [look_of("field", 4.0, "quarters")]
    [bank] = draw_card_banks(PLAN, GROUPS, kind_looks, 1.6).values()
    assert sorted(v.quarters for v in bank.looks) == [False, True]


def test_cards_are_no_finer_than_the_canvas(kind_looks):
    [bank] = draw_card_banks(PLAN, GROUPS, kind_looks, 0.2).values()
    assert bank.samples == 0.2 and bank.looks[0].pictures.shape[1:3] == (8, 12)
