"""A hostile phone can at most look. Every guard is tried twice: standing, it refuses; taken out, the same request gets through.
So no test here passes because of something else than the guard it names."""

import logging
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

import companion_web
from companion.config import Club
from companion.hall import Hall
from companion_web import app as app_module
from companion_web import guard
from companion_web.access import Access, Viewer
from companion_web.feed import Streams
from companion_web.hall import create_hall
from companion_web.limits import Rate, Tries
from companion_web.parts import api, join, record

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
        "record": (record, "viewer", lambda: Viewer(host=True)),
        "streams": (Streams, "enter", lambda *a: True),
        "seat": (api, "viewer", lambda: Viewer(host=True)),
        "host": (join, "viewer", lambda: Viewer(host=True)),
        "tries": (Tries, "wait", lambda *a: 0.0),
        "code": (Access, "is_code", lambda *a: True),
        "pin": (Access, "is_pin", lambda *a: True),
        "taken": (Access, "taken", lambda *a: {}),
    }[name]
    monkeypatch.setattr(*nothing)


def foreign_origin(app, phone):
    return phone("bull").post("/api/declare", DECLARE, {"Origin": "http://evil.example", "Sec-Fetch-Site": "cross-site"})


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


def a_megabyte(app, phone):
    one = phone("bull")
    return one.client.post("/api/declare", data=b'{"text": "bull: pass", "x": "' + b"x" * 2**20 + b'"}', headers=HERE,
                           content_type="application/json", environ_overrides=one.environ)


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
    one.client.set_cookie(app_module.COOKIE, "x" * 43)
    return one.post("/api/declare", DECLARE)


def left_token(app, phone):
    one = phone("bull")
    old = one.client.get_cookie(app_module.COOKIE).value
    one.post("/api/leave", {})
    one.client.set_cookie(app_module.COOKIE, old)
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


def wrong_code(app, phone):
    return phone().post("/api/join", {"code": "guess", "seat": "bull"})


def old_code(app, phone):
    code = companion_web.web_of(app).access.code
    phone("host").post("/api/host/link", {})
    return phone().post("/api/join", {"code": code, "seat": "bull"})


def somebody_sits_there(app, phone):
    phone("bull")
    return phone().post("/api/join", {"code": companion_web.web_of(app).access.code, "seat": "bull"})


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
    return one.client.post("/api/declare", data='{"text": "bull: pass"}', headers=HERE, content_type="text/plain",
                           environ_overrides=one.environ)


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
    ("json", a_form_of_a_foreign_page, 415), ("record", player_edits, 403), ("record", record_while_hands_are_secret, 403),
    ("streams", one_phone_opens_many_streams, 503),
    ("origin", foreign_origin, 403), ("origin", foreign_origin_of_an_old_browser, 403), ("origin", no_origin, 403),
    ("origin", same_site_is_not_same_origin, 403), ("origin", null_origin, 403), ("name", rebound_name, 421),
    ("size", a_megabyte, 413), ("seat", stranger_declares, 403), ("seat", stranger_answers, 403),
    ("seat", stranger_takes_back, 403), ("seat", stranger_asks_for_actions, 403), ("seat", guessed_token, 403),
    ("seat", left_token, 403), ("seat", freed_token, 403), ("seat", for_another_seat, 403),
    ("seat", another_seats_question, 403), ("host", stranger_wants_the_link, 403),
    ("host", player_plays_host("/api/host/free", {"seat": "bull"}), 403),
    ("host", player_plays_host("/api/host/seat", {"seat": "lion"}), 403),
    ("host", player_plays_host("/api/host/link", {}), 403),
    ("host", player_plays_host("/api/host/settings", {"hidden_scores": 1}), 403),
    ("host", player_plays_host("/api/host/switch", {"name": "dark", "on": 1}), 403),
    ("code", wrong_code, 403), ("code", old_code, 403), ("taken", somebody_sits_there, 409), ("pin", wrong_pin, 403),
    ("tries", right_pin_after_five_wrong, 429), ("tries", right_code_after_five_wrong, 429), ("rate", hasty_writes, 429),
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
    if status == 429:
        assert int(answer.headers["Retry-After"]) >= 1


@pytest.mark.parametrize("name, doing, status", CASES, ids=IDS)
def test_it_is_this_guard_that_refuses(app, phone, monkeypatch, name, doing, status):
    out(monkeypatch, name)
    if doing is a_megabyte:
        app.config["MAX_CONTENT_LENGTH"] = None      # the same limit a second time, for bodies that do not say their length
    assert doing(app, phone).status_code != status


def test_a_body_that_hides_its_length_is_refused_too(app, phone, monkeypatch):
    out(monkeypatch, "size")
    assert a_megabyte(app, phone).status_code in (400, 413)


