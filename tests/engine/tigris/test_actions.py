"""T9 to T36: the turn, leaders, tiles, catastrophes, swapping, the end of a turn."""

import pytest

from engine import IllegalAction
from tests.engine.support.tigris_positions import do, position, refused

MONUMENT = "layout A10 flipped monument:black-red B10 flipped A11 flipped B11 flipped\n"


def test_t9_two_actions_a_turn():
    """T9: up to two actions, the same twice if wished; a third, or one out of turn, is refused."""
    state = position("bull: tile red A1\nbull: tile red A2")
    assert state.turn == "lion"
    assert {"T9", "T36"} <= set(refused(state, "bull: tile red A3"))
    assert refused(state, "lion: swap 1") == []


def test_t10_fewer_actions():
    """T10: passing with two, one or no action taken; not inside a conflict."""
    assert position("bull: pass").turn == "lion"
    assert position("bull: tile red A1\nbull: pass").turn == "lion"
    state = position("layout D5 temple C5 leader:lion:black\nbull: leader black D6")
    assert "T39" in refused(state, "bull: pass")


def test_t11_only_ones_own_leaders():
    """T11: another player's leader is neither moved nor taken off."""
    state = position("layout D5 temple C5 leader:lion:black J5 temple")
    assert refused(state, "bull: leader black C5>J6") == ["T11"]
    assert refused(state, "bull: leader black C5>") == ["T11"]
    assert refused(state, "bull: leader black J6") == []


def test_t12_bring_move_take_off():
    """T12: three ways, each an action; a leader moves only from where it stands, and elsewhere."""
    state = position("layout D5 temple J5 temple")
    state = do(
        state,
        "bull: leader black D6",
        "bull: leader black D6>J6",
        "lion: pass",
        "bull: leader black J6>",
    )
    assert "J6" not in state.layout() and state.left == 1
    assert refused(state, "bull: leader black J6>D6") == ["T12"]
    assert refused(state, "bull: leader black J6>") == ["T12"]
    stands = do(state, "bull: leader red D6", "lion: pass")
    assert "T12" in refused(stands, "bull: leader red D6>D6")
    from engine.tigris.actions import Leader

    assert [v.rule for v in stands.check(Leader("bull", "red", None, "J6"))] == ["T12"]
    assert [v.rule for v in stands.check(Leader("bull", "blue", None, None))] == ["T12"]


def test_t13_beside_a_temple():
    """T13: beside a temple along an edge, no other tile will do, and no face-down one."""
    state = position(MONUMENT + "layout D5 temple J5 market")
    assert refused(state, "bull: leader black D6") == []
    assert refused(state, "bull: leader black E6") == ["T13"]
    assert refused(state, "bull: leader black J6") == ["T13"]
    assert refused(state, "bull: leader black A9") == ["T13"]


def test_t14_never_on_the_river():
    """T14: not even beside a temple."""
    state = position("layout D5 temple")
    assert refused(state, "bull: leader black D4") == ["T14"]
    assert refused(state, "bull: leader black D6") == []


def test_t15_never_joins_kingdoms():
    """T15: two kingdoms, no; one, or regions without leaders, yes; a leader on the move is lifted
    first."""
    lines = "layout D5 temple C5 leader:{}:blue F5 temple G5 leader:lion:green\n"
    assert refused(position(lines.format("lion")), "bull: leader black E5") == ["T15"]
    assert refused(position(lines.format("bull")), "bull: leader blue C5>E5") == []
    assert (
        refused(
            position("layout D5 temple F5 temple G5 leader:lion:green"), "bull: leader black E5"
        )
        == []
    )


def test_t15_a_leader_that_held_its_kingdom_together():
    """T15: without the leader on E5 the two halves are two kingdoms, so it cannot move to where
    both touch."""
    halves = (
        "layout D5 temple C5 leader:bull:blue E5 leader:bull:black F5 temple G5 "
        "leader:bull:red D6 market F6 market "
    )
    assert refused(position(halves), "bull: leader black E5>E6") == ["T13", "T15"]
    whole = position(halves + "E4 temple F4 temple D4 farm")
    assert refused(whole, "bull: leader black E5>E6") == ["T13"]


@pytest.mark.parametrize(
    "lines, action",
    [
        ("layout D5 temple C5 leader:lion:black", "bull: catastrophe D5"),
        ("layout F4 temple G4 temple F5 temple E4 leader:lion:black", "bull: tile red G5"),
    ],
)
def test_t16_last_temple_gone(lines, action):
    """T16: the leader goes home at once, whether a catastrophe or a monument took its temple."""
    state = do(position(lines), action)
    if state.phase == "build":
        state = do(state, "bull: build blue-red F4")
    assert not any("leader:lion:black" in c for c in state.layout().values())
    assert any("leader" in str(t.text) for t in state.todo())


