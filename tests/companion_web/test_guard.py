"""A hostile phone can at most look. Every guard is tried twice: standing, it refuses; taken out,
the same request gets through. So no test here passes because of something else than the guard it
names."""

import pytest

import companion_web
from companion_web import context, guard
from companion_web.access import Access, Viewer
from companion_web.feed import Streams
from companion_web.limits import Tries

HERE = {"Origin": "http://localhost", "Sec-Fetch-Site": "same-origin"}
DECLARE = {"text": "bull: pass"}


@pytest.fixture
def app(table, make_app):
    """Rates so low that a slow machine is as hasty as a fast one."""
    return make_app(table, read_rate=(0.5, 100.0), write_rate=(0.1, 20.0))


def out(monkeypatch, name):
    """Takes the guard out."""
    nothing = {
        "origin": (guard, "same_origin", lambda *a: None),
        "name": (guard, "own_name", lambda *a: None),
        "size": (guard, "small_enough", lambda *a: None),
        "rate": (guard, "seldom_enough", lambda *a: None),
        "json": (guard, "json_only", lambda *a: None),
        "record": (Access, "viewer", lambda *a: Viewer(host=True)),
        "streams": (Streams, "enter", lambda *a: True),
        "seat": (Access, "viewer", lambda *a: Viewer(host=True)),
        "host": (Access, "viewer", lambda *a: Viewer(host=True)),
        "tries": (Tries, "wait", lambda *a: 0.0),
        "code": (Access, "is_code", lambda *a: True),
        "pin": (Access, "is_pin", lambda *a: True),
        "taken": (Access, "taken", lambda *a: {}),
    }[name]
    monkeypatch.setattr(*nothing)


def foreign_origin(app, phone):
    return phone("bull").post(
        "/api/declare", DECLARE, {"Origin": "http://evil.example", "Sec-Fetch-Site": "cross-site"}
    )


def foreign_origin_of_an_old_browser(app, phone):
    return phone("bull").post("/api/declare", DECLARE, {"Origin": "http://localhost:9999"})


def same_site_is_not_same_origin(app, phone):
    return phone("bull").post("/api/declare", DECLARE, {"Sec-Fetch-Site": "same-site"})


def null_origin(app, phone):
    return phone("bull").post("/api/declare", DECLARE, {"Origin": "null"})


def no_origin(app, phone):
    return phone("bull").post("/api/declare", DECLARE, {})


def rebound_name(app, phone):
    return phone().get("/api/snapshot", base_url="http://evil.example")


def no_name(app, phone):
    return phone().get("/api/snapshot", headers={"Host": "evil.example#.local"})


def a_megabyte(app, phone):
    one = phone("bull")
    return one.client.post(
        "/api/declare",
        data=b'{"text": "bull: pass", "x": "' + b"x" * 2**20 + b'"}',
        headers=HERE,
        content_type="application/json",
        environ_overrides=one.environ,
    )


def stranger_declares(app, phone):
    return phone().post("/api/declare", DECLARE)


def stranger_answers(app, phone):
    companion_web.web_of(app).table.ask()
    companion_web.web_of(app).feed.refresh()
    return phone().post("/api/answer", {"question": "q1", "choice": 0})


def stranger_takes_back(app, phone):
    return phone().post("/api/undo", {"event": 1})


def stranger_asks_for_actions(app, phone):
    return phone().get("/api/actions?seat=bull")


def guessed_token(app, phone):
    one = phone()
    one.client.set_cookie(context.COOKIE, "x" * 43)
    return one.post("/api/declare", DECLARE)


def left_token(app, phone):
    one = phone("bull")
    old = one.client.get_cookie(context.COOKIE).value
    one.post("/api/leave", {})
    one.client.set_cookie(context.COOKIE, old)
    return one.post("/api/declare", DECLARE)


def freed_token(app, phone):
    one = phone("bull")
    phone("host").post("/api/host/free", {"seat": "bull"})
    return one.post("/api/declare", DECLARE)


def for_another_seat(app, phone):
    return phone("lion").post("/api/declare", DECLARE)


def another_seats_question(app, phone):
    companion_web.web_of(app).table.ask("lion")
    companion_web.web_of(app).feed.refresh()
    return phone("bull").post("/api/answer", {"question": "q1", "choice": 0})


def player_plays_host(path, data):
    def ask(app, phone):
        return phone("bull").post(path, data)

    return ask


def stranger_wants_the_link(app, phone):
    return phone("bull").get("/join.svg")


def player_asks_for_the_link(app, phone):
    return phone("bull").get("/api/join")


def wrong_code(app, phone):
    return phone().post("/api/join", {"code": "guess", "seat": "bull"})


def old_code(app, phone):
    code = companion_web.web_of(app).access.code
    phone("host").post("/api/host/link", {})
    return phone().post("/api/join", {"code": code, "seat": "bull"})


def somebody_sits_there(app, phone):
    phone("bull")
    return phone().post(
        "/api/join", {"code": companion_web.web_of(app).access.code, "seat": "bull"}
    )


