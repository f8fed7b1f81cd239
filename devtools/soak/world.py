"""The world's side of a soak run: people who play, and everything that breaks around them."""

from __future__ import annotations

import http.client
import multiprocessing
import random
import shutil
import socket
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

import engine
from companion.runtime.config import Club
from companion.runtime.hall import Hall
from companion.simulate.players import Players, looks_alike
from companion.table.journal import Journal, fold_events
from devtools.soak import table as side
from engine import Action, State

LOOKS = 40  # pictures that the table gets to find an action (8 simulated seconds)
BAD_AT_ONCE = 50  # bad requests per burst
MINUTE = 60.0


class SoakFigures(msgspec.Struct):
    """faults: how often each thing was broken. wrong: how often the state was wrong.
    bad_requests: how many were sent, and how many of them were not refused. slowest_s: the longest
    real time from the end of a fault to the truth."""

    hours: float = 0.0
    games: int = 0
    actions: int = 0
    faults: dict[str, int] = {}
    bad_requests: int = 0
    not_refused: int = 0
    missed: int = 0
    wrong: list[str] = []
    events: int = 0
    club: str = "left out: needs mosquitto"
    slowest_s: float = 0.0
    seconds: float = 0.0

    @property
    def holds(self) -> bool:
        return not (self.wrong or self.missed or self.not_refused)


