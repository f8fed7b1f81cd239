"""What phones may ask and say, and what of it reaches the table."""

import json

import companion_web
from engine import say
from engine.rules import load_rules
from engine.text import pack_text


def test_a_seated_phone_declares_answers_and_takes_back(app, phone, table):
    lion = phone("lion")
    assert (
        lion.post("/api/declare", {"text": "lion: tile red C4"}).json["verdict"]["verdict"]
        == "moved"
    )
    table.ask("lion")
    companion_web.web_of(app).feed.refresh()
    assert lion.post("/api/answer", {"question": "q1", "choice": 1}).status_code == 200
    assert lion.post("/api/undo", {"event": 1}).status_code == 200
    assert table.heard == [
        ("declare", "lion: tile red C4", "lion"),
        ("answer", "q1", 1, "lion"),
        ("undo", 1, "lion"),
    ]


def test_the_host_speaks_for_everybody(phone, table):
    host = phone("host")
    assert host.post("/api/declare", {"text": "lion: pass"}).status_code == 200
    assert table.heard == [("declare", "lion: pass", "host")]


def test_a_draw_from_the_bag_is_said_by_whoever_sits(phone, table):
    assert phone("bull").post("/api/declare", {"text": "bag: tile red C4"}).status_code == 200


def test_what_the_rules_forbid_names_them(phone):
    answer = phone("bull").post("/api/declare", {"text": "bull: tile blue J9"})
    assert answer.status_code == 409
    assert answer.json["violations"] == [{"rule": "T19", "text": {"t": "farms go on the river"}}]


def test_what_is_gone_is_gone(app, phone, table):
    bull = phone("bull")
    assert bull.post("/api/answer", {"question": "q7", "choice": 0}).status_code == 409
    assert bull.post("/api/undo", {"event": 77}).status_code == 409
    table.ask("bull")
    companion_web.web_of(app).feed.refresh()
    assert bull.post("/api/answer", {"question": "q1", "choice": 9}).status_code == 400
    assert table.heard == []


def test_what_cannot_be_written_down_did_not_happen(phone, table, monkeypatch):
    from companion.table.journal import BadJournal

    def full(*a, **k):
        table.trouble = pack_text(say("the journal cannot be written: {fault}", fault="full"))
        raise BadJournal("/var/lib/secret/place: disk full")

    monkeypatch.setattr(table, "declare", full)
    bull = phone("bull")
    answer = bull.post("/api/declare", {"text": "bull: pass"})
    assert answer.status_code == 507 and "secret/place" not in answer.text
    assert bull.get("/api/snapshot").json["trouble"], "seen in the very next thing they get"


def test_whoever_acted_sees_it_in_the_next_snapshot(phone):
    bull = phone("bull")
    serial = bull.post("/api/declare", {"text": "bull: tile red C4"}).json["serial"]
    snapshot = bull.get("/api/snapshot").json
    assert (
        snapshot["serial"] >= serial
        and snapshot["layout"]["C4"] == ["temple"]
        and snapshot["you"]["seats"] == ["bull"]
    )


def test_offers_only_what_begins_so(phone):
    offers = phone("bull").get("/api/actions?seat=bull&starts=leader").json
    assert offers == {
        "whole": ["pass"],
        "verbs": ["leader", "tile"],
        "actions": ["leader black E5", "leader red E5"],
        "otherwise": [],
    }


def test_every_rule_has_its_words(phone):
    looker = phone()
    every = load_rules("tigris")
    listed = looker.get("/api/rules/tigris").json
    assert [r["number"] for r in listed] == list(every)
    one = looker.get("/api/rules/tigris/T19").json
    (source,) = one["source"]
    assert "blauwe plaatjes enkel op rivierdelen" in source  # what the box says
    assert one == {
        "number": "T19",
        "text": every["T19"].text,
        "heading": every["T19"].heading,
        "language": "en",
        "places": ["Een plaatje leggen"],
        "source": [source],
    }
    dutch = looker.get("/api/rules/tigris/T19?language=nl").json
    assert (
        dutch["language"] == "nl"
        and "boerderijen alleen op de rivier" in dutch["text"]
        and dutch["heading"] == "Plaatje"
    )
    assert (
        looker.get("/api/rules/tigris/T19?language=xx").json
        == looker.get("/api/rules/tigris/T19?language=../x").json
        == one
    )


def hidden(app, phone, table):
    table.act("bull: tile red C4", "C4", ["temple"], points=3)
    phone("host").post("/api/host/settings", {"hidden_scores": 1})


