"""The server as it runs: a hundred phones over real sockets, phones that vanish, a clean stop."""

import gzip
import http.client
import json
import re
import socket
import time
import urllib.error
import urllib.request

import pytest

import companion_web
from companion_web.server import CannotServe
from tests.companion_web.support.sockets import Phones


@pytest.fixture
def started(make_app, table):
    """started(**settings) -> (server, web); stopped with the test"""
    servers = []

    def start(**settings):
        app = make_app(table, **settings)
        servers.append(companion_web.serve_app(app, "127.0.0.1", 0))
        return servers[-1], companion_web.web_of(app)

    yield start
    for server in servers:
        server.stop()


def get(url):
    with urllib.request.urlopen(url, timeout=5) as answer:
        return answer.status, answer.read()


def status_of(url):
    try:
        return get(url)[0]
    except urllib.error.HTTPError as e:
        return e.code, e.headers["Retry-After"]


def test_a_hundred_phones_follow_and_the_next_is_told_to_come_back(started, table):
    server, web = started(heartbeat=30)
    phones = Phones(server.port, 100)
    phones.until(b"event: snapshot")
    assert web.streams.count == 100
    late = []
    for n in range(5):
        phones.forget()
        table.act("bull: tile red C4", "C4", ["temple"] * (n % 2))
        late.append(phones.until(b"event: change"))
    began = time.monotonic()
    assert get(f"{server.url}api/snapshot")[0] == 200
    quick = time.monotonic() - began
    assert status_of(f"{server.url}api/stream") == (503, "10")
    assert min(late) < 0.3, f"{min(late):.3f} s till the last of 100 phones had it"
    assert quick < 0.5, f"an ordinary page took {quick:.3f} s meanwhile"
    phones.close()


def test_phones_that_are_gone_leave_their_places(started, eventually):
    server, web = started(heartbeat=0.2)
    phones = Phones(server.port, 30)
    phones.until(b"event: snapshot")
    phones.close()
    eventually(lambda: web.streams.count == 0)


def test_it_stops_within_two_seconds_with_twenty_phones_on(started):
    server, web = started(heartbeat=30)
    phones = Phones(server.port, 20)
    phones.until(b"event: snapshot")
    began = time.monotonic()
    server.stop()
    took = time.monotonic() - began
    assert took < 2, f"{took:.2f} s"
    phones.until(b"event: bye")
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", server.port), timeout=0.5).close()
    phones.close()


def test_it_stops_although_a_phone_says_nothing_and_another_does_not_listen(started):
    server, _ = started(heartbeat=30)
    silent = socket.create_connection(("127.0.0.1", server.port))
    half = socket.create_connection(("127.0.0.1", server.port))
    half.sendall(b"POST /api/declare HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{")
    time.sleep(0.1)
    began = time.monotonic()
    server.stop()
    assert time.monotonic() - began < 2
    silent.close(), half.close()


def test_a_megabyte_is_refused_over_the_wire(started, table):
    server, _ = started()
    body = b"x" * 2**20
    headers = {"Content-Type": "application/json", "Origin": server.url[:-1]}
    request = urllib.request.Request(f"{server.url}api/declare", body, headers)
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request, timeout=5)
    assert refused.value.code == 413 and json.loads(refused.value.read())["error"]


def test_rubbish_on_the_wire_does_not_stop_it(started):
    server, _ = started()
    for rubbish in (
        b"\x16\x03\x01\x02\x00\x01\x00",
        b"GET / HTTP/9.9\r\n\r\n",
        b"\x00" * 100 + b"\r\n\r\n",
        b"GET " + b"x" * 40_000,
    ):
        with socket.create_connection(("127.0.0.1", server.port)) as s:
            s.sendall(rubbish)
    assert get(f"{server.url}api/snapshot")[0] == 200


def answer_to(server, request):
    """What comes back for these bytes, till the server hangs up or has nothing more to say"""
    with socket.create_connection(("127.0.0.1", server.port), timeout=5) as s:
        s.sendall(request)
        return s.recv(65536)


def test_a_header_without_end_is_not_read_to_its_end(started):
    server, _ = started()
    first = answer_to(
        server, b"GET /api/snapshot HTTP/1.1\r\nHost: localhost\r\nX-Long: " + b"x" * 40_000
    ).split(b"\r\n")[0]
    assert first.endswith(b"431 Request Header Fields Too Large"), "not one byte more is waited for"


