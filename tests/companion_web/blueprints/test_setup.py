"""Setting up over HTTP and in Chromium: only the host may; what is said wrongly is answered in
words; axe finds nothing."""

from xml.etree import ElementTree

import cv2
import numpy as np
import pytest

import engine
from calibration.copy import load_copy
from companion_web.access import Access, Viewer
from engine import say
from tests.companion_web.support.setting_up import (  # noqa: F401
    FINDINGS,
    director,
    learnt,
    letters,
    table,
)
from tests.companion_web.support.tables import FakeTable, Phone

WRITES = [
    ("/api/setup/game", {"game": "ur", "seats": ["black", "white", "green"], "options": {}}),
    ("/api/setup/use", {"copy": "x"}),
    ("/api/setup/copy", {"name": "x", "markers": 1}),
    ("/api/setup/take", {"photo": 0, "corners": None}),
    ("/api/setup/learn", {}),
    ("/api/setup/go", {}),
    ("/api/setup/more", {}),
    ("/api/setup/camera", {"camera": 0}),
    ("/api/setup/board", {"board": "letters"}),
    ("/api/setup/focus", {}),
    ("/api/setup/go-on", {"copy": "x"}),
]


@pytest.mark.parametrize("path, data", WRITES)
def test_only_the_host_sets_up_and_the_guard_is_what_stops_the_others(
    path, data, phone, monkeypatch
):
    stranger = phone()
    assert stranger.post(path, data).status_code == 403
    assert (
        phone("host")
        .post(path, data, {"Origin": "http://evil.example", "Sec-Fetch-Site": "cross-site"})
        .status_code
        == 403
    )
    monkeypatch.setattr(Access, "viewer", lambda *a: Viewer(host=True))
    assert stranger.post(path, data).status_code in (200, 409), (
        "nothing but the guard was in the way"
    )


def test_strangers_see_neither_what_was_said_nor_the_room(phone, monkeypatch):
    stranger = phone()
    assert stranger.get("/api/setup").json == {"you": {"host": False}}
    assert stranger.get("/api/setup/live.jpg").status_code == 403
    monkeypatch.setattr(Access, "viewer", lambda *a: Viewer(host=True))
    assert stranger.get("/api/setup/live.jpg").status_code == 200


@pytest.mark.parametrize("game", sorted(engine.games()))
def test_a_game_is_chosen_by_what_its_board_looks_like(game, phone):
    answer = phone("host").get(f"/api/setup/games/{game}.svg")
    picture = ElementTree.fromstring(answer.data)  # by itself, not in a page
    assert answer.mimetype == "image/svg+xml" and picture.get("viewBox") and len(answer.data) < 4e5
    assert len(list(picture.iter("{http://www.w3.org/2000/svg}g"))) > 30, "pieces lie on it"
    assert phone().get(f"/api/setup/games/{game}.svg").status_code == 403
    assert phone("host").get("/api/setup/games/ludo.svg").status_code == 404


def test_the_front_page_leads_there(phone):
    answer = phone().get("/")
    assert answer.status_code == 302 and answer.location == "/setup"


@pytest.mark.parametrize(
    "path, data",
    [
        ("/api/setup/game", {"game": "ur", "seats": "black", "options": {}}),
        ("/api/setup/game", {"game": 3, "seats": [], "options": {}}),
        ("/api/setup/game", {"game": "ur", "seats": [], "options": {"bonus": 1}}),
        ("/api/setup/copy", {"name": 1, "markers": 1}),
        ("/api/setup/take", {"photo": "0"}),
        ("/api/setup/take", {"photo": 0, "corners": [1, 2]}),
        ("/api/setup/use", {}),
        ("/api/setup/game", []),
        ("/api/setup/take", [0]),
    ],
)
def test_nonsense_is_a_bad_request(path, data, phone):
    assert phone("host").post(path, data).status_code == 400


@pytest.mark.parametrize("said", ["x" * 300, "\0\ud800", 10**40, [[1]]])
@pytest.mark.parametrize("what", ["use", "go-on", "board", "copy", "camera", "game", "take"])
def test_odd_words_are_answered_in_words(what, said, phone, caplog):
    data = dict.fromkeys(("copy", "board", "name", "camera", "game", "photo", "corners"), said)
    answer = phone("host").post(
        f"/api/setup/{what}", {**data, "markers": 1, "seats": [str(said)], "options": {"a": "b"}}
    )
    assert 400 <= answer.status_code < 500 or what == "copy" and answer.status_code == 200
    assert not [r for r in caplog.records if r.exc_info]


def test_the_live_picture_is_one_of_the_camera(phone, director):
    data = phone("host").get("/api/setup/live.jpg").data
    image = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
    assert (
        image.shape == (616, 820, 3) and np.abs(image.astype(int) - director.picture()).mean() < 8
    )


