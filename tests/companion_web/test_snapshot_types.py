"""The types that the page's JavaScript is checked against say what a table really publishes."""

import pytest

import engine
from companion.explain.verdict import Answer, Question
from companion.table.pause import Pause
from companion_web.snapshot_types import Snapshot, You
from devtools import javascript_types
from engine import say
from tests.companion_web.support.real_table import table_of
from tests.companion_web.support.typed import faults_of


def test_the_file_is_what_the_types_say():
    assert (
        javascript_types.FILE.read_text(encoding="utf-8") == javascript_types.type_declarations()
    ), "python -m devtools.javascript_types"


@pytest.mark.parametrize("game", sorted(engine.games()))
@pytest.mark.parametrize("actions", [0, 7, 60])
def test_a_snapshot_is_of_its_type(make_app, game, actions):
    table = table_of(game, actions, seed=actions)
    table.set(names={table.state.seats[0]: "Anna"})
    table.camera_state("dark", message="no light")
    table.trouble = say("the journal cannot be written: {fault}", fault="full")
    table.machine = (say("too hot"),)
    table.pause = Pause(12.0, {"D4": (("temple",), ())})
    table.question = Question(say("which?"), (Answer(say("this")), Answer(say("that"))))
    if actions:
        table.undo(table.lines[-2].event)
    snapshot = make_app(table).test_client().get("/api/snapshot").json
    assert faults_of(snapshot, Snapshot) == []


def test_what_is_not_of_its_type_is_found():
    assert faults_of({"host": 1, "seats": [2], "more": 0}, You) == [
        "snapshot: more is not in its type",
        "snapshot.host: 1 is no bool",
        "snapshot.seats[0]: 2 is no str",
    ]
