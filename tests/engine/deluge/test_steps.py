"""The sentences of what was done and what follows, all of them and no others, in the ledger's
order."""

import pytest

from engine import BadText
from engine.deluge.cell import Cell
from tests.engine.support.deluge_positions import at, do, position


def told(state):
    return [str(step.text) for step in state.steps]


def test_what_people_did_themselves():
    s = position(
        "layout eurasia-5 people:yellow people:yellow soldier:yellow arctic "
        "ship:blue\nstock yellow wood 10\n"
    )
    assert told(do(s, "blue: agree yellow arctic")) == ["Blue lets Yellow cross arctic"]
    assert told(do(s, "yellow: done")) == ["Yellow is done"]
    s = position("layout eurasia-5 people:yellow\nstock yellow wood 10\nphase building\n")
    assert told(do(s, "yellow: build dolmen eurasia-5 pay wood 10")) == [
        "Yellow builds a yellow dolmen on eurasia-5 for 10 wood"
    ]


def test_no_war_where_one_colour_stays_behind():
    """D20: civil war is between colours"""
    s = position("layout eurasia-5 people:yellow people:yellow soldier:yellow\n")
    s = do(s, "yellow: move eurasia-5>eurasia-2 soldier 1")
    assert (
        told(s) == ["a yellow soldier from eurasia-5 to eurasia-2"]
        and at(s, "eurasia-5") == "people:yellow 2"
    )


def test_fanatics_take_an_empty_cell_without_a_loss():
    """D32"""
    s = do(
        position("layout eurasia-5 people:yellow fanatic\n"),
        "yellow: move eurasia-5>eurasia-2 people 1",
    )
    assert told(s) == ["a yellow pawn from eurasia-5 to eurasia-2", "fanatics take eurasia-5"]
    assert s.cell("eurasia-5").taken


def test_the_end_of_a_round_in_order():
    """D40, D41, D44, D45, D47: births, forests, the counter, the water; a cell under water already
    is not flooded again"""
    s = position(
        "layout eurasia-2 people:yellow people:yellow eurasia-4.forest1 bare mu water "
        "count4 counter\n"
        "layout eurasia-2.forest2 bare eurasia-2.forest3 bare\nphase harvest\n"
        "yellow: harvest eurasia-2 wood 1 gold 1\nyellow: done\nblue: done\nyellow: "
        "done\nblue: done\nyellow: done\n"
    )
    s = do(s, "blue: done")
    assert told(s) == [
        "Blue is done",
        "born on eurasia-2: put a yellow pawn there",
        "a forest grows again on eurasia-4: take the card off",
        "the counter goes to 5: eurasia-2 lost the last forest",
        "atlantis is flooded: put a blue card there",
        "easter-island is flooded: put a blue card there",
        "antarctica is flooded: put a blue card there",
    ]


def test_the_end_of_the_game_is_told():
    """D50"""
    s = do(
        position(
            "layout count14 counter mu water atlantis water antarctica water "
            "easter-island water\nphase building\n"
            "yellow: done\n"
        ),
        "blue: done",
    )
    assert told(s)[-1] == "the counter stands at 14: the game is over"


@pytest.mark.parametrize("kind", ["people:red", "bare", "tile:yellow", "ship"])
def test_no_such_piece_lies_on_a_cell(kind):
    with pytest.raises(BadText):
        Cell.of([kind])
