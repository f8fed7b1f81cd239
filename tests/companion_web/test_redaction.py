"""Hidden is hidden: every address there is, asked by a looker, another seat, the owner and the
host, in all four games."""

import json
import random
import re
from pathlib import Path

import pytest

import companion_web
import engine
from companion.runtime.club import table_summary
from companion.table.journal import Journal
from companion.table.table import Table
from companion_web.access import Viewer
from engine import script
from tests.companion_web.support.tables import Phone

# What a game tells of points beyond `scores`: facts of a seat, and tables and tracks of the whole
# game.
FACTS = {
    "tigris": {"red", "black", "blue", "green", "treasures"},
    "ur": {"would score now"},
    "nile": {"points"},
    "deluge": {"points with the bonuses as they stand"},
}
WHOLE = {"ur": {"sets that would score now"}, "nile": {"From the first figure to the obelisk"}}
FILES = {
    "tigris": "game tigris\nseats bull lion\nscore lion red 73\n",
    "nile": "game nile\nseats red blue\nscore blue 37\n",
}
PLAIN = (
    "/static/",
    "/locale/",
    "/api/setup",
    "/api/trace",
    "/setup",
    "/trace",
    "/report",
    "/worker.js",
    "/assets.json",
    "/favicon.ico",
    "/manifest.webmanifest",
    "/look.svg",
    "/join.svg",
)


def beginning(name):
    if name in FILES:
        return script.run_script(FILES[name]).state
    game = engine.game(name)
    return game.setup([s.id for s in game.seats[: game.players[0]]])


@pytest.fixture(params=sorted(engine.games()))
def table(request, tmp_path):
    state = beginning(request.param)
    made, rng = (
        Table(state, Journal(tmp_path / "g.journal"), settings={"hidden_scores": True}),
        random.Random(5),
    )
    for _ in range(60):
        if request.param in FILES:
            break
        made.declare(str(rng.choice(made.state.legal_actions())))
    if request.param in FILES:
        made.declare(str(made.state.legal_actions()[0]))
    return made


@pytest.fixture
def people(make_app, table):
    app = make_app(table, read_rate=(1e6, 1e6), heartbeat=0.05)
    one, other = table.state.seats[:2]
    host = Phone(app, "10.0.0.5")
    host.post("/api/host", {"pin": "12345678"})
    return {
        "looker": Phone(app, "10.0.0.2"),
        "host": host,
        one: Phone(app, "10.0.0.3").sit(one),
        other: Phone(app, "10.0.0.4").sit(other),
    }


def addresses(app, table):
    """Every address that is asked for with GET, each place filled with all there is"""
    event, filled = str(table.lines[-1].event), []
    for rule in app.url_map.iter_rules():
        if "GET" in rule.methods and not str(rule).startswith(PLAIN):
            filled.append(
                re.sub(r"<int:event>", event, str(rule))
                .replace("<any(before, after):which>", "after")
                .replace("<game>", table.state.game)
                .replace("<number>", "T1")
                .replace("<site>", min(table.plan.sites))
                .replace("<name>", Path(table.journal.path).stem)
            )
    assert not [a for a in filled if "<" in a], (
        "one with a place that this test does not know: fill it"
    )
    return [*filled, *(f"/api/actions?seat={s}" for s in table.state.seats)]


def read(phone, address):
    """What is answered, as data; of the stream what comes at once"""
    if address == "/api/stream":
        answer = phone.client.get(address, environ_overrides=phone.environ, buffered=False)
        got = b""
        for part in answer.response:
            got += part
            if b"event: snapshot" in got:
                break
        answer.close()
        return json.loads(got.split(b"data: ", 1)[1].split(b"\n")[0])
    answer = phone.get(address)
    if answer.status_code != 200:
        return None
    return answer.json if answer.is_json else answer.data.decode("latin-1")


def told(data, path=""):
    """(path, value) of everything in it, but what lies on the board for all to see"""
    if isinstance(data, dict):
        for key, value in data.items():
            if key not in ("layout", "sites", "before", "after"):
                yield from told(value, f"{path}.{key}")
        yield path, data
    elif isinstance(data, list):
        for value in data:
            yield from told(value, path)
    else:
        yield path, data


def leaks(data, own, table):
    """Where it tells points that `own` seats must not know"""
    game, seats = table.state.game, set(table.state.seats)
    mark = {"tigris": 73, "nile": 37}.get(game)
    for path, value in told(data):
        if path.endswith((".scores", ".opening", ".standing", ".opening_standing")) and isinstance(
            value, dict
        ):
            if set(value) & seats - own:
                yield f"{path}: {value}"
        if isinstance(value, dict) and "facts" in value and value.get("id") not in own:
            shown = {f["label"]["t"] for f in value["facts"] if f["value"] is not None}
            if shown & FACTS[game]:
                yield f"{path}: {shown}"
        if isinstance(value, dict) and isinstance(
            title := value.get("title") or value.get("label"), dict
        ):
            if title.get("t") in WHOLE.get(game, ()):
                yield f"{path}: {title}"
        if mark is not None and not own & {"lion", "blue"}:
            if value in (mark, mark + 1) or str(value) == str(mark):
                yield f"{path}: {value}"


