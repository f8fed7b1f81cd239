"""Whatever is wrong at the start, a page comes up that says what; the host can go on, and nothing
damaged is thrown away."""

import http.client
import json
import random
import signal
import socket
import sqlite3

import pytest

import companion_web
import engine
from cli import rescue as rescuing
from cli.rescue import Rescue
from companion.fault import Fault
from companion.table.journal import BadJournal, Journal
from companion.table.table import Table
from companion_web.rescue import create_rescue_app
from tests.cli.commands.test_run import free_port, service  # noqa: F401

HERE = {"Origin": "http://localhost", "Sec-Fetch-Site": "same-origin"}


@pytest.fixture
def folder(tmp_path):
    """A table's folder with a game of thirty events"""
    (tmp_path / "table.toml").write_text('copy = "nowhere"\n')
    table = Table(engine.game("tigris").setup(["bull", "lion"]), Journal(tmp_path / "game.journal"))
    rng = random.Random(1)
    for _ in range(29):
        table.declare(str(rng.choice(table.state.legal_actions())))
    table.journal.close()
    return tmp_path


def page_settings(folder, fault):
    rescue = Rescue(str(folder / "table.toml"), fault)
    app = create_rescue_app(rescue, companion_web.Settings(pin="12345678", state=folder))
    return rescue, app.test_client()


def logged_in(client):
    assert client.post("/api/host", json={"pin": "12345678"}, headers=HERE).status_code == 200
    return client


def altered(folder):
    with sqlite3.connect(folder / "game.journal") as db:
        db.execute("UPDATE event SET data=? WHERE id=21", (json.dumps({"action": "lion: swap 6"}),))
    with pytest.raises(BadJournal) as fault:
        Table(None, Journal(folder / "game.journal"))
    return fault.value


def test_strangers_are_told_that_it_cannot_start_and_no_more(folder):
    _, client = page_settings(folder, altered(folder))
    assert client.get("/").status_code == 503 and "cannot start" in client.get("/join").text
    said = client.get("/api/rescue").json
    assert said["words"] is None and said["offers"] == []
    assert (
        client.get("/api/snapshot").status_code == 503
        and int(client.get("/api/stream").headers["Retry-After"]) > 0
    )
    for path in ("/api/rescue/game.journal", "/api/rescue/game.jsonl"):
        assert client.get(path).status_code == 403
    assert client.post("/api/rescue", json={"do": "anew"}, headers=HERE).status_code == 403
    assert client.post("/api/rescue", json={"do": "anew"}).status_code == 403
    assert client.post("/api/host", json={"pin": "1"}, headers=HERE).status_code == 403


def test_the_host_goes_on_from_the_last_good_event(folder):
    fault = altered(folder)
    damaged = (folder / "game.journal").read_bytes()
    rescue, client = page_settings(folder, fault)
    said = logged_in(client).get("/api/rescue").json
    assert "game.journal: " in said["words"] and said["offers"] == ["go-on", "anew", "again"]
    assert (said["good"], said["said"]) == (20, 30)
    assert client.get("/api/rescue/game.journal").data == damaged
    assert len(client.get("/api/rescue/game.jsonl").text.splitlines()) == 20
    assert (
        client.post("/api/rescue", json={"do": "go-on"}, headers=HERE).status_code == 200
        and rescue.done.is_set()
    )
    assert len(Table(None, Journal(folder / "game.journal")).journal.events()) == 20
    [aside] = [p for p in folder.glob("game.journal.damaged-*") if p.name[-1].isdigit()]
    assert aside.read_bytes() == damaged