@pytest.mark.parametrize("path", ["/", "/join", "/api/snapshot", "/api/plan", "/static/js/main.js", "/nowhere", "/look.svg",
                                  "/locale/nl.json", "/api/rules/tigris/T19", "/worker.js", "/manifest.webmanifest"])
def test_every_answer_carries_the_strict_headers(phone, path):
    headers = phone().get(path).headers
    policy = dict(p.split(" ", 1) for p in headers["Content-Security-Policy"].split("; "))
    assert policy["default-src"] == policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
    assert policy["object-src"] == policy["base-uri"] == policy["frame-ancestors"] == "'none'"
    assert "unsafe" not in headers["Content-Security-Policy"] and "http" not in headers["Content-Security-Policy"]
    assert headers["X-Content-Type-Options"] == "nosniff" and headers["X-Frame-Options"] == "DENY"
    assert "Access-Control-Allow-Origin" not in headers


def test_the_headers_come_from_the_guard(make_app, table, monkeypatch):
    monkeypatch.setattr(guard, "HEADERS", {})
    assert "Content-Security-Policy" not in make_app(table).test_client().get("/").headers


def test_no_debugger_and_no_markup_from_text_anywhere(app):
    """Neither switched on in the application nor written into the sources."""
    assert not app.debug and not app.testing and app.config["PROPAGATE_EXCEPTIONS"] is None
    web = Path(companion_web.__file__).parent
    for path in [*web.rglob("*.py"), *web.rglob("*.js"), *web.rglob("*.html")]:
        text = path.read_text(encoding="utf-8")
        for word in ("debug=True", ".run(debug", "DebuggedApplication", "|safe", "| safe", "Markup(", "innerHTML", "insertAdjacentHTML",
                     "document.write", "eval(", "new Function("):
            assert word not in text, f"{path.name}: {word}"


@pytest.fixture
def hall():
    """The hall's page, as a phone in the room has it."""
    return create_hall(Hall(Club("localhost"))).test_client()


def test_the_hall_is_guarded_too_and_has_nothing_to_write_to(hall, monkeypatch):
    assert hall.get("/").headers["Content-Security-Policy"] == guard.POLICY
    assert hall.get("/api/tables", base_url="http://evil.example").status_code == 421
    assert {m for rule in hall.application.url_map.iter_rules() for m in rule.methods} <= {"GET", "HEAD", "OPTIONS"}
    assert hall.get("/static/../app.py").status_code == 404
    out(monkeypatch, "name")
    assert hall.get("/api/tables", base_url="http://evil.example").status_code == 200


def test_no_inline_script_or_style_and_no_foreign_host(phone):
    for path in ("/", "/join"):
        html = phone().get(path).text
        assert "<style" not in html and " style=" not in html and " onclick=" not in html
        assert all("src=" in part.split(">")[0] for part in html.split("<script")[1:])
        assert "http://" not in html.replace("http://www.w3.org", "") and "https://" not in html


def test_the_cookie_is_for_this_page_only(app, phone):
    answer = phone().post("/api/join", {"code": companion_web.web_of(app).access.code, "seat": "bull"})
    cookie = answer.headers["Set-Cookie"]
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie and "Path=/" in cookie and "Domain" not in cookie
    assert len(cookie.split("=")[1].split(";")[0]) >= 43, "256 bits"


def test_a_token_that_gains_rights_is_replaced(phone, app):
    one = phone("bull")
    before = one.client.get_cookie(app_module.COOKIE).value
    one.post("/api/host", {"pin": "12345678"})
    assert one.client.get_cookie(app_module.COOKIE).value != before
    assert not companion_web.web_of(app).access.knows(before)
    assert companion_web.web_of(app).access.viewer(one.client.get_cookie(app_module.COOKIE).value) == Viewer(True, ("bull",))


def test_secrets_are_compared_in_constant_time(monkeypatch):
    """Nothing but hmac.compare_digest decides: when it always says no, the right secrets are refused."""
    access = Access("12345678")
    token = access.seat("bull")
    assert access.is_pin("1234-5678") and access.is_code(access.code) and access.knows(token)
    monkeypatch.setattr("companion_web.access.hmac", SimpleNamespace(compare_digest=lambda a, b: False))
    assert not access.is_pin("12345678") and not access.is_code(access.code) and not access.knows(token)


def test_made_up_secrets_are_long_and_differ():
    made = [Access() for _ in range(20)]
    assert len({a.pin for a in made}) == 20 and all(len(a.pin) == 8 for a in made)
    assert len({a.code for a in made}) == 20 and all(len(a.code) >= 16 for a in made)


