"""The journal: every event of one game in order, in SQLite with a write-ahead log. The state is the
result of replaying it.

An event is written in the same transaction as the hash of the state, so that a power cut loses at
most the unsettled view.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import sqlite3
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

import engine
from calibration.files import sync_folder, write_whole
from engine import IllegalAction, State
from engine.plan import Plan

VERSION = 1
# events after which everything is moved into the file itself, so that copying it alone loses less
CHECKPOINT = 20
REST_S = 10.0  # ... or seconds after the last event
CAMERA = "camera"  # the author of actions that nobody stated
GUESS = "camera, one of several ways"  # ... if others would have led to the same board
_SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS event (
    id INTEGER PRIMARY KEY, at REAL NOT NULL, kind TEXT NOT NULL, data TEXT NOT NULL,
    by TEXT NOT NULL, hash TEXT NOT NULL
);
"""


class BadJournal(ValueError):
    """A journal that cannot be used or written; one line that names the file and the fault."""


class Count:
    """The number of events in a journal, kept in a file beside it, so that it is noticed if events
    are cut off the end or lost with the log.

    Rewritten in place, a few bytes: a full disk does no harm, and a power cut leaves the old number
    or the new one.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> int:
        """The number; 0 if there is none, or none that can be read."""
        try:
            return int(self.path.read_text(encoding="ascii"))
        except (OSError, ValueError):
            return 0

    def write(self, count: int) -> None:
        """Writes the number. A failure is ignored: the events themselves are on the disk."""
        with contextlib.suppress(OSError):
            number = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)
            try:
                os.pwrite(number, b"%12d\n" % count, 0)
                os.fdatasync(number)
            finally:
                os.close(number)


class Event(msgspec.Struct, frozen=True):
    """One row. kind: start, action, undo (data: {"to": event id}), edit (data: {"state": ...}),
    setting. hash: of the state after it."""

    id: int
    at: float
    kind: str
    data: dict[str, Any]
    by: str
    hash: str


def state_hash(state: State) -> str:
    """sha256 of `State.mark`, the first 16 hex digits."""
    return hashlib.sha256(state.mark()).hexdigest()[:16]


def setting_hash(state: State, settings: Mapping[str, Any]) -> str:
    """What stands as the hash of a changed setting: of the state and of what was set. Journals of
    earlier versions have the state's alone."""
    said = json.dumps(settings, sort_keys=True, ensure_ascii=False).encode()
    return hashlib.sha256(state.mark() + said).hexdigest()[:16]


