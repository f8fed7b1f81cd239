"""All the tables of a club, as their broker tells of them; the page is companion_web.hall."""

from __future__ import annotations

import json
import threading
from typing import Any

from companion.club import ONLINE, client
from companion.config import Club

MOST, LONGEST = 2000, 64 * 1024      # tables, and bytes of a state: whoever may write to the broker may write nonsense


class Hall:
    """tables(): every table that was ever heard of, by name, with "id" and "online"; version: grows with each change."""

    def __init__(self, club: Club) -> None:
        self.club, self.version, self.connected = club, 0, False
        self._states: dict[str, dict[str, Any]] = {}
        self._online: dict[str, bool] = {}
        self._lock = threading.Lock()
        # A name of the broker's choosing: any number of halls may look on.
        self.client = client(club, "")
        self.client.on_connect, self.client.on_message = self._connected, self._heard
        self.client.on_disconnect = lambda *_: self._set(False)

    def start(self) -> None:
        self.client.connect_async(self.club.broker, self.club.port, keepalive=20)
        self.client.loop_start()

    def stop(self) -> None:
        self.client.disconnect()
        self.client.loop_stop()

    def tables(self) -> list[dict[str, Any]]:
        with self._lock:
            found = [{**s, "id": i, "online": self._online.get(i, False)} for i, s in self._states.items()]
        return sorted(found, key=lambda t: (str(t.get("name")).lower(), t["id"]))

    def _set(self, connected: bool) -> None:
        with self._lock:
            self.connected, self.version = connected, self.version + 1

    def _connected(self, client: Any, userdata: Any, flags: Any, reason: Any, properties: Any) -> None:
        self._set(not reason.is_failure)
        client.subscribe([(f"{self.club.prefix}/+/state", 1), (f"{self.club.prefix}/+/online", 1)])

    def _heard(self, client: Any, userdata: Any, message: Any) -> None:
        name, what = message.topic.split("/")[-2:]
        with self._lock:
            known = name in self._states or len(self._states) < MOST
            if what == "online" and (known or name in self._online):
                self._online[name] = message.payload == ONLINE.encode()
            elif what == "state" and not message.payload:
                self._states.pop(name, None)        # its owner took the retained state away: the table is gone for good
            elif what == "state" and known and len(message.payload) <= LONGEST:
                try:
                    state = json.loads(message.payload)
                except ValueError:
                    return
                if isinstance(state, dict):
                    self._states[name] = state
            self.version += 1
