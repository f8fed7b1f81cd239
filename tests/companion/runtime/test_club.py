"""Tables and a hall with a real Mosquitto: what is published, what is left when a table dies, how
tables catch up."""

import json
import re
import shutil
import socket
import subprocess
import textwrap
import threading
import time
from pathlib import Path

import paho.mqtt.client as mqtt
import pytest

import engine
from companion.runtime.club import Publisher, mqtt_client, table_summary, topic_name
from companion.runtime.config import Club
from companion.runtime.hall import Hall
from companion.table.table import Table
from companion_web.hall import create_hall
from engine.script import run_script

ROOT = Path(__file__).resolve().parents[3]
MOSQUITTO = shutil.which("mosquitto") or shutil.which("mosquitto", path="/usr/sbin:/usr/local/sbin")
needs_broker = pytest.mark.skipif(
    not MOSQUITTO, reason="needs Mosquitto: sudo apt-get install mosquitto"
)
START = "game tigris\nseats bull lion\n"


class Broker:
    """A Mosquitto of the test's own that can be taken away and come back."""

    def __init__(self, folder):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.port = s.getsockname()[1]
        self.conf = folder / "mosquitto.conf"
        self.conf.write_text(
            f"listener {self.port} 127.0.0.1\nallow_anonymous true\npersistence false\n"
        )
        self.process = None

    def start(self):
        self.process = subprocess.Popen(
            [MOSQUITTO, "-c", str(self.conf)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
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
        self.client = mqtt_client(club, "ear")
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
    table = Table(run_script(START).state)
    started(Publisher(table, broker.club(), "Kitchen table"))
    hall = started(Hall(broker.club()))
    until(lambda: hall.tables() and hall.tables()[0]["online"])
    [seen] = hall.tables()
    assert (seen["id"], seen["name"], seen["moves"]) == ("kitchen-table", "Kitchen table", 0)
    play(table)
    until(lambda: hall.tables()[0]["moves"] == 1 and hall.tables()[0]["verdict"] == "unfinished")
    gone = Publisher(Table(run_script(START).state), broker.club("other"), "Other")
    gone.start()
    until(lambda: [t for t in hall.tables() if t["id"] == "other" and t["online"]])
    gone.client.loop_stop()
    # as when its power fails: no goodbye, so the broker speaks its last will
    gone.client._sock_close()
    gone._stop.set()
    until(lambda: [t for t in hall.tables() if t["id"] == "other" and not t["online"]])
    assert [t["online"] for t in hall.tables()] == [True, False]


@needs_broker
def test_the_broker_goes_the_table_goes_on_and_nothing_is_missed(broker, started):
    table = Table(run_script(START).state)
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
    moves = until(
        lambda: (
            len(found := listening.said.get("nilometer/t/move", [])) == len(table.lines) - 2
            and found
        )
    )
    assert [json.loads(m)["text"] for m in moves] == [line.action for line in table.lines[2:]], (
        "each once, in order"
    )


@needs_broker
def test_who_comes_late_finds_state_and_home_assistants_sensors(broker, started):
    publisher = started(Publisher(Table(run_script(START).state), broker.club(), "T"))
    until(lambda: publisher.client.is_connected())
    time.sleep(1.0)
    late = ear(broker, started)
    until(
        lambda: (
            "nilometer/t/state" in late.said
            and len([t for t in late.said if t.startswith("homeassistant/")]) == 4
        )
    )
    assert late.said["nilometer/t/online"] == ["online"] and all(late.retained.values())
    sensor = json.loads(late.said["homeassistant/sensor/nilometer_t/verdict/config"][0])
    assert (
        sensor["state_topic"] == "nilometer/t/state"
        and sensor["availability_topic"] == "nilometer/t/online"
    )
    assert (
        sensor["unique_id"]
        and sensor["device"]["identifiers"]
        and "value_json.verdict" in sensor["value_template"]
    )


class Simulated:
    """A table that only counts its moves."""

    began = "1"
    base = Table(run_script(START).state).snapshot()

    began = "1"

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
        return {
            **self.base,
            "moves": [
                {"event": n, "seat": "bull", "text": "bull: pass"}
                for n in range(2, self.version + 1)
            ],
        }


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
    assert (
        page.get("/api/tables", headers={"If-None-Match": answer.headers["ETag"]}).status_code
        == 304
    )
    assert (
        "Content-Security-Policy" in answer.headers
        and b'<script type="module"' in page.get("/").data
    )


def heard(hall, topic, payload):
    message = mqtt.MQTTMessage(topic=topic.encode())
    message.payload = payload
    hall._heard(None, None, message)


STRANGE = [
    b"{",
    b"[1]",
    b"\xff",
    b'"x"',
    b"{" + b" " * 70_000 + b"}",
    b'{"name":"x","moves":NaN}',
    b'{"name":"x","moves":1e999}',
    b'{"name":"x","moves":1e300}',
    b'{"name":"x","scores":{"a":Infinity}}',
    b'{"name":"x","seats":[null]}',
    b'{"name":"x","winners":5}',
    b'{"name":"x","text":' + b"[" * 1900 + b"]" * 1900 + b"}",
    b'{"name":"x","more":' + b'{"a":' * 300 + b"1" + b"}" * 300 + b"}!",
    b"[" * 4000,
    b'{"name":"x","scores":{"a":{"b":{"c":1}}}}',
    b'{"name":5}',
    b"{}",
    b'{"name":"' + b"x" * 500 + b'"}',
    b'{"name":"x","moves":true}',
    b'{"name":null}',
    b"null",
    b"\x00",
]


@pytest.mark.parametrize("payload", STRANGE, ids=lambda p: repr(p[:30]))
def test_what_does_not_fit_is_no_table_and_ends_nothing(payload):
    hall = Hall(Club("localhost"))
    heard(hall, "nilometer/good/state", b'{"name":"Window"}')
    heard(hall, "nilometer/a/state", payload)
    heard(hall, "nilometer/a/online", payload)
    assert [t["name"] for t in hall.tables()] == ["Window"]
    assert (
        json.loads(create_hall(hall).test_client().get("/api/tables").data)["tables"][0]["name"]
        == "Window"
    )


def test_there_is_room_for_so_many_and_no_more():
    hall = Hall(Club("localhost"))
    for n in range(2100):
        heard(hall, f"nilometer/{n}/state", b'{"name":"x"}')
        heard(hall, f"nilometer/only-online-{n}/online", b"online")
    assert len(hall.tables()) == 2000 and len(hall._online) <= 2000
    heard(hall, "nilometer/7/state", b"")
    assert len(hall.tables()) == 1999
    for name in ("Upper", "with space", "x" * 65, ""):
        heard(hall, f"nilometer/{name}/state", b'{"name":"x"}')
    assert len(hall.tables()) == 1999


@pytest.mark.parametrize("game", sorted(engine.games()))
def test_what_tables_say_fits(game):
    found = engine.game(game)
    table = Table(found.setup([s.id for s in found.seats[: found.players[1]]]))
    hall = Hall(Club("localhost"))
    said = table_summary(table.snapshot(), "Kitchen table", "http://192.168.1.21:8080/")
    heard(hall, "nilometer/kitchen/state", json.dumps(said).encode())
    [shown] = hall.tables()
    assert {k: shown[k] for k in said} == said


def test_only_what_changed_is_sent_again():
    hall = Hall(Club("localhost"))
    page = create_hall(hall).test_client()
    for n in range(2000):
        heard(hall, f"nilometer/t{n}/state", b'{"name":"Table","text":"' + b"x" * 300 + b'"}')
    first = page.get("/api/tables").json
    assert first["full"] and len(first["tables"]) == 2000
    heard(hall, "nilometer/t5/state", b'{"name":"Five"}'), heard(hall, "nilometer/t6/state", b"")
    answer = page.get(f"/api/tables?since={first['version']}")
    assert (
        [t["name"] for t in answer.json["tables"]] == ["Five"]
        and answer.json["gone"] == ["t6"]
        and len(answer.data) < 500
    )
    again = page.get(f"/api/tables?since={answer.json['version']}").json
    assert not again["full"] and again["tables"] == again["gone"] == []
    for since in ("", "x", "x.1", *(f"{hall.epoch}.{n}" for n in (10**8, -1, "x", "9" * 5000))):
        assert page.get(f"/api/tables?since={since}").json["full"], since
    heard(hall, "nilometer/t5/state", b'{"name":"Five"}')
    assert page.get(f"/api/tables?since={again['version']}").json["version"] == again["version"], (
        "nothing new"
    )


def test_who_died_with_the_broker_is_offline_when_it_is_back():
    from types import SimpleNamespace

    hall = Hall(Club("localhost"))
    heard(hall, "nilometer/a/state", b'{"name":"A"}'), heard(hall, "nilometer/a/online", b"online")
    before = hall.changes()["version"]
    hall._connected(
        SimpleNamespace(subscribe=lambda *_: None),
        None,
        None,
        SimpleNamespace(is_failure=False),
        None,
    )
    assert [t["online"] for t in hall.changes(before)["tables"]] == [False]


def test_a_fault_of_ours_does_not_end_the_thread_that_hears(monkeypatch):
    hall = Hall(Club("localhost"))
    monkeypatch.setattr(hall, "_heard", lambda *_: 1 / 0)
    message = mqtt.MQTTMessage(topic=b"nilometer/a/state")
    hall._message(None, None, message)


@needs_broker
def test_tables_with_passwords_of_their_own_over_tls(tmp_path, started):
    """As docs/manual/club.md says: each table writes its own topics only, nobody without a password
    gets in, nothing in clear."""
    from companion_web import tls

    (tmp_path / "broker.pem").write_bytes(tls.made_certificate(["127.0.0.1", "localhost"]))
    passwd = shutil.which("mosquitto_passwd") or shutil.which(
        "mosquitto_passwd", path="/usr/sbin:/usr/local/sbin"
    )
    if passwd is None:
        pytest.skip("needs mosquitto_passwd")
    for n, user in enumerate(("window", "door", "hall")):
        subprocess.run(
            [
                passwd,
                *(["-c"] if not n else []),
                "-b",
                str(tmp_path / "passwords"),
                user,
                f"{user}-secret",
            ],
            check=True,
            capture_output=True,
        )
    document = (ROOT / "docs" / "manual" / "club.md").read_text()
    written = textwrap.dedent(re.search(r"```\n( *user hall\n.*?)```", document, re.S)[1])
    window = written[written.index("user window") :]
    assert "topic write nilometer/window/#" in window
    (tmp_path / "acl").write_text(f"{written}\n{window.replace('window', 'door')}")
    broker = Broker(tmp_path)
    files = "".join(
        f"{k} {tmp_path / f}\n"
        for k, f in (
            ("certfile", "broker.pem"),
            ("keyfile", "broker.pem"),
            ("password_file", "passwords"),
            ("acl_file", "acl"),
        )
    )
    broker.conf.write_text(
        f"user root\nlistener {broker.port} 127.0.0.1\nallow_anonymous "
        f"false\npersistence false\n{files}"
    )
    broker.start()
    try:

        def club(user, table="", password=None, ca=str(tmp_path / "broker.pem")):
            return Club(
                "127.0.0.1",
                broker.port,
                table=table,
                user=user,
                password=password or f"{user}-secret",
                ca=ca,
            )

        table = Table(run_script(START).state)
        hall = started(Hall(club("hall")))
        started(Publisher(table, club("window", "window"), "Window"))
        until(lambda: hall.tables() and hall.tables()[0]["online"])
        forged = mqtt_client(club("door"), "forger")
        forged.connect("127.0.0.1", broker.port)
        forged.loop_start()
        until(forged.is_connected)
        forged.publish("nilometer/window/state", b'{"name":"Forged"}', 1, True).wait_for_publish(5)
        forged.publish("nilometer/door/state", b'{"name":"Door"}', 1, True).wait_for_publish(5)
        until(lambda: len(hall.tables()) == 2)
        assert [t["name"] for t in hall.tables()] == ["Door", "Window"]
        forged.loop_stop()
        for wrong in (
            club("door", password="guess"),
            Club("127.0.0.1", broker.port, ca=str(tmp_path / "broker.pem")),
        ):
            outside, reasons = mqtt_client(wrong, "outside"), []
            outside.on_connect = lambda c, u, f, reason, p, reasons=reasons: reasons.append(reason)
            outside.connect("127.0.0.1", broker.port)
            outside.loop_start()
            until(lambda reasons=reasons: reasons)
            assert reasons[0].is_failure
            outside.loop_stop()
    finally:
        broker.stop()


@pytest.mark.parametrize("game", sorted(engine.games()))
def test_hidden_scores_stay_hidden(game):
    found = engine.game(game)
    table = Table(
        found.setup([s.id for s in found.seats[: found.players[0]]]),
        settings={"hidden_scores": True},
    )
    assert table_summary(table.snapshot(), "T", "")["scores"] == {}
    table.set(hidden_scores=False)
    assert set(table_summary(table.snapshot(), "T", "")["scores"]) == set(table.state.seats)


def test_a_table_without_a_broker_starts_and_stops():
    publisher = Publisher(Table(run_script(START).state), Club("127.0.0.1", 9), "Küche 2")
    publisher.start()
    began = time.monotonic()
    publisher.stop()
    assert (
        time.monotonic() - began < 2 and publisher.id == "k-che-2" and topic_name("///") == "table"
    )


def ended(hall, table, began, winners, **people):
    seats = [{"id": s, "name": s, "person": p} for s, p in people.items()]
    points = {s: 5 - n for n, s in enumerate(people)}
    said = {"name": table, "began": began, "title": "Ur", "seats": seats, "points": points}
    heard(
        hall, f"nilometer/{table}/state", json.dumps({**said, "winners": winners}).encode("utf-8")
    )


def test_a_nights_finished_games_are_remembered_and_taken_back():
    hall = Hall(Club("localhost"))
    page = create_hall(hall).test_client()
    first = page.get("/api/tables").json
    assert first["results"] == []
    ended(hall, "kitchen", "1", ["black"], black="Anna", white="Ben")
    ended(hall, "kitchen", "2", None, black="Anna", white="Ben")  # the next game: the first stays
    ended(hall, "window", "1", ["white"], black="Carla", white="Anna")
    then = page.get(f"/api/tables?since={first['version']}").json
    assert [
        (r["table"], [(s["person"], s["points"], s["won"]) for s in r["seats"]])
        for r in then["results"]
    ] == [
        ("kitchen", [("Anna", 5, True), ("Ben", 4, False)]),
        ("window", [("Carla", 5, False), ("Anna", 4, True)]),
    ]
    assert page.get(f"/api/tables?since={then['version']}").json["results"] is None
    ended(hall, "window", "1", None, black="Carla", white="Anna")  # its last move was taken back
    assert [
        r["table"] for r in page.get(f"/api/tables?since={then['version']}").json["results"]
    ] == ["kitchen"]
    for n in range(600):
        ended(hall, "kitchen", str(n), ["black"], black="Anna")
    assert len(page.get("/api/tables").json["results"]) == 500
