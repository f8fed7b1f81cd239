"""Nobody in the Wi-Fi reads along, replays or stays for ever: TLS, proxies, logins that end."""

import http.client
import json
import socket
import ssl

import pytest

import companion_web
from cli.serving import https_context
from companion.fault import Fault
from companion.runtime.config import Web, load_config
from companion_web import connections, context, tls
from companion_web.access import HOST_S, SEAT_S, Access, NotKept, Viewer
from companion_web.limits import Tries
from tests.companion_web.support.tables import Phone

WHOLE = b"GET /api/snapshot HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"


@pytest.fixture
def started(make_app, table, tmp_path):
    """started(**settings) -> a server that speaks TLS too; stopped with the test"""
    servers = []

    def start(**settings):
        context = tls.server_context(tmp_path, {"table.club.example"})
        servers.append(
            companion_web.serve_app(
                make_app(table, hosts=("table.club.example",), **settings), "127.0.0.1", 0, context
            )
        )
        return servers[-1]

    yield start
    for server in servers:
        server.stop()


@pytest.fixture
def trusting(tmp_path):
    """What a phone knows that has been told of the table's certificate; made by `started`"""
    return lambda: ssl.create_default_context(cafile=str(tmp_path / "tls.pem"))


def secure(server, context, name="localhost"):
    return context.wrap_socket(
        socket.create_connection(("127.0.0.1", server.port), timeout=10), server_hostname=name
    )


def everything_from(s):
    out = b""
    while data := s.recv(65536):
        out += data
    return out


@pytest.mark.parametrize(
    "name", ["localhost", "127.0.0.1", "nilometer.local", "table.club.example"]
)
def test_both_come_in_at_one_port_under_all_its_names(started, trusting, name):
    server = started()
    assert server.url.startswith("https://")
    with secure(server, trusting(), name) as s:
        s.sendall(WHOLE)
        assert b" 200 OK" in everything_from(s)[:20]
    with socket.create_connection(("127.0.0.1", server.port)) as s:
        s.sendall(WHOLE)
        assert b" 200 OK" in everything_from(s)[:20]


def test_much_comes_whole_and_byte_by_byte_too(started, trusting):
    server = started(read_rate=(1e6, 1e6))
    plain = {}
    for path in ("/api/plan", "/static/js/main.js", "/locale/nl.json"):
        line = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
        line.request("GET", path)
        plain[path] = line.getresponse().read()
        line.close()
    line = http.client.HTTPSConnection("localhost", server.port, timeout=20, context=trusting())
    for path, data in plain.items():
        line.request("GET", path)
        assert line.getresponse().read() == data
    line.close()
    with secure(server, trusting()) as s:
        for n in range(len(WHOLE)):
            s.sendall(WHOLE[n : n + 1])
        assert b" 200 OK" in everything_from(s)[:20]
    body = json.dumps({"text": "x" * 30_000}).encode()
    with secure(server, trusting()) as s:  # more than one TLS record
        s.sendall(
            b"POST /api/declare HTTP/1.1\r\nHost: localhost\r\nOrigin: https://localhost\r\nContent-Type: application/json\r\n"
            b"Connection: close\r\nContent-Length: %d\r\n\r\n" % len(body) + body
        )
        assert b" 403 " in everything_from(s)[:20]


def test_a_stream_runs_over_tls(started, trusting, table):
    server = started(heartbeat=30)
    with secure(server, trusting()) as s:
        s.sendall(b"GET /api/stream HTTP/1.1\r\nHost: localhost\r\n\r\n")
        got = b""
        while b"event: snapshot" not in got:
            got += s.recv(65536)
        table.act("bull: tile red C4", "C4", ["temple"])
        while b"event: change" not in got:
            got += s.recv(65536)


def test_a_handshake_that_does_not_end_is_not_waited_for(started, eventually, monkeypatch):
    server = started()
    monkeypatch.setattr(connections, "HEAD_S", 0.3)
    half = [
        socket.create_connection(("127.0.0.1", server.port), source_address=("127.0.0.9", 0))
        for _ in range(5)
    ]
    for n, s in enumerate(half):
        s.sendall(
            (b"\x16", b"\x16\x03\x01\x02\x00", b"\x16\x03\x01\x00\x05\x01", b"\x16" * 300, b"")[n]
        )
    eventually(
        lambda: (
            sum(c.address == "127.0.0.9" for c in list(server._server.active_channels.values()))
            <= 1
        ),
        10,
    )
    for s in half:
        s.close()


def test_a_cookie_over_https_stays_there(started, trusting, app):
    server = started()
    line = http.client.HTTPSConnection("localhost", server.port, timeout=20, context=trusting())
    line.request(
        "POST",
        "/api/host",
        json.dumps({"pin": "12345678"}),
        {"Origin": f"https://localhost:{server.port}", "Content-Type": "application/json"},
    )
    assert "Secure" in line.getresponse().headers["Set-Cookie"]
    line.close()