def test_t16_another_temple_is_enough():
    """T16: not while one adjacent temple is left."""
    state = do(position("layout D5 temple C5 leader:lion:black C6 temple"), "bull: catastrophe D5")
    assert state.layout()["C5"] == ("leader:lion:black",)


def test_t17_leaders_score_nothing():
    """T17: no leader action gives a point."""
    state = position("layout D5 temple C5 leader:bull:red E5 market")
    after = do(state, "bull: leader green D6", "bull: leader red C5>")
    assert after.points == state.points


@pytest.mark.parametrize("what", ["temple", "leader:lion:green", "catastrophe", "flipped"])
def test_t18_free_space_for_a_leader(what):
    """T18: no tile, leader, catastrophe or monument there."""
    state = position(f"layout D5 temple D6 {what}")
    assert "T18" in refused(state, "bull: leader black D6")
    assert refused(position("layout D5 temple"), "bull: leader black D6") == []


@pytest.mark.parametrize(
    "action, legal",
    [
        ("bull: tile blue E3", True),
        ("bull: tile blue E5", False),
        ("bull: tile red E3", False),
        ("bull: tile black D4", False),
        ("bull: tile green E5", True),
        ("bull: tile red D5", False),
        ("bull: tile red C5", False),
        ("bull: tile blue C4", False),
    ],
)
def test_t19_where_tiles_lie(action, legal):
    """T19: free spaces, farms on the river, all others off it."""
    state = position("layout D5 temple C5 leader:lion:red C4 farm")
    assert refused(state, action) == ([] if legal else ["T19"])


def test_t20_point_to_the_leader_of_the_colour():
    """T20: whoever laid the tile."""
    state = do(
        position("layout D5 temple C5 leader:lion:black E5 leader:bull:red"),
        "bull: tile black D6",
        "bull: tile red E6",
    )
    assert state.scores()["lion"]["black"] == 1 and state.scores()["bull"]["red"] == 1
    assert state.scores()["bull"]["black"] == 0


def test_t21_king_in_place_of_a_missing_leader():
    """T21: the tile's colour, not black; not where the leader of the colour is there."""
    state = position("layout D5 temple C5 leader:lion:black E5 leader:bull:green")
    state = do(state, "bull: tile blue D4", "bull: tile green D6")
    assert state.scores()["lion"] == {"black": 0, "red": 0, "blue": 1, "green": 0, "treasure": 0}
    assert state.scores()["bull"]["green"] == 1


def test_t22_nobody_scores():
    """T22: neither the leader nor a king, or no kingdom."""
    state = do(
        position("layout D5 temple C5 leader:lion:green H5 temple"),
        "bull: tile black D6",
        "bull: tile red H6",
    )
    assert not any(state.points)


def test_t23_joining_scores_nothing():
    """T23: the tile that connects two kingdoms gives no point."""
    lines = "layout D5 temple C5 leader:bull:black F5 temple G5 leader:lion:green\n"
    assert not any(do(position(lines), "bull: tile black E5").points)
    assert (
        do(position(lines), "bull: tile black E6", "bull: tile black D6").scores()["bull"]["black"]
        == 1
    )


def test_t24_three_kingdoms():
    """T24: a tile connects two kingdoms at most; regions without leaders do not count."""
    lines = "layout D5 temple C5 leader:bull:black F5 temple G5 leader:lion:green E6 temple"
    assert refused(position(lines), "bull: tile black E5") == []
    assert refused(position(lines + " E7 leader:lion:red"), "bull: tile black E5") == ["T24"]


def test_t25_placed_tiles_stay():
    """T25: no action lifts a tile; a board without it is explained by the rule it breaks."""
    state = position("layout D5 temple E5 market")
    assert refused(state, "bull: tile red E5") == ["T19"]
    [first, *_] = state.explain({"E5": (("market",), ())})
    assert first.violations[0].rule == "T25" and first.changes == {"E5": ()}


def test_t26_no_two_of_a_colour_after_conflicts():
    """T26: a war between two red leaders leaves one."""
    state = position(
        "layout I5 temple I6 leader:bull:red K5 temple K6 leader:lion:red\n"
        "bull: tile red J5\nbull: commit 0\nlion: commit 0"
    )
    assert sum("red" in k for c in state.layout().values() for k in c) == 1


def test_t27_two_catastrophes():
    """T27: two for the game; each is an action."""
    state = do(position(), "bull: catastrophe A1", "bull: catastrophe A3", "lion: pass")
    assert refused(state, "bull: catastrophe A5") == ["T27"]
    assert refused(do(state, "bull: pass"), "lion: catastrophe A5") == []