def test_a_body_far_too_long_is_refused_before_it_reaches_the_page(started):
    server, _ = started()
    announced = (
        f"POST /api/declare HTTP/1.1\r\nHost: localhost\r\nContent-Length: {2**30}\r\n\r\n".encode()
    )
    answer = answer_to(server, announced)
    assert b" 413 " in answer.split(b"\r\n")[0] and b"application/json" not in answer


def test_a_request_with_a_length_and_chunks_is_refused(started):
    """A proxy before the table may have read it the other way, and taken the rest for another one"""
    server, _ = started()
    both = b"POST /api/declare HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    assert answer_to(server, both).split(b"\r\n")[0] == b"HTTP/1.1 400 Bad Request"


def test_a_body_in_chunks_is_refused_before_it_is_read(started):
    server, _ = started()
    head = b"POST /api/declare HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
    assert answer_to(server, head).split(b"\r\n")[0] == b"HTTP/1.1 400 Bad Request"


def test_a_head_of_more_lines_than_any_browser_sends_is_refused(started):
    server, _ = started()
    for lines, status in ((60, b"200 OK"), (200, b"400 Bad Request")):
        many = b"".join(b"X-%d: y\r\n" % n for n in range(lines))
        asked = b"GET /api/snapshot HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
        answer = answer_to(server, asked + many + b"\r\n")
        assert answer.split(b"\r\n")[0].endswith(status)


def test_who_opens_connections_and_says_nothing_takes_no_more_than_a_share(started):
    server, _ = started()
    adjusted = server._server.adj
    assert adjusted.connection_limit <= 400 and adjusted.channel_timeout <= 30, (
        "too many, or silent for too long, are let go"
    )
    assert adjusted.channel_request_lookahead > 0, (
        "a phone that hung up while it follows is noticed"
    )
    assert adjusted.clear_untrusted_proxy_headers, "an address is what the socket says"


def test_a_port_that_is_taken_is_said_in_one_line(started, make_app, table):
    server, _ = started()
    with pytest.raises(CannotServe, match=f"127.0.0.1:{server.port}: "):
        companion_web.serve_app(make_app(table), "127.0.0.1", server.port)


@pytest.mark.parametrize(
    "host, port", [("no such host", 0), ("127.0.0.1", 70_000), ("192.0.2.1", 0), ("x" * 300, 80)]
)
def test_an_address_that_cannot_be_is_said_in_one_line(app, host, port):
    with pytest.raises(CannotServe) as fault:
        companion_web.serve_app(app, host, port)
    assert "\n" not in str(fault.value)


def test_a_phone_that_left_without_a_word_is_given_up(started):
    """The kernel gives up on unanswered data after some seconds instead of a quarter of an hour."""
    server, _ = started()
    phones = Phones(server.port, 1)
    phones.until(b"event: snapshot")
    (channel,) = server._server.active_channels.values()
    assert 0 < channel.socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) <= 20_000
    assert channel.socket.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
    phones.close()


def test_addresses_are_such_that_a_phone_can_open_them(make_app, table):
    server = companion_web.serve_app(make_app(table), "0.0.0.0", 0)
    try:
        assert server.url == f"http://localhost:{server.port}/"
        assert server.address.endswith(f":{server.port}/") and "0.0.0.0" not in server.address
        assert get(server.address)[0] == 200
    finally:
        server.stop()


def test_the_table_goes_on_when_everybody_writes_nonsense(started, table):
    """A thousand bad requests, then a good one."""
    server, web = started(read_rate=(1e6, 1e6), write_rate=(1e6, 1e6))
    line = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    for n in range(1000):
        line.request(
            "POST",
            "/api/" + ("declare", "answer", "undo", "host", "join", "nothing")[n % 6],
            b"{%d}" % n,
        )
        answer = line.getresponse()
        assert 400 <= answer.status < 500 and answer.read()
    line.close()
    assert (
        get(f"{server.url}api/snapshot")[0] == 200
        and table.heard == []
        and len(web.feed.frame.snapshot["moves"]) == 0
    )


def test_the_first_page_is_light(make_app, table):
    """All that the board's page asks for before it can be read: under 150 kB on the wire"""
    client = make_app(table).test_client()
    packed = {"Accept-Encoding": "gzip"}
    names, wanted = set(), ["/static/js/main.js"]
    while wanted:
        path = wanted.pop()
        if path in names:
            continue
        names.add(path)
        text = gzip.decompress(client.get(path, headers=packed).data).decode()
        wanted += [f"/static/js/{name}" for name in re.findall(r'from "\./([a-z]+\.js)"', text)]
    names |= {
        "/",
        "/locale/de.json",
        "/api/plan",
        "/api/snapshot",
    }
    assert sum(len(client.get(path, headers=packed).data) for path in names) < 150_000
