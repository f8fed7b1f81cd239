"""The table over time: to-dos, questions and their answers, covered squares, undo, power cuts."""

import threading

import numpy as np
import pytest

import companion.table.table
from companion.table.journal import Journal
from companion.table.table import Gone, Refused, Table
from tests.companion.support.made_evidence import acts, sees

START = "game tigris\nseats bull lion\n"
STRICKEN = START + "layout clear\nlayout C3 temple C4 leader:lion:red G7 temple\n"


def test_a_to_do_names_site_piece_and_owner_until_it_is_done(player):
    p = player(STRICKEN)
    for _ in range(3):
        v = p.look(C3="catastrophe")
        assert v.verdict == "unfinished"
        [todo] = v.todo
        assert todo.sites == ("C4",) and all(w in str(todo.text) for w in ("C4", "Lion", "red"))
    v = p.look(C4="")
    assert v.verdict == "moved" and not v.todo and not v.actions
    assert p.look().verdict == "same"


def test_a_to_do_done_wrongly_stays_one(player):
    p = player(STRICKEN)
    p.look(C3="catastrophe")
    v = p.look(C4="leader:lion:blue")  # another leader there instead of none
    assert v.verdict in ("unfinished", "illegal", "unclear")
    assert p.table.state.layout().get("C4") is None
    v = p.look(C4="")
    assert v.verdict == "moved" and not v.todo


def test_playing_on_keeps_the_to_do(player):
    p = player(STRICKEN)
    p.look(C3="catastrophe")
    v = p.look(A1="market")
    assert v.verdict == "unfinished" and acts(v) == ["bull: tile green A1"]
    assert [t.sites for t in v.todo] == [("C4",)]


def test_a_power_cut_keeps_the_state_and_what_the_board_is_behind(player, tmp_path):
    p = player(STRICKEN, journal=Journal(tmp_path / "game.journal"))
    p.look(C3="catastrophe")
    again = Table(None, Journal(tmp_path / "game.journal"))
    assert again.state == p.table.state
    v = again.look(sees(p.board, again.plan))
    assert v.verdict == "unfinished" and [t.sites for t in v.todo] == [("C4",)]
    v = again.look(sees({s: c for s, c in p.board.items() if s != "C4"}, again.plan))
    assert v.verdict == "moved" and not v.todo


def test_people_are_told_before_the_picture_is_kept_which_takes_its_time(
    player, tmp_path, monkeypatch
):
    p, image, told = (
        player(START, journal=Journal(tmp_path / "game.journal")),
        np.full((90, 120, 3), 99, np.uint8),
        [],
    )

    def jpeg(picture):
        asked = threading.Thread(
            target=lambda: told.append(p.table.snapshot()["verdict"]["verdict"]), daemon=True
        )
        asked.start()
        asked.join(10)
        return b"jpeg"

    monkeypatch.setattr(companion.table.table, "jpeg_of", jpeg)
    for board in ({}, {"A1": ("market",)}):
        v = p.table.look(sees({**p.board, **board}, p.table.plan), image)
        assert told.pop() == v.verdict
    event = p.table.lines[-1].event
    assert (
        v.verdict == "moved"
        and [p.table.journal.picture(event, which) for which in ("before", "after")]
        == [b"jpeg"] * 2
    )


def test_covered_squares_stay_as_they_were_and_the_rest_goes_on(player):
    p = player(START)
    p.look(C2="market")
    v = p.look(A3="temple", foreign=("C2", "D2"))  # a cup on the market just laid
    assert v.verdict in ("moved", "unclear")
    if v.verdict == "moved":
        assert acts(v) == ["bull: tile red A3"]
    assert p.table.state.layout()["C2"] == ("market",)
    v = p.look()
    assert v.verdict in ("same", "moved") and p.table.state.layout()["A3"] == ("temple",)


@pytest.mark.parametrize("site", ["B1", "K1", "C2"])
def test_a_cup_on_any_square_is_no_move_and_no_alarm(player, site):
    p = player(START)
    v = p.look(foreign=(site,))
    assert v.verdict in ("same", "unclear") and p.table.state == p.start.state


def test_a_picture_that_shows_only_some_sites_leaves_the_others(player):
    p = player(START)
    full = sees({**p.board, "C2": ("market",)}, p.table.plan)
    part = {s: e for s, e in full.sites.items() if s[0] in "BC"}
    v = p.table.look(type(full)(part, full.registration))
    assert (v.verdict, acts(v)) == ("moved", ["bull: tile green C2"])


def doubtful(p):
    """A look at a tile that may be one of two"""
    return p.look(unsure={"C2": [(("market",), 0.5), (("settlement",), 0.49)]})


def test_a_question_has_two_to_four_answers_and_the_answer_counts(player):
    p = player(START)
    v = doubtful(p)
    assert v.verdict == "unclear" and 2 <= len(v.question.answers) <= 4
    q = p.table.snapshot()["question"]
    choice = next(i for i, a in enumerate(v.question.answers) if a.run == ("bull: tile black C2",))
    v = p.table.answer(q["id"], choice, "phone")
    assert acts(v) == ["bull: tile black C2"] and p.table.state.layout()["C2"] == ("settlement",)
    with pytest.raises(Gone):
        p.table.answer(q["id"], choice, "phone")


