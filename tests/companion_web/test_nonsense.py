"""Every address of a table, asked with nonsense by a looker, a seat and the host: an answer in
words, nothing in the log, nothing kept."""

import inspect
import itertools
import json
import re

import pytest

from companion_web import catalogue
from companion_web.blueprints import assets
from companion_web.context import web_of
from engine import rules
from tests.companion_web.support.real_table import table_of
from tests.companion_web.support.tables import Phone

ODD = (None, True, 7, -1, 1.5, 10**40, "", "x" * 300, "\0", "\ud800", "../..", [], {}, [[1]], [{}])
WRITTEN = "choice code contents copy corners data drawing event id name on options pin question "
WRITTEN += "seat seats settings site size text yes joining hidden_scores board camera markers game"
ASKED = ("x" * 300, "é" * 200, "%00", "..%2f..", "-1", "9" * 30)
QUERY = "language=%(odd)s&seat=%(odd)s&starts=%(odd)s&piece=%(odd)s&site=%(odd)s&since=%(odd)s"
GOOD = {"seat": "bull", "text": "bull: pass", "event": 1, "id": 1, "yes": 1, "site": "C4"}
HERE = {"Origin": "http://localhost", "Sec-Fetch-Site": "same-origin"}


@pytest.fixture
def app(make_app, tmp_path):
    return make_app(
        table_of("tigris", 4),
        state=tmp_path,
        read_rate=(1e6, 1e6),
        write_rate=(1e6, 1e6),
        pin_tries=(10**6, 1.0),
        heartbeat=0.05,
    )


@pytest.fixture
def people(app):
    """Who asks; a host and a seat sit down again when they were let go"""

    def host():
        phone = Phone(app, "10.0.0.3")
        assert phone.post("/api/host", {"pin": "12345678"}).status_code == 200
        return phone

    def seat():
        web_of(app).access.free("bull")
        return Phone(app, "10.0.0.4").sit("bull")

    return lambda: Phone(app, "10.0.0.2"), seat, host


def bodies(view):
    """What is sent to a view: first what makes sense, then each thing it asks for made odd"""
    asked = [name for name in WRITTEN.split() if f'"{name}"' in inspect.getsource(view)]
    yield json.dumps(GOOD).encode()
    yield from (b"", b"[]", b"null", b"7", b'"text"', b"{", b"\xff\xfe")
    for value, name in itertools.product(ODD, asked):
        yield json.dumps({**GOOD, name: value}).encode()
    for value in ODD:
        yield json.dumps(dict.fromkeys(WRITTEN.split(), value)).encode()


@pytest.mark.parametrize("who", [0, 1, 2], ids=["looker", "seat", "host"])
def test_what_is_written(app, people, who, caplog):
    for rule in (r for r in app.url_map.iter_rules() if "POST" in r.methods):
        phone, path = people[who](), str(rule)
        for n, body in enumerate(bodies(app.view_functions[rule.endpoint])):
            answer = phone.client.post(
                path,
                data=body,
                headers=HERE,
                content_type="application/json",
                environ_overrides=phone.environ,
            )
            assert answer.status_code < 500, (path, body[:80], answer.text)
            if n == 0 and answer.status_code in (403, 404, 405):
                break  # not for them, whatever they say
    assert not [r for r in caplog.records if r.exc_info]


@pytest.mark.parametrize("who", [0, 2], ids=["looker", "host"])
def test_what_is_asked(app, people, who, caplog):
    phone = people[who]()
    for rule in map(str, (r for r in app.url_map.iter_rules() if "GET" in r.methods)):
        for odd in ASKED if rule != "/api/stream" else ():
            path = re.sub(r"<(?:\w+:)?\w+>", odd, rule.replace("<int:", "<"))
            answer = phone.get(f"{path}?{QUERY % {'odd': odd}}")
            assert answer.status_code < 500, (path, answer.text)
        if "<game>" in rule:
            path = rule.replace("<game>", "tigris").replace("<number>", "T1")
            assert phone.get(f"{path}?language=%00").status_code == 200
    assert not [r for r in caplog.records if r.exc_info]


def test_made_up_names_are_not_kept(app):
    phone = Phone(app)

    def kept():
        caches = (
            assets._packed_file,
            catalogue.catalogue_of,
            rules._rules_in,
            rules._translations_of,
        )
        return [one.cache_info().currsize for one in caches]

    phone.get("/api/rules/tigris?language=zz")
    before = kept()
    for n in range(40):
        phone.get(f"/static/js/{n}.js", headers={"Accept-Encoding": "gzip"})
        phone.get(f"/locale/{n}.json")
        phone.get(f"/api/rules/tigris?language=z{n}")
        phone.get(f"/api/rules/tigris/T1?language={'abcdefgh'[n % 8]}{'ijklm'[n // 8]}")
    assert kept() == before


NAMES = "Accept-Encoding Accept-Language Content-Type Cookie Host If-Modified-Since If-None-Match "
NAMES += "Origin Range Referer Sec-Fetch-Site User-Agent X-Forwarded-For X-Forwarded-Host"
SAID = ("", "[", "http://[", "http://]:x", "http://a:99999999", "é\xff", "x" * 5000, ";;;=", ",,")
SAID += (
    "*",
    "bytes=99-1",
    "gzip;q=x",
    "%00",
    "-1",
    "W/",
    'nilometer_language="\\777',
    "a" + "b;" * 900,
)


@pytest.mark.parametrize("name", NAMES.split())
def test_what_heads_say(app, name, caplog):
    phone = Phone(app)
    for said in SAID:
        headers = {**HERE, "Accept-Encoding": "gzip", name: said}
        for path in ("/", "/static/js/page.js", "/api/plan"):
            assert phone.get(path, headers=headers).status_code < 500, (path, said)
        assert phone.post("/api/host", {"pin": "1"}, headers).status_code < 500, said
    assert not [r for r in caplog.records if r.exc_info]