@pytest.mark.parametrize(
    "spoil, offers",
    [
        (lambda p: p.write_bytes(b""), ["anew", "again"]),
        (lambda p: p.unlink(), ["anew", "again"]),
        (lambda p: p.write_bytes(b"rubbish" * 999), ["anew", "again"]),
        (lambda p: p.write_bytes(bytes(4096) + p.read_bytes()[4096:]), ["anew", "again"]),
        (lambda p: p.write_bytes(p.read_bytes()[: len(p.read_bytes()) // 2]), ["anew", "again"]),
    ],
    ids=["empty", "gone", "rubbish", "head", "half"],
)
def test_a_game_that_cannot_be_read_gives_way_to_a_new_one(folder, spoil, offers):
    spoil(folder / "game.journal")
    with pytest.raises(BadJournal) as fault:
        Table(None, Journal(folder / "game.journal"))
    rescue, client = page_settings(folder, fault.value)
    found = logged_in(client).get("/api/rescue").json["offers"]
    assert [o for o in found if o != "go-on"] == offers
    assert client.post("/api/rescue", json={"do": "anew"}, headers=HERE).status_code == 200
    assert Journal(folder / "game.journal").events() == []
    assert list(folder.glob("game.journal.damaged-*")), "kept"


def test_a_newer_game_is_left_to_the_newer_nilometer_or_put_aside(folder):
    with sqlite3.connect(folder / "game.journal") as db:
        db.execute("UPDATE meta SET value='99' WHERE key='version'")
    with pytest.raises(BadJournal) as fault:
        Journal(folder / "game.journal")
    _, client = page_settings(folder, fault.value)
    assert logged_in(client).get("/api/rescue").json["offers"] == ["anew", "again"]
    assert client.post("/api/rescue", json={"do": "go-on"}, headers=HERE).status_code == 400


def test_a_game_somebody_else_plays_is_not_touched(folder):
    _, client = page_settings(
        folder, BadJournal("game.journal: another table is playing this game")
    )
    assert logged_in(client).get("/api/rescue").json["offers"] == ["again"]


def test_what_a_page_wrote_is_put_aside_for_setting_up_anew(folder, monkeypatch):
    state = folder / "state"
    state.mkdir()
    monkeypatch.setenv("NILOMETER_STATE", str(state))
    (state / "nilometer.toml").write_text("copy = ")
    synced = []
    monkeypatch.setattr(rescuing, "sync_folder", synced.append)
    rescue, client = page_settings(folder, Fault("state/nilometer.toml: Invalid value"))
    assert logged_in(client).get("/api/rescue").json["offers"] == ["set-up", "again"]
    assert client.post("/api/rescue", json={"do": "set-up"}, headers=HERE).status_code == 200
    assert [p.read_text() for p in state.glob("nilometer.toml.*")] == ["copy = "] and not (
        state / "nilometer.toml"
    ).exists()
    assert synced == [state], "a power cut brings the old name back no more"


def test_a_disk_that_cannot_be_written_is_told(folder, monkeypatch):
    rescue, client = page_settings(folder, altered(folder))

    def readonly(path):
        raise OSError(30, "Read-only file system", str(path))

    monkeypatch.setattr("cli.rescue.set_aside", readonly)
    answer = logged_in(client).post("/api/rescue", json={"do": "anew"}, headers=HERE)
    assert (
        answer.status_code == 507
        and "Read-only" in answer.json["error"]
        and not rescue.done.is_set()
    )


@pytest.mark.parametrize(
    "text",
    [
        'copy = "nowhere"\n',
        "copy = \n",
        'copy = "nowhere"\nlooks_per_second = 0\n',
        'copy = "nowhere"\n[camera]\nkind = "webcam"\n',
    ],
)
def test_a_service_that_cannot_start_serves_a_page_and_tries_again_when_told(
    service, tmp_path, text
):
    port = free_port()
    web = f'[web]\nhost = "127.0.0.1"\nport = {port}\npin = "12345678"\n'
    config = tmp_path / "owner.toml"
    config.write_text(text + web)
    process, said = service(config)
    said.settimeout(60)
    assert b"cannot start" in said.recv(999)
    # not even the port can be read from it: the usual one, or one of the next
    if text == "copy = \n":
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
        return
    assert said.recv(999) == b"WATCHDOG=1"
    status, _ = ask(port, "/")
    assert status == 503
    status, cookie = ask(port, "/api/host", {"pin": "12345678"})
    assert status == 200
    assert ask(port, "/api/rescue", {"do": "again"}, cookie)[0] == 200
    while b"cannot start" not in said.recv(999):
        pass
    process.send_signal(signal.SIGTERM)
    assert process.wait(20) == 0
    out = process.stdout.read()
    assert "Traceback" not in out and "12345678" not in out and "nilometer: " in out


def test_a_port_that_is_taken_leaves_the_page_on_the_next(tmp_path, monkeypatch):
    from cli import rescue
    from companion.runtime.config import Web

    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        found = Rescue(
            str(tmp_path / "none.toml"), Fault("127.0.0.1: another program serves there")
        )
        server = rescue._serve_rescue(
            create_rescue_app(found, companion_web.Settings()),
            Web(host="127.0.0.1", port=port),
            tmp_path,
        )
        try:
            assert server.port != port and ask(server.port, "/")[0] == 503
        finally:
            server.stop()


def ask(port, path, data=None, cookie=""):
    line = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    headers = {
        "Origin": f"http://127.0.0.1:{port}",
        "Content-Type": "application/json",
        "Cookie": cookie,
    }
    line.request(
        "GET" if data is None else "POST", path, None if data is None else json.dumps(data), headers
    )
    answer = line.getresponse()
    answer.read()
    line.close()
    return answer.status, (answer.headers["Set-Cookie"] or "").split(";")[0]
