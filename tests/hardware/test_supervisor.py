"""A camera that comes and goes, judged by a clock that tests turn by hand."""

import threading
import time

import pytest

from hardware.camera import CameraHangs
from hardware.supervisor import GIVE_UP, HOPELESS, PATIENCE, SETTLING, Judge, Supervisor
from tests.hardware.support.plug_camera import Clock, Plug


def looks(eye, clock, seconds, every=0.2):
    """Looks for so long; the state at the end."""
    for _ in range(round(seconds / every)):
        eye.step()
        clock.now += every
    return eye.state


@pytest.fixture
def table():
    clock, plug = Clock(), Plug()
    said = []
    return clock, plug, Supervisor(plug, clock, on_state=lambda s, m: said.append(s)), said


def test_a_pulled_cable_is_told_at_once_and_forgotten_when_it_is_back(table):
    clock, plug, eye, said = table
    assert looks(eye, clock, 1) == "ok" and eye.message == ""
    plug.plugged = False
    assert looks(eye, clock, 0.2) == "lost"
    assert eye.message == "test camera: unplugged"
    assert looks(eye, clock, 5) == "lost"
    plug.plugged = True
    assert looks(eye, clock, 2) == "ok"
    assert plug.opened == 2 and said == ["ok", "lost", "lost", "ok"]


def test_a_frozen_picture_is_told_within_two_seconds_and_the_camera_is_opened_anew(table):
    clock, plug, eye, _ = table
    looks(eye, clock, 1)
    plug.still = True
    assert looks(eye, clock, PATIENCE - 0.4) == "ok"
    looks(eye, clock, 0.8)
    assert eye.state == "frozen" and "stands still" in eye.message
    opened = plug.opened
    plug.still = False
    assert looks(eye, clock, 2) == "ok" and plug.opened > opened


def test_files_may_stand_still_for_ever():
    judge, image = Judge(live=False), Plug().read()
    assert {judge.see(image, t) for t in range(60)} == {"ok"}


def test_a_covered_lens_and_a_dark_room(table):
    clock, plug, eye, _ = table
    assert looks(eye, clock, 1) == "ok"
    plug.flat = True
    assert looks(eye, clock, 0.2) == "covered"
    plug.flat, plug.level = False, 14
    assert looks(eye, clock, 0.2) == "dark"
    plug.level = 120
    assert looks(eye, clock, 0.2) == "ok"


def test_another_light_in_the_room_settles_the_exposure_anew_once(table):
    clock, plug, eye, _ = table
    looks(eye, clock, 2)
    plug.level = 70
    looks(eye, clock, 3)
    assert plug.settled == 0  # a hand's shadow passes
    looks(eye, clock, 20)
    assert plug.settled == 1
    eye.settle()
    looks(eye, clock, 0.4)
    assert plug.settled == 2


def test_the_small_stream_is_watched_and_a_full_picture_comes_when_asked_for():
    plug = Plug()
    with Supervisor(plug, small=True, fps=200) as eye:
        frame = eye.newest(timeout=5)
        assert frame.image is None and frame.small.shape == (30, 40, 3)
        full = eye.picture(timeout=5)
        assert full.image.shape == (120, 160, 3) and full.number > frame.number
        later = eye.newest(after=full.number, timeout=5)
        assert later.image is None
        assert eye.newest(after=10**9, timeout=0.01) is None


def test_a_picture_comes_sooner_where_one_is_wanted_or_asked_for_whole():
    plug = Plug()
    with Supervisor(plug, small=True, fps=0.02) as eye:
        first = eye.newest(timeout=5)
        assert eye.newest(first.number, 0.2) is None
        eye.want([first.at - 1, first.at + 0.05, first.at + 0.3])
        second = eye.newest(first.number, 5)
        third = eye.newest(second.number, 5)
        assert second.at >= first.at + 0.05 and third.at >= first.at + 0.3
        assert eye.newest(third.number, 0.2) is None
        assert eye.picture(5).image is not None
        eye.want([time.monotonic() + 0.1])
        eye.want([])
        assert eye.newest(third.number + 1, 0.3) is None


def test_an_answer_that_came_late_ends_the_silence():
    clock, plug = Clock(), Plug()
    read, eye = plug.read, Supervisor(plug, clock)
    eye._thread = threading.current_thread()  # as if it were watching: only then is silence noticed

    def late():
        clock.now += PATIENCE + 0.1
        return read()

    plug.read = late
    assert eye.step() is not None and eye.state == "ok"


def test_a_camera_that_hangs_counts_as_lost_while_it_hangs():
    clock, plug, stuck = Clock(), Plug(), threading.Event()
    read = plug.read
    with Supervisor(plug, clock, fps=200) as eye:
        assert eye.newest(timeout=5) is not None and eye.state == "ok"
        plug.read = lambda: (stuck.wait(5), read())[1]
        number = eye.newest().number
        time.sleep(0.05)
        clock.now += PATIENCE + 0.1
        assert eye.state == "lost" and "no answer" in eye.message
        stuck.set()
        assert eye.newest(after=number, timeout=5) is not None
        assert eye.state == "ok"


class Hanging(Plug):
    """One whose reads hang until the test lets go; `renewed` gives one that works"""

    def __init__(self):
        super().__init__()
        self.stuck, self.closed, self.next = threading.Event(), 0, Plug()
        self.reads = threading.Event()

    def read(self):
        self.reads.set()
        self.stuck.wait(20)
        return super().read()

    def close(self):
        self.closed += 1

    def renewed(self):
        return self.next


def test_a_thread_that_hangs_is_left_behind_and_the_camera_opened_anew():
    clock, plug = Clock(), Hanging()
    with Supervisor(plug, clock, fps=200) as eye:
        assert plug.reads.wait(10)
        clock.now += GIVE_UP + 1
        eye.notice_silence()
        assert eye.camera is plug.next
        frame = eye.newest(timeout=5)
        assert frame is not None and eye.state == "ok" and not eye.hangs
        plug.stuck.set()
        while not plug.closed:
            time.sleep(0.01)
        assert (
            eye.newest(frame.number, 5) is not None and eye.state == "ok" and plug.next.opened == 1
        )


def test_only_a_camera_that_is_there_and_gives_nothing_for_a_minute_hangs(table):
    clock, plug, eye, _ = table
    looks(eye, clock, 1)
    plug.plugged = False
    looks(eye, clock, HOPELESS + 5)
    assert eye.state == "lost" and not eye.hangs, (
        "it is missing: another process would not find it either"
    )
    plug.plugged = True
    looks(eye, clock, 2)

    def nothing():
        raise CameraHangs("test camera: gives no pictures")

    read, plug.read = plug.read, nothing
    looks(eye, clock, HOPELESS - 5)
    assert eye.message == "test camera: gives no pictures" and not eye.hangs
    looks(eye, clock, 10)
    assert eye.hangs
    plug.read = read
    looks(eye, clock, 2)
    assert not eye.hangs and eye.state == "ok"


def test_focus_is_found_anew_when_somebody_asks_and_no_silence_is_told_meanwhile():
    clock, plug, moved = Clock(), Plug(), []

    def search():
        clock.now += SETTLING - 1
        moved.append(eye.state)

    plug.focus_anew = search
    with Supervisor(plug, clock, fps=200) as eye:
        assert eye.newest(timeout=5) is not None
        eye.focus_anew(5)
        assert (
            moved == ["ok"] and eye.focused == 1 and eye.newest(eye.newest().number, 5) is not None
        )