class Journal:
    """`path` ":memory:" keeps it in memory only (scripts, tests)."""

    def __init__(
        self,
        path: str | Path = ":memory:",
        picture_budget: int = 200 * 2**20,
        readonly: bool = False,
    ) -> None:
        self.path = str(path)
        self.picture_budget = picture_budget
        self._lock = threading.RLock()
        # the picture files and their sizes, once scanned
        self._pictured: dict[str, int] | None = None
        self._lockfile: int | None = None
        if readonly and not Path(path).is_file():
            raise BadJournal(f"{path}: no such file")
        try:
            self._db = _open_database(self.path, readonly)
            with self._lock:
                if not readonly:
                    self._db.execute("PRAGMA journal_mode=WAL")
                    self._db.execute("PRAGMA synchronous=FULL")
                self._check_version(readonly)
        except (sqlite3.Error, UnicodeDecodeError) as e:
            raise BadJournal(f"{self.path}: {_plain_words(e)}") from None
        self._count = None if readonly or self.in_memory else Count(Path(self.path + ".count"))
        self._pending, self._last = 0, time.monotonic()  # events that are only in the log
        if self._count is not None:
            self._nothing_lost(self._count)

    def _nothing_lost(self, count: Count) -> None:
        """Raises BadJournal if events are missing that were once written, at the end or in the
        middle."""
        try:
            have, last = self._db.execute(
                "SELECT count(*), coalesce(max(id), 0) FROM event"
            ).fetchone()
        except sqlite3.Error as e:
            self._db.close()
            raise BadJournal(f"{self.path}: {_plain_words(e)}") from None
        said = max(count.read(), last)
        if have < said:
            self._db.close()
            raise BadJournal(
                f"{self.path}: {have} of {said} events are there: the file was cut off, "
                f"or is another one"
            )
        if have:
            count.write(have)

    def keep_to_oneself(self) -> None:
        """Locks the journal, so that a second table cannot write the same game. The lock ends with
        the process, however that ends. Raises BadJournal."""
        # never open the journal itself: closing it a second time would release SQLite's own locks
        path = self.path + ".lock"
        try:
            self._lockfile = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            fcntl.flock(self._lockfile, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BadJournal(f"{self.path}: another table is playing this game") from None
        except OSError as e:
            raise BadJournal(f"{path}: {e.strerror}") from None

    def _check_version(self, readonly: bool) -> None:
        tables = {
            r[0] for r in self._db.execute("SELECT name FROM sqlite_master WHERE type='table'")
        }
        if tables and not {"meta", "event"} <= tables:
            raise BadJournal(f"{self.path}: a database, but not a journal of Nilometer")
        if not tables:
            if readonly:
                raise BadJournal(f"{self.path}: empty, not a journal")
            self._db.executescript(_SCHEMA)
            self._db.execute("INSERT INTO meta VALUES ('version', ?)", (str(VERSION),))
        try:
            version = int(self.meta("version", "0"))
        except (TypeError, ValueError):
            raise BadJournal(f"{self.path}: damaged: its version is not a number") from None
        if version > VERSION:
            raise BadJournal(
                f"{self.path}: written by a newer Nilometer (journal version {version}, "
                f"this one knows {VERSION})"
            )

    def meta(self, key: str, default: str = "") -> str:
        """The value stored under a key. Raises BadJournal for a damaged file."""
        try:
            with self._lock:
                row = self._db.execute("SELECT value FROM meta WHERE key=?", (key,)).fetchone()
        except sqlite3.Error as e:
            raise BadJournal(f"{self.path}: {_plain_words(e)}") from None
        return row[0] if row else default

    def contents(self, key: str) -> dict[str, tuple[str, ...]]:
        """The value stored under a key, as site -> contents; {} if there is none. Raises
        BadJournal."""
        try:
            return {
                str(site): tuple(map(str, kinds))
                for site, kinds in json.loads(self.meta(key, "{}")).items()
            }
        except (sqlite3.Error, ValueError, TypeError, AttributeError) as e:
            raise BadJournal(f"{self.path}: {key}: {_plain_words(e)}") from None

    def events(self) -> list[Event]:
        """All events in order. Raises BadJournal for a damaged file."""
        try:
            with self._lock:
                rows = self._db.execute(
                    "SELECT id, at, kind, data, by, hash FROM event ORDER BY id"
                ).fetchall()
            return [
                Event(i, at, kind, json.loads(data), by, h) for i, at, kind, data, by, h in rows
            ]
        except (sqlite3.Error, ValueError, TypeError) as e:
            raise BadJournal(f"{self.path}: {_plain_words(e)}") from None

    def span(self) -> tuple[float, float] | None:
        """The times of the first and the last event, in seconds since 1970; None if there is no
        event. Raises BadJournal."""
        try:
            with self._lock:
                first, last = self._db.execute("SELECT min(at), max(at) FROM event").fetchone()
        except sqlite3.Error as e:
            raise BadJournal(f"{self.path}: {_plain_words(e)}") from None
        return None if first is None else (first, last)

    def append(
        self,
        entries: Sequence[tuple[str, dict[str, Any], str, str]],
        meta: dict[str, str] | None = None,
    ) -> list[int]:
        """Writes (kind, data, by, hash) entries in one transaction, all or none, and returns their
        ids. Raises BadJournal."""
        ids = []
        with self._lock:
            try:
                self._db.execute("BEGIN IMMEDIATE")
                for kind, data, by, digest in entries:
                    cur = self._db.execute(
                        "INSERT INTO event (at, kind, data, by, hash) VALUES (?, ?, ?, ?, ?)",
                        (time.time(), kind, json.dumps(data, ensure_ascii=False), by, digest),
                    )
                    ids.append(int(cur.lastrowid or 0))
                for key, value in (meta or {}).items():
                    self._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))
                self._db.execute("COMMIT")
            except sqlite3.Error as e:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise BadJournal(f"{self.path}: {_plain_words(e)}") from None
            if ids:
                if self._count is not None:
                    self._count.write(ids[-1])
                self._pending, self._last = self._pending + len(ids), time.monotonic()
                if self._pending >= CHECKPOINT:
                    self.checkpoint()
        return ids

    def checkpoint(self) -> None:
        """Moves what is only in the log into the file itself; if that is impossible now, a later
        call does."""
        with self._lock, contextlib.suppress(sqlite3.Error):
            self._db.execute("PRAGMA wal_checkpoint(PASSIVE)")
            self._pending = 0

    def rest(self) -> None:
        """To be called from time to time: makes a checkpoint if nothing has been written for a
        while."""
        if self._pending and time.monotonic() - self._last >= REST_S:
            self.checkpoint()

    def whole(self) -> bytes:
        """The journal as one file, including everything in the log. Raises BadJournal."""
        try:
            with (
                tempfile.TemporaryDirectory() as folder,
                contextlib.closing(sqlite3.connect(Path(folder, "journal"))) as copy,
            ):
                with self._lock:
                    self._db.backup(copy)
                copy.execute("PRAGMA journal_mode=DELETE")
                copy.commit()
                return Path(folder, "journal").read_bytes()
        except (sqlite3.Error, OSError) as e:
            raise BadJournal(f"{self.path}: {_plain_words(e)}") from None

    def close(self) -> None:
        """Closes the file and releases its lock."""
        with self._lock:
            self._db.close()
            if self._lockfile is not None:
                os.close(self._lockfile)
                self._lockfile = None

    @property
    def in_memory(self) -> bool:
        """Whether no file keeps it."""
        return self.path == ":memory:"

    # Pictures lie beside the journal, one JPEG each; the oldest are deleted when the budget is used
    # up.

    @property
    def picture_dir(self) -> Path | None:
        """The folder of the game's pictures; None for a journal without a file."""
        return None if self.in_memory else Path(self.path + ".pictures")

    def keep_picture(self, event: int, which: str, jpeg: bytes) -> None:
        """Stores a picture; which: "before" or "after". A failure (full disk) is ignored: events
        come first."""
        folder = self.picture_dir
        if folder is None:
            return
        try:
            folder.mkdir(exist_ok=True)
            with self._lock:
                write_whole(folder / f"{event:06d}-{which}.jpg", jpeg)
                kept = self._pictures()
                kept[f"{event:06d}-{which}.jpg"] = len(jpeg)
                size = sum(kept.values())
                for name in sorted(kept):
                    if size <= self.picture_budget:
                        break
                    (folder / name).unlink(missing_ok=True)
                    size -= kept.pop(name)
        except OSError:
            return

    def _pictures(self) -> dict[str, int]:
        """file name -> bytes. The folder is scanned only once, since every change asks. The caller
        holds the lock."""
        if self._pictured is None:
            folder = self.picture_dir
            try:
                self._pictured = (
                    {f.name: f.stat().st_size for f in folder.glob("??????-*.jpg")}
                    if folder
                    else {}
                )
            except OSError:
                return {}
        return self._pictured

    def picture(self, event: int, which: str) -> bytes | None:
        """The stored picture of an event ("before" or "after"), as JPEG; None if there is none."""
        folder = self.picture_dir
        path = (
            folder / f"{event:06d}-{which}.jpg" if folder and which in ("before", "after") else None
        )
        try:
            return path.read_bytes() if path else None
        except OSError:
            return None

    def pictured(self) -> set[int]:
        """The events that have a picture."""
        with self._lock:
            return {int(name[:6]) for name in self._pictures()}