def test_hidden_scores_are_ones_own(app, phone, table):
    hidden(app, phone, table)
    for who, seen in ((None, set()), ("bull", {"bull"}), ("lion", {"lion"})):
        snapshot = phone(who).get("/api/snapshot").json
        assert set(snapshot["scores"]) == seen
        assert all(set(m["scores"]) == seen for m in snapshot["moves"])
        secret = {s["id"]: s["facts"][1]["value"] for s in snapshot["view"]["seats"]}
        assert {s for s, v in secret.items() if v is not None} == seen
        assert all(s["facts"][0]["value"] == 2 for s in snapshot["view"]["seats"]), (
            "what is open stays open"
        )
    assert ("set", {"hidden_scores": True}, "host") in table.heard


def test_hidden_scores_are_nowhere_else(app, phone, table):
    table.pictures[(2, "after")] = b"jpeg"
    hidden(app, phone, table)
    assert phone().get("/api/moves/2").json["scores"] == {}
    assert phone("lion").get("/api/moves/2").json["scores"] == {"lion": {"red": 0, "black": 0}}


def test_at_the_end_everything_is_open(app, phone, table):
    hidden(app, phone, table)
    table.outcome = {"winners": ["bull"], "reason": {"t": "the bag is empty"}}
    table.tell()
    companion_web.web_of(app).feed.refresh()
    assert set(phone().get("/api/snapshot").json["scores"]) == {"bull", "lion"}


def test_a_move_can_be_looked_at(phone, table):
    table.act("bull: tile red C4", "C4", ["temple"])
    table.pictures[(2, "after")] = b"\xff\xd8jpeg"
    looker = phone()
    move = looker.get("/api/moves/2").json
    assert (
        "C4" not in move["before"]
        and move["after"]["C4"] == ["temple"]
        and move["pictures"] == ["after"]
    )
    picture = looker.get("/api/moves/2/after.jpg")
    assert picture.data == b"\xff\xd8jpeg" and picture.mimetype == "image/jpeg"
    assert looker.get("/api/moves/2/before.jpg").status_code == 404
    assert looker.get("/api/moves/2/../../x.jpg").status_code == 404
    assert looker.get("/api/moves/1").status_code == 404


def test_the_qr_code_says_the_link(app, phone):
    link = companion_web.web_of(app).join_link("http://10.0.0.1:8080/")
    assert link.startswith("http://10.0.0.1:8080/join#") and link.endswith(
        companion_web.web_of(app).access.code
    )
    svg = phone("host").get("/join.svg")
    assert (
        svg.mimetype == "image/svg+xml"
        and b"<path" in svg.data
        and b"style" not in svg.data
        and b"script" not in svg.data
    )


def test_a_seat_is_found_again_after_a_restart(table, make_app, tmp_path):
    first = make_app(table, state=str(tmp_path))
    access = companion_web.web_of(first).access
    token = access.seat("lion")
    again = make_app(table, state=str(tmp_path))
    assert companion_web.web_of(again).access.viewer(token).seats == ("lion",)
    assert companion_web.web_of(again).access.code == access.code, "a printed QR code still works"


def test_another_game_at_the_table_frees_the_seats_it_lacks(app, phone, table):
    from copy import copy

    bull, lion = phone("bull"), phone("lion")
    other = copy(table)
    plain = table.snapshot
    other.snapshot = lambda: {**plain(), "seats": plain()["seats"][:1], "title": {"t": "Another"}}
    companion_web.replace_table(app, other)
    assert bull.get("/api/snapshot").json["you"]["seats"] == ["bull"]
    assert lion.get("/api/snapshot").json["you"]["seats"] == []


def test_everything_about_the_table_is_plain_json(app, table):
    table.conclude(
        "illegal",
        todo=[{"text": say("take {piece} off", piece=say("it")), "sites": ["D4"], "seat": None}],
    )
    json.dumps(companion_web.web_of(app).feed.frame.snapshot)


def test_a_name_is_said_by_whoever_sits_there_or_the_host(phone, table):
    lion = phone("lion")
    assert lion.post("/api/name", {"seat": "lion", "name": " Anna  Maria "}).status_code == 200
    assert table.settings["names"] == {"lion": "Anna Maria"}
    assert lion.post("/api/name", {"seat": "bull", "name": "Bob"}).status_code == 403
    assert phone().post("/api/name", {"seat": "bull", "name": "Bob"}).status_code == 403
    for name in ("x" * 25, "a\x07b", 7):
        assert lion.post("/api/name", {"seat": "lion", "name": name}).status_code == 400
    assert phone("host").post("/api/name", {"seat": "lion", "name": ""}).status_code == 200
    assert table.settings["names"] == {}


def test_the_drawing_is_small_and_remembered_by_browsers(app):
    client = app.test_client()
    zipped = {"Accept-Encoding": "gzip"}
    first = client.get("/api/plan", headers=zipped)
    assert len(first.data) < 60_000
    assert (
        client.get(
            "/api/plan", headers={**zipped, "If-None-Match": first.headers["ETag"]}
        ).status_code
        == 304
    )
    assert client.get("/api/plan", headers={"Accept-Encoding": "identity"}).json["game"] == "tigris"
