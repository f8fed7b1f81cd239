"""All the tables of a club, as their broker reports them; the page is companion_web.hall.

Whoever may write to the broker may write nonsense, so anything that does not fit `TableReport` is
dropped.
"""

from __future__ import annotations

import logging
import re
import secrets
import threading
from typing import Annotated, Any

import msgspec

from companion.runtime.club import ONLINE, mqtt_client
from companion.runtime.config import Club

log = logging.getLogger(__name__)
MOST, LONGEST = 2000, 4096  # tables, and bytes of a state
ENDED = 500  # finished games that are remembered
DIGITS = 16  # of a version
NAME = re.compile(r"[a-z0-9-]{1,64}")
Word = Annotated[str, msgspec.Meta(max_length=80)]
Sentence = Annotated[str, msgspec.Meta(max_length=400)]
Number = (
    Annotated[int, msgspec.Meta(ge=-(10**6), le=10**6)]
    | Annotated[float, msgspec.Meta(ge=-1e6, le=1e6)]
)
ReportedScore = Number | Annotated[dict[Word, Number], msgspec.Meta(max_length=16)]


class SeatReport(msgspec.Struct, frozen=True):
    """A seat as a hall shows it."""

    id: Word
    name: Word
    colour: Word = ""
    person: Word = ""


class TableReport(msgspec.Struct, frozen=True):
    """The form that a table's state must have; companion.runtime.club.table_summary makes it."""

    name: Word
    began: Word = ""
    game: Word = ""
    title: Word = ""
    page: Annotated[str, msgspec.Meta(max_length=200)] = ""
    seats: Annotated[list[SeatReport], msgspec.Meta(max_length=12)] = []
    turn: Word | None = None
    scores: Annotated[dict[Word, ReportedScore], msgspec.Meta(max_length=12)] = {}
    points: Annotated[dict[Word, Number], msgspec.Meta(max_length=12)] = {}
    moves: Annotated[int, msgspec.Meta(ge=0, le=10**6)] = 0
    verdict: Word = ""
    text: Sentence = ""
    camera: Word = ""
    winners: Annotated[list[Word], msgspec.Meta(max_length=12)] | None = None


REPORTS = msgspec.json.Decoder(TableReport)


