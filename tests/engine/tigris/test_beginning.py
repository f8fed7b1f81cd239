"""T1 to T8: parts, set-up, regions and kingdoms."""

from collections import Counter

import pytest

from engine import BadText
from engine.tigris.words import COLOURS, SEATS
from tests.engine.support.tigris_positions import do, position, refused

SETTLEMENTS = (
    "A1 B1 C1 D1 A3 B3 C3 A5 B5 C5 D5 E5 F5 G5 H5 A9 B9 C9 D9 E9 F9 A11 B11 C11 D11 E11 F11 G11 M11"
).split()


def test_t1_tiles_of_the_printed_game(game):
    """T1: 57 temples, 36 farms, 30 settlements, 30 markets; a colour that is all in sight can be in
    no hand."""
    counts = game.plan().counts
    assert [counts[k] for k in ("temple", "farm", "settlement", "market")] == [57, 36, 30, 30]
    state = position("layout " + " ".join(f"{s} settlement" for s in SETTLEMENTS))
    assert refused(state, "bull: tile black N11") == []
    state = do(state, "bull: tile black N11")
    assert refused(state, "bull: tile black O11") == ["T1"]
    assert refused(state, "bull: tile green O11") == []


def test_t2_other_pieces(game):
    """T2: 8 catastrophes, one union tile, 6 monuments of every pair of colours once, 16 leaders, 10
    treasures."""
    counts = game.plan().counts
    assert (counts["catastrophe"], counts["union"], counts["treasure"]) == (8, 1, 10)
    pairs = {frozenset(k.split(":")[1].split("-")) for k in counts if k.startswith("monument:")}
    assert pairs == {frozenset((a, b)) for a in COLOURS for b in COLOURS if a != b}
    assert {k for k in counts if k.startswith("leader:")} == {
        f"leader:{s}:{c}" for s in SEATS for c in COLOURS
    }
    standing = position(
        "layout A10 flipped monument:black-red B10 flipped A11 flipped B11 flipped "
        "B5 settlement C5 settlement B6 settlement\nbull: tile black C6"
    )
    assert "T2" in refused(standing, "bull: build black-red B5")


def test_t3_temple_with_treasure_on_every_winged_space(game):
    """T3: ten temples with treasures, nothing else; the other 143 tiles in the bag."""
    state = game.new(["bull", "lion"])
    assert state.layout() == {
        s: ("temple", "treasure") for s in "K1 B2 P2 F3 N5 I7 B8 O9 F10 K11".split()
    }
    assert state.bag == 143


def test_t4_hands_and_players(game):
    """T4: 2 to 4 players, two catastrophes and six drawn tiles each; who does not sit has no part
    in it."""
    state = game.new(["lion", "pot", "bull"])
    for seat in state.seats:
        [draw, *_] = [a for a, _ in state.chance()]
        assert draw.drawer == seat and len(draw.colours) == 6
        state = state.apply(draw)
    assert [state.hand(i) for i in range(3)] == [6, 6, 6] and state.bag == 143 - 18
    assert state.catastrophes == (2, 2, 2) and state.turn == "lion"
    assert refused(state, "archer: pass") == ["T4"]
    for seats in (["bull"], ["bull", "bull"], [*SEATS, "bull"], ["bull", "cat"]):
        with pytest.raises(BadText):
            game.new(seats)


def test_t4_a_tile_that_is_not_in_an_open_hand():
    """T4: with open hands only what is in the hand can be laid."""
    state = position("hand bull red blue")
    assert refused(state, "bull: tile green C5") == ["T4"]
    assert refused(state, "bull: tile red C5") == []


def test_t5_anyone_scores_in_all_colours():
    """T5: a player has leaders of all colours and points in all."""
    state = position(
        "layout F4 temple E4 leader:bull:black G4 leader:bull:green\nbull: tile black "
        "F5\nbull: tile green F6"
    )
    assert state.scores()["bull"] == {"black": 1, "red": 0, "blue": 0, "green": 1, "treasure": 0}


def test_t6_edges_connect_corners_do_not():
    """T6: E6 touches D5 only at a corner; D6 connects both."""
    state = position("layout D5 temple C5 leader:bull:green E6 market")
    assert position(
        "layout D5 temple C5 leader:bull:green E6 market\nbull: tile green E7\n? score bull green 0"
    )
    state = do(state, "bull: tile black D6", "bull: tile green E7")
    assert state.scores()["bull"]["green"] == 1


def test_t7_kingdoms():
    """T7: a region with a leader is a kingdom; several leaders of several players make one."""
    p = position(
        "layout D5 temple C5 leader:bull:green E5 leader:lion:red H5 temple J5 market J6 "
        "leader:lion:black"
    ).pieces
    assert sorted(kingdom.leaders for kingdom in p.kingdoms()) == [(3, 5), (4,)]
    assert p.kingdom_at(p.board.index["H5"]) is None


def test_t8_what_connects_nothing():
    """T8: a catastrophe and empty squares connect nothing; two tiles that touch on the river do."""
    state = position(
        "layout D5 temple C5 leader:bull:green E5 catastrophe F5 market E4 temple E3 "
        "farm F4 leader:lion:blue"
    )
    state = do(state, "bull: tile green F6")
    assert state.scores()["bull"]["green"] == 0
    state = do(state, "bull: tile blue E2")
    assert state.scores()["lion"]["blue"] == 1


def test_everything_is_in_the_box_once():
    counted = Counter()
    state = position(
        "layout B5 settlement C5 settlement B6 settlement\nbull: tile black C6\nbull: "
        "build black-red B5"
    )
    for contents in state.layout().values():
        counted.update(contents)
    assert (
        counted["flipped"] == 4
        and counted["monument:black-red"] == 1
        and counted["settlement"] == 0
    )
