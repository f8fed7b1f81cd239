"""What a machine does to a table: a full disk, a read-only one, a file copied while it is
written, a camera that hangs, a start that cannot be."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from companion.table.journal import BadJournal, Journal
from tests.attack.people import acts, play, until
from tests.attack.table import PHOTOS, PIN, RunningTable, calibrated_copy, running

Finding = tuple[str, bool]
TOLD_S, BACK_S = 4.0, 45.0  # a camera that hangs: until the page says so, until it is back
CLONE_NEWNS = 0x20000
# Every file system is read-only for what is started by this, as after an error of the only card.
ALL_READ_ONLY = """while read -r _ at _; do
  case $at in /proc*|/sys*|/dev*) ;; *) mount -o remount,bind,ro "$at" 2>&- || true ;; esac
done </proc/self/mounts; exec "$@"
"""


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
    # the camera may have seen something meanwhile
    yield f"downloaded from the page: {_events(copy)} of {every}", _events(copy) >= every
    table.kill(15)
    written = _events(path)
    yield (
        f"the file alone, after a stop: {_events(shutil.copy(path, copy))} of {written}",
        _events(copy) == written >= every,
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


def missing_model(table: RunningTable) -> Iterator[Finding]:
    """The copy's model goes, or is cut off: a page says so, and the table plays when it is back."""
    table.kill(15)
    copy = table.folder / "copy"
    shutil.copytree(calibrated_copy(), copy)
    table.configure(copy=str(copy))
    model, aside = copy / "model.npz", table.folder / "aside"
    whole = model.read_bytes()
    table.start()
    play(table, 3)
    model.rename(aside)
    status, done = table.ask("/api/snapshot")[0], len(acts(table))
    play(table, 2)
    yield (
        f"the model goes during a game: page {status}, {len(acts(table)) - done} acts afterwards",
        status == 200 and len(acts(table)) == done + 2,
    )
    for name, content in (
        ("no model", None),
        ("half a model", whole[: len(whole) // 2]),
    ):
        table.kill(15)
        model.unlink(missing_ok=True)
        if content is not None:
            model.write_bytes(content)
        table.start(wait=False)
        status = until(table, lambda code: code == 503, 30)
        told, cookie = _rescued(table)
        kept = model.read_bytes() if content is not None else None
        model.write_bytes(whole)
        done = table.ask("/api/rescue", {"do": "again"}, cookie, "127.0.0.3")[0]
        back = until(table, lambda code: code == 200)
        yield (
            f"{name}: page {status}, {told.split('/model')[-1]!r}, then {back} with "
            f"{len(acts(table))} acts",
            (status, done, back) == (503, 200, 200) and "model.npz" in told and kept == content,
        )
    table.kill(15)
    table.configure()
    table.start()


def read_only(folder: Path) -> Iterator[Finding]:
    """A card whose file system has an error under a game, is read-only from then on, and at the
    next start; then a machine on which nothing at all can be written."""
    card = folder / "card"
    try:
        _make_card(folder / "card.img", card)
    except (OSError, subprocess.SubprocessError):
        yield "a read-only disk: left out, needs root, ext4 and a loop device", True
        return
    table = RunningTable(card)
    table.logged = folder / "log"
    os.sync()  # the owner's settings are older than the error
    try:
        table.start()
        host = table.host()
        bull = table.seat("bull", host)
        play(table, 4)
        before = acts(table)
        _break_card(card)
        status = table.ask("/api/declare", {"text": "bull: swap 1"}, bull)[0]
        snapshot = json.loads(table.ask("/api/snapshot")[1])
        yield f"an act on a dead card: {status}", status == 507 and acts(table) == before
        yield (
            f"the page says {(snapshot['trouble'] or {}).get('t')!r}, and remembers "
            f"{len(snapshot['moves'])} moves",
            bool(snapshot["trouble"]) and len(snapshot["moves"]) == len(before),
        )
        status = table.ask("/api/leave", {}, bull)[0]
        yield f"leaving a seat that cannot be written down: {status}", status == 507
        status = table.ask("/api/record.journal", cookie=host, address="127.0.0.3")[0]
        yield f"the game, downloaded from a dead card: {status}", status == 200
        table.kill(15)
        table.start(wait=False)
        status = until(table, lambda code: code == 503, 30)
        told, cookie = _rescued(table)
        yield f"started on it: page {status}, {told!r}", status == 503 and "journal" in told
        status, body, _ = table.ask("/api/rescue", {"do": "anew"}, cookie, "127.0.0.3")
        yield f"a new game there: {status} {json.loads(body).get('error')!r}", status == 507
        _mend_card(folder / "card.img", card)
        done = table.ask("/api/rescue", {"do": "again"}, cookie, "127.0.0.3")[0]
        back = until(table, lambda code: code == 200)
        yield (
            f"mended, and tried again ({done}): {back}, {len(acts(table))} of {len(before)} acts",
            back == 200 and acts(table) == before,
        )
    finally:
        table.kill()
        subprocess.run(["umount", "-l", card], capture_output=True)
    with running(folder / "table") as table:
        play(table, 4)
        before = acts(table)
        table.kill(15)
        table.within = ["unshare", "-m", "sh", "-c", ALL_READ_ONLY, "sh"]
        table.start(wait=False)
        status = until(table, lambda code: code == 503, 30)
        told, _ = _rescued(table)
        yield (
            f"nothing can be written at all: page {status}, {told!r}",
            status == 503 and bool(told),
        )
        table.kill(15)
        table.within = []
        table.start()
        yield f"and where it can: {len(acts(table))} acts", acts(table) == before


def _make_card(image: Path, at: Path) -> None:
    """Mounts a small file system for this process and what it starts. Raises OSError,
    SubprocessError where that cannot be."""
    folder = image.parent
    folder.mkdir(parents=True, exist_ok=True)
    at.mkdir()
    with open(image, "wb") as f:
        f.truncate(64 * 2**20)
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNS):
        raise OSError(ctypes.get_errno(), "unshare")
    _call("mount", "--make-rprivate", "/")
    _call("mkfs.ext4", "-q", image)
    _call("mount", "-o", "loop,errors=remount-ro", image, at)


def _break_card(at: Path) -> None:
    """The kernel meets an error on it, as on a card that wears out."""
    number = at.stat().st_dev
    name = Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}").resolve().name
    Path(f"/sys/fs/ext4/{name}/trigger_fs_error").write_text("1")


def _mend_card(image: Path, at: Path) -> None:
    _call("umount", at)
    # 1: something was mended
    subprocess.run(["e2fsck", "-fy", image], capture_output=True, timeout=60)
    _call("mount", "-o", "loop", image, at)


def _call(*command: str | Path) -> None:
    subprocess.run(command, check=True, capture_output=True, timeout=60)


def _rescued(table: RunningTable) -> tuple[str, str]:
    """What the page of a table that cannot start tells the host, and the host's cookie"""
    cookie = table.host()
    said = table.ask("/api/rescue", cookie=cookie, address="127.0.0.3")[1]
    return str(json.loads(said)["words"]), cookie


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