def test_an_answer_to_a_stale_question_is_refused(player):
    p = player(START)
    doubtful(p)
    old = p.table.snapshot()["question"]["id"]
    p.look(C2="market")
    with pytest.raises(Gone):
        p.table.answer(old, 0, "phone")
    assert p.table.state.layout()["C2"] == ("market",)


def test_people_can_say_that_a_square_was_misread_and_the_game_goes_on(player):
    p = player(START)
    nonsense = "market temple farm"
    v = p.look(C2=nonsense)
    assert v.verdict == "unclear"
    choice = next(i for i, a in enumerate(v.question.answers) if a.misread and a.run is None)
    v = p.table.answer(p.table.snapshot()["question"]["id"], choice, "phone")
    assert v.verdict == "same" and p.table.snapshot()["question"] is None
    v = p.look(A3="temple")  # still misread, but no longer in the way
    assert (v.verdict, acts(v)) == ("moved", ["bull: tile red A3"])
    p.look(C2="")  # read rightly again
    v = p.look(C2="market")
    assert acts(v) == ["bull: tile green C2"]


def test_after_an_undo_the_board_is_compared_with_that_state(player):
    p = player(START)
    start = p.table.lines[0].event
    p.look(C2="market")
    p.table.undo(start, "host")
    assert p.table.state == p.start.state
    v = p.look()  # the tile still lies there: it is to be taken off
    assert v.verdict == "unfinished" and [t.sites for t in v.todo] == [("C2",)]
    v = p.look(C2="")
    assert v.verdict == "moved" and not v.todo and p.table.state == p.start.state
    assert acts(p.look(C3="market")) == ["bull: tile green C3"]


def test_an_edit_stands_at_the_next_look(player):
    p = player(START)
    other = p.start.state.apply(p.start.state.parse("bull: tile green C2"))
    p.table.edit(other)
    assert p.look(C2="market").verdict == "same"


def test_the_illegal_verdict_says_how_to_put_each_piece_back(player):
    p = player(START)
    v = p.look(E1="market", K1="temple")  # a market in the river, and a treasure gone
    assert v.verdict == "illegal"
    assert any("E1" in str(t) for t in v.back) and any(
        "K1" in str(t) and "treasure" in str(t) for t in v.back
    )
    assert p.look(E1="", K1="temple treasure").verdict == "same"


def test_a_piece_half_on_the_next_square_is_no_move(player):
    p = player(START)
    p.look(C2="market")
    v = p.look(
        unsure={"C2": [(("market",), 0.6), ((), 0.38)], "C3": [((), 0.65), (("market",), 0.33)]}
    )
    assert v.verdict == "same" and p.table.state.layout()["C2"] == ("market",)


def test_what_was_said_to_be_misread_outlives_a_power_cut(player, tmp_path):
    p = player(START, journal=Journal(tmp_path / "game.journal"))
    v = p.look(C2="market temple farm")
    choice = next(i for i, a in enumerate(v.question.answers) if a.misread and a.run is None)
    p.table.answer(p.table.snapshot()["question"]["id"], choice, "phone")
    again = Table(None, Journal(tmp_path / "game.journal"))
    assert again.look(sees(p.board, again.plan)).verdict == "same"
    # read rightly: from now on it counts again
    again.look(sees(p.start.state.layout(), again.plan))
    assert (
        Table(None, Journal(tmp_path / "game.journal")).look(sees(p.board, again.plan)).verdict
        == "unclear"
    )


def test_after_an_undo_and_a_power_cut_the_tile_is_still_to_be_taken_off(player, tmp_path):
    p = player(START, journal=Journal(tmp_path / "game.journal"))
    p.look(C2="market")
    p.table.undo(p.table.lines[0].event, "host")
    again = Table(None, Journal(tmp_path / "game.journal"))
    v = again.look(sees(p.board, again.plan))
    assert v.verdict == "unfinished" and [t.sites for t in v.todo] == [("C2",)]


def test_an_act_said_by_the_next_player_says_that_those_before_have_passed(player):
    p = player(START)
    p.look(C2="market")
    v = p.table.declare("lion: swap 3")
    assert acts(v) == ["lion: swap 3"] and [line.action for line in p.table.lines[-2:]] == [
        "bull: pass",
        "lion: swap 3",
    ]
    with pytest.raises(Refused):
        p.table.declare("lion: commit 2")  # no conflict, whoever has passed


def test_a_correction_that_is_refused_changes_nothing(player):
    p = player(START)
    p.look(C2="market")
    before, event = p.table.journal.contents("misread"), p.table.lines[-1].event
    with pytest.raises(Refused):
        p.table.correct("A3", ("temple",), by="bull", allowed=lambda action: False)
    assert p.table.journal.contents("misread") == before == {}
    assert p.table.lines[-1].event == event


def test_a_move_that_is_only_guessed_is_told_as_probable(player):
    p = player(
        """game tigris
seats bull lion
layout clear
layout P2 temple treasure N5 temple treasure O9 temple treasure K11 temple treasure
layout D6 temple D5 leader:bull:black C5 settlement B5 settlement
layout F6 temple F5 leader:lion:black G5 settlement
"""
    )
    assert p.look(E5="? union").verdict == "moved"  # which tile it is lies under the union tile
    [words] = [m["words"] for m in p.table.snapshot()["moves"]]
    assert words[0]["t"] == "probably: {what}" and "{piece}" in words[0]["a"]["what"]["t"]
    p.follow()
    p.table.declare("bull: commit 0")
    assert p.table.snapshot()["moves"][-1]["words"][0]["t"] != "probably: {what}"
