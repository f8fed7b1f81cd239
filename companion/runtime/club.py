"""A table among many: it reports its state to an MQTT broker (topics: docs/manual/club.md), and
carries on if there is none.

Whatever was missed while the broker was away is sent once it is back: the state is retained, and
moves are numbered.
"""

from __future__ import annotations

import json
import logging
import re
import threading
from typing import Any

import paho.mqtt.client as mqtt

from companion.fault import Fault
from companion.runtime.config import Club
from companion.table.table import Table
from engine.text import Text

log = logging.getLogger(__name__)
ONLINE, OFFLINE = "online", "offline"
LONGEST_WAIT = 30  # seconds between two attempts to reach the broker
CALM = 0.25  # seconds for which changes are gathered into one message


def topic_name(name: str) -> str:
    """A name as one level of a topic: lower case, digits and "-"."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "table"


def table_summary(
    snapshot: dict[str, Any], name: str, page: str, began: str = ""
) -> dict[str, Any]:
    """What others may know about a table: no hands, and no scores while they are hidden. Texts are
    English sentences. began: distinguishes this game from the table's others."""
    hidden = snapshot["settings"].get("hidden_scores") and not snapshot["outcome"]
    outcome, verdict = snapshot["outcome"], snapshot["verdict"]
    people = snapshot["settings"].get("names") or {}
    return {
        "name": name,
        "began": began,
        "game": snapshot["game"],
        "title": plain_text(snapshot["title"]),
        "page": page,
        "seats": [
            {
                "id": s["id"],
                "name": plain_text(s["name"]),
                "colour": s["colour"],
                "person": people.get(s["id"], ""),
            }
            for s in snapshot["seats"]
        ],
        "turn": snapshot["turn"],
        "scores": {} if hidden else snapshot["scores"],
        "points": {} if hidden else snapshot["standing"],
        "moves": len(snapshot["moves"]),
        "verdict": verdict["verdict"],
        "text": plain_text(verdict["text"]),
        "camera": snapshot["camera"]["state"],
        "winners": outcome["winners"] if outcome else None,
    }


def plain_text(packed: dict[str, Any]) -> str:
    """A packed text in English, for programs."""
    return str(Text(packed["t"], packed.get("a", {})).translated(lambda t: t))


class Publisher:
    """Follows a table in its own thread; nothing the broker does reaches the table. delivered: the
    event of the last move sent."""

    def __init__(self, table: Table, club: Club, name: str) -> None:
        self.table, self.club, self.name = table, club, name
        self.id = topic_name(club.table or name)
        self.base = f"{club.prefix}/{self.id}"
        self.delivered = 0
        self._stop = threading.Event()
        # set when a connection is made: everything has to be sent again
        self._fresh = threading.Event()
        self._thread = threading.Thread(target=self._follow, name="club", daemon=True)
        self.client = mqtt_client(club, f"nilometer-{self.id}")
        self.client.will_set(f"{self.base}/online", OFFLINE, qos=1, retain=True)
        self.client.on_connect = self._connected

    def start(self) -> None:
        # The broker need not be running yet: paho's own thread keeps trying.
        """Connects, and keeps trying, in its own thread."""
        self.client.connect_async(self.club.broker, self.club.port, keepalive=20)
        self.client.loop_start()
        self._thread.start()

    def stop(self) -> None:
        """Announces that the table is offline, and disconnects."""
        self._stop.set()
        if self.client.is_connected():
            self.client.publish(
                f"{self.base}/online", OFFLINE, qos=1, retain=True
            ).wait_for_publish(0.5)
        # paho's thread is a daemon: waiting for it while it tries to reach a dead broker would
        # delay the stop.
        self.client.disconnect()

    def _connected(
        self, client: mqtt.Client, userdata: Any, flags: Any, reason: Any, properties: Any
    ) -> None:
        if reason.is_failure:
            log.warning("%s: %s", self.club.broker, reason)
        else:
            self._fresh.set()

    def _follow(self) -> None:
        version, sent = 0, ""
        while not self._stop.wait(CALM):
            now = self.table.wait(version, 0.5)
            fresh = self._fresh.is_set()
            if not self.client.is_connected() or now == version and not fresh:
                continue
            try:
                if fresh:
                    self._fresh.clear()
                    sent = ""
                    self._announce()
                sent = self._tell(sent)
                version = now
            except Exception:
                log.exception("the club could not be told")

    def _tell(self, sent: str) -> str:
        """Sends the moves that the broker has not had, then the state they lead to if it differs
        from `sent`."""
        snapshot = self.table.snapshot()
        state = table_summary(snapshot, self.name, self.club.page, self.table.began)
        for move in snapshot["moves"]:
            if move["event"] > self.delivered:
                self._send(
                    "move",
                    {"event": move["event"], "seat": move["seat"], "text": move["text"]},
                    retain=False,
                )
                self.delivered = move["event"]
        text = json.dumps(state, ensure_ascii=False)
        if text != sent:
            self._send("state", state)
        return text

    def _send(self, what: str, data: Any, retain: bool = True) -> None:
        text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
        self.client.publish(f"{self.base}/{what}", text, qos=1, retain=retain)

    def _announce(self) -> None:
        self._send("online", ONLINE)
        if not self.club.discovery:
            return
        device = {
            "identifiers": [f"nilometer_{self.id}"],
            "name": self.name,
            "manufacturer": "Nilometer",
            **({"configuration_url": self.club.page} if self.club.page else {}),
        }
        for key, words, template in (
            ("verdict", "Verdict", "{{ value_json.verdict }}"),
            ("turn", "Turn", "{{ value_json.turn }}"),
            ("moves", "Moves", "{{ value_json.moves }}"),
            ("camera", "Camera", "{{ value_json.camera }}"),
        ):
            sensor = {
                "name": words,
                "unique_id": f"nilometer_{self.id}_{key}",
                "state_topic": f"{self.base}/state",
                "value_template": template,
                "availability_topic": f"{self.base}/online",
                "device": device,
            }
            self.client.publish(
                f"{self.club.discovery}/sensor/nilometer_{self.id}/{key}/config",
                json.dumps(sensor),
                qos=1,
                retain=True,
            )


def mqtt_client(club: Club, name: str) -> mqtt.Client:
    """A client that reconnects automatically; its name makes a second table of the same name
    replace the first. Raises Fault if an authority's file cannot be used."""
    made = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, client_id=name)
    if club.user:
        made.username_pw_set(club.user, club.password or None)
    if club.tls or club.ca:
        try:
            made.tls_set(ca_certs=club.ca or None)
        except OSError as e:
            raise Fault(f"{club.ca}: {e.strerror or e}") from None
    made.reconnect_delay_set(1, LONGEST_WAIT)
    return made