def test_plain_requests_are_sent_to_https_when_that_is_asked_for(make_app, table):
    phone = Phone(make_app(table, redirect=True))
    answer = phone.get("/join?x=1")
    assert answer.status_code == 308 and answer.headers["Location"] == "https://localhost/join?x=1"
    assert phone.get("/join", base_url="https://localhost").status_code == 200


def test_a_certificate_is_kept_and_renewed_for_new_names(tmp_path):
    tls.server_context(tmp_path, {"a.example"})
    first = (tmp_path / "tls.pem").read_bytes()
    assert (tmp_path / "tls.pem").stat().st_mode & 0o077 == 0
    tls.server_context(tmp_path, {"a.example"})
    assert (tmp_path / "tls.pem").read_bytes() == first
    tls.server_context(tmp_path, {"b.example"})
    assert (tmp_path / "tls.pem").read_bytes() != first and len(
        tls.certificate_fingerprint(tmp_path / "tls.pem")
    ) == 95
    (tmp_path / "tls.pem").write_text("rubbish")
    tls.server_context(tmp_path, {"b.example"})


def test_only_a_trusted_proxy_says_who_asks_and_how(make_app, table):
    app = make_app(
        table,
        proxies=("10.0.0.7", "192.168.9.0/24"),
        hosts=("table.club.example",),
        read_rate=(0.001, 3.0),
    )
    said = {
        "X-Forwarded-For": "203.0.113.9",
        "X-Forwarded-Proto": "https",
        "X-Forwarded-Host": "table.club.example",
    }
    proxy, other = Phone(app, "10.0.0.7"), Phone(app, "10.0.0.8")
    answer = proxy.client.post(
        "/api/host",
        json={"pin": "12345678"},
        environ_overrides=proxy.environ,
        headers={**said, "Origin": "https://table.club.example"},
    )
    assert answer.status_code == 200 and "Secure" in answer.headers["Set-Cookie"]
    assert [s["address"] for s in companion_web.web_of(app).access.sessions()] == ["203.0.113.9"]
    for n in range(6):  # each phone behind it has a rate of its own
        assert (
            proxy.get(
                "/api/snapshot", headers={**said, "X-Forwarded-For": f"203.0.113.{n}"}
            ).status_code
            == 200
        )
    answers = [
        other.get(
            "/api/snapshot", headers={**said, "X-Forwarded-For": f"203.0.113.{n}"}
        ).status_code
        for n in range(6)
    ]
    assert answers[:3] == [200] * 3 and 429 in answers, "nobody else's word counts"
    assert other.get("/join", headers={"X-Forwarded-Host": "evil.example"}).status_code in (
        200,
        429,
    )


@pytest.mark.parametrize("pin", ["1", "12345", "12 34-5", "abcdef", "12345a"])
def test_a_pin_too_short_is_refused(tmp_path, pin):
    path = tmp_path / "table.toml"
    path.write_text(f'copy = "x"\n[web]\npin = "{pin}"\n')
    with pytest.raises(Fault, match="web.pin"):
        load_config(path)


@pytest.mark.parametrize(
    "text, words",
    [
        ('proxies = ["here"]', "here"),
        ('tls = "always"', "tls"),
        ('tls = "files"\ncertificate = "no.pem"', "no.pem"),
    ],
)
def test_what_cannot_be_served_with_is_named(tmp_path, text, words):
    path = tmp_path / "table.toml"
    path.write_text(f'copy = "x"\n[web]\n{text}\n')
    with pytest.raises(Fault, match=words):
        https_context(load_config(path).web, tmp_path)


def test_the_names_of_the_page_are_those_of_its_address_too():
    assert set(Web(address="https://table.club.example", names=("other",)).hosts) == {
        "table.club.example",
        "other",
    }


# Secrets end


def test_the_hosts_login_ends_after_a_week_and_a_seat_after_a_month():
    now = [0.0]
    access = Access("12345678", clock=lambda: now[0])
    host = access.make_host()
    both = access.seat("bull", access.make_host())
    now[0] = HOST_S - 1
    assert access.viewer(host).host and access.viewer(both).host
    now[0] = HOST_S + 1
    assert access.viewer(host) == Viewer() and access.viewer(both) == Viewer(False, ("bull",))
    now[0] = SEAT_S + 1
    assert access.viewer(both) == Viewer() and access.taken() == {}