def test_nobody_is_told_anothers_points_anywhere(people, table):
    asked = addresses(people["looker"].app, table)
    assert len(asked) > 15
    for who, phone in people.items():
        own = {who} & set(table.state.seats)
        for address in asked:
            # The host's whole copy of the game's file is the game's file.
            found = list(leaks(read(phone, address), own, table))
            assert not found or address.endswith(".journal"), f"{address} to {who}: {found}"


def writes(table):
    """address -> what is sent there, such that as much as possible is done"""
    one, other = table.state.seats[:2]
    last = table.lines[-1]
    acts = sorted(map(str, table.state.legal_actions()))
    return {
        "/api/declare": [{"text": acts[0]}, {"text": f"{other}: nonsense"}, {"text": acts[-1]}],
        "/api/instead": [{"event": last.event, "text": acts[-1]}],
        "/api/undo": [{"event": table.lines[-2].event}],
        "/api/redo": [{}],
        "/api/answer": [{"question": "q1", "choice": 0}],
        "/api/offer": [{"id": 1, "yes": 0}],
        "/api/place": [{"site": min(table.plan.sites), "contents": []}],
        "/api/name": [{"seat": one, "name": "Anna"}],
        "/api/join": [{"code": "guess", "seat": one}],
        "/api/host": [{"pin": "00000000"}],
        "/api/host/free": [{"seat": "nobody"}],
        "/api/host/seat": [{"seat": "nobody"}],
        "/api/host/link": [{}],
        "/api/host/end": [{"id": "nobody"}],
        "/api/host/settings": [{"joining": 1}],
        "/api/host/switch": [{"name": "dark", "on": 0}],
        "/api/host/edit": [{"site": min(table.plan.sites), "contents": []}],
        "/api/host/go-on": [{}],
        "/api/host/unlearn": [{}],
        "/api/leave": [{}],
    }


def test_no_answer_to_a_write_tells_them_either_nor_what_follows_on_the_stream(people, table):
    sent = writes(table)
    every = {
        str(rule)
        for rule in people["looker"].app.url_map.iter_rules()
        if "POST" in rule.methods and not str(rule).startswith(PLAIN)
    }
    assert every == set(sent), "a write that this test does not know: say what is sent there"
    done = 0
    for who, phone in people.items():
        own = {who} & set(table.state.seats)
        for address, bodies in sent.items():
            for body in bodies if address != "/api/leave" else ():
                before = list(table.lines)
                answer = phone.post(address, body)
                done += answer.status_code == 200
                found = list(leaks(answer.json, own, table))
                assert not found, f"{address} to {who}: {found}"
                if table.lines != before:
                    for other, one in people.items():
                        theirs = {other} & set(table.state.seats)
                        told_next = read(one, "/api/stream")
                        assert not list(leaks(told_next, theirs, table)), f"stream to {other}"
    assert done > 10, "and hardly anything of it was refused"


def test_what_changes_is_told_on_the_stream_as_the_whole_is(people, table):
    feed = companion_web.web_of(people["looker"].app).feed
    for _ in range(8):
        if not (acts := table.state.legal_actions()):
            break
        serial = feed.frame.serial
        table.declare(str(acts[0]))
        feed.refresh()
        for who in people:
            own = {who} & set(table.state.seats)
            viewer = Viewer(who == "host", tuple(own))
            event = feed.message(viewer, serial)[1].split(b"data: ", 1)[1]
            assert not list(leaks(json.loads(event), own, table)), who


def test_the_owner_sees_their_own_and_all_is_open_at_the_end_or_when_nothing_is_hidden(
    people, table
):
    one = table.state.seats[0]
    mine = people[one].get("/api/snapshot").json
    assert set(mine["scores"]) == {one} and FACTS[table.state.game] & {
        f["label"]["t"]
        for s in mine["view"]["seats"]
        if s["id"] == one
        for f in s["facts"]
        if f["value"] is not None
    }
    table.set(hidden_scores=False)
    companion_web.web_of(people["host"].app).feed.refresh()
    assert set(people["looker"].get("/api/snapshot").json["scores"]) == set(table.state.seats)


def test_the_host_sees_no_points_while_they_are_hidden_and_may_still_keep_the_game(people):
    for address in ("/api/record.play", "/api/record.json", "/api/chronicle"):
        assert people["host"].get(address).status_code == 403
    assert people["host"].get("/api/record.journal").status_code == 200


def test_the_club_is_told_no_points_either(table):
    assert table_summary(table.snapshot(), "x", "")["scores"] == {}