def wrong_pin(app, phone):
    return phone().post("/api/host", {"pin": "00000000"})


def right_pin_after_five_wrong(app, phone):
    one = phone()
    for n in range(5):
        one.post("/api/host", {"pin": f"{n}"})
    return one.post("/api/host", {"pin": "1234 5678"})


def right_code_after_five_wrong(app, phone):
    one = phone()
    for n in range(5):
        one.post("/api/join", {"code": f"{n}", "seat": "bull"})
    return one.post("/api/join", {"code": companion_web.web_of(app).access.code, "seat": "bull"})


def hasty_writes(app, phone):
    one = phone("bull")
    for _ in range(30):
        answer = one.post("/api/declare", DECLARE)
        if answer.status_code != 200:
            break
    return answer


def hasty_reads(app, phone):
    one = phone()
    for _ in range(120):
        answer = one.get("/api/me-not")
        if answer.status_code == 429:
            break
    return answer


def a_form_of_a_foreign_page(app, phone):
    one = phone("bull")
    return one.client.post(
        "/api/declare",
        data='{"text": "bull: pass"}',
        headers=HERE,
        content_type="text/plain",
        environ_overrides=one.environ,
    )


def player_edits(app, phone):
    return phone("bull").post("/api/host/edit", {"site": "D4", "contents": ["temple"]})


def record_while_hands_are_secret(app, phone):
    return phone("bull").get("/api/record.play")


def one_phone_opens_many_streams(app, phone):
    companion_web.web_of(app).streams.per_address = 0
    one = phone()
    answer = one.client.get("/api/stream", environ_overrides=one.environ, buffered=False)
    if answer.status_code == 503:
        return answer
    answer.close()
    return answer


CASES = [
    ("json", a_form_of_a_foreign_page, 415),
    ("record", player_edits, 403),
    ("record", record_while_hands_are_secret, 403),
    ("streams", one_phone_opens_many_streams, 503),
    ("origin", foreign_origin, 403),
    ("origin", foreign_origin_of_an_old_browser, 403),
    ("origin", no_origin, 403),
    ("origin", same_site_is_not_same_origin, 403),
    ("origin", null_origin, 403),
    ("name", rebound_name, 421),
    ("name", no_name, 421),
    ("size", a_megabyte, 413),
    ("seat", stranger_declares, 403),
    ("seat", stranger_answers, 403),
    ("seat", stranger_takes_back, 403),
    ("seat", stranger_asks_for_actions, 403),
    ("seat", guessed_token, 403),
    ("seat", left_token, 403),
    ("seat", freed_token, 403),
    ("seat", for_another_seat, 403),
    ("seat", another_seats_question, 403),
    ("host", stranger_wants_the_link, 403),
    ("host", player_asks_for_the_link, 403),
    ("host", player_plays_host("/api/host/free", {"seat": "bull"}), 403),
    ("host", player_plays_host("/api/host/seat", {"seat": "lion"}), 403),
    ("host", player_plays_host("/api/host/link", {}), 403),
    ("host", player_plays_host("/api/host/settings", {"hidden_scores": 1}), 403),
    ("host", player_plays_host("/api/host/switch", {"name": "dark", "on": 1}), 403),
    ("code", wrong_code, 403),
    ("code", old_code, 403),
    ("taken", somebody_sits_there, 409),
    ("pin", wrong_pin, 403),
    ("tries", right_pin_after_five_wrong, 429),
    ("tries", right_code_after_five_wrong, 429),
    ("rate", hasty_writes, 429),
    ("rate", hasty_reads, 429),
]
IDS = [f"{name}-{doing.__name__}-{i}" for i, (name, doing, _) in enumerate(CASES)]


@pytest.mark.parametrize("name, doing, status", CASES, ids=IDS)
def test_guard(app, phone, monkeypatch, name, doing, status):
    heard = list(companion_web.web_of(app).table.heard)
    answer = doing(app, phone)
    assert answer.status_code == status, answer.text
    assert set(answer.json) >= {"error", "text"} and "\n" not in answer.text.strip()
    if name not in ("rate",):
        assert companion_web.web_of(app).table.heard == heard, "refused, and yet it was done"
    if status == 413:
        assert answer.json["text"]["a"] == {
            "limit": companion_web.web_of(app).settings.body_limit
        }, "told before a byte is read"
    if status == 429:
        assert int(answer.headers["Retry-After"]) >= 1


@pytest.mark.parametrize("name, doing, status", CASES, ids=IDS)
def test_it_is_this_guard_that_refuses(app, phone, monkeypatch, name, doing, status):
    out(monkeypatch, name)
    if doing is a_megabyte:
        # the same limit a second time, for bodies that do not say their length
        app.config["MAX_CONTENT_LENGTH"] = None
    assert doing(app, phone).status_code != status


def test_a_body_that_hides_its_length_is_refused_too(app, phone, monkeypatch):
    out(monkeypatch, "size")
    assert a_megabyte(app, phone).status_code in (400, 413)
