"""A day in front of the simulated camera on a faster clock: does the table's memory stay constant?

    python -m devtools.soak.day FOLDER --hours 24        # FOLDER: a calibrated simulated copy

The table runs in a process of its own, put together as `nilometer run` puts it: supervisor, eye,
loop, lessons, journal on disk, page. It takes as many pictures as it would take in that time. What
is simulated (board, hands, phones that follow) is in this process, so that its memory does not
count. Prints the figures; exit code 1 where the memory grew by more than SLOPE_MB an hour.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import json
import multiprocessing
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import cv2
import msgspec
import numpy as np

import companion_web
import engine
from companion.runtime.config import Config
from companion.runtime.copies import open_copy
from companion.runtime.eye import Eye
from companion.runtime.lessons import Lessons
from companion.runtime.loop import Loop
from companion.runtime.machine import limit_heaps, reading_threads
from companion.simulate import Conditions, Director, plan_of
from companion.simulate.players import Players
from companion.table.journal import Journal
from companion.table.table import Table
from devtools import load
from devtools.bench_rest import with_arm
from devtools.load import Crowd
from engine import State
from hardware.camera import Camera
from hardware.supervisor import Supervisor

SLOPE_MB = 1.0  # per hour, after the first (issue 25)
MINUTE = 60.0
HAND = 2.0  # seconds for which a hand is over the board in an action
PHONES = 4
LOOKS = Config("").looks_per_second
FIRST = 160  # pages in the first minute, so that each of the server's threads has worked once
PAGES = ("/", "/api/snapshot", "/api/plan", "/games")
PIN = "24681357"


class DayFigures(msgspec.Struct):
    """hours: simulated. looks: pictures that the table has taken. megabytes: its memory at the end
    of each hour. slope: MB per hour, by least squares over every minute after the first hour.
    unknown: actions that the table had not recognised when the next one came. over: whether the
    game was played to its end."""

    hours: float = 0.0
    looks: int = 0
    actions: int = 0
    unknown: int = 0
    over: bool = False
    pages: int = 0
    faults: int = 0
    megabytes: list[float] = []
    slope: float = 0.0
    seconds: float = 0.0


class Lit(Camera):
    """A camera that shows `scene` with the noise of a sensor."""

    name = "simulated day"

    def __init__(self) -> None:
        self.rng, self._last = np.random.default_rng(3), 0
        self.scene = np.zeros((16, 16, 3), np.uint8)
        self._noise: list[np.ndarray] = []

    def show(self, scene: np.ndarray) -> None:
        if scene.shape != self.scene.shape:
            self._noise = [self.rng.normal(0, 1.5, scene.shape).astype(np.int8) for _ in range(8)]
        self.scene = scene

    def open(self) -> None:
        """Does nothing: it is always open."""

    def close(self) -> None:
        pass

    def read(self) -> np.ndarray:
        # never the same picture twice in a row, or it would count as frozen
        self._last = (self._last + int(self.rng.integers(1, len(self._noise)))) % len(self._noise)
        return cv2.add(self.scene, self._noise[self._last], dtype=cv2.CV_8U)


class Served:
    """The table's side. Its clock advances as pictures are due."""

    def __init__(
        self, folder: str, journal: str, state: dict[str, Any], looks: float = LOOKS
    ) -> None:
        limit_heaps()
        self.specimen = specimen = open_copy(folder)
        self.now, self.camera = 0.0, Lit()
        self.table = Table(self._state(state), Journal(journal), specimen.rules_plan)
        cv2.setNumThreads(reading_threads())
        self.gap = 1 / looks
        self.supervisor = Supervisor(self.camera, lambda: self.now)
        self.eye, lessons = Eye(specimen.reader), Lessons(specimen.folder)
        lessons.over = True  # learning happens in another process, once per game
        self.loop = Loop(self.table, self.eye, self.supervisor, lessons=lessons)
        own = specimen.folder / "plan.toml"
        page = companion_web.Settings(
            name="Day", pin=PIN, plan=own if own.is_file() else None, copy=specimen.folder
        )
        self.server = companion_web.serve_app(
            companion_web.create_app(self.table, page), "127.0.0.1", 0
        )

    def until(self, end: float) -> None:
        """Takes pictures as often as `run` does, until then."""
        due = self.now
        while due < end:
            self.now = due
            frame = self.supervisor.step()
            if frame is not None:
                self.loop.take(frame)
            due = min([self.now + self.gap, *(at for at in self.eye.wanted(self.now))])
        self.now = end

    def show(self, scene: np.ndarray) -> None:
        """A hand comes, and the board shows the scene once it has gone."""
        before, start = self.camera.scene, self.now
        for k in range(4):
            self.camera.show(
                with_arm(before if k < 2 and before.shape == scene.shape else scene, k)
            )
            self.until(start + HAND * (k + 1) / 4)
        self.camera.show(scene)

    def edit(self, state: dict[str, Any]) -> None:
        self.table.edit(self._state(state), "day")

    def stands(self) -> dict[str, Any]:
        # as the loop does every minute: memory in use counts, whenever it is measured
        self.eye.reader.give_back()
        status = Path("/proc/self/status").read_text()
        return {
            "port": self.server.port,
            "looks": self.loop.pictures,
            "faults": self.loop.faults,
            "megabytes": int(status.split("VmRSS:")[1].split()[0]) / 1024,
            "layout": self.table.state.layout(),
            "verdict": self.table.verdict.verdict,
        }

    def _state(self, data: dict[str, Any]) -> State:
        return engine.game(self.specimen.game).load(data, self.specimen.rules_plan)


