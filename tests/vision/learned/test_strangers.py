"""Pieces that lie where they do not belong: a tree's stump on a sea, a ship on a field of a track."""

import math

import numpy as np
import pytest

from vision.learned.findings import Finding, PileMap, SiteMap
from vision.learned.groups import FOREIGN, group_forms, group_sites
from vision.learned.reader import share_strange
from vision.plan import parse_plan


def square_at(x: float, y: float, side: float) -> list[list[float]]:
    return [[x, y], [x + side, y], [x + side, y + side], [x, y + side]]


SITES = (
    ("land", "cluster", 0, 0, 60),
    ("grove", "pile", 20, 20, 14),  # on the land
    ("field", "pile", 100, 20, 30),
)
PLAN = parse_plan(
    {
        "game": "drawn",
        "size": [180, 120],
        "piece": [
            {"kind": "man", "size": 14, "height": 2, "shape": "disc"},
            {"kind": "stump", "size": 12, "height": 2},
            {"kind": "marker", "size": 10, "height": 6, "shape": "disc"},
        ],
        "site": [
            {"id": i, "reads": reads, "outline": square_at(x, y, side)}
            for i, reads, x, y, side in SITES
        ],
    },
    "drawn",
)
GROUPS = group_sites(
    PLAN, [{}, {"land": ("man", "man"), "grove": ("stump",), "field": ("marker",)}]
)
FORMS, HOMES = group_forms(PLAN, GROUPS), SiteMap(PLAN)
PILES = PileMap(PLAN, GROUPS, FORMS)


def found_at(x: float, y: float, chance: float = 0.9, **kinds: float) -> Finding:
    at = np.array([x, y], float)
    return Finding(0, at, at, chance, kinds, 0)


def test_what_covers_a_pile_is_sought_anywhere_too():
    assert {k for f in FORMS for k in f.strays} == {"stump"}
    assert {k for f in FORMS for k in f.kinds} == {"man", "stump", "marker"}


def test_where_most_kinds_lie_on_piles_only_loose_ones_are_sought():
    layouts = [{"land": ("man",), "grove": ("stump",)}, {"grove": ("slab",)}]
    slab = {"kind": "slab", "size": 13, "height": 2}
    plan = parse_plan(
        {
            "game": "drawn",
            "size": [180, 120],
            "piece": [{"kind": "man", "size": 14}, {"kind": "stump", "size": 12}, slab],
            "site": [
                {"id": i, "reads": reads, "outline": square_at(x, y, side)}
                for i, reads, x, y, side in SITES
            ],
        },
        "drawn",
    )
    forms = group_forms(plan, group_sites(plan, layouts))
    assert {k for f in forms for k in f.told_kinds} == {"man"}


@pytest.mark.parametrize("kind", ["man", "stump"])
def test_a_piece_on_a_pile_where_it_does_not_belong_is_a_stranger(kind):
    strange = PILES.find_strangers([found_at(110, 30, **{kind: 1.0})], HOMES)
    assert strange == {"field": pytest.approx(0.9)}


@pytest.mark.parametrize(
    "piece",
    [
        found_at(110, 30, marker=1.0),  # on its track
        found_at(27, 27, man=1.0),  # on a land's grove
        found_at(150, 90, stump=1.0),  # on no pile
    ],
)
def test_a_piece_where_it_belongs_or_on_no_pile_is_none(piece):
    assert max(PILES.find_strangers([piece], HOMES).values(), default=0.0) == 0


def test_the_chance_of_a_stranger_is_that_of_the_kinds_that_do_not_belong():
    strange = PILES.find_strangers([found_at(110, 30, marker=0.75, man=0.25)], HOMES)
    assert strange["field"] == pytest.approx(0.9 * 0.25)


def test_what_lies_on_its_own_pile_is_read_there_and_not_counted_on_the_land():
    (beside,) = PILES.leave_piled([found_at(27, 29, stump=1.0), found_at(50, 50, stump=1.0)])
    assert tuple(beside.foot) == (50, 50) and beside.chance == 0.9
    (man,) = PILES.leave_piled([found_at(27, 27, stump=0.4, man=0.6)])
    assert man.kinds == {"man": pytest.approx(1.0)} and man.chance == pytest.approx(0.54)


def test_a_stranger_makes_a_pile_something_else():
    logs = np.log(np.array([0.98, 0.01, 0.01]))
    told = np.exp(share_strange(logs, 0.9))
    assert told.sum() == pytest.approx(1) and told[FOREIGN] == pytest.approx(0.9, abs=0.01)
    assert np.array_equal(share_strange(logs, 0.0), logs)
    assert math.isfinite(share_strange(logs, 1.0).min())
