"""D1 to D16, D54: the parts, the map, who goes where."""

import pytest

from engine.deluge.setup import set_up
from engine.game import BadText
from engine.plan import Plan
from tests.engine.support.deluge_positions import GAME, all_done, at, do, position, refused


def test_players_and_boxes():
    """D1: two to four players; the pawns of a kind in the box are the most there can be."""
    for seats in (["yellow"], ["yellow", "yellow"], ["yellow", "red"]):
        with pytest.raises(BadText):
            GAME.setup(seats)
    assert GAME.players == (2, 4)
    s = position("layout eurasia-5 " + "people:yellow " * 24 + "\nphase building\n")
    assert at(all_done(s), "eurasia-5") == "people:yellow 25"


def test_a_copys_own_box_counts():
    """D1: counts stand in the plan and can be set to the copy's own."""
    text = Plan.parse(
        plan_text().replace(
            'kind = "people:yellow"\ncount = 25', 'kind = "people:yellow"\ncount = 5'
        )
    )
    s = set_up(["yellow", "blue"], (), text)
    while s.phase != "building":
        if s.phase == "harvest" and s.turn == "yellow":
            s = do(s, "yellow: harvest eurasia-5 wood 3 gold 1")
        s = do(s, f"{s.turn}: done")
    assert at(all_done(s), "eurasia-5") == "people:yellow 5"


def plan_text():
    from importlib import resources

    return resources.files("engine.deluge").joinpath("plan.toml").read_text(encoding="utf-8")


def test_five_soldiers_eight_ships():
    """D2"""
    s = position(
        "layout eurasia-5 people:yellow "
        + "soldier:yellow " * 5
        + "mediterranean "
        + "ship:yellow " * 8
        + "\nstock yellow wood 20\nphase building\n"
    )
    assert "D2" in refused(s, "yellow: build soldier eurasia-5 pay wood 10")
    assert refused(s, "yellow: build ship mediterranean") == ["D2"]


def test_what_continents_and_islands_yield():
    """D3"""
    yields = {
        "america-1": "marble",
        "eurasia-1": "gold",
        "africa-1": "granite",
        "australia-1": "bronze",
        "atlantis": "marble",
        "mu": "gold",
        "easter-island": "bronze",
        "antarctica": "granite",
    }
    for cell, good in yields.items():
        s = position(f"layout {cell} people:yellow people:yellow\nphase harvest\n")
        assert refused(s, f"yellow: harvest {cell} {good} 1 wood 1") == []
        other = "gold" if good != "gold" else "marble"
        assert {"D3", "D25"} <= set(refused(s, f"yellow: harvest {cell} {other} 1"))
        assert s.forests(cell) == 3


def test_east_meets_west():
    """D4: a ship leaves the map in the east and is in the west; not so in the north."""
    s = position("layout north-pacific ship:yellow arctic ship:yellow coral-sea ship:yellow\n")
    assert refused(s, "yellow: sail coral-sea>mid-pacific 1") == []
    assert {"america-3", "eurasia-7"} <= s.world.touching["north-pacific"]
    assert "D10" in refused(s, "yellow: sail arctic>southern 1")


def test_set_up():
    """D5, D6: four people a player on the own centre; three forests and a natural mine a cell;
    other continents free."""
    s = position("", clear=False)
    assert s.layout() == {
        "eurasia-5": ("people:yellow",) * 4,
        "africa-3": ("people:blue",) * 4,
        "count0": ("counter",),
    }
    assert all(s.forests(c) == 3 and s.work(c)[2] == 1 for c in s.world.lands)
    assert s.ruler("america-4") is None
    assert GAME.new(["yellow", "blue"]) == s


def test_who_rules():
    """D7: soldiers, else people, else nobody; never slaves or fanatics; ships rule the sea."""
    s = position(
        "layout eurasia-1 soldier:blue people:yellow people:yellow eurasia-2 people:green fanatic "
        "eurasia-3 fanatic arctic ship:white\n",
        "yellow blue green white",
    )
    assert [s.ruler(c) for c in ("eurasia-1", "eurasia-2", "eurasia-3", "arctic", "eurasia-4")] == [
        1,
        2,
        None,
        3,
        None,
    ]