def test_sitting_down_does_not_prolong_the_hosts_week():
    now = [100.0]
    access = Access("12345678", clock=lambda: now[0])
    token = access.make_host()
    now[0] = HOST_S + 99
    token = access.seat("bull", token)
    now[0] = HOST_S + 101
    assert access.viewer(token) == Viewer(False, ("bull",))


def test_a_changed_pin_ends_the_hosts_logins(tmp_path):
    path = tmp_path / "seats.json"
    access = Access("12345678", path)
    host, both = access.make_host(address="10.0.0.3"), access.seat("bull", access.make_host())
    assert Access("1234 5678", path).viewer(host).host, "the same one, written otherwise"
    again = Access("87654321", path)
    assert (
        again.viewer(host) == Viewer()
        and again.viewer(both) == Viewer(False, ("bull",))
        and not again.is_trusted("10.0.0.3")
    )
    assert Access("12345678", path).viewer(host) == Viewer(), "for good"


def test_a_seat_is_bound_to_its_game(tmp_path):
    access = Access("12345678", tmp_path / "seats.json")
    access.keep_only(["bull", "lion"], "monday")
    token = access.seat("bull")
    for game, seats in (("monday", ("bull",)), ("tuesday", ())):
        again = Access("12345678", tmp_path / "seats.json")
        again.keep_only(["bull", "lion"], game)
        assert again.viewer(token).seats == seats


def test_leaving_is_kept_or_refused(make_app, table, tmp_path, monkeypatch):
    app = make_app(table, state=tmp_path)
    bull, host = Phone(app).sit("bull"), Phone(app, "10.0.0.8")
    host.post("/api/host", {"pin": "12345678"})
    old = bull.client.get_cookie(context.COOKIE).value

    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as m:
        m.setattr("companion_web.access.write_whole", full)
        for one, path, data in (
            (bull, "/api/leave", {}),
            (host, "/api/host/free", {"seat": "bull"}),
            (host, "/api/host/link", {}),
            (host, "/api/host/end", {"id": "others"}),
        ):
            assert one.post(path, data).status_code == 507
        assert companion_web.web_of(app).access.viewer(old).seats == ("bull",)
    assert bull.post("/api/leave", {}).status_code == 200
    assert Access("12345678", tmp_path / "seats.json").viewer(old) == Viewer()
    with pytest.raises(NotKept), monkeypatch.context() as m:
        m.setattr("companion_web.access.write_whole", full)
        companion_web.web_of(app).access.free("lion")


def test_the_host_sees_who_is_in_and_throws_them_out(make_app, table):
    app = make_app(table)
    thief, host, bull = (
        Phone(app, "10.0.0.66"),
        Phone(app, "10.0.0.3"),
        Phone(app, "10.0.0.4").sit("bull"),
    )
    thief.post("/api/host", {"pin": "12345678"}), host.post("/api/host", {"pin": "12345678"})
    found = host.get("/api/host/sessions").json
    assert {s["address"]: (s["host"], s["seats"], s["own"]) for s in found} == {
        "10.0.0.66": (True, [], False),
        "10.0.0.3": (True, [], True),
        "10.0.0.4": (False, ["bull"], False),
    }
    for one in (bull, Phone(app, "10.0.0.9")):
        assert one.get("/api/host/sessions").status_code == 403
        assert one.post("/api/host/end", {"id": "others"}).status_code == 403
    [theirs] = [s["id"] for s in found if s["address"] == "10.0.0.66"]
    assert host.post("/api/host/end", {"id": theirs}).status_code == 200
    assert thief.post("/api/host/link", {}).status_code == 403
    assert host.post("/api/host/end", {"id": theirs}).status_code == 404
    assert host.post("/api/host/end", {"id": "others"}).status_code == 200
    assert bull.post("/api/declare", {"text": "bull: pass"}).status_code == 403
    assert host.get("/api/host/sessions").status_code == 200


def test_wrong_pins_of_others_do_not_keep_out_who_had_it_right_before(make_app, table):
    app = make_app(table, write_rate=(1e6, 1e6))
    host = Phone(app, "10.0.0.3")
    assert host.post("/api/host", {"pin": "12345678"}).status_code == 200
    for n in range(12):
        for _ in range(5):
            Phone(app, f"10.0.1.{n}").post("/api/host", {"pin": "00000000"})
    assert Phone(app, "10.0.0.77").post("/api/host", {"pin": "12345678"}).status_code == 429, (
        "somebody new waits"
    )
    assert Phone(app, "10.0.0.3").post("/api/host", {"pin": "12345678"}).status_code == 200
    for _ in range(5):
        Phone(app, "10.0.0.3").post("/api/host", {"pin": "00000000"})
    assert Phone(app, "10.0.0.3").post("/api/host", {"pin": "12345678"}).status_code == 429, (
        "its own still count"
    )
    assert Tries(1, 9.0).wait("a") == 0.0