def _open_database(path: str, readonly: bool) -> sqlite3.Connection:
    options: dict[str, Any] = {"check_same_thread": False, "isolation_level": None, "timeout": 5}
    if not readonly:
        return sqlite3.connect(path, **options)
    # A log beside it holds events that are not in the file itself. Without a log, a read-only
    # folder does no harm.
    still = not Path(path + "-wal").exists()
    db = sqlite3.connect(
        f"{Path(path).resolve().as_uri()}?{'immutable=1' if still else 'mode=ro'}",
        uri=True,
        **options,
    )
    try:
        db.execute("SELECT name FROM sqlite_master").fetchone()
    except sqlite3.OperationalError:
        db.close()
        if still:
            raise
        return _copied_database(path, options)
    return db


def _copied_database(path: str, options: dict[str, Any]) -> sqlite3.Connection:
    """SQLite reads a log only if it may write beside it, so a journal on read-only storage is read
    from a copy."""
    memory = sqlite3.connect(":memory:", **options)
    try:
        with tempfile.TemporaryDirectory() as folder:
            for ending in ("", "-wal"):
                shutil.copyfile(path + ending, Path(folder, "journal" + ending))
            with contextlib.closing(sqlite3.connect(Path(folder, "journal"))) as copy:
                copy.backup(memory)
    except OSError as e:
        raise BadJournal(f"{path}: {e.strerror}") from None
    return memory


class Line(msgspec.Struct, frozen=True):
    """One step of the replay that still stands: the event's id, the action's text (None for start
    and edits), the state, and who did or said it."""

    event: int
    action: str | None
    state: State
    by: str = "table"


