"""What no phone may get at or bring about: headers, cookies and secrets, paths that climb,
nonsense, faults inside."""

import json
import logging
import re
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

import companion_web
from companion.runtime.config import Club
from companion.runtime.hall import Hall
from companion_web import context, guard, quiet
from companion_web.access import Access, Viewer
from companion_web.document import STATIC
from companion_web.hall import create_hall
from companion_web.limits import REMEMBERED, Rate, Tries
from tests.companion_web.support.tables import Phone

HERE = {"Origin": "http://localhost", "Sec-Fetch-Site": "same-origin"}
DECLARE = {"text": "bull: pass"}


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/join",
        "/api/snapshot",
        "/api/plan",
        "/static/js/main.js",
        "/nowhere",
        "/look.svg",
        "/locale/nl.json",
        "/api/rules/tigris/T19",
        "/worker.js",
        "/manifest.webmanifest",
    ],
)
def test_every_answer_carries_the_strict_headers(phone, path):
    headers = phone().get(path).headers
    policy = dict(p.split(" ", 1) for p in headers["Content-Security-Policy"].split("; "))
    assert policy["default-src"] == policy["script-src"] == policy["connect-src"] == "'self'"
    own = r"'self'( 'sha256-[\w+/]{43}='){2}" if path in ("/", "/join") else "'self'"
    assert re.fullmatch(own, policy["style-src"]), "a page carries its two styles in itself"
    assert policy["object-src"] == policy["base-uri"] == policy["frame-ancestors"] == "'none'"
    assert (
        policy["form-action"]
        == policy["img-src"]
        == policy["worker-src"]
        == policy["manifest-src"]
        == "'self'"
    )
    assert len(policy) == 11, "one that is new is to be judged here too"
    assert headers["X-Content-Type-Options"] == "nosniff" and headers["X-Frame-Options"] == "DENY"
    assert headers["Referrer-Policy"] == headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert {
        f"{what}=()" for what in ("camera", "microphone", "geolocation", "payment", "usb")
    } == set(headers["Permissions-Policy"].split(", "))
    assert headers["Cache-Control"] and "Access-Control-Allow-Origin" not in headers
    if path.startswith("/api/snapshot"):
        assert headers["Cache-Control"] == "no-store"


def test_the_headers_come_from_the_guard(make_app, table, monkeypatch):
    monkeypatch.setattr(guard, "HEADERS", {})
    client = make_app(table).test_client()
    assert "Content-Security-Policy" not in client.get("/api/snapshot").headers


