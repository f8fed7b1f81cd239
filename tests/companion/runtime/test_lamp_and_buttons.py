"""What lamp, buzzer and buttons have to do with the table: the loop tells them, and they tell the
table."""

import subprocess
import sys
import threading
from types import SimpleNamespace

import numpy as np
import pytest

import engine
from cli.commands.run import _connect_buttons, open_panel
from companion.runtime.loop import Loop
from companion.runtime.machine import watch_machine
from companion.table.journal import BadJournal
from companion.table.table import Table
from engine import say
from hardware.panel import Panel, PinFault
from hardware.supervisor import LOST, OK
from vision.evidence.site_evidence import NoBoard

IMAGE = np.zeros((48, 64, 3), np.uint8)


@pytest.fixture
def loop(perfect):
    """A loop whose eye sees what `loop.sees` says: a layout, "busy", or NoBoard"""
    table = Table(engine.game("tigris").setup(["bull", "lion"]))
    start = dict(table.state.layout())
    made = Loop(
        table,
        SimpleNamespace(evidence=None, picture=None, whole=None),
        SimpleNamespace(state=OK, small=False),
        Panel(),
    )

    def stream(image, now, full):
        if isinstance(made.sees, Exception):
            raise made.sees
        if made.sees == "busy":
            return perfect(start, table.plan, busy="a hand is in view")
        return perfect(made.sees, table.plan)

    made.eye.stream, made.start = stream, start
    return made


def looks(loop, sees):
    loop.sees = sees
    loop.see(IMAGE, 0.0)
    return loop.panel.signal


def test_the_lamp_says_what_was_concluded(loop):
    assert looks(loop, loop.start) == "moved", "all is well"
    assert looks(loop, "busy") == "busy"
    assert looks(loop, {**loop.start, "B1": ("leader:bull:red",)}) == "moved"
    assert looks(loop, {**loop.start, "B1": ("leader:bull:red",), "E1": ("temple",)}) == "illegal"
    assert looks(loop, NoBoard("no board in it")) == "busy"


def test_an_illegal_look_buzzes_once_though_a_hand_was_in_view_meanwhile(loop):
    wrong, worse = ({**loop.start, s: ("temple",)} for s in ("E1", "A4"))
    for sees, buzzes in (
        (loop.start, 0),
        (wrong, 1),
        ("busy", 1),
        (wrong, 1),
        (loop.start, 1),
        (wrong, 2),
        (worse, 3),
    ):
        looks(loop, sees)
        assert loop.panel.buzzes == buzzes, sees


def test_without_a_camera_the_lamp_says_so_and_goes_on_when_it_is_back(loop):
    looks(loop, loop.start)
    loop._camera_says(LOST, "unplugged")
    assert loop.panel.signal == "lost" and loop.table.camera["state"] == LOST
    assert looks(loop, loop.start) == "moved" and loop.table.camera["state"] == OK


def test_buttons_say_done_and_undo_and_outlive_a_full_disk(monkeypatch):
    table, panel = Table(engine.game("tigris").setup(["bull", "lion"])), Panel()
    _connect_buttons(panel, table)
    panel.press("undo")
    assert len(table.lines) == 1, "there is nothing to undo yet"
    table.declare("bull: leader black C2")
    panel.press("done")
    assert table.state.turn == "lion" and table.lines[-1].action == "bull: pass"
    panel.press("undo")
    assert table.state.turn == "bull" and table.lines[-1].action == "bull: leader black C2"

    def full(*_, **__):
        raise BadJournal("g.journal: the disk is full")

    monkeypatch.setattr(table.journal, "append", full)
    before = table.state
    panel.press("undo")
    panel.press("done")
    assert table.state == before


def test_pins_this_machine_cannot_use_end_no_game(capsys):
    panel, said = open_panel({"lamp": 17})  # there are none here
    panel.show("illegal")
    assert (
        len(said) == 1
        and "Lamp, buzzer and buttons do not work" in str(said[0])
        and "pins: " in capsys.readouterr().err
    )
    with pytest.raises(PinFault, match="none of lamp"):
        open_panel({"lmap": 17})
    assert open_panel({})[1] == ()


def test_what_the_machine_suffers_from_is_told_as_long_as_it_does():
    told, ended, bits = [], threading.Event(), iter([0x50005, 0x50000, 0x50008])

    def read():
        value = next(bits, None)
        if value is None:
            ended.set()
        return value

    watch_machine(
        [say("no lamp")],
        lambda texts: told.append([str(t)[:12] for t in texts]),
        ended,
        read,
        every=0,
    )
    assert told == [
        ["no lamp", "The power su"],
        ["no lamp"],
        ["no lamp", "This compute"],
        ["no lamp"],
    ]
    table = Table(engine.game("tigris").setup(["bull", "lion"]))
    before = table.version
    table.tell_machine((say("no lamp"),))
    assert table.snapshot()["machine"] == [{"t": "no lamp"}] and table.version == before + 1
    table.tell_machine((say("no lamp"),))
    assert table.version == before + 1


HANGING = """
import sys, threading, time
from companion.runtime.loop import leave_process
threading.Thread(target=time.sleep, args=(60,), daemon=sys.argv[1] == "daemon").start()
print("said")
sys.exit(leave_process(3))
"""


@pytest.mark.parametrize("kind", ["daemon", "other"])
def test_a_thread_that_hangs_keeps_nobody_from_leaving(kind):
    done = subprocess.run(
        [sys.executable, "-c", HANGING, kind], capture_output=True, text=True, timeout=50
    )
    assert (done.returncode, done.stdout, done.stderr) == (3, "said\n", "")