def test_where_a_game_stands_there_is_no_set_up(make_app):
    app = make_app(FakeTable())
    assert Phone(app).get("/setup").status_code == 404 and Phone(app).get("/").status_code == 200


def test_over_http_from_nothing_to_a_configuration(
    phone, table, director, learnt, eventually, tmp_path
):
    host = phone("host")
    said = host.post(*WRITES[0]).json
    assert [
        o["texts"][0]["t"][:7] for g in said["games"] if g["name"] == "ur" for o in g["options"]
    ] == ["whoever"]
    host.post("/api/setup/copy", {"name": "My Ur", "markers": 1})
    for number, step in enumerate(table.session.steps):
        director.set(step.layout)
        assert host.post("/api/setup/take", {"photo": number, "corners": None}).status_code == 200
    assert host.post("/api/setup/learn", {}).json["progress"][0] in ("photos", "pieces")
    assert host.post("/api/setup/learn", {}).status_code == 409, "one at a time"
    learnt.set()
    eventually(lambda: host.get("/api/setup").json["report"])
    assert (
        "What is confused" in host.get("/report").text and phone().get("/report").status_code == 403
    )
    assert host.post("/api/setup/go", {}).json["done"] and (tmp_path / "nilometer.toml").is_file()


def test_a_board_printed_otherwise_is_drawn_on_its_first_photo(phone, table, director):
    host = phone("host")
    host.post("/api/setup/game", {"game": "nile", "seats": ["red", "blue"], "options": {}})
    host.post("/api/setup/copy", {"name": "My Nile", "markers": 1})
    assert host.get("/trace").status_code == 404, "there is nothing to draw on yet"
    for number in (0, 1):
        table.session.take(number, director.picture())
    assert phone().get("/trace").status_code == 403 and 'href="/setup"' in host.get("/trace").text
    drawing = host.get("/api/trace").json["drawing"]
    row = max(
        (s["id"] for s in drawing["sites"] if s["id"].startswith("M1.")), key=lambda i: int(i[3:])
    )
    drawing["sites"] = [s for s in drawing["sites"] if s["id"] != row]
    assert host.post("/api/trace/save", {"drawing": drawing}).json["saved"] is True
    assert row not in table.session.plan.sites and [s.taken for s in table.session.steps][:3] == [
        True,
        True,
        False,
    ]
    assert row not in host.get("/api/plan").json["sites"], (
        "the picture of what to lay shows this board"
    )
    assert not any(row in step.layout for step in table.session.steps)
    assert (table.session.folder / "plan.toml").is_file()


def test_a_board_without_rules_is_photographed_and_learnt_too(
    phone, table, letters, learnt, eventually, tmp_path
):
    host = phone("host")
    said = host.post("/api/setup/board", {"board": "letters"}).json
    assert (
        said["boards"] == [{"folder": "letters", "name": "letters"}]
        and said["game"] is None
        and said["board"] == "letters"
    )
    assert host.post("/api/setup/board", {"board": "../elsewhere"}).status_code == 409
    assert set(host.get("/api/plan").json["pieces"]) == {"A", "B", "C"}
    host.post("/api/setup/copy", {"name": "My letters", "markers": 1})
    assert {k for step in table.session.steps for c in step.layout.values() for k in c} == {
        "A",
        "B",
        "C",
    }
    for number in range(len(table.session.steps)):
        assert host.post("/api/setup/take", {"photo": number, "corners": None}).status_code == 200
    host.post("/api/setup/learn", {})
    learnt.set()
    eventually(lambda: host.get("/api/setup").json["report"])
    assert (
        host.get("/api/setup").json["copy"] == "letters"
        and load_copy(letters).plan.game == "alphabet"
    )
    assert (
        host.post("/api/setup/go", {}).status_code == 409
        and not (tmp_path / "nilometer.toml").exists()
    )
    host.post("/api/setup/copy", {"name": "Again", "markers": 1})
    assert table.session.folder.name == "again" and (tmp_path / "again" / "plan.toml").is_file(), (
        "nothing is written over"
    )


def test_people_read_no_names_of_kinds(table):
    table.choose("ur", ["black", "white", "green"], {"bonus": "as-written"})
    told = table._in_words(say("only one photo shows {kinds}", kinds="tile:trade/war, black"))
    assert str(told) == "only one photo shows the tile trade (war on the back) and a black stone"
    assert str(table._in_words(say("{n} photos", n="two"))) == "two photos"


def test_a_hand_that_moves_is_told_before_the_first_photo(table, director):
    table.choose("ur", ["black", "white", "green"], {"bonus": "as-written"})
    table.begin("My Ur", True)
    director.set({})
    table.look()
    was = False
    for hand in (None, (120, 120), None, None):
        director.put("hand", hand) if hand else director.clear()
        table.look()
        told = [str(t) for t in table.framing.advice]
        moved = any("take your hands away" in t for t in told)
        expected = hand is not None or was
        assert moved == expected, told
        was = hand is not None