def fold_events(
    events: Iterable[Event],
    plan: Plan | None = None,
    check: bool = True,
    name: str = "journal",
    undone: list[list[Line]] | None = None,
    good: list[Event] | None = None,
) -> list[Line]:
    """The states that stand after all events, from the start on.

    undone: receives what was taken back since the last action, one list per undo. good: receives
    every event that replays correctly, up to the first that does not. Raises BadJournal if an event
    cannot be replayed, or (check) if the hash of a state is not the one written.
    """
    lines: list[Line] = []
    undone = [] if undone is None else undone
    for e in events:
        try:
            if e.kind == "start":
                lines = [Line(e.id, None, engine.game(e.data["game"]).load(e.data["state"], plan))]
            elif e.kind == "action":
                state = lines[-1].state
                lines.append(
                    Line(e.id, e.data["action"], state.apply(state.parse(e.data["action"])), e.by)
                )
            elif e.kind == "undo":
                at = next(n for n, line in enumerate(lines) if line.event == e.data["to"])
                undone.append(lines[at + 1 :])
                del lines[at + 1 :]
            elif e.kind == "edit":
                state = engine.game(lines[-1].state.game).load(e.data["state"], plan)
                lines.append(Line(e.id, None, state))
        except (IndexError, KeyError, TypeError, ValueError, IllegalAction, StopIteration) as fault:
            raise BadJournal(f"{name}: event {e.id}: {fault or type(fault).__name__}") from None
        if e.kind not in ("undo", "setting"):
            undone.clear()
        if check and lines and e.hash not in _right_hashes(e, lines[-1].state):
            what = "setting is not" if e.kind == "setting" else "state does not come out"
            raise BadJournal(f"{name}: event {e.id}: the {what} as it was written")
        if good is not None:
            good.append(e)
    return lines


def _right_hashes(e: Event, state: State) -> tuple[str, ...]:
    """What may stand as an event's hash."""
    own = state_hash(state)
    return (own, setting_hash(state, e.data)) if e.kind == "setting" else (own,)


def salvage_events(path: Path, plan: Plan | None = None) -> tuple[list[Event], int]:
    """The events of a damaged journal up to the first that is missing or wrong, and how many there
    once were. Changes nothing. Raises BadJournal for a journal that a newer Nilometer wrote."""
    events: list[Event] = []
    said = Count(Path(str(path) + ".count")).read()
    try:
        with tempfile.TemporaryDirectory() as folder:
            for ending in ("", "-wal"):
                if Path(str(path) + ending).is_file():
                    shutil.copyfile(str(path) + ending, Path(folder, "journal" + ending))
            with contextlib.closing(sqlite3.connect(Path(folder, "journal"))) as db:
                row = db.execute("SELECT value FROM meta WHERE key='version'").fetchone()
                if row is not None and int(row[0]) > VERSION:
                    raise BadJournal(f"{path}: written by a newer Nilometer")
                said = max(said, db.execute("SELECT max(id) FROM event").fetchone()[0] or 0)
                while True:
                    row = db.execute(
                        "SELECT id, at, kind, data, by, hash FROM event WHERE id=?",
                        (len(events) + 1,),
                    ).fetchone()
                    if row is None:
                        break
                    number, at, kind, data, by, state = row
                    events.append(Event(number, at, kind, json.loads(data), by, state))
    except BadJournal:
        raise
    except (sqlite3.Error, OSError, ValueError, TypeError):
        pass  # what was read before counts; that is nothing if there is nowhere to write a copy
    good: list[Event] = []
    with contextlib.suppress(BadJournal):
        fold_events(events, plan, good=good)
    return good, max(said, len(events))


def set_aside(path: Path) -> Path:
    """Renames a journal with all its files except its pictures, and returns its new path. Raises
    OSError."""
    name = f"{path.name}.damaged-{time.strftime('%Y%m%d-%H%M%S')}"
    aside, count = path.with_name(name), 1
    while aside.exists():  # set aside in the same second
        aside, count = path.with_name(f"{name}-{count}"), count + 1
    # The count goes last: by it a power cut in between is noticed.
    for ending in ("-wal", "-shm", "", ".count"):
        with contextlib.suppress(FileNotFoundError):
            os.replace(str(path) + ending, str(aside) + ending)
    sync_folder(path.parent)
    return aside


def begin_again(path: Path, events: Sequence[Event]) -> None:
    """A new journal with these events, as they were written. Raises BadJournal."""
    journal = Journal(path)
    try:
        with journal._lock:
            journal._db.execute("BEGIN IMMEDIATE")
            for e in events:
                journal._db.execute(
                    "INSERT INTO event VALUES (?, ?, ?, ?, ?, ?)",
                    (e.id, e.at, e.kind, json.dumps(e.data, ensure_ascii=False), e.by, e.hash),
                )
            journal._db.execute("COMMIT")
    except sqlite3.Error as e:
        raise BadJournal(f"{path}: {_plain_words(e)}") from None
    finally:
        journal.close()


def export_lines(events: Iterable[Event]) -> Iterator[str]:
    """The events as JSON Lines, one per line."""
    for e in events:
        yield json.dumps(msgspec.to_builtins(e), ensure_ascii=False)


def _plain_words(e: Exception) -> str:
    text = str(e)
    if isinstance(e, (ValueError, TypeError)) or "malformed" in text or "not a database" in text:
        return "damaged, or not a journal"
    if "full" in text:
        return "the disk is full"
    if "readonly" in text:
        return "cannot be written"
    return text