def test_t28_catastrophe_on_free_space_or_tile():
    """T28: river too; the covered tile leaves the game."""
    state = do(position("layout D5 temple E3 farm"), "bull: catastrophe E3", "bull: catastrophe D4")
    assert state.layout()["E3"] == ("catastrophe",) and state.layout()["D4"] == ("catastrophe",)
    assert state.spent == (0, 0, 1, 0)


@pytest.mark.parametrize("where", ["P2", "C5", "A10", "B11", "G5"])
def test_t29_catastrophe_not_there(where):
    """T29: no treasure, leader, monument or other catastrophe."""
    state = position(MONUMENT + "layout D5 temple C5 leader:lion:red G5 catastrophe")
    assert "T29" in refused(state, f"bull: catastrophe {where}")
    assert refused(state, "bull: catastrophe D5") == []


def test_t30_catastrophe_breaks_connections():
    """T30: a kingdom falls apart; what is cut off scores no more."""
    lines = "layout D5 temple C5 leader:bull:green E5 market F5 market\n"
    assert do(position(lines), "bull: tile green G5").scores()["bull"]["green"] == 1
    assert (
        do(position(lines), "bull: catastrophe E5", "bull: tile green G5").scores()["bull"]["green"]
        == 0
    )


def test_t31_leader_beside_the_catastrophe():
    """T31: the leader without a temple goes home, with a to-do that names it; the one with another
    temple stays."""
    state = do(
        position("layout D5 temple C5 leader:lion:black E5 leader:lion:green E6 temple"),
        "bull: catastrophe D5",
    )
    assert "C5" not in state.layout() and "E5" in state.layout()
    assert [t.sites for t in state.todo()] == [("C5",)]


def test_t32_dead_space():
    """T32: nothing lies there any more."""
    state = position("layout D5 temple D6 catastrophe D4 catastrophe")
    for action in ("tile red D6", "tile blue D4", "leader black D6"):
        assert "T32" in refused(state, f"bull: {action}")
    assert refused(state, "bull: catastrophe D6") == ["T29"]


def test_t33_swap():
    """T33: 1 to 6 tiles, no more than the hand holds; hidden hands by number, open ones by name."""
    state = position("bag 50")
    assert refused(state, "bull: swap 0") == refused(state, "bull: swap 7") == ["T33"]
    after = do(state, "bull: swap 6")
    assert after.bag == 44 and after.hand(0) == 6 and after.lost == state.lost + 6
    assert refused(state, "bull: swap red") == ["T33"]
    known = position("hand bull red red blue")
    assert refused(known, "bull: swap 2") == refused(known, "bull: swap green") == ["T33"]
    assert do(known, "bull: swap red blue").known[0] == (0, 1, 0, 0)
    assert refused(do(state, "bull: tile red A1"), "bull: swap 6") == ["T33"]


def test_t34_end_of_a_turn():
    """T34: monument points, then the hand is refilled to six."""
    state = position(MONUMENT + "layout A9 temple B9 leader:bull:black\nbag 50")
    state = do(state, "bull: tile green F6", "bull: tile green F5")
    assert state.scores()["bull"]["black"] == 1 and state.hand(0) == 6 and state.bag == 48
    known = do(position("hand bull red red"), "bull: tile red A1", "bull: pass")
    assert known.draws == ((0, 5),)
    assert refused(known, "bag: draw bull red red") == ["T34"]
    assert do(known, "bag: draw bull red red blue blue black").known[0] == (1, 3, 2, 0)


def test_t35_others_refill_too():
    """T35: whoever is short after a conflict, at the end of the turn and not before."""
    state = position(
        "layout D5 temple C5 leader:lion:black\nbag 50\nbull: leader black D6\nbull: "
        "commit 1\nlion: commit 2"
    )
    assert state.hand(0) == 5 and state.hand(1) == 4
    state = do(state, "bull: pass")
    assert state.hand(0) == state.hand(1) == 6 and state.bag == 47


def test_t35_order_of_refilling(game):
    """T35: the active player first, then clockwise."""
    state = game.new(["bull", "lion", "pot"])
    rest = [a for a in state.legal_actions() if a.drawer != "bull"]
    assert rest == []
    other = state.parse("bag: draw lion red red red red red red")
    assert [v.rule for v in state.check(other)] == ["T35"]


def test_t36_clockwise():
    """T36: the seats in order; nobody acts out of turn."""
    state = position("", seats="pot archer lion")
    for seat in ("pot", "archer", "lion", "pot"):
        assert state.turn == seat
        for other in set(state.seats) - {seat}:
            assert "T36" in refused(state, f"{other}: pass")
            with pytest.raises(IllegalAction):
                do(state, f"{other}: tile red A1")
        state = do(state, f"{seat}: pass")
