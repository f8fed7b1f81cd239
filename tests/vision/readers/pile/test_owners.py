"""A piece near a border is the site's on which it stands, whichever window shows it."""

import math

import numpy as np
import pytest

from vision.evidence.site_evidence import SiteEvidence
from vision.plan import Plan, Site
from vision.readers.pile.border_pieces import Borders, Seen, less_foreign, settled

LEFT, RIGHT = ((0, 0), (40, 0), (40, 60), (0, 60)), ((40, 0), (80, 0), (80, 60), (40, 60))
STONE = ("stone",)


@pytest.fixture(scope="module")
def borders():
    return Borders(Plan("any", (80, 60), (Site("left", LEFT), Site("right", RIGHT))))


def evidence(empty, stone, other):
    return SiteEvidence((((), math.log(empty)), (STONE, math.log(stone))), math.log(other))


def chances(e):
    return {c: math.exp(p) for c, p in e.options}


@pytest.mark.parametrize(("x", "owner"), [(30, "left"), (36, "left"), (44, "right"), (55, "right")])
def test_a_stone_is_where_its_foot_is(borders, x, owner):
    seen = [Seen("left", {STONE: 0.85}, np.array([x, 30.0]))]
    told = settled(
        borders, {"left": evidence(0.02, 0.85, 0.13), "right": evidence(0.5, 0.1, 0.4)}, seen
    )
    if owner == "left":
        assert chances(told["left"])[STONE] > 0.8
    else:
        assert told["left"].best == () and chances(told["left"]).get(STONE, 0) < 0.01
        assert told["right"].best == STONE and math.exp(told["right"].other) < 0.1
    for e in told.values():
        assert sum(chances(e).values()) + math.exp(e.other) == pytest.approx(1, abs=0.01)


def test_on_the_border_itself_both_are_likely(borders):
    seen = [Seen("left", {STONE: 0.9}, np.array([40.0, 30.0]))]
    told = settled(
        borders, {"left": evidence(0.05, 0.9, 0.05), "right": evidence(0.9, 0.05, 0.05)}, seen
    )
    assert 0.3 < chances(told["left"])[STONE] < 0.7 and 0.3 < chances(told["right"])[STONE] < 0.7


def test_what_lies_over_the_border_does_not_push_away_what_lies_there(borders):
    sure = SiteEvidence(((("card",), math.log(0.99)),), math.log(0.005))
    told = settled(
        borders,
        {"left": evidence(0.1, 0.8, 0.1), "right": sure},
        [Seen("left", {STONE: 0.8}, np.array([44.0, 30.0]))],
    )
    assert told["right"] == sure and told["left"].best == ()


def test_a_neighbour_seen_is_nothing_foreign():
    e = evidence(0.38, 0.02, 0.6)
    assert math.exp(less_foreign(e, 0.01).other) < 0.01 and less_foreign(e, 0.01).best == ()
    assert math.exp(less_foreign(e, 1.0).other) == pytest.approx(0.6)
