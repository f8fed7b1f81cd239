"""What the loop does beside looking: the journal is brought into its file, memory handed back."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest

import engine
from companion.runtime.loop import TRIM_S, Loop
from companion.table.journal import Journal
from companion.table.table import Table
from hardware.panel import Panel
from hardware.supervisor import OK, Frame

IMAGE = np.zeros((48, 64, 3), np.uint8)


class Pictures:
    """A supervisor that has one picture after the other, so many seconds apart."""

    state, small, hangs = OK, False, False

    def __init__(self, gap):
        self.gap, self.numbers = gap, itertools.count(1)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def newest(self, after, timeout):
        number = next(self.numbers)
        return Frame(IMAGE, number, number * self.gap, None)

    def want(self, times):
        pass


@pytest.fixture
def loop_of(tmp_path):
    def made(gap, looks):
        table = Table(
            engine.game("tigris").setup(["bull", "lion"]), Journal(tmp_path / "game.journal")
        )
        eye = SimpleNamespace(evidence=None, picture=None, whole=None, wanted=lambda now: [])
        eye.reader = SimpleNamespace(give_back=lambda: None)
        loop = Loop(table, eye, Pictures(gap), Panel())
        left = itertools.count(1)
        eye.stream = lambda image, now, full: loop.stop() if next(left) >= looks else None
        return loop

    return made


def test_the_journal_is_brought_into_its_file_while_pictures_come(loop_of, monkeypatch):
    monkeypatch.setattr("companion.table.journal.REST_S", 0.0)
    loop = loop_of(0.2, 3)
    loop.table.declare("bull: swap 1")
    assert loop.table.journal._pending
    loop.run()
    assert not loop.table.journal._pending, "pictures come all evening"


def test_memory_is_handed_back_now_and_then(loop_of):
    times = []
    loop = loop_of(TRIM_S / 10, 45)
    loop.eye.reader.give_back = lambda: times.append(1)
    loop.run()
    assert len(times) == 4
