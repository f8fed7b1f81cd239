"""What a table keeps of a game that goes on for a day."""

import pickle
import random

import pytest

import engine
from companion.table.journal import Journal
from companion.table.table import MEMORY, Table

PLAYED = MEMORY + 12


@pytest.fixture
def table(tmp_path):
    table = Table(engine.game("tigris").setup(["bull", "lion"]), Journal(tmp_path / "game.journal"))
    rng = random.Random(2)
    for _ in range(PLAYED):
        legal = table.state.skip_chance().legal_actions()
        tiles = [a for a in legal if a.words().startswith("tile")]
        table.declare(str(rng.choice(tiles or legal)))
    return table


def has_forgotten(line):
    """Whether its state takes no more room than it has to"""
    before = len(pickle.dumps(line.state))
    line.state.forget()
    return len(pickle.dumps(line.state)) == before


def test_states_that_nothing_is_compared_with_keep_only_themselves(table):
    assert all(map(has_forgotten, table.lines[:-MEMORY]))
    assert not any(map(has_forgotten, table.lines[-MEMORY:]))


def test_nor_do_those_of_a_game_gone_on_with(table):
    table.journal.close()
    again = Table(None, Journal(table.journal.path))
    assert len(again.lines) == PLAYED + 1 and all(map(has_forgotten, again.lines[:-MEMORY]))


def test_a_move_is_one_object_in_all_snapshots_until_its_picture_comes(table):
    first, second = table.snapshot()["moves"], table.snapshot()["moves"]
    assert all(a is b for a, b in zip(first, second, strict=True))
    table.journal.keep_picture(table.lines[5].event, "after", b"jpeg")
    third = table.snapshot()["moves"]
    assert third[4] == {**first[4], "pictures": True} and not first[4]["pictures"]
    assert all(a is b for n, (a, b) in enumerate(zip(first, third)) if n != 4)


def test_what_was_taken_back_again_and_again_is_not_kept(table):
    for _ in range(40):
        table.undo(table.lines[-4].event)
        table.redo()
        table.snapshot()
    assert len(table.move_data) <= PLAYED + 70
    assert [m["event"] for m in table.snapshot()["moves"]] == [i.event for i in table.lines[1:]]
