"""What a machine does to a table: a full disk, a file copied while it is written, a camera that
hangs, a start that cannot be."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import shutil
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from companion.table.journal import BadJournal, Journal
from tests.attack.people import acts, play, until
from tests.attack.table import PHOTOS, PIN, RunningTable

Finding = tuple[str, bool]
TOLD_S, BACK_S = 4.0, 45.0  # a camera that hangs: until the page says so, until it is back


def full_disk(table: RunningTable) -> Iterator[Finding]:
    """The kernel refuses every write to a file of the running table."""
    host = table.host()
    bull = table.seat("bull", host)
    hard = resource.prlimit(table.pid, resource.RLIMIT_FSIZE)[1]
    resource.prlimit(table.pid, resource.RLIMIT_FSIZE, (0, hard))
    status = table.ask("/api/declare", {"text": "bull: swap 1"}, bull)[0]
    snapshot = json.loads(table.ask("/api/snapshot")[1])
    yield f"an act on a full disk: {status}", status == 507 and not acts(table)
    yield (
        (
            f"the page says {(snapshot['trouble'] or {}).get('t')!r}, and remembers "
            f"{len(snapshot['moves'])} moves"
        ),
        bool(snapshot["trouble"]) and not snapshot["moves"],
    )
    status = table.ask("/api/leave", {}, bull)[0]
    yield f"leaving a seat that cannot be written down: {status}", status == 507
    resource.prlimit(table.pid, resource.RLIMIT_FSIZE, (hard, hard))
    status = table.ask("/api/declare", {"text": "bull: swap 1"}, bull)[0]
    trouble = json.loads(table.ask("/api/snapshot")[1])["trouble"]
    yield (
        f"when there is room: {status}, {len(acts(table))} act",
        status == 200 and len(acts(table)) == 1 and trouble is None,
    )


def copied(table: RunningTable) -> Iterator[Finding]:
    """Somebody copies the journal file alone while a game is played, and when it rests; the page
    gives it whole."""
    play(table, 60)
    path, copy = table.folder / "game.journal", table.folder / "copy.journal"
    every = len(Journal(path, readonly=True).events())
    found = _events(shutil.copy(path, copy))
    yield f"the file alone, mid-game: {found} of {every} events", found >= every - 20
    time.sleep(3)
    _, whole, _ = table.ask("/api/record.journal", cookie=table.host(), address="127.0.0.3")
    copy.write_bytes(whole)
    yield f"downloaded from the page: {_events(copy)} of {every}", _events(copy) == every
    table.kill(15)
    yield (
        f"the file alone, after a stop: {_events(shutil.copy(path, copy))} of {every}",
        (_events(copy) == every),
    )
    table.start()


def _events(path: str | Path) -> int:
    """0: it says that it cannot be read"""
    with contextlib.suppress(BadJournal):
        return len(Journal(Path(path), readonly=True).events())
    return 0


def hung_camera(table: RunningTable) -> Iterator[Finding]:
    """The next picture is a pipe that nobody writes to: reading it does not return. Run as a
    service, whose watchdog is listened to."""
    table.kill(15)
    pictures, notes = table.folder / "pictures", []
    pictures.mkdir()
    for n, photo in enumerate(sorted(PHOTOS.glob("game/*"))[:2]):
        shutil.copy(photo, pictures / f"{n}{photo.suffix}")
    pipe = pictures / "2.jpg"
    table.pictures = pictures
    table.configure()
    (table.folder / "nilometer.toml").write_text(
        (table.folder / "nilometer.toml")
        .read_text()
        .replace("loop = true", "seconds = 4\nloop = true")
    )
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as ear:
        ear.bind(str(table.folder / "notify"))
        ear.settimeout(0.5)
        ended = threading.Event()
        listener = threading.Thread(target=_listen, args=(ear, ended, notes))
        listener.start()
        os.mkfifo(pipe)
        said = len(table.log())
        table.environ = {"NOTIFY_SOCKET": str(table.folder / "notify")}
        table.start()
        lost = _camera(table, lambda state: state == "lost", 30)
        ok_since = time.monotonic()
        yield f"a camera that hangs: the page says {lost!r}", lost == "lost"
        back = _camera(table, lambda state: state != "lost", BACK_S)
        took = time.monotonic() - ok_since
        yield f"opened anew by itself: {back!r} after {took:.0f} s", back != "lost"
        answered = table.ask("/api/snapshot")[0]
        table.kill(15)
        ended.set()
        listener.join()
    yield f"the page meanwhile: {answered}", answered == 200
    fed = sum("WATCHDOG=1" in n for n in notes)
    yield f"the watchdog was fed {fed} times, ready told {_told(notes, 'READY=1')}", fed > 3
    log = table.log()[said:]
    yield "no secret in the service's log", PIN not in log and "join#" not in log
    pipe.unlink()
    table.environ, table.pictures = {}, PHOTOS / "game"
    table.configure()
    table.start()


def _listen(ear: socket.socket, ended: threading.Event, notes: list[str]) -> None:
    while not ended.is_set():
        with contextlib.suppress(TimeoutError):
            notes.append(ear.recv(256).decode())


def _told(notes: list[str], what: str) -> int:
    return sum(what in n for n in notes)


def _camera(table: RunningTable, holds: object, seconds: float) -> str:
    assert callable(holds)
    end, state = time.monotonic() + seconds, ""
    while time.monotonic() < end:
        state = json.loads(table.ask("/api/snapshot")[1])["camera"]["state"]
        if holds(state):
            break
        time.sleep(0.2)
    return state


def bad_starts(table: RunningTable) -> Iterator[Finding]:
    """What keeps a table from starting: each time a page comes up, says why to the host and mends
    itself when it is mended."""
    config = table.folder / "nilometer.toml"
    good, own = config.read_text(), table.port
    camera_gone = good.replace('kind = "folder"', 'kind = "telescope"')
    with socket.create_server(("127.0.0.1", 0)) as other:
        taken = other.getsockname()[1]
        for name, text, said in (
            ("a configuration cut off", good[: len(good) // 2] + '"', "nilometer.toml"),
            ("no such copy", good.replace('copy = "', 'copy = "/nowhere'), "copy.toml"),
            ("a camera of no known kind", camera_gone, "telescope"),
            ("a PIN of one digit", good.replace(PIN, "1"), "pin"),
            ("a port that is taken", good.replace(f"port = {own}", f"port = {taken}"), ""),
        ):
            table.kill(15)
            config.write_text(text)
            table.start(wait=False)
            table.port = _served_at(table)
            status = until(table, lambda code: code == 503, 30)
            words = table.log()[-600:]
            ended = table.process is not None and table.process.poll() is not None
            yield (
                f"{name}: page {status}, {'ended' if ended else 'stays'}",
                status == 503 and not ended and said in words,
            )
    table.kill(15)
    config.write_text(good)
    table.port = own
    table.start()
    yield "mended, it starts as before", table.ask("/api/snapshot")[0] == 200


def _served_at(table: RunningTable) -> int:
    """The port that the page of a table that cannot start says it is at"""
    end = time.monotonic() + 60
    before = table.log().count("says so too")
    while time.monotonic() < end:
        log = table.log()
        if log.count("says so too") > before:
            return int(log.rsplit("The page at ", 1)[1].split("/ says")[0].rsplit(":", 1)[1])
        time.sleep(0.2)
    return table.port