def serve_day(
    pipe: Connection, folder: str, journal: str, state: dict[str, Any], looks: float
) -> None:
    """Executes (what, argument) until the pipe ends; every reply is the present state of
    affairs."""
    served = Served(folder, journal, state, looks)
    pipe.send(served.stands())
    while True:
        try:
            what, argument = pipe.recv()
        except (EOFError, OSError):
            break
        getattr(served, what)(argument)
        pipe.send(served.stands())
    served.server.stop()
    served.table.journal.close()


class Day:
    """The world's side: people who do something every few simulated seconds, phones that follow,
    one page per minute. tell: receives a line per hour. every: seconds between two actions. looks:
    pictures a second at a table at rest."""

    def __init__(
        self,
        folder: Path,
        hours: float,
        tell: Callable[[str], object],
        every: float = 2 * MINUTE,
        looks: float = LOOKS,
    ) -> None:
        self.hours, self.tell, self.every, self.looks = hours, tell, every, looks
        self.specimen = specimen = open_copy(folder)
        self.game, self.folder, self.out = engine.game(specimen.game), folder, DayFigures()
        plan, _ = plan_of(specimen.game, None)
        self.state = self._beginning()
        self.director = Director(
            plan, layout=self.state.layout(), seed=5, view=Conditions().look(plan)
        )
        self.players, self.memory = Players(5), list[tuple[float, float]]()

    def run(self) -> DayFigures:
        began = time.monotonic()
        self.pipe, theirs = multiprocessing.Pipe()
        with tempfile.TemporaryDirectory(prefix="day-") as folder:
            journal = str(Path(folder) / "game.journal")
            process = multiprocessing.get_context("spawn").Process(
                target=serve_day,
                daemon=True,
                args=(theirs, str(self.folder), journal, self.state.to_json(), self.looks),
            )
            process.start()
            theirs.close()
            self.stands = self.pipe.recv()
            crowd = Crowd("127.0.0.1", self.stands["port"], PHONES)
            try:
                self._ask("show", self.director.picture())
                while self.out.hours < self.hours:
                    self._minute(crowd)
            finally:
                crowd.close()
                self.pipe.close()
                process.join(20)
        self.out.seconds = time.monotonic() - began
        return self.out

    def _minute(self, crowd: Crowd) -> None:
        minute = round(self.out.hours * 60)
        if not self.out.over and minute % max(round(self.every / MINUTE), 1) == 0:
            self._do()
        self._ask("until", (minute + 1) * MINUTE)
        self.out.hours = (minute + 1) / 60
        crowd.until(2**60, 0.0)
        for n in range(minute, minute + 1 if minute else FIRST):
            with contextlib.suppress(OSError, http.client.HTTPException):
                load._get_page("127.0.0.1", self.stands["port"], PAGES[n % len(PAGES)])
                self.out.pages += 1
        self.memory.append((self.out.hours, self.stands["megabytes"]))
        self.out.looks, self.out.faults = self.stands["looks"], self.stands["faults"]
        if (minute + 1) % 60 == 0:
            self.out.megabytes.append(round(self.stands["megabytes"], 1))
            self.out.slope = memory_slope(self.memory)
            self.tell(
                f"{self.out.hours:5.1f} h  {self.out.looks} looks  {self.out.actions} actions  "
                f"{self.stands['megabytes']:.1f} MB  slope {self.out.slope:+.2f} MB/h"
            )

    def _do(self) -> None:
        """Somebody does something; what the table had not found by now is declared to it."""
        if self.stands["layout"] != self.state.layout():
            self.out.unknown += 1
            self._ask("edit", self.state.to_json())
        turn = self.players.next(self.state)
        if turn.action is None:
            # as with `run`: the table rests, and another game means another start
            self.out.over = True
            return
        self.state = turn.after
        self.out.actions += 1
        self.director.set(self.state.layout())
        self._ask("show", self.director.picture())

    def _ask(self, what: str, argument: Any) -> None:
        self.pipe.send((what, argument))
        self.stands = self.pipe.recv()

    def _beginning(self) -> State:
        seats = [s.id for s in self.game.seats[: max(2, self.game.players[0])]]
        return self.game.setup(seats, (), self.specimen.rules_plan)


def memory_slope(memory: Sequence[tuple[float, float]]) -> float:
    """MB per hour after the first hour, from (hours, MB)."""
    later = np.array([m for m in memory if m[0] > 1.0] or memory)
    hours, size = later.T
    return float(np.polyfit(hours, size, 1)[0]) if len(later) > 1 else 0.0


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m devtools.soak.day", description=__doc__.splitlines()[0]
    )
    parser.add_argument("folder", type=Path, help="a calibrated simulated copy (the demo's)")
    parser.add_argument("--hours", type=float, default=24.0, help="simulated ones")
    parser.add_argument(
        "--every", type=float, default=2 * MINUTE, help="seconds between two actions"
    )
    parser.add_argument(
        "--looks",
        type=float,
        default=LOOKS,
        help="pictures a second at a table at rest; few are quicker, and the memory is the same",
    )
    args = parser.parse_args(argv)
    figures = Day(
        args.folder,
        args.hours,
        lambda line: print(line, flush=True),
        args.every,
        args.looks,
    ).run()
    print(json.dumps(msgspec.to_builtins(figures), indent=1))
    return 0 if figures.slope <= SLOPE_MB or args.hours <= 1 else 1


if __name__ == "__main__":
    sys.exit(main())
