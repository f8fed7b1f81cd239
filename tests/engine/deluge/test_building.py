"""D34 to D43: building and reproduction."""

import pytest

from tests.engine.support.deluge_positions import all_done, at, do, position, refused

RICH = "stock yellow wood 14 gold 4 bronze 4 marble 2 granite 1\nphase building\n"


def test_where_and_when():
    """D34: in turn order, on land one rules, ships on sea that borders it; no trade any more."""
    s = position("layout eurasia-5 people:yellow africa-3 people:blue\nstock blue wood 10\n" + RICH)
    assert "D34" in refused(s, "yellow: build mine africa-3 pay wood 10")
    assert "D34" in refused(s, "yellow: build mine eurasia-2 pay wood 10")
    assert "D34" in refused(s, "yellow: build dolmen mediterranean pay wood 10")
    assert "D34" in refused(s, "yellow: build ship south-atlantic")
    assert "D34" in refused(s, "yellow: build ship eurasia-5")
    assert {"D9", "D34"} <= set(refused(s, "blue: build mine africa-3 pay wood 10"))
    assert {"D8", "D34"} <= set(refused(s, "yellow: trade yellow wood 1 for blue wood 1"))
    assert refused(s, "yellow: build ship mediterranean") == []


def test_ships():
    """D35: four wood; among enemy ships it fights at once."""
    s = position(
        "layout eurasia-5 people:yellow mediterranean ship:blue ship:blue\nstock yellow "
        "wood 7 gold 9\nphase building\n"
    )
    assert refused(s, "yellow: build ship mediterranean pay gold 4") == ["D35"]
    s = do(s, "yellow: build ship mediterranean pay wood 4")
    assert at(s, "mediterranean") == "ship:blue 1" and s.stock(0)["wood"] == 3
    assert refused(s, "yellow: build ship north-indian") == ["D35"]


@pytest.mark.parametrize(
    "pay",
    ["wood 10", "wood 4 gold 4", "wood 2 gold 2 bronze 2", "wood 1 gold 1 bronze 1 granite 1"],
)
@pytest.mark.parametrize("what", ["mine", "soldier", "dolmen"])
def test_four_prices(what, pay):
    """D36"""
    s = position("layout eurasia-5 people:yellow\n" + RICH)
    assert refused(s, f"yellow: build {what} eurasia-5 pay {pay}") == []


@pytest.mark.parametrize(
    "pay",
    [
        "wood 9",
        "wood 4 gold 3",
        "wood 4 marble 4",
        "wood 3 gold 3 bronze 3",
        "wood 1 gold 1 bronze 1 marble 1 granite 1",
        "gold 10",
    ],
)
def test_other_prices(pay):
    """D36"""
    s = position("layout eurasia-5 people:yellow\n" + RICH)
    assert refused(s, f"yellow: build mine eurasia-5 pay {pay}") == ["D36"]


def test_three_mines():
    """D37"""
    s = position("layout eurasia-5 people:yellow mine mine\n" + RICH)
    s = do(s, "yellow: build mine eurasia-5 pay wood 10")
    assert refused(s, "yellow: build mine eurasia-5 pay gold 4 bronze 4") == ["D37"]


def test_one_dolmen():
    """D38: two points for its builder, also when another takes the cell."""
    s = position("layout eurasia-5 people:yellow eurasia-2 people:yellow dolmen:blue\n" + RICH)
    s = do(s, "yellow: build dolmen eurasia-5 pay wood 10")
    assert s.scores() == {"yellow": 2, "blue": 2}
    assert refused(s, "yellow: build dolmen eurasia-5 pay gold 4 bronze 4") == ["D38"]
    assert refused(s, "yellow: build dolmen eurasia-2 pay gold 4 bronze 4") == ["D38"]


def test_soldiers():
    """D39: only where one rules, never a sixth."""
    s = position(
        (
            "layout eurasia-5 people:yellow soldier:yellow soldier:yellow soldier:yellow "
            "soldier:yellow\n"
        )
        + RICH
    )
    assert {"D34", "D39"} <= set(refused(s, "yellow: build soldier eurasia-2 pay wood 10"))
    s = do(s, "yellow: build soldier eurasia-5 pay wood 10")
    assert set(refused(s, "yellow: build soldier eurasia-5 pay gold 4 bronze 4")) == {"D39", "D2"}


@pytest.mark.parametrize("before, after", [(1, 1), (2, 3), (3, 4), (4, 6), (5, 7)])
def test_births(before, after):
    """D40: every two of a colour get one; people, slaves, fanatics; not soldiers, not ships."""
    s = position(
        "layout eurasia-5 soldier:yellow soldier:yellow "
        + "people:yellow " * before
        + "people:blue " * before
        + "fanatic " * min(before, 2)
        + "arctic ship:blue ship:blue\nphase building\n"
    )
    fanatics = {1: 1, 2: 3}[min(before, 2)]
    s = all_done(s)
    assert (
        at(s, "eurasia-5")
        == f"people:yellow {after} people:blue {after} soldier:yellow 2 fanatic {fanatics}"
    )
    assert at(s, "arctic") == "ship:blue 2"
    assert s.cell("eurasia-5").slaves() == (0, after, 0, 0)


def test_what_is_born_is_put_there():
    """D40: the to-do says what and where."""
    s = all_done(
        position(
            "layout eurasia-5 people:yellow people:yellow people:yellow "
            "people:yellow\nphase building\n"
        )
    )
    assert [(str(t.text), t.sites) for t in s.todo()] == [
        ("born on eurasia-5: put 2 yellow pawns there", ("eurasia-5",))
    ]


@pytest.mark.parametrize("covered, after", [(1, 3), (2, 1), (3, 0)])
def test_forests(covered, after):
    """D41: two grow a third, one grows nothing, never more than three."""
    line = "layout eurasia-1 people:yellow " + " ".join(
        f"eurasia-1.forest{n + 1} bare" for n in range(covered)
    )
    s = all_done(position(line + "\nphase building\n"))
    assert s.forests("eurasia-1") == after and s.forests("eurasia-2") == 3


def test_pawns_run_out():
    """D42: cells in the order of the plan; fanatics after all players, and no other colour's box
    matters."""
    s = position(
        "layout eurasia-1 "
        + "people:yellow " * 8
        + "eurasia-2 "
        + "people:yellow " * 8
        + "eurasia-3 "
        + "people:yellow " * 7
        + "africa-3 people:blue people:blue\nphase building\n"
    )
    s = all_done(s)
    assert [s.cell(f"eurasia-{n}").people[0] for n in (1, 2, 3)] == [10, 8, 7]
    assert at(s, "africa-3") == "people:blue 3"


def test_takeover_after_births():
    """D43: three fanatics against one soldier and a pawn, four make six."""
    s = all_done(
        position("layout eurasia-2 soldier:yellow people:yellow fanatic fanatic\nphase building\n")
    )
    assert at(s, "eurasia-2") == "fanatic 3" and s.cell("eurasia-2").taken and s.lost[0] == 1