def test_no_debugger_and_no_markup_from_text_anywhere(app):
    """Neither switched on in the application nor written into the sources."""
    assert not app.debug and not app.testing and app.config["PROPAGATE_EXCEPTIONS"] is None
    web = Path(companion_web.__file__).parent
    for path in [*web.rglob("*.py"), *web.rglob("*.js"), *web.rglob("*.html")]:
        text = path.read_text(encoding="utf-8")
        for word in (
            "debug=True",
            ".run(debug",
            "DebuggedApplication",
            "|safe",
            "| safe",
            "Markup(",
            "innerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "new Function(",
        ):
            assert word not in text, f"{path.name}: {word}"


@pytest.fixture
def hall():
    """The hall's page, as a phone in the room has it."""
    return create_hall(Hall(Club("localhost"))).test_client()


def test_the_hall_is_guarded_too_and_has_nothing_to_write_to(hall, monkeypatch):
    policy = hall.get("/").headers["Content-Security-Policy"]
    assert re.sub(r" 'sha256-\S+'", "", policy) == guard.POLICY
    assert hall.get("/api/tables").headers["Content-Security-Policy"] == guard.POLICY
    assert hall.get("/api/tables", base_url="http://evil.example").status_code == 421
    assert {m for rule in hall.application.url_map.iter_rules() for m in rule.methods} <= {
        "GET",
        "HEAD",
        "OPTIONS",
    }
    assert hall.get("/static/../app.py").status_code == 404
    monkeypatch.setattr(guard, "own_name", lambda *a: None)
    assert hall.get("/api/tables", base_url="http://evil.example").status_code == 200


def test_no_inline_script_no_style_but_our_own_and_no_foreign_host(phone):
    ours = {path.read_text() for path in (STATIC / "css").glob("*.css")}
    for path in ("/", "/join"):
        html = phone().get(path).text
        assert set(re.findall("<style[^>]*>(.*?)</style>", html, re.DOTALL)) < ours
        assert " style=" not in html and " onclick=" not in html
        assert all("src=" in part.split(">")[0] for part in html.split("<script")[1:])
        assert "http://" not in html.replace("http://www.w3.org", "") and "https://" not in html


def test_the_cookie_is_for_this_page_only(app, phone):
    answer = phone().post(
        "/api/join", {"code": companion_web.web_of(app).access.code, "seat": "bull"}
    )
    cookie = answer.headers["Set-Cookie"]
    assert (
        "HttpOnly" in cookie
        and "SameSite=Strict" in cookie
        and "Path=/" in cookie
        and "Domain" not in cookie
    )
    assert len(cookie.split("=")[1].split(";")[0]) >= 43, "256 bits"


def test_a_token_that_gains_rights_is_replaced(phone, app):
    one = phone("bull")
    before = one.client.get_cookie(context.COOKIE).value
    one.post("/api/host", {"pin": "12345678"})
    assert one.client.get_cookie(context.COOKIE).value != before
    assert not companion_web.web_of(app).access.knows(before)
    assert companion_web.web_of(app).access.viewer(
        one.client.get_cookie(context.COOKIE).value
    ) == Viewer(True, ("bull",))


def test_secrets_are_compared_in_constant_time(monkeypatch):
    """Nothing but hmac.compare_digest decides: when it always says no, the right secrets are
    refused."""
    access = Access("12345678")
    token = access.seat("bull")
    assert access.is_pin("1234-5678") and access.is_code(access.code) and access.knows(token)
    monkeypatch.setattr(
        "companion_web.access.hmac", SimpleNamespace(compare_digest=lambda a, b: False)
    )
    assert (
        not access.is_pin("12345678")
        and not access.is_code(access.code)
        and not access.knows(token)
    )


def test_made_up_secrets_are_long_and_differ():
    made = [Access() for _ in range(20)]
    assert len({a.pin for a in made}) == 20 and all(len(a.pin) == 8 for a in made)
    assert len({a.code for a in made}) == 20 and all(len(a.code) >= 16 for a in made)


def test_no_secret_gets_into_the_log_or_an_answer(app, phone, caplog, monkeypatch):
    caplog.set_level(logging.DEBUG)
    monkeypatch.setattr(quiet.strangers, "_told", None)
    access = companion_web.web_of(app).access
    one = phone("bull")
    secrets = [access.pin, "12345678", access.code, one.client.get_cookie(context.COOKIE).value]
    phone().post("/api/host", {"pin": "99999999"})
    phone().post("/api/join", {"code": "a-wrong-code", "seat": "bull"})
    quiet.strangers.tell()
    answers = [
        one.post("/api/declare", {"text": "bull: nonsense"}),
        one.get("/api/snapshot"),
        one.get("/"),
        one.get("/join"),
    ]
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


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", '{"code": 1}', '{"code": "x", "rights": {"a": {"host": "maybe"}}}', "\x00"],
)
def test_a_broken_seats_file_seats_nobody(tmp_path, text):
    path = tmp_path / "seats.json"
    path.write_text(text)
    assert Access("1", path).taken() == {}


CLIMBING = [
    "/static/../app.py",
    "/static/..%2fapp.py",
    "/static/%2e%2e/%2e%2e/pyproject.toml",
    "/static//etc/passwd",
    "/locale/../../app.json",
    "/locale/..%2f..%2fx.json",
    "/api/rules/..%2f..%2fengine/T1",
    "/api/moves/../../x",
    "/api/moves/-1",
    "/api/rules/os/T1",
    "/api/rules/tigris/T999",
]


@pytest.mark.parametrize("path", CLIMBING)
def test_paths_that_climb_or_lead_nowhere(phone, path):
    answer = phone().get(path)
    assert answer.status_code == 404 and answer.json["error"]


