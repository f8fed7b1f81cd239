"""One thread follows the table and publishes to every phone's stream. Each view is encoded only
once."""

from __future__ import annotations

import logging
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable
from typing import Any, Protocol

import msgspec

from companion_web.access import LOOKER, Viewer
from companion_web.redaction import Snapshot, redacted_snapshot, snapshot_change

log = logging.getLogger(__name__)
KEPT = 8  # snapshots kept: a phone at one of these gets only what has changed since
_encode = msgspec.json.Encoder().encode


class TableLike(Protocol):
    """What is followed: a game's Table, or the Setup of one."""

    def snapshot(self) -> Snapshot:
        """What it shows now; `version` changes with it."""

    def wait(self, version: int, timeout: float) -> int:
        """Blocks until its version has changed or the time is up; returns the version then."""


class Frame:
    """One published snapshot and its encoded views."""

    def __init__(self, serial: int, snapshot: Snapshot) -> None:
        self.serial, self.snapshot = serial, snapshot
        self._views: dict[Viewer, Snapshot] = {}
        self._bytes: dict[tuple[Viewer, int | None], bytes] = {}
        self._lock = threading.Lock()

    def view(self, viewer: Viewer) -> Snapshot:
        if viewer not in self._views:
            seen = redacted_snapshot(self.snapshot, viewer)
            self._views[viewer] = {
                **seen,
                "serial": self.serial,
                "you": msgspec.to_builtins(viewer),
            }
        return self._views[viewer]

    def encoded(self, viewer: Viewer, since: Frame | None = None) -> bytes:
        """JSON: the whole view, or what changed since an earlier frame."""
        with self._lock:
            key = viewer, since.serial if since else None
            if key not in self._bytes:
                now = self.view(viewer)
                self._bytes[key] = _encode(
                    snapshot_change(since.view(viewer), now) if since else now
                )
            return self._bytes[key]


class Feed:
    """`extras` adds what the page itself knows (who is seated) to each snapshot."""

    def __init__(self, table: TableLike, extras: Callable[[], dict[str, Any]]) -> None:
        self.table, self._extras = table, extras
        self._changed = threading.Condition()
        self._frames: OrderedDict[int, Frame] = OrderedDict()
        self._serial = 0
        self._snapshot: Snapshot = {}
        self.closed = False
        self._thread: threading.Thread | None = None
        self.refresh()

    @property
    def frame(self) -> Frame:
        return self._frames[self._serial]

    def start(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._follow, name="feed", daemon=True)
            self._thread.start()

    def refresh(self) -> None:
        """Takes a snapshot of the table and publishes it."""
        snapshot = self.table.snapshot()
        with self._changed:
            self._snapshot = snapshot
            self._publish()

    def touch(self) -> None:
        """Publishes again, since something that the page itself adds has changed."""
        with self._changed:
            self._publish()

    def message(self, viewer: Viewer, since: int | None = None) -> tuple[int, bytes]:
        """(serial, Server-Sent Event) that brings a page at `since` (None: a new one) up to now."""
        with self._changed:
            now, old = self.frame, self._frames.get(since) if since is not None else None
        name = b"change" if old else b"snapshot"
        return now.serial, b"id: %d\nevent: %s\ndata: %s\n\n" % (
            now.serial,
            name,
            now.encoded(viewer, old),
        )

    def wait(self, serial: int, timeout: float) -> int:
        """Blocks until something newer than `serial` is there, the feed closes or time is up."""
        with self._changed:
            self._changed.wait_for(lambda: self.closed or self._serial != serial, timeout)
            return self._serial

    def close(self) -> None:
        with self._changed:
            self.closed = True
            self._changed.notify_all()

    def _publish(self) -> None:
        frame = Frame(self._serial + 1, {**self._snapshot, **self._extras()})
        before = self._frames.get(self._serial)
        if before is not None:
            # most phones are onlookers that are up to date: encode their view before waking them
            frame.encoded(LOOKER, before)
        self._frames[frame.serial] = frame
        self._serial = frame.serial  # only now: requests read `frame` without a lock
        while len(self._frames) > KEPT:
            self._frames.popitem(last=False)
        self._changed.notify_all()

    def _follow(self) -> None:
        while not self.closed:
            try:
                have = self._snapshot.get("version", 0)
                if self.table.wait(have, 0.5) != have:
                    self.refresh()
            except Exception:
                # The page must survive a fault in one snapshot: log it, and go on a little later.
                log.exception("the table could not be asked")
                with self._changed:
                    self._changed.wait_for(lambda: self.closed, 1.0)


class Place:
    """One stream's place; `lost` once it was given to an address that had none."""

    def __init__(self, address: str, seated: bool) -> None:
        self.address, self.seated, self.lost = address, seated, False


class Streams:
    """Limits how many phones follow, so that enough threads remain for everything else."""

    def __init__(self, most: int, reserved: int, per_address: int) -> None:
        self.most, self.reserved, self.per_address = most, reserved, per_address
        self._open: list[Place] = []
        self._lock = threading.Lock()

    @property
    def count(self) -> int:
        return len(self._open)

    def enter(self, address: str, seated: bool) -> Place | None:
        """A place, or None if there is no room. When full, an address with several streams loses
        one to an address without any. The table's own machine may open any number (a kiosk)."""
        with self._lock:
            own = sum(p.address == address for p in self._open)
            if address not in ("127.0.0.1", "::1") and own >= self.per_address:
                return None
            if len(self._open) >= self.most + (self.reserved if seated else 0):
                strangers = [p for p in self._open if not p.seated and not p.lost]
                many = Counter(p.address for p in strangers)
                last = max(strangers, key=lambda p: many[p.address], default=None)
                if own or last is None or many[last.address] < 2:
                    return None
                last.lost = True
                self._open.remove(last)
            place = Place(address, seated)
            self._open.append(place)
            return place

    def leave(self, place: Place) -> None:
        with self._lock:
            if place in self._open:
                self._open.remove(place)
