"""Which views of a table are put aside to learn from."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

from companion.runtime import lessons
from companion.runtime.lessons import Lessons, surprise_of


@pytest.fixture
def seat(player, perfect, tmp_path):
    """A table, what it sees as (layout, keywords), and its lessons"""
    who = player("game tigris\nseats bull lion\nhand bull red red red red red red\n")
    kept = Lessons(tmp_path)
    picture = np.full((300, 400, 3), 90, np.uint8)

    def look(**kw):
        evidence = perfect(who.board, who.table.plan, **kw)
        kept.look(who.table, who.table.look(evidence), evidence, picture)
        return evidence

    return who, kept, look, tmp_path / "table"


def put(who, site, *kinds):
    who.board[site] = kinds


def test_a_view_is_kept_once_the_game_has_moved_on(seat):
    who, kept, look, place = seat
    look()
    before = {s: list(c) for s, c in who.table.state.layout().items()}
    assert not place.exists()
    put(who, "C1", "temple")
    look()
    assert len(who.table.lines) == 2, who.table.verdict
    assert [json.loads(p.read_text()) for p in place.glob("*.json")] == [before]


def test_views_that_disagree_are_not(seat):
    who, kept, look, place = seat
    evidence = look(unsure={"C5": [(("farm",), 0.99), ((), 0.01)]})
    assert surprise_of(who.table, evidence) is None
    put(who, "C1", "temple")
    look(foreign=("A1",))
    put(who, "D1", "temple")
    look(foreign=("A1",))
    assert not place.exists()


def test_what_is_read_with_doubt_teaches_and_says_more_than_what_is_sure(seat):
    who, kept, look, place = seat
    sure = surprise_of(who.table, look())
    doubt = surprise_of(who.table, look(unsure={"C5": [((), 0.6), (("farm",), 0.4)]}))
    misread = surprise_of(who.table, look(unsure={"C5": [(("farm",), 0.7), ((), 0.3)]}))
    assert 0 <= sure < doubt < misread


def test_of_a_game_the_views_that_say_most_are_kept(seat, monkeypatch):
    who, kept, look, place = seat
    says = iter([3.0, 1.0, 4.0, 2.0, 0.5, 5.0, 0.1])
    monkeypatch.setattr(lessons, "surprise_of", lambda table, evidence: next(says))
    events = iter(range(1, 20))
    moved = SimpleNamespace(verdict=lessons.MOVED, undo=None)
    for n in range(7):
        table = SimpleNamespace(
            lines=[SimpleNamespace(event=next(events))],
            state=SimpleNamespace(
                layout=lambda n=n: {"A1": ("farm",) * (n + 1)}, outcome=lambda: None
            ),
        )
        kept.look(table, moved, None, np.full((30, 40, 3), 90, np.uint8))
    assert sorted(len(json.loads(p.read_text())["A1"]) - 1 for p in place.glob("*.json")) == [
        0,
        2,
        3,
        5,
    ]
    assert sorted(kept.kept.values()) == [2.0, 3.0, 4.0, 5.0]


def test_a_folder_that_cannot_be_written_ends_the_keeping_not_the_game(seat, monkeypatch):
    who, kept, look, place = seat

    def full(*args):
        raise OSError("full")

    monkeypatch.setattr(lessons, "keep_view", full)
    look()
    put(who, "C1", "temple")
    look()
    assert kept.ended and len(who.table.lines) == 2


def test_nothing_is_fitted_beside_the_table_without_room(tmp_path, monkeypatch):
    monkeypatch.setattr(lessons, "free_mb", lambda: 300.0)
    monkeypatch.setattr(lessons.subprocess, "Popen", lambda *a, **k: pytest.fail("no room"))
    assert lessons.learn_beside(tmp_path) is None
