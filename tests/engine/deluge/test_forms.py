"""The notation, set-up lines, and what is no text or state of this game."""

import pytest

from engine.deluge import actions as act
from engine.game import BadText
from engine.script import BadScript, parse_script
from tests.engine.deluge.test_water import flight
from tests.engine.support.deluge_positions import GAME, do, position

NOTATION = [
    "yellow: move eurasia-5>eurasia-6 people 3 soldier 1 slaves blue 2",
    "yellow: move eurasia-5>eurasia-6 fanatic 1",
    "yellow: sail arctic>north-atlantic 2",
    "yellow: ferry eurasia-3>america-1 via arctic north-pacific people 2",
    "yellow: harvest eurasia-5 wood 2 gold 1",
    "yellow: harvest eurasia-5 wood 2 at forest1 forest3",
    "yellow: trade yellow wood 2 for blue gold 1",
    "yellow: build ship arctic",
    "yellow: build mine eurasia-5 pay wood 2 gold 2 bronze 2",
    "yellow: build soldier eurasia-5 pay wood 10",
    "yellow: build dolmen eurasia-5 pay wood 4 gold 4",
    "yellow: flee eurasia-5>eurasia-6 people 2",
    "yellow: done",
    "blue: agree yellow arctic",
]


@pytest.mark.parametrize("text", NOTATION)
def test_notation_reads_back(text):
    assert str(position().parse(text)) == text


@pytest.mark.parametrize(
    "loose, strict",
    [
        (
            "yellow: move eurasia-5>eurasia-6 soldier 1 people 3",
            "yellow: move eurasia-5>eurasia-6 people 3 soldier 1",
        ),
        ("yellow:  sail arctic>north-atlantic", "yellow: sail arctic>north-atlantic 1"),
        (
            "yellow: harvest eurasia-5 gold 1 wood 2 at forest3 eurasia-5.forest1",
            "yellow: harvest eurasia-5 wood 2 gold 1 at forest1 forest3",
        ),
        ("yellow: build ship arctic pay wood 4", "yellow: build ship arctic"),
        (
            "yellow: build mine eurasia-5 pay gold 4 wood 4",
            "yellow: build mine eurasia-5 pay wood 4 gold 4",
        ),
    ],
)
def test_order_is_free(loose, strict):
    assert str(position().parse(loose)) == strict


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yellow",
        "red: done",
        "pink: done",
        "yellow: dance",
        "yellow: _move eurasia-5>eurasia-6 people 1",
        "yellow: done now",
        "yellow: move eurasia-5 people 1",
        "yellow: move eurasia-5>nowhere people 1",
        "yellow: move eurasia-5>eurasia-6",
        "yellow: move eurasia-5>eurasia-6 people",
        "yellow: move eurasia-5>eurasia-6 people ²",
        "yellow: move eurasia-5>eurasia-6 people 0",
        "yellow: ferry eurasia-5>eurasia-6 people 1",
        "yellow: ferry eurasia-5>eurasia-6 via people 1",
        "yellow: harvest",
        "yellow: harvest eurasia-5 wood",
        "yellow: harvest eurasia-5 beer 1",
        "yellow: harvest eurasia-5 wood 1 at forest9",
        "yellow: build castle eurasia-5",
        "yellow: build mine eurasia-5 for wood 10",
        "yellow: agree arctic",
        "yellow: trade wood 1 for gold 1",
    ],
)
def test_nonsense_is_bad_text(text):
    with pytest.raises(BadText):
        position().parse(text)


@pytest.mark.parametrize(
    "line",
    [
        "layout",
        "layout nowhere people:yellow",
        "layout eurasia-5 unicorn",
        "layout eurasia-5 counter",
        "layout count3 mine",
        "layout eurasia-5.forest1 mine",
        "stock yellow wood",
        "stock yellow beer 1",
        "stock white wood 1",
        "stock yellow wood ²",
        "phase lunch",
        "starter white",
        "_init__ a",
        "moment [1]",
        "moment {}",
        'moment {"cells":{"nowhere":{}}}',
        "weather fine",
    ],
)
def test_bad_set_up_lines_are_named(line):
    with pytest.raises(BadScript, match="^line 3: "):
        parse_script(f"game deluge\nseats yellow blue\n{line}\n").start()


@pytest.mark.parametrize(
    "change",
    [
        {"phase": "lunch"},
        {"starter": 7},
        {"cells": {"nowhere": {}}},
        {"counter": -1},
        {"cells": {"eurasia-5": {"mines": "x"}}},
        {"seats": ["yellow", "pink"]},
        {"stocks": {}},
        {"worked": {"nowhere": [1, 1]}},
    ],
)
def test_bad_states_are_bad_text(change):
    data = {**position("layout eurasia-5 people:yellow\n").to_json(), **change}
    with pytest.raises(BadText):
        GAME.load(data)


def test_forms_in_the_middle_of_a_flight():
    state = flight()
    again = parse_script(state.to_text()).start()
    assert again == state and again.phase == "flight" and again.turn == state.turn
    assert do(again, "yellow: flee eurasia-4>eurasia-3 people 1") == do(
        state, "yellow: flee eurasia-4>eurasia-3 people 1"
    )


def test_moves_say_who_and_where():
    """The to-do of a doing half done: what, how many, from where to where."""
    s = position(
        "layout eurasia-2 soldier:yellow people:blue people:blue people:yellow eurasia-5 "
        "people:yellow\n"
        "yellow: move eurasia-2>eurasia-5 people 1 soldier 1 slaves blue 2\n"
    )
    assert (
        str(s.steps[0].text)
        == "a yellow pawn, a yellow soldier, 2 blue pawns from eurasia-2 to eurasia-5"
    )
    assert s.steps[0].by_hand and set(s.steps[0].sites) == {"eurasia-2", "eurasia-5"}


def test_crowds_are_listed_quickly():
    """However many pawns there are, no more than some thousand actions are listed."""
    s = position(
        "layout eurasia-2 "
        + "soldier:yellow " * 5
        + "people:yellow " * 12
        + "people:blue " * 20
        + "people:green " * 15
        + "eurasia-5 people:yellow eurasia-1 people:yellow\n",
        "yellow blue green",
    )
    legal = s.legal_actions()
    assert len(legal) < 5000 and all(s.check(a) == [] for a in legal[::37])
    assert any(isinstance(a, act.Move) and a.slaves == (("blue", 20), ("green", 15)) for a in legal)


def test_a_layout_line_after_the_moment_corrects_the_position():
    """What a host's correction of the board says: the state's own text, and one site's contents
    after it."""
    state = position("layout eurasia-5 people:yellow people:yellow\n")
    spot = next(s for s, cell in state.world.cell_of.items() if cell == "eurasia-5")

    def corrected(state, line):
        return parse_script(f"{state.to_text()}layout {line}\n").start()

    more = corrected(state, f"{spot} bare")
    assert more.layout()[spot] == ("bare",) and more.layout()["eurasia-5"] == ("people:yellow",) * 2
    assert spot not in corrected(more, spot).layout() or not corrected(more, spot).layout()[spot]
    fewer = corrected(more, "eurasia-5 people:yellow")
    assert fewer.layout()["eurasia-5"] == ("people:yellow",) and fewer.layout()[spot] == ("bare",)
    assert corrected(state, f"{state.world.squares[3]} counter").layout()[
        state.world.squares[3]
    ] == ("counter",)
