"""The table's side of a soak run: a process that takes commands from the world through a pipe, and
may be killed at any moment."""

from __future__ import annotations

import logging
import math
import resource
import time
from collections.abc import Mapping
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

import companion_web
import engine
from companion.runtime.club import Publisher
from companion.runtime.config import Club
from companion.runtime.loop import Loop
from companion.table.journal import BadJournal, Journal
from companion.table.table import Refused, Table
from engine import BadText
from engine.plan import Plan
from hardware.camera import Camera, CameraLost
from hardware.supervisor import Supervisor
from vision.evidence.site_evidence import FLOOR, Evidence, NoBoard, Registration, SiteEvidence
from vision.storage.heap_trim import trim_heap

STEP = 0.2  # simulated seconds between two pictures
OK, LOST, FROZEN, COVERED, DARK, HAND, GARBAGE, ABSURD = (
    "ok",
    "lost",
    "frozen",
    "covered",
    "dark",
    "hand",
    "garbage",
    "absurd",
)
PIN = "24681357"


class Sight(Camera):
    """A camera that shows what the world says, in pictures that only the supervisor looks at."""

    name = "soak camera"

    def __init__(self, seed: int) -> None:
        self.mode, self.rng = OK, np.random.default_rng(seed)
        self.scene = np.kron(self.rng.integers(60, 200, (12, 16, 3)), np.ones((4, 4, 1))).astype(
            np.uint8
        )

    def open(self) -> None:
        if self.mode == LOST:
            raise CameraLost(f"{self.name}: not there")

    def close(self) -> None:
        pass

    def read(self) -> np.ndarray:
        if self.mode == LOST:
            raise CameraLost(f"{self.name}: unplugged")
        if self.mode == GARBAGE:
            shapes = ((0, 0, 3), (48, 64), (1, 1, 3), (48, 64, 4), (2, 3, 4, 5))
            return np.full(shapes[self.rng.integers(len(shapes))], np.nan)
        noise = 0 if self.mode == FROZEN else self.rng.integers(0, 5, self.scene.shape)
        level = {COVERED: 0.0, DARK: 0.1}.get(self.mode, 1.0)
        return (self.scene * level + (100 if self.mode == COVERED else 0) + noise).astype(np.uint8)


class Reading:
    """What an eye would say about the board that the world shows; has the interface of
    companion.runtime.eye.Eye."""

    def __init__(self, plan: Plan, camera: Sight) -> None:
        self.plan, self.camera = plan, camera
        self.layout: Mapping[str, tuple[str, ...]] = {}
        self.fresh = True
        self.evidence: Evidence | None = None
        self.picture: np.ndarray | None = None
        self.reader = self

    def give_back(self) -> None:
        """Does nothing, like a reader that caches nothing"""
        trim_heap()

    def show(self, layout: Mapping[str, Any]) -> None:
        self.layout, self.fresh = {s: tuple(c) for s, c in layout.items()}, True

    def stream(self, image: np.ndarray, now: float, full: object = None) -> Evidence | None:
        self.picture = image
        if self.camera.mode == ABSURD:
            raise [
                NoBoard("no board in it"),
                ValueError("made-up fault"),
                IndexError("made-up fault"),
            ][int(now * 5) % 3]
        if self.camera.mode == HAND:
            self.fresh = True
            return self._evidence("hand")
        if not self.fresh:
            return None
        self.fresh, self.evidence = False, self._evidence(None)
        return self.evidence

    def wanted(self, now: float) -> list[float]:
        return []

    def whole(self) -> Evidence | None:
        return self.evidence

    def _evidence(self, busy: str | None) -> Evidence:
        sites = {
            s: SiteEvidence(((tuple(self.layout.get(s, ())), math.log(0.998)),), FLOOR)
            for s in self.plan.sites
        }
        return Evidence(sites, Registration("markers", 0.3), busy)


class Obedient:
    """Does what the world says and replies with the state of affairs."""

    def __init__(
        self, game: str, seats: list[str], path: str, club: Club | None, seed: int
    ) -> None:
        found = engine.game(game)
        self.plan = found.plan()
        journal = Journal(path)
        self.table = Table(
            None if journal.events() else found.setup(seats, (), self.plan), journal, self.plan
        )
        self.camera, self.now, self.skew = Sight(seed), 0.0, 0.0
        self.reading = Reading(self.plan, self.camera)
        self.reading.show(self.table.state.layout())
        self.supervisor = Supervisor(self.camera, lambda: self.now)
        self.loop = Loop(self.table, self.reading, self.supervisor)  # type: ignore[arg-type]
        real = time.time
        time.time = lambda: real() + self.skew
        self.server = companion_web.serve_app(
            companion_web.create_app(self.table, companion_web.Settings(pin=PIN)), "127.0.0.1", 0
        )
        if club is not None:
            Publisher(self.table, club, "soak").start()

    def show(self, layout: dict[str, list[str]]) -> None:
        self.reading.show(layout)

    def mode(self, mode: str) -> None:
        self.camera.mode = mode

    def full(self, full: bool) -> None:
        """Makes the kernel refuse every write to a file, as a full disk does."""
        hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
        resource.setrlimit(resource.RLIMIT_FSIZE, (0 if full else hard, hard))

    def jump(self, seconds: float) -> None:
        self.skew += seconds

    def steps(self, count: int) -> None:
        for _ in range(count):
            self.now += STEP
            frame = self.supervisor.step()
            if frame is not None:
                self.loop.take(frame)

    def declare(self, text: str) -> None:
        try:
            self.table.declare(text, "phone")
        except (Refused, BadText, BadJournal):
            pass  # the world checks whether it got through, as people check the page

    def edit(self, state: Any) -> None:
        self.table.edit(engine.game(self.table.state.game).load(state, self.plan), "soak")

    def stands(self) -> dict[str, Any]:
        return {
            "state": self.table.state.to_json(),
            "verdict": self.table.verdict.verdict,
            "camera": self.supervisor.state,
            "trouble": self.table.trouble is not None,
            "faults": self.loop.faults,
            "port": self.server.port,
            "seen": self.table.camera["state"],
        }


def serve_table(
    pipe: Connection, game: str, seats: list[str], path: str, club: Club | None, seed: int
) -> None:
    """Executes (what, argument) until "end" or the end of the pipe; every reply is the present
    state of affairs."""
    logging.disable(logging.CRITICAL)  # faults are intended here; they are counted instead
    obedient = Obedient(game, seats, path, club, seed)
    pipe.send(obedient.stands())
    while True:
        try:
            what, argument = pipe.recv()
        except (EOFError, OSError):
            return
        if what == "end":
            obedient.server.stop()
            obedient.table.journal.close()
            return
        if what != "stands":
            getattr(obedient, what)(argument)
        pipe.send(obedient.stands())