class Hall:
    """tables(): every table ever heard of, by name, with "id" and "online". version: grows with
    each change."""

    def __init__(self, club: Club) -> None:
        self.club, self.version, self.connected = club, 0, False
        self.epoch = secrets.token_hex(4)  # versions given out by another process mean nothing here
        self._states: dict[str, dict[str, Any]] = {}
        self._online: dict[str, bool] = {}
        # the version of each table's last change, including tables that are gone
        self._touched: dict[str, int] = {}
        # (table, when its game began) -> how it ended, for as long as this hall runs: a night
        self._results: dict[tuple[str, str], dict[str, Any]] = {}
        self._results_changed = 0  # the version in which they last changed
        self._lock = threading.Lock()
        # The broker chooses the client's name, so that any number of halls may connect.
        self.client = mqtt_client(club, "")
        self.client.on_connect, self.client.on_message = self._connected, self._message
        self.client.on_disconnect = lambda *_: self._set(False)

    def start(self) -> None:
        """Connects, and keeps trying, in its own thread."""
        self.client.connect_async(self.club.broker, self.club.port, keepalive=20)
        self.client.loop_start()

    def stop(self) -> None:
        """Disconnects."""
        self.client.disconnect()
        self.client.loop_stop()

    def tables(self) -> list[dict[str, Any]]:
        """All tables as the broker reports them."""
        with self._lock:
            found = [self._shown(i) for i in self._states]
        return sorted(found, key=lambda t: (t["name"].lower(), t["id"]))

    def changes(self, since: str = "") -> dict[str, Any]:
        """{"broker", "version", "full", "tables", "gone", "results"}: all tables, or, if `since` is
        a version given out before, those that have changed since and the ids of those that are
        gone. results: the finished games, oldest first, None if there are no new ones."""
        epoch, _, number = since.partition(".")
        with self._lock:
            # one of thousands of digits is no number that was told
            known = epoch == self.epoch and number.isdecimal() and len(number) < DIGITS
            full = not known or int(number) > self.version
            ids = (
                list(self._states)
                if full
                else [i for i, v in self._touched.items() if v > int(number)]
            )
            return {
                "broker": self.connected,
                "version": f"{self.epoch}.{self.version}",
                "full": full,
                "tables": [self._shown(i) for i in ids if i in self._states],
                "gone": [] if full else [i for i in ids if i not in self._states],
                "results": list(self._results.values())
                if full or self._results_changed > int(number)
                else None,
            }

    def _shown(self, name: str) -> dict[str, Any]:
        return {**self._states[name], "id": name, "online": self._online.get(name, False)}

    def _touch(self, *names: str) -> None:
        """The caller holds the lock."""
        self.version += 1
        for name in names:
            self._touched.pop(name, None)
            self._touched[name] = self.version
        while len(self._touched) > 2 * MOST:
            oldest = next(iter(self._touched))
            del self._touched[oldest]
            # a client that asks for what came after it gets everything
            self.epoch = secrets.token_hex(4)

    def _set(self, connected: bool) -> None:
        with self._lock:
            self.connected = connected
            self._touch()

    def _connected(
        self, client: Any, userdata: Any, flags: Any, reason: Any, properties: Any
    ) -> None:
        with self._lock:
            self.connected = not reason.is_failure
            # A table that left or died while the broker was away has not said so; a table that is
            # there announces itself again.
            gone = [name for name, online in self._online.items() if online]
            self._online = dict.fromkeys(self._online, False)
            self._touch(*gone)
        client.subscribe([(f"{self.club.prefix}/+/state", 1), (f"{self.club.prefix}/+/online", 1)])

    def _message(self, client: Any, userdata: Any, message: Any) -> None:
        """Takes in a message; nothing that anybody leaves at the broker ends this thread."""
        try:
            self._heard(client, userdata, message)
        except Exception as e:
            log.warning("%s: a message was dropped (%s)", message.topic[:80], type(e).__name__)

    def _heard(self, client: Any, userdata: Any, message: Any) -> None:
        name, what = message.topic.split("/")[-2:]
        if not NAME.fullmatch(name):
            return
        with self._lock:
            known = name in self._states or len(self._states) < MOST
            if what == "online" and (name in self._online or known and len(self._online) < MOST):
                online = message.payload == ONLINE.encode()
                if self._online.get(name) is not online:
                    self._online[name] = online
                    self._touch(name)
            elif what == "state" and not message.payload:
                self._online.pop(name, None)
                # its owner deleted the retained state: it is gone for good
                if self._states.pop(name, None) is not None:
                    self._touch(name)
            elif what == "state" and known and len(message.payload) <= LONGEST:
                try:
                    state = msgspec.to_builtins(REPORTS.decode(message.payload))
                except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
                    return
                if state != self._states.get(name):
                    self._states[name] = state
                    self._touch(name)
                    self._note_end(name, state)

    def _note_end(self, name: str, state: dict[str, Any]) -> None:
        """Remembers how a game ended, and forgets it if the ending was taken back. The caller holds
        the lock."""
        key, winners = (name, state["began"]), state["winners"]
        result = (
            None
            if not winners
            else {
                "table": state["name"],
                "title": state["title"],
                "seats": [
                    {**s, "points": state["points"].get(s["id"]), "won": s["id"] in winners}
                    for s in state["seats"]
                ],
            }
        )
        if result == self._results.get(key):
            return
        if result:
            self._results[key] = result
            while len(self._results) > ENDED:
                del self._results[next(iter(self._results))]
        else:
            del self._results[key]
        self._results_changed = self.version
