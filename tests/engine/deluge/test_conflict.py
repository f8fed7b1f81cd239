"""D17 to D22: soldiers, slaves, civil war, ships."""

import pytest

from engine.deluge.cell import fight_out
from tests.engine.support.deluge_positions import at, do, position, refused


@pytest.mark.parametrize(
    "before, after",
    [
        ((3, 2, 0, 0), (1, 0, 0, 0)),
        ((2, 2, 0, 0), (0, 0, 0, 0)),
        ((4, 1, 2, 0), (2, 0, 0, 0)),
        ((2, 2, 5, 0), (0, 0, 3, 0)),
        ((0, 3, 0, 0), (0, 3, 0, 0)),
        ((3, 3, 1, 1), (0, 0, 0, 0)),
    ],
)
def test_one_for_one(before, after):
    """D17, D20, D21: with three colours one of each at a time, until at most one colour is left."""
    assert fight_out(before) == after


def test_three_against_two():
    """D17"""
    s = position(
        "layout eurasia-5 soldier:yellow soldier:yellow soldier:yellow eurasia-2 "
        "soldier:blue soldier:blue people:blue\n"
        "yellow: move eurasia-5>eurasia-2 soldier 3\n"
    )
    assert at(s, "eurasia-2") == "people:blue 1 soldier:yellow 1"
    assert [str(t.text) for t in s.todo()] == [
        "soldiers fight on eurasia-2: take off 2 yellow soldiers, 2 blue soldiers"
    ]


def test_the_taken_serve():
    """D18: people become slaves and keep their colour; mines serve the new ruler; a dolmen's points
    stay."""
    s = position(
        "layout eurasia-5 soldier:yellow people:yellow eurasia-2 people:blue people:blue "
        "mine dolmen:blue\n"
        "yellow: move eurasia-5>eurasia-2 soldier 1\n"
    )
    assert at(s, "eurasia-2") == "people:blue 2 soldier:yellow 1 dolmen:blue 1 mine 1"
    assert s.scores() == {"yellow": 0, "blue": 2}
    s = do(s, "yellow: done", "blue: done")
    assert refused(s, "yellow: harvest eurasia-2 gold 2") == []
    assert "D23" in refused(do(s, "yellow: done"), "blue: harvest eurasia-2 gold 1")


def test_slaves_are_freed():
    """D19: by their own soldiers, and when no soldiers are left."""
    s = position(
        "layout eurasia-2 soldier:yellow people:blue people:yellow eurasia-5 "
        "soldier:blue soldier:blue\nstarter blue\n"
    )
    t = do(s, "blue: move eurasia-5>eurasia-2 soldier 2")
    assert at(t, "eurasia-2") == "people:yellow 1 people:blue 1 soldier:blue 1"
    assert refused(t, "blue: move eurasia-2>eurasia-1 people 1") == []
    assert "D16" in refused(do(t, "blue: done"), "yellow: move eurasia-2>eurasia-1 people 1")
    s = position(
        "layout eurasia-2 soldier:yellow people:blue eurasia-5 people:yellow\n"
        "yellow: move eurasia-2>eurasia-5 soldier 1\nyellow: done\n"
    )
    assert refused(s, "blue: move eurasia-2>eurasia-1 people 1") == []


def test_civil_war():
    """D20: people of several colours without soldiers; also when the soldiers that held them fall
    in a battle."""
    s = position(
        "layout eurasia-2 soldier:yellow people:yellow people:blue people:blue "
        "people:blue eurasia-1 soldier:green "
        "eurasia-5 people:yellow\n",
        "yellow blue green",
    )
    t = do(s, "yellow: move eurasia-2>eurasia-5 soldier 1")
    assert at(t, "eurasia-2") == "people:blue 2" and t.ruler("eurasia-2") == 1
    t = do(s, "yellow: done", "blue: done", "green: move eurasia-1>eurasia-2 soldier 1")
    assert at(t, "eurasia-2") == "people:blue 2"
    assert [str(x.text) for x in t.todo()] == [
        "soldiers fight on eurasia-2: take off a yellow soldier, a green soldier",
        "civil war on eurasia-2: take off a yellow pawn, a blue pawn",
    ]


def test_equals_vanish():
    """D21: the cell is then nobody's."""
    s = position(
        "layout eurasia-2 soldier:yellow people:yellow people:blue eurasia-5 people:yellow\n"
        "yellow: move eurasia-2>eurasia-5 soldier 1\n"
    )
    assert at(s, "eurasia-2") == "" and s.ruler("eurasia-2") is None
    assert refused(s, "yellow: move eurasia-5>eurasia-2 people 1") == []


def test_sea_battle():
    """D22: three against two leave one, equal ones vanish."""
    s = position(
        "layout arctic ship:yellow ship:yellow ship:yellow north-atlantic ship:blue ship:blue\n"
    )
    assert at(do(s, "yellow: sail arctic>north-atlantic 3"), "north-atlantic") == "ship:yellow 1"
    t = do(s, "yellow: sail arctic>north-atlantic 2")
    assert at(t, "north-atlantic") == "" and at(t, "arctic") == "ship:yellow 1"


def test_a_fight_may_let_fanatics_take_over():
    """D17, D32: soldiers that fall leave fewer pawns than fanatics."""
    s = position(
        "layout eurasia-5 soldier:yellow eurasia-2 soldier:blue people:blue fanatic fanatic\n"
        "yellow: move eurasia-5>eurasia-2 soldier 1\n"
    )
    assert at(s, "eurasia-2") == "fanatic 2" and s.cell("eurasia-2").taken