class Broker:
    """A Mosquitto of this run's own."""

    def __init__(self, folder: Path, program: str) -> None:
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.port = s.getsockname()[1]
        self._command = [program, "-c", str(folder / "mosquitto.conf")]
        (folder / "mosquitto.conf").write_text(
            f"listener {self.port} 127.0.0.1\nallow_anonymous true\npersistence false\n"
        )
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(
            self._command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()


class World:
    """Plays `hours` simulated hours of a game again and again. tell: receives one line per
    fault."""

    def __init__(
        self,
        game: str,
        folder: Path,
        hours: float,
        seed: int,
        tell: Callable[[str], object],
        often: float = 0.5,
    ) -> None:
        self.game, self.folder, self.hours, self.seed, self.tell, self.often = (
            engine.game(game),
            folder,
            hours,
            seed,
            tell,
            often,
        )
        self.rng, self.out = random.Random(seed), SoakFigures()
        self.counted: Counter[str] = Counter()
        self.seats = [
            s.id for s in self.game.seats[: max(self.game.players[0], min(3, self.game.players[1]))]
        ]
        program = shutil.which("mosquitto") or shutil.which(
            "mosquitto", path="/usr/sbin:/usr/local/sbin"
        )
        self.broker = Broker(folder, program) if program else None
        self.club = Club("127.0.0.1", self.broker.port, table="soak") if self.broker else None
        self.breaks: tuple[Callable[[], None], ...] = (
            self.camera_away,
            self.camera_bad,
            self.disk_full,
            self.clock_jumps,
            self.killed,
            self.nonsense,
            *((self.broker_away,) if self.broker else ()),
        )

    def run(self) -> SoakFigures:
        began = time.monotonic()
        try:
            while self.out.hours < self.hours and not self.out.wrong:
                self._game(self.folder / f"game-{self.out.games}.journal")
                self.out.games += 1
        finally:
            if self.broker:
                self.broker.stop()
        self.out.seconds = time.monotonic() - began
        self.out.faults = dict(sorted(self.counted.items()))
        return self.out

    def _game(self, path: Path) -> None:
        self.path, self.truth = path, self.game.setup(self.seats, (), self.game.plan())
        self._start()
        players = Players(self.seed + self.out.games)
        while self.out.hours < self.hours and self.truth.outcome() is None:
            turn = players.next(self.truth, self._say)
            if turn.action is None:
                break
            if self._unseen(turn.action):
                self._say(turn.action)
            self.truth = turn.after
            broken = self.rng.random() < self.often
            if broken:
                self.rng.choice(self.breaks)()
            self._ask("show", {s: list(c) for s, c in self.truth.layout().items()})
            self._until_true(str(turn.action))
            self.out.actions += 1
            if self.out.wrong:
                break
            self._ask("steps", int(self.rng.uniform(20, 90) / side.STEP))
        self._end(path)

    def _start(self) -> None:
        self.pipe, theirs = multiprocessing.Pipe()
        spawn = multiprocessing.get_context("spawn")
        self.process = spawn.Process(
            target=side.serve_table,
            daemon=True,
            args=(
                theirs,
                self.game.name,
                self.seats,
                str(self.path),
                self.club,
                self.rng.randrange(10**6),
            ),
        )
        self.process.start()
        theirs.close()
        self.stands = self.pipe.recv()

    def _ask(self, what: str, argument: Any = None) -> dict[str, Any]:
        self.pipe.send((what, argument))
        self.stands = self.pipe.recv()
        if what == "steps":
            self.out.hours += argument * side.STEP / 3600
        return self.stands

    def _agrees(self) -> bool:
        return looks_alike(self.game.load(self.stands["state"], self.game.plan()), self.truth)

    def _until_true(self, words: str) -> None:
        began = time.monotonic()
        for _ in range(LOOKS):
            if self._ask("steps", 5) and self._agrees():
                self.out.slowest_s = max(self.out.slowest_s, time.monotonic() - began)
                return
        self.out.missed += 1
        self.out.wrong.append(f"{words}: the table says {self.stands['verdict']}")

    def _unseen(self, action: Action) -> bool:
        """Whether another choice would look the same on the board, so that somebody has to say
        which it was."""
        after = self.truth.apply(action)
        others = (self.truth.apply(a) for a in self.truth.legal_actions() if a != action)
        return any(o.layout() == after.layout() and o.key() != after.key() for o in others)

    def _say(self, action: Action) -> State:
        """Somebody declares what no camera sees, and repeats it if it did not get through."""
        after = self.truth.apply(action)
        for _ in range(3):
            self._ask("declare", str(action))
            if self.game.load(self.stands["state"], self.game.plan()).key() == after.key():
                break
        self.truth = after
        return after

    # What breaks. Each ends with the thing repaired; what people did meanwhile still has to be
    # found.

    def camera_away(self) -> None:
        self._camera(self.rng.choice((side.LOST, side.FROZEN, side.COVERED, side.DARK)), shown=True)

    def camera_bad(self) -> None:
        self._camera(self.rng.choice((side.GARBAGE, side.ABSURD, side.HAND)))

    def _camera(self, mode: str, shown: bool = False) -> None:
        self._count(mode)
        self._ask("mode", mode)
        self._ask("steps", 10)  # two seconds
        if shown and self.stands["seen"] != mode:
            self.out.wrong.append(
                f"camera {mode}: after two seconds the page says {self.stands['seen']}"
            )
        self._ask("steps", int(self.rng.uniform(0, 2 * MINUTE) / side.STEP))
        self._ask("mode", side.OK)

    def disk_full(self) -> None:
        """The move is made while nothing can be written: it must not be half recorded, and must be
        found afterwards."""
        self._count("disk full")
        self._ask("full", True)
        before = self.stands["state"]
        self._ask("show", {s: list(c) for s, c in self.truth.layout().items()})
        self._ask("steps", 20)
        if self.stands["state"] != before or not self.stands["trouble"]:
            self.out.wrong.append("disk full: the table went on as if it had written")
        self._ask("full", False)
        self._until_true("after the disk was full")

    def clock_jumps(self) -> None:
        self._count("clock jump")
        self._ask("jump", self.rng.uniform(-400, 400) * 86400)

    def killed(self) -> None:
        """kill -9 at a random moment while the table concludes and writes."""
        self._count("kill -9")
        self.pipe.send(("show", {s: list(c) for s, c in self.truth.layout().items()}))
        self.pipe.send(("steps", 50))
        time.sleep(self.rng.uniform(0, 0.15))
        self.process.kill()
        self.process.join()
        self.pipe.close()
        self._start()

    def broker_away(self) -> None:
        self._count("broker loss")
        assert self.broker is not None
        self.broker.stop()
        self._ask("steps", 25)
        self.broker.start()

    def nonsense(self) -> None:
        self._count("bad requests")
        line = http.client.HTTPConnection("127.0.0.1", self.stands["port"], timeout=20)
        for n in range(BAD_AT_ONCE):
            path = self.rng.choice(
                (
                    "declare",
                    "answer",
                    "undo",
                    "host",
                    "join",
                    "host/edit",
                    "nothing",
                    "moves/../../x",
                )
            )
            body = bytes(self.rng.randrange(256) for _ in range(self.rng.randrange(200)))
            line.request(
                self.rng.choice(("POST", "PUT", "GET")),
                f"/api/{path}?{n}",
                body,
                {"Content-Type": self.rng.choice(("application/json", "text/plain"))},
            )
            answer = line.getresponse()
            answer.read()
            self.out.bad_requests += 1
            self.out.not_refused += not 400 <= answer.status < 500
        line.close()

    def _count(self, what: str) -> None:
        self.counted[what] += 1
        self.tell(f"{self.out.hours:6.2f} h  {what}")

    def _end(self, path: Path) -> None:
        """Checks the end: the journal, read again from the disk, must replay to the truth, and the
        club must have heard of everything."""
        moves = self._heard() if self.club else None
        self.pipe.send(("end", None))
        self.process.join(10)
        journal = Journal(path, readonly=True)
        lines = fold_events(journal.events(), self.game.plan(), name=str(path))
        journal.close()
        self.out.events += len(lines)
        if not looks_alike(lines[-1].state, self.truth):
            self.out.wrong.append(f"{path.name}: the journal's end is not the truth")
        if moves is not None:
            want = sum(line.action is not None for line in lines)
            self.out.club = f"{moves} of {want} moves known in the hall at the end of the last game"
            if moves != want:
                self.out.wrong.append(f"club: {self.out.club}")

    def _heard(self) -> int:
        assert self.club is not None
        self._ask("stands")
        journal = Journal(self.path, readonly=True)
        want = sum(
            line.action is not None for line in fold_events(journal.events(), self.game.plan())
        )
        journal.close()
        hall = Hall(self.club)
        hall.start()
        end, moves = time.monotonic() + 45, -1
        while time.monotonic() < end and moves != want:
            time.sleep(0.1)
            moves = next((t["moves"] for t in hall.tables()), -1)
        hall.stop()
        return moves
