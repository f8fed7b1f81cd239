"""A copy that is played with before all of it has been learnt."""

import os
from types import SimpleNamespace

import numpy as np
import pytest

from companion.runtime import half_learnt
from companion.runtime import loop as runtime
from companion.runtime.half_learnt import MODEL, NewModel, is_half_learnt, mark_half_learnt
from companion.runtime.loop import ASK_S, Loop
from hardware.panel import Panel
from hardware.supervisor import OK, Frame

IMAGE = np.zeros((48, 64, 3), np.uint8)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / MODEL).write_bytes(b"half learnt")
    return tmp_path


def written(folder, after):
    """The model is written again, so many seconds later."""
    (folder / MODEL).write_bytes(b"network")
    at = (folder / half_learnt.MARK).stat().st_mtime_ns + int(after * 1e9)
    os.utime(folder / MODEL, ns=(at, at))


def test_a_model_is_half_learnt_until_it_is_written_again(folder):
    assert not is_half_learnt(folder), "somebody may have calibrated it without a network"
    mark_half_learnt(folder)
    assert is_half_learnt(folder)
    written(folder, 1)
    assert not is_half_learnt(folder)


def test_the_table_takes_what_is_learnt_each_time_it_is_written(folder, monkeypatch):
    readers = iter(("with a network", "and how sure it is"))
    monkeypatch.setattr(half_learnt, "open_copy", lambda _: SimpleNamespace(reader=next(readers)))
    mark_half_learnt(folder)
    new = NewModel(folder)
    assert new.reader() is None
    written(folder, 1)
    assert new.reader() == "with a network" and new.reader() is None
    written(folder, 2)
    assert new.reader() == "and how sure it is" and new.reader() is None


def test_a_model_learnt_before_the_evening_stays_whatever_is_written(folder):
    mark_half_learnt(folder)
    written(folder, 1)
    new = NewModel(folder)
    written(folder, 2)
    assert new.reader() is None


def test_a_model_that_cannot_be_read_leaves_the_table_what_it_has(folder):
    mark_half_learnt(folder)
    new = NewModel(folder)
    written(folder, 1)
    assert new.reader() is None, "there is no copy.toml"


def test_the_loop_looks_anew_with_another_reader(monkeypatch):
    monkeypatch.setattr(
        runtime, "Eye", lambda reader: SimpleNamespace(reader=reader, wanted=lambda now: [])
    )
    pictures = SimpleNamespace(state=OK, small=False, want=lambda times: None)
    readers = iter((None, "better"))
    loop = Loop(
        SimpleNamespace(),
        runtime.Eye("first"),
        pictures,
        Panel(),
        new_reader=lambda: next(readers),
    )
    loop.see = lambda image, now: None
    seen = []
    for n in range(3):
        loop.take(Frame(IMAGE, n + 1, 2 * n * ASK_S, None))
        seen.append(loop.eye.reader)
    assert seen == ["first", "first", "better"] and not loop.faults