def test_phases_and_turns():
    """D8, D9: movement, harvest, trade, building; clockwise; the next round starts with the left
    neighbour."""
    s = position("layout eurasia-5 people:yellow\n", "yellow blue green")
    seen = []
    for _ in range(12):
        seen.append((s.phase, s.turn))
        s = do(s, f"{s.turn}: done")
    assert seen == [
        (p, t)
        for p in ("movement", "harvest", "trade", "building")
        for t in ("yellow", "blue", "green")
    ]
    assert (s.phase, s.turn, s.round) == ("movement", "blue", 2)
    assert refused(s, "yellow: done") == ["D9"]
    assert {"D8", "D9"} <= set(refused(s, "yellow: harvest eurasia-5 gold 1"))
    s = position("layout eurasia-5 people:yellow\nstarter blue\nphase trade\n", "yellow blue green")
    assert s.turn == "blue"
    assert do(s, "blue: done", "green: done").turn == "yellow"


def test_one_cell_a_pawn():
    """D10"""
    s = position("layout eurasia-5 people:yellow people:yellow soldier:yellow\n")
    assert "D10" in refused(s, "yellow: move eurasia-5>eurasia-1 people 1")
    assert "D10" in refused(s, "yellow: move eurasia-5>mediterranean people 1")
    assert "D10" in refused(s, "yellow: move eurasia-5>eurasia-2 people 3")
    s = do(s, "yellow: move eurasia-5>eurasia-2 people 1 soldier 1")
    assert refused(s, "yellow: move eurasia-2>eurasia-1 people 1") == ["D10"]
    assert refused(s, "yellow: move eurasia-2>eurasia-1 soldier 1") == ["D10"]
    assert refused(s, "yellow: move eurasia-5>eurasia-3 people 1") == []


def test_ships_move_one_sea():
    """D10"""
    s = position("layout arctic ship:yellow\n")
    assert "D10" in refused(s, "yellow: sail arctic>eurasia-1 1")
    s = do(s, "yellow: sail arctic>north-atlantic 1")
    assert refused(s, "yellow: sail north-atlantic>mid-atlantic 1") == ["D10"]


def test_over_sea():
    """D11: a ship on each sea cell; land and sea touch at both ends."""
    s = position(
        "layout eurasia-1 people:yellow soldier:yellow north-atlantic ship:yellow "
        "mid-atlantic ship:yellow\n"
    )
    assert (
        refused(
            s,
            "yellow: ferry eurasia-1>america-4 via north-atlantic mid-atlantic people 1 soldier 1",
        )
        == []
    )
    assert "D11" in refused(s, "yellow: ferry eurasia-1>america-4 via north-atlantic people 1")
    assert "D11" in refused(s, "yellow: ferry eurasia-1>america-4 via mid-atlantic people 1")
    assert refused(s, "yellow: ferry eurasia-1>eurasia-3 via arctic people 1") == ["D11", "D10"]
    assert "D11" in refused(s, "yellow: ferry eurasia-1>eurasia-3 via eurasia-2 people 1")
    assert "D10" in refused(s, "yellow: move eurasia-1>america-1 people 1")


def test_a_ship_ferries_or_moves():
    """D12: any number of pawns; one that ferried stays, one that moved ferries none of its
    owner's."""
    s = position(
        "layout eurasia-1 people:yellow people:yellow people:yellow north-atlantic "
        "ship:yellow ship:yellow\n"
    )
    s = do(
        s,
        "yellow: ferry eurasia-1>america-1 via north-atlantic people 2",
        "yellow: ferry eurasia-1>atlantis via north-atlantic people 1",
    )
    assert refused(s, "yellow: sail north-atlantic>arctic 2") == ["D12"]
    assert refused(s, "yellow: sail north-atlantic>arctic 1") == []
    s = position(
        "layout eurasia-1 people:yellow arctic ship:yellow\nyellow: sail arctic>north-atlantic 1\n"
    )
    assert set(refused(s, "yellow: ferry eurasia-1>america-1 via north-atlantic people 1")) == {
        "D12",
        "D11",
        "D10",
    }


