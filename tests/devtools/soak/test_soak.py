"""Half an hour at a table where everything goes wrong, and that the soak run itself notices when
something is lost."""

import json

import pytest

from devtools.soak.__main__ import main
from devtools.soak.table import ABSURD, GARBAGE, LOST, OK, Obedient
from devtools.soak.world import World


@pytest.fixture
def table(tmp_path, monkeypatch):
    """The table's side, in this process; its web server ends with the test."""
    import time

    monkeypatch.setattr(time, "time", time.time)  # the table's skewed clock goes with the test
    made = Obedient("tigris", ["bull", "lion"], str(tmp_path / "game.journal"), None, 1)
    yield made
    made.full(False)
    made.server.stop()


def laid(table):
    """The board after somebody has laid a tile, and that tile's action."""
    state = table.table.state
    action = next(a for a in state.legal_actions() if ": tile" in str(a))
    return {s: list(c) for s, c in state.apply(action).layout().items()}, str(action)


def test_a_move_on_a_full_disk_is_found_when_there_is_room_again_though_nothing_moves(table):
    board, action = laid(table)
    table.steps(5)
    table.full(True)
    table.show(board)
    table.steps(10)
    assert table.stands()["trouble"] and len(table.table.lines) == 1
    table.full(False)
    table.steps(5)
    assert not table.stands()["trouble"] and [line.action for line in table.table.lines[1:]] == [
        action
    ]


@pytest.mark.parametrize("mode", [GARBAGE, ABSURD, LOST])
def test_pictures_that_are_none_end_neither_camera_nor_table(table, mode):
    board, action = laid(table)
    table.steps(5)
    table.mode(mode)
    table.show(board)
    table.steps(60)
    assert len(table.table.lines) == 1
    table.mode(OK)
    table.steps(20)
    assert [line.action for line in table.table.lines[1:]] == [action]


def test_a_while_of_everything(capsys):
    assert main(["--hours", "0.3", "--seed", "5"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert figures["actions"] >= 8 and sum(figures["faults"].values()) >= 3 and not figures["wrong"]


def test_it_notices_a_table_that_looks_away(tmp_path, monkeypatch):
    """The world's own eyes: a truth the table was never shown is told as missed."""
    world = World("tigris", tmp_path, 0.05, 1, lambda line: None, often=0.0)
    asked = world._ask
    monkeypatch.setattr(
        world,
        "_ask",
        lambda what, argument=None: asked("stands" if what == "show" else what, argument),
    )
    figures = world.run()
    assert figures.missed == 1 and not figures.holds