def test_no_secret_gets_into_the_log_or_an_answer(app, phone, caplog):
    caplog.set_level(logging.DEBUG)
    access = companion_web.web_of(app).access
    one = phone("bull")
    secrets = [access.pin, "12345678", access.code, one.client.get_cookie(app_module.COOKIE).value]
    phone().post("/api/host", {"pin": "99999999"})
    phone().post("/api/join", {"code": "a-wrong-code", "seat": "bull"})
    answers = [one.post("/api/declare", {"text": "bull: nonsense"}), one.get("/api/snapshot"), one.get("/"), one.get("/join")]
    said = caplog.text + "".join(a.text for a in answers)
    assert caplog.records
    assert not [s for s in [*secrets, "99999999", "a-wrong-code"] if s in said]


def test_the_seats_file_holds_no_token_and_is_private(tmp_path):
    path = tmp_path / "state" / "seats.json"
    access = Access("12345678", path)
    token = access.seat("bull")
    assert token not in path.read_text() and "12345678" not in path.read_text()
    assert path.stat().st_mode & 0o077 == 0
    assert Access("12345678", path).viewer(token).seats == ("bull",), "the seat survives a restart"


@pytest.mark.parametrize("text", ["", "{", "[]", '{"code": 1}', '{"code": "x", "rights": {"a": {"host": "maybe"}}}', "\x00"])
def test_a_broken_seats_file_seats_nobody(tmp_path, text):
    path = tmp_path / "seats.json"
    path.write_text(text)
    assert Access("1", path).taken() == {}


CLIMBING = ["/static/../app.py", "/static/..%2fapp.py", "/static/%2e%2e/%2e%2e/pyproject.toml", "/static//etc/passwd",
            "/locale/../../app.json", "/locale/..%2f..%2fx.json", "/api/rules/..%2f..%2fengine/T1", "/api/moves/../../x",
            "/api/moves/-1", "/api/rules/os/T1", "/api/rules/tigris/T999"]


@pytest.mark.parametrize("path", CLIMBING)
def test_paths_that_climb_or_lead_nowhere(phone, path):
    answer = phone().get(path)
    assert answer.status_code == 404 and answer.json["error"]


@pytest.mark.parametrize("method", ["put", "delete", "patch", "post"])
def test_other_methods_are_refused(phone, method):
    one = phone()
    answer = getattr(one.client, method)("/api/snapshot", json={}, headers=HERE, environ_overrides=one.environ)
    assert answer.status_code == 405 and answer.json


BODIES = [b"", b"{", b"[]", b"null", b'"text"', b'{"text": 7}', b'{"text": null}', b'{"text": ""}', b'{"text": "no seat"}',
          b'{"text": "bull: what is this"}', b'{"text": "bull: ' + b"x" * 500 + b'"}', b'{"text": "bull: a\\nlion: b"}',
          b"\xff\xfe"]


@pytest.mark.parametrize("body", BODIES)
def test_nonsense_is_one_clear_line(app, phone, body):
    one = phone("bull")
    answer = one.client.post("/api/declare", data=body, headers=HERE, content_type="application/json",
                             environ_overrides=one.environ)
    assert answer.status_code == 400 and answer.json["error"] and "Traceback" not in answer.text
    assert companion_web.web_of(app).table.heard == []


def test_a_form_cannot_write(phone):
    one = phone("bull")
    answer = one.client.post("/api/declare", data={"text": "bull: pass"}, headers=HERE, environ_overrides=one.environ)
    assert answer.status_code == 415


def test_a_fault_inside_says_nothing_of_the_inside(app, phone, table, monkeypatch):
    monkeypatch.setattr(table, "declare", lambda *a, **k: 1 / 0)
    answer = phone("bull").post("/api/declare", DECLARE)
    assert answer.status_code == 500 and "Zero" not in answer.text and answer.json["error"]


def test_a_closed_table_seats_nobody(app, phone):
    phone("host").post("/api/host/settings", {"joining": 0})
    answer = phone().post("/api/join", {"code": companion_web.web_of(app).access.code, "seat": "bull"})
    assert answer.status_code == 403


def test_rates_refill():
    now = [0.0]
    rate = Rate(2.0, 3.0, clock=lambda: now[0])
    assert [rate.wait("a") for _ in range(4)][:3] == [0.0, 0.0, 0.0] and rate.wait("a") > 0
    assert rate.wait("b") == 0.0, "another phone is not held up"
    now[0] = 0.6
    assert rate.wait("a") == 0.0


def test_tries_are_counted_for_all_together_and_forgotten_in_time():
    now = [0.0]
    tries = Tries(5, 300.0, overall=2, clock=lambda: now[0])
    for n in range(10):
        tries.failed(f"phone {n}")
    assert tries.wait("a new one") > 0
    now[0] = 301
    assert tries.wait("a new one") == 0.0


def test_two_phones_cannot_take_one_seat_at_once():
    access, got = Access("1"), []

    def sit():
        try:
            got.append(access.seat("bull"))
        except ValueError:
            pass

    threads = [threading.Thread(target=sit) for _ in range(16)]
    [t.start() for t in threads], [t.join() for t in threads]
    assert len(got) == 1
