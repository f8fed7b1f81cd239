"""After the game: the evening in figures, the longest wars, and all games of a table."""

import sqlite3

import pytest

import engine
from companion.table.chronicle import game_chronicle
from companion.table.games import Shelf
from companion.table.journal import Journal
from companion.table.pause import LONG
from companion.table.table import Table
from engine import script
from engine.text import Text

WAR = """
game tigris
seats bull lion
layout clear
layout C5 temple D5 temple E5 temple B5 leader:bull:red
layout G5 temple H5 leader:lion:red
layout H4 temple
layout E6 leader:bull:black G6 leader:lion:blue
"""


def table_at(text, *acts, journal=None):
    table = Table(script.run_script(text).state, journal)
    for act in acts:
        table.declare(act)
    return table


def told(table):
    return {str(Text(t["title"]["t"])): t for t in game_chronicle(table)["tables"]}


def test_a_war_is_told_with_both_sides_and_who_won():
    table = table_at(WAR, "bull: tile green F5", "bull: commit 1", "lion: commit 0")
    [row] = told(table)["the biggest conflicts"]["rows"]
    move, attacker, defender, colour, winner, lost = row
    assert (move, attacker["a"]["n"], defender["a"]["n"], winner["t"]) == (3, 4, 2, "Bull")
    assert colour == {"t": "red"} and lost == len(
        [c for c in ("G5", "H4") if c not in table.state.layout()]
    )


def test_gains_are_told_with_the_move_that_made_them():
    table = table_at(WAR, "bull: tile green F5", "bull: commit 1", "lion: commit 0")
    best = game_chronicle(table)["gains"][0]
    assert (
        best["seat"] == "bull"
        and best["move"] == 3
        and best["points"] == table.state.scores()["bull"]["red"]
    )


def test_attacks_that_follow_each_other_are_one_war_in_ur():
    from engine.ur import wars

    found = engine.game("ur")
    start = found.setup(["black", "white", "green"])

    def doings(*texts):
        return [(start.parse(t), start) for t in texts]

    table = wars.longest_wars(
        start,
        doings(
            "black: war A1>B1:1", "black: war B1>B2:1", "black: swap C3 war", "white: war C1>D1:1"
        ),
    )[0]
    assert [row[0] for row in table["rows"]] == [1, 4] and [row[2] for row in table["rows"]] == [
        2,
        1,
    ]
    assert table["rows"][0][3] == "A1>B1, B1>B2"


def test_time_without_anybody_is_nobodys(tmp_path):
    table = table_at(
        "game tigris\nseats bull lion",
        "bull: tile black A1",
        "bull: tile black B1",
        "lion: tile black C1",
        journal=Journal(tmp_path / "x.journal"),
    )
    with sqlite3.connect(tmp_path / "x.journal") as db:
        for n, at in enumerate((0, 20, 80, 80 + LONG + 1), 1):
            db.execute("UPDATE event SET at = ? WHERE id = ?", (at, n))
    db.close()
    evening = game_chronicle(table)
    assert evening["played"] == 80 and evening["moves"] == 3
    assert {
        s["id"]: (s["moves"], s["seconds"], s["longest"], s["at"]) for s in evening["seats"]
    } == {"bull": (2, 80, 60, 2), "lion": (1, 0, 0, None)}
    table.undo(2)
    assert game_chronicle(table)["undone"] == 1


END = (
    "game tigris\nseats bull lion\nbag 0\nscore bull red 3\nscore bull black 2\nscore "
    "bull blue 2\nscore bull green 4\n"
    "hand bull red red red red red red\nhand lion red red red red red red"
)


@pytest.fixture
def ended(tmp_path):
    """ended(name, names) -> the path of a journal whose game Bull has won: two points in the
    weakest colour"""

    def play(name, names=None):
        table = table_at(
            END, "bull: tile red C2", "bull: tile red D2", journal=Journal(tmp_path / name)
        )
        assert table.state.outcome().winners == ("bull",)
        if names:
            table.set(names=names)
        table.journal.close()
        return tmp_path / name

    return play


def test_all_games_of_a_table_and_who_won_how_often(ended, tmp_path):
    ended("1.journal", {"bull": "Anna"})
    ended("2.journal", {"bull": "Anna", "lion": "Bob"})
    (tmp_path / "3.journal").write_text("nonsense")
    table_at(
        "game ur\nseats black white green", journal=Journal(tmp_path / "4.journal")
    ).journal.close()
    told = Shelf(tmp_path).statistics()
    assert sorted(g["file"] for g in told["games"]) == ["1.journal", "2.journal"], (
        "neither nonsense nor what is still played"
    )
    assert told["games"][0]["moves"] == 2
    by = {(p["name"], p["seat"]["t"]): (p["played"], p["won"], p["mean"]) for p in told["players"]}
    assert by == {
        ("Anna", "Bull"): (2, 2, 2),
        (None, "Lion"): (1, 0, 0),
        ("Bob", "Lion"): (1, 0, 0),
    }


def test_a_game_that_no_file_keeps_is_on_the_shelf_while_it_is_there(ended, tmp_path):
    """The demo's: nobody reads there that no game was played."""
    ended("1.journal")
    table = table_at(END, "bull: tile red C2")
    shelf = Shelf(tmp_path)
    shelf.in_memory = table.journal
    assert [g["file"] for g in shelf.games()] == ["1.journal"], "it is still played"
    table.declare("bull: tile red D2")
    assert [g["file"] for g in shelf.games()] == ["", "1.journal"]
    assert shelf.statistics()["players"][0]["played"] == 2


def test_an_end_that_is_taken_back_is_none(ended, tmp_path):
    path, shelf = ended("1.journal"), Shelf(tmp_path)
    assert len(shelf.games()) == 1
    table = Table(None, Journal(path))
    table.undo(table.lines[-2].event)
    table.journal.close()
    assert shelf.games() == [] and len(shelf._known) == 1, "what it was before is not kept"


def test_games_of_an_older_journal_are_replayed(ended, tmp_path):
    path = ended("1.journal")
    with sqlite3.connect(path) as db:
        db.execute("DELETE FROM meta WHERE key = 'result'")
    db.close()
    [game] = Shelf(tmp_path).games()
    assert game["winners"] == ["bull"] and game["moves"] == 2


def test_losses_in_zondvloed_name_who_lost_and_whose_move_it_was():
    table = table_at(
        "game deluge\nseats yellow blue\nlayout clear\nlayout eurasia-5 soldier:yellow "
        "soldier:yellow soldier:yellow "
        "eurasia-2 soldier:blue soldier:blue people:blue",
        "yellow: move eurasia-5>eurasia-2 soldier 3",
    )
    rows = told(table)["the heaviest losses"]["rows"]
    assert sorted(
        (move, who["t"], people, soldiers, by["t"]) for move, who, people, soldiers, by in rows
    ) == [(1, "Blue", 0, 2, "Yellow"), (1, "Yellow", 0, 2, "Yellow")]