@pytest.mark.parametrize("method", ["put", "delete", "patch", "post"])
def test_other_methods_are_refused(phone, method):
    one = phone()
    answer = getattr(one.client, method)(
        "/api/snapshot", json={}, headers=HERE, environ_overrides=one.environ
    )
    assert answer.status_code == 405 and answer.json


BODIES = [
    b"",
    b"{",
    b"[]",
    b"null",
    b'"text"',
    b'{"text": 7}',
    b'{"text": null}',
    b'{"text": ""}',
    b'{"text": "no seat"}',
    b'{"text": "bull: what is this"}',
    b'{"text": "bull: ' + b"x" * 500 + b'"}',
    b'{"text": "bull: a\\nlion: b"}',
    b'{"text": "bull:' + b" " * 500 + b'pass"}',
    b"\xff\xfe",
    b"[" * 60_000,
    b'{"text":' * 7_000,
]


@pytest.mark.parametrize("body", BODIES, ids=lambda body: repr(body[:30]))
def test_nonsense_is_one_clear_line(app, phone, body):
    one = phone("bull")
    answer = one.client.post(
        "/api/declare",
        data=body,
        headers=HERE,
        content_type="application/json",
        environ_overrides=one.environ,
    )
    assert answer.status_code == 400 and answer.json["error"] and "Traceback" not in answer.text
    assert companion_web.web_of(app).table.heard == []


def test_a_form_cannot_write(phone):
    one = phone("bull")
    answer = one.client.post(
        "/api/declare", data={"text": "bull: pass"}, headers=HERE, environ_overrides=one.environ
    )
    assert answer.status_code == 415


def test_a_fault_inside_says_nothing_of_the_inside(app, phone, table, monkeypatch):
    monkeypatch.setattr(table, "declare", lambda *a, **k: 1 / 0)
    answer = phone("bull").post("/api/declare", DECLARE)
    assert answer.status_code == 500 and "Zero" not in answer.text and answer.json["error"]


def test_a_closed_table_seats_nobody(app, phone):
    phone("host").post("/api/host/settings", {"joining": 0})
    answer = phone().post(
        "/api/join", {"code": companion_web.web_of(app).access.code, "seat": "bull"}
    )
    assert answer.status_code == 403


def test_rates_refill():
    now = [0.0]
    rate = Rate(2.0, 3.0, clock=lambda: now[0])
    assert [rate.wait("a") for _ in range(4)][:3] == [0.0, 0.0, 0.0] and rate.wait("a") > 0
    assert rate.wait("b") == 0.0, "another phone is not held up"
    now[0] = 0.6
    assert rate.wait("a") == 0.0


def test_made_up_joining_links_keep_nobody_out_who_has_the_right_one(app, phone):
    for n in range(120):
        wrong = Phone(app, f"10.0.1.{n + 1}").post("/api/join", {"code": f"{n}", "seat": "bull"})
        assert wrong.status_code == 403
    assert phone("bull").get("/api/snapshot").json["you"]["seats"] == ["bull"]


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


def test_a_freed_seat_leaves_nothing_behind(tmp_path):
    access = Access("1", tmp_path / "seats.json")
    access.seat("lion", access.seat("bull"))
    access.free("bull")
    assert access.taken() == {"lion": 1}
    access.free("lion")
    assert json.loads((tmp_path / "seats.json").read_text())["rights"] == {}


def test_any_number_of_addresses_takes_no_more_memory():
    """Somebody may have a whole IPv6 network to ask from."""
    rate, tries = Rate(1.0, 1.0), Tries(5, 300.0, overall=10**9)
    for n in range(REMEMBERED + 50):
        rate.wait(f"phone {n}")
        tries.failed(f"phone {n}")
    assert len(rate._left) == len(tries._failed) == REMEMBERED
    assert rate.wait(f"phone {REMEMBERED + 49}") > 0, "those heard of last are still known"


def test_who_leaves_keeps_no_cookie(phone):
    one = phone("bull")
    assert one.client.get_cookie(context.COOKIE)
    one.post("/api/leave", {})
    assert not one.client.get_cookie(context.COOKIE)