def test_another_ship_agrees():
    """D12: also after it moved; ferrying others binds it to nothing."""
    s = position(
        "layout arctic ship:blue mid-atlantic ship:yellow eurasia-1 people:yellow "
        "africa-3 people:blue\nstarter blue\n"
        "blue: sail arctic>north-atlantic 1\nblue: done\n"
    )
    ferry = "yellow: ferry eurasia-1>america-4 via north-atlantic mid-atlantic people 1"
    assert "D12" in refused(s, ferry)
    assert refused(s, "blue: agree yellow arctic") == ["D12"]
    assert refused(s, "blue: agree blue north-atlantic") == ["D12"]
    s = do(s, "blue: agree yellow north-atlantic", ferry)
    assert "D12" in refused(s, "yellow: sail mid-atlantic>south-atlantic 1")  # the own ship ferried
    s = position(
        "layout arctic ship:blue eurasia-1 people:yellow\nblue: agree yellow arctic\n"
        "yellow: ferry eurasia-1>eurasia-3 via arctic people 1\nyellow: done\n"
    )
    assert refused(s, "blue: sail arctic>north-atlantic 1") == []


def test_only_soldiers_enter_anothers_land():
    """D13: and it comes to conflict at once."""
    s = position(
        "layout eurasia-5 people:yellow soldier:yellow eurasia-2 people:blue soldier:blue\n"
    )
    assert refused(s, "yellow: move eurasia-5>eurasia-2 people 1") == ["D13"]
    assert at(do(s, "yellow: move eurasia-5>eurasia-2 soldier 1"), "eurasia-2") == "people:blue 1"


def test_ships_fight_where_they_meet():
    """D14, D22"""
    s = position(
        "layout arctic ship:yellow ship:yellow north-atlantic ship:blue\nyellow: sail "
        "arctic>north-atlantic 2\n"
    )
    assert at(s, "north-atlantic") == "ship:yellow 1"
    assert "take off a yellow ship, a blue ship" in str(s.todo()[0].text)


def test_fanatics_never_move():
    """D15: and leaving them the cell makes it theirs at once (D32)."""
    s = position("layout eurasia-2 fanatic people:yellow people:yellow eurasia-5 people:yellow\n")
    assert "D15" in refused(s, "yellow: move eurasia-2>eurasia-5 fanatic 1")
    s = do(s, "yellow: move eurasia-2>eurasia-5 people 2")
    assert s.cell("eurasia-2").taken and "D32" in refused(
        s, "yellow: move eurasia-5>eurasia-2 people 1"
    )


def test_slaves():
    """D16: only with a soldier of whom holds them, only to a cell its colour rules, not in the move
    that conquers."""
    s = position(
        "layout eurasia-2 soldier:yellow soldier:yellow people:blue people:blue "
        "eurasia-1 people:blue "
        "eurasia-5 people:yellow\n"
    )
    assert "D16" in refused(s, "yellow: move eurasia-2>eurasia-5 slaves blue 1")
    assert refused(s, "yellow: move eurasia-2>eurasia-1 soldier 1 slaves blue 1") == ["D16"]
    assert refused(s, "yellow: move eurasia-2>eurasia-3 soldier 1 slaves blue 1") == ["D16"]
    assert "D16" in refused(s, "yellow: move eurasia-2>eurasia-5 soldier 1 slaves blue 3")
    assert "D16" in refused(s, "yellow: move eurasia-2>eurasia-5 soldier 1 slaves green 1")
    t = do(s, "yellow: move eurasia-2>eurasia-5 soldier 1 slaves blue 2")
    assert at(t, "eurasia-5") == "people:yellow 1 people:blue 2 soldier:yellow 1"
    assert "D16" in refused(do(t, "yellow: done"), "blue: move eurasia-5>eurasia-3 people 1")
    t = do(
        s,
        "yellow: move eurasia-2>eurasia-1 soldier 1",
        "yellow: move eurasia-2>eurasia-1 soldier 1 slaves blue 2",
    )
    assert at(t, "eurasia-1") == "people:blue 3 soldier:yellow 2"
    t = do(s, "yellow: move eurasia-2>eurasia-5 soldier 2", "yellow: done")
    assert refused(t, "blue: move eurasia-2>eurasia-3 people 2") == []  # left behind they are free


def test_the_map_comes_from_the_plan():
    """D54: cells, borders, minerals, floods and boxes are whatever the plan says."""
    text = plan_text().replace(
        'tags = ["land", "island", "rise1", "marble"]', 'tags = ["land", "island", "gold"]'
    )
    s = set_up(["yellow", "blue"], (), Plan.parse(text))
    assert s.world.mineral["atlantis"] == "gold" and s.world.rise["atlantis"] is None
    assert len(s.world.lands) == 26 and len(s.world.seas) == 16
    assert all(a in s.world.touching[b] for a in s.world.cells for b in s.world.touching[a])
