"""Tables and a hall with a real Mosquitto: what is published, what is left when a table dies, how tables catch up."""

import json
import shutil
import socket
import subprocess
import threading
import time

import paho.mqtt.client as mqtt
import pytest

import engine
from companion.club import Publisher, client, summary, topic_name
from companion.config import Club
from companion.hall import Hall
from companion.table import Table
from companion_web.hall import create_hall
from engine.script import run

MOSQUITTO = shutil.which("mosquitto") or shutil.which("mosquitto", path="/usr/sbin:/usr/local/sbin")
needs_broker = pytest.mark.skipif(not MOSQUITTO, reason="needs Mosquitto: sudo apt-get install mosquitto")
START = "game tigris\nseats bull lion\n"


class Broker:
    """A Mosquitto of the test's own that can be taken away and come back."""

    def __init__(self, folder):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.port = s.getsockname()[1]
        self.conf = folder / "mosquitto.conf"
        self.conf.write_text(f"listener {self.port} 127.0.0.1\nallow_anonymous true\npersistence false\n")
        self.process = None

    def start(self):
        self.process = subprocess.Popen([MOSQUITTO, "-c", str(self.conf)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until(lambda: socket.create_connection(("127.0.0.1", self.port), 0.5).close() is None)

    def stop(self):
        self.process.kill()
        self.process.wait()

    def club(self, name=""):
        return Club("127.0.0.1", self.port, table=name)


def until(holds, seconds=20.0):
    end = time.monotonic() + seconds
    while True:
        try:
            if value := holds():
                return value
        except OSError:
            pass
        assert time.monotonic() < end, "did not come"
        time.sleep(0.02)


def play(table):
    """The next legal tile, said aloud."""
    table.declare(next(str(a) for a in table.state.legal_actions() if ": tile" in str(a)))


@pytest.fixture
def broker(tmp_path):
    made = Broker(tmp_path)
    made.start()
    yield made
    made.stop()


@pytest.fixture
def started():
    """started(publisher or hall) -> it, running; stopped with the test"""
    running = []

    def start(one):
        one.start()
        running.append(one)
        return one
    yield start
    for one in running:
        one.stop()


class Ear:
    """Hears every topic: `said[topic]` is all of its messages, in order."""

    def __init__(self, club):
        self.said, self.retained = {}, {}
        self.client = client(club, "ear")
        self.client.on_connect = lambda c, *_: c.subscribe("#", 1)
        self.client.on_message = self._heard

    def _heard(self, c, userdata, message):
        self.said.setdefault(message.topic, []).append(message.payload.decode())
        self.retained[message.topic] = message.retain

    def start(self):
        self.client.connect("127.0.0.1", self.client.port)
        self.client.loop_start()

    def stop(self):
        self.client.disconnect()
        self.client.loop_stop()


def ear(broker, started):
    made = Ear(broker.club())
    made.client.port = broker.port
    return started(made)


@needs_broker
def test_a_table_is_seen_in_the_hall_and_its_end_too(broker, started):
    table = Table(run(START).state)
    started(Publisher(table, broker.club(), "Kitchen table"))
    hall = started(Hall(broker.club()))
    until(lambda: hall.tables() and hall.tables()[0]["online"])
    [seen] = hall.tables()
    assert (seen["id"], seen["name"], seen["moves"]) == ("kitchen-table", "Kitchen table", 0)
    play(table)
    until(lambda: hall.tables()[0]["moves"] == 1 and hall.tables()[0]["verdict"] == "unfinished")
    gone = Publisher(Table(run(START).state), broker.club("other"), "Other")
    gone.start()
    until(lambda: [t for t in hall.tables() if t["id"] == "other" and t["online"]])
    gone.client.loop_stop()
    gone.client._sock_close()         # as when its power fails: no goodbye, so the broker speaks its last will
    gone._stop.set()
    until(lambda: [t for t in hall.tables() if t["id"] == "other" and not t["online"]])
    assert [t["online"] for t in hall.tables()] == [True, False]


@needs_broker
def test_the_broker_goes_the_table_goes_on_and_nothing_is_missed(broker, started):
    table = Table(run(START).state)
    publisher = started(Publisher(table, broker.club(), "T"))
    hall = started(Hall(broker.club()))
    play(table)
    until(lambda: hall.tables() and hall.tables()[0]["moves"] == 1)
    broker.stop()
    until(lambda: not publisher.client.is_connected() and not hall.connected)
    began = time.monotonic()
    for _ in range(3):
        play(table)
    assert time.monotonic() - began < 5 and len(table.lines) > 4
    broker.start()
    listening = ear(broker, started)
    until(lambda: hall.connected and hall.tables()[0]["moves"] == len(table.lines) - 1)
    moves = until(lambda: len(found := listening.said.get("nilometer/t/move", [])) == len(table.lines) - 2 and found)
    assert [json.loads(m)["text"] for m in moves] == [line.action for line in table.lines[2:]], "each once, in order"


@needs_broker
def test_who_comes_late_finds_state_and_home_assistants_sensors(broker, started):
    publisher = started(Publisher(Table(run(START).state), broker.club(), "T"))
    until(lambda: publisher.client.is_connected())
    time.sleep(1.0)
    late = ear(broker, started)
    until(lambda: "nilometer/t/state" in late.said and len([t for t in late.said if t.startswith("homeassistant/")]) == 4)
    assert late.said["nilometer/t/online"] == ["online"] and all(late.retained.values())
    sensor = json.loads(late.said["homeassistant/sensor/nilometer_t/verdict/config"][0])
    assert sensor["state_topic"] == "nilometer/t/state" and sensor["availability_topic"] == "nilometer/t/online"
    assert sensor["unique_id"] and sensor["device"]["identifiers"] and "value_json.verdict" in sensor["value_template"]


class Simulated:
    """A table that only counts its moves."""

    base = Table(run(START).state).snapshot()

    def __init__(self):
        self.version, self._changed = 1, threading.Event()

    def wait(self, version, timeout):
        if self.version == version:
            self._changed.wait(timeout)
            self._changed.clear()
        return self.version

    def act(self):
        self.version += 1
        self._changed.set()

    def snapshot(self):
        return {**self.base, "moves": [{"event": n, "seat": "bull", "text": "bull: pass"} for n in range(2, self.version + 1)]}


@needs_broker
def test_three_hundred_tables_in_one_hall(broker, started):
    tables = [Simulated() for _ in range(300)]
    for n, table in enumerate(tables):
        started(Publisher(table, broker.club(f"table-{n:03}"), f"Table {n:03}"))
    hall = started(Hall(broker.club()))
    until(lambda: sum(t["online"] for t in hall.tables()) == 300)
    for table in tables:
        table.act()
    until(lambda: sum(t["moves"] for t in hall.tables()) == 300)
    page = create_hall(hall).test_client()
    answer = page.get("/api/tables")
    assert len(answer.json["tables"]) == 300 and answer.json["tables"][7]["name"] == "Table 007"
    assert page.get("/api/tables", headers={"If-None-Match": answer.headers["ETag"]}).status_code == 304
    assert "Content-Security-Policy" in answer.headers and b"<script type=\"module\"" in page.get("/").data


def heard(hall, topic, payload):
    message = mqtt.MQTTMessage(topic=topic.encode())
    message.payload = payload
    hall._heard(None, None, message)


def test_nonsense_from_the_broker_is_no_table():
    hall = Hall(Club("localhost"))
    for payload in (b"{", b"[1]", b"\xff", b'"x"', b"{" + b" " * 70_000 + b"}"):
        heard(hall, "nilometer/a/state", payload)
    assert hall.tables() == []
    for n in range(2100):
        heard(hall, f"nilometer/{n}/state", b"{}")
    assert len(hall.tables()) == 2000
    heard(hall, "nilometer/7/state", b"")
    assert len(hall.tables()) == 1999


@pytest.mark.parametrize("game", sorted(engine.games()))
def test_hidden_scores_stay_hidden(game):
    found = engine.game(game)
    table = Table(found.setup([s.id for s in found.seats[: found.players[0]]]), settings={"hidden_scores": True})
    assert summary(table.snapshot(), "T", "")["scores"] == {}
    table.set(hidden_scores=False)
    assert set(summary(table.snapshot(), "T", "")["scores"]) == set(table.state.seats)


def test_a_table_without_a_broker_starts_and_stops():
    publisher = Publisher(Table(run(START).state), Club("127.0.0.1", 9), "Küche 2")
    publisher.start()
    began = time.monotonic()
    publisher.stop()
    assert time.monotonic() - began < 2 and publisher.id == "k-che-2" and topic_name("///") == "table"
