"""What the table says aloud: the page's sentences, once each, quiet when there is nothing new."""

import time

import pytest

import engine
from companion.table.journal import Journal
from companion.table.table import Table
from companion_web.speaker import Speaker, spoken_text, spoken_verdict


@pytest.fixture
def table():
    return Table(engine.game("tigris").setup(["bull", "lion"]), Journal())


def test_a_move_is_said_in_words_with_whose_turn_it_is(table):
    table.declare("bull: tile red C2", "phone")
    german, french = (spoken_verdict(table.snapshot(), code) for code in ("de", "fr"))
    lays, todo = "Stier legt Tempel (rot) auf C2.", "Lege Tempel (rot) auf C2."
    # said on a phone: it does not lie there yet
    assert german == f"Noch nicht fertig. {lays} {todo}"
    assert french.startswith("Pas encore fini") and "temple (rouge)" in french


def test_people_are_called_by_their_names(table):
    told = dict(table.snapshot())
    told["settings"] = {"names": {"bull": "Anna"}}
    told["verdict"] = {**told["verdict"], "verdict": "moved"}
    assert "It is Anna's turn." in spoken_verdict(told, "en")


def test_an_illegal_move_is_said_with_its_rule_and_how_to_mend_it(table):
    told = dict(table.snapshot())
    told["verdict"] = {
        "verdict": "illegal",
        "actions": [],
        "violations": [{"rule": "T14", "text": {"t": "{site} is river: leaders do not swim", "a": {"site": "E4"}}}],
        "back": [{"t": "take {it} off E4", "a": {"it": "x"}}],
        "todo": [],
    }  # fmt: skip
    said = spoken_verdict(told, "de")
    assert said.startswith("Nicht erlaubt. E4 ist Fluss: Anführer schwimmen nicht.")


def test_places_are_called_as_on_the_page():
    assert spoken_text({"t": "{site}", "a": {"site": "australia-3.forest1"}}, "fr") == (
        "Australie 3, forêt 1"
    )
    assert spoken_text("M2.3", "de") == "M2.3" and spoken_text(7, "de") == "7"


def test_each_verdict_is_said_once_and_what_stood_there_before_is_not(table):
    heard = []
    speaker = Speaker(table, heard.append, "de")
    table.declare("bull: tile red C2", "phone")  # before anybody listens
    speaker.start()
    time.sleep(0.7)
    table.declare("bull: tile red A2", "phone")
    for _ in range(300):
        if heard:
            break
        time.sleep(0.02)
    time.sleep(0.6)
    speaker.stop()
    assert len(heard) == 1 and "A2" in heard[0]
