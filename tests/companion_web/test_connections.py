"""What one phone, or forty, can do to the connections of all the others: the attacker's doings,
over real sockets.

Different phones are different addresses of 127.0.0.0/8; 127.0.0.1 is the table's own machine.
"""

import logging
import socket
from types import SimpleNamespace

import pytest

import companion_web
from companion_web import connections, quiet
from companion_web.feed import Streams
from companion_web.limits import Known

HALF = b"GET /api/snapshot HTTP/1.1\r\nHost: localhost\r\nX-"
WHOLE = b"GET /api/snapshot HTTP/1.1\r\nHost: localhost\r\n\r\n"
PLAN = b"GET /api/plan HTTP/1.1\r\nHost: localhost\r\n\r\n"


@pytest.fixture
def attacked(make_app, table):
    """A server to attack, `opened(address, bytes)` -> socket; all closed with the test."""
    app = make_app(table, read_rate=(1e6, 1e6), heartbeat=0.2)
    server = companion_web.serve_app(app, "127.0.0.1", 0)
    sockets = []

    def opened(address, data=b""):
        s = socket.create_connection(
            ("127.0.0.1", server.port), timeout=5, source_address=(address, 0)
        )
        sockets.append(s)
        s.sendall(data)
        return s

    yield SimpleNamespace(
        server=server,
        opened=opened,
        channels=lambda address: [
            c for c in list(server._server.active_channels.values()) if c.address == address
        ],
        web=companion_web.web_of(app),
    )
    for s in sockets:
        s.close()
    server.stop()


def everything_from(s):
    out = b""
    while data := s.recv(65536):
        out += data
    return out


def ended(s):
    """Whether the table has hung up"""
    try:
        return s.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


def served(attacked, address):
    """Whether an ordinary page is answered"""
    s = attacked.opened(
        address, b"GET /api/snapshot HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    )
    return b" 200 OK" in everything_from(s)[:20]


def test_one_address_has_no_more_than_its_share(attacked, eventually):
    half = [attacked.opened("127.0.0.9", HALF) for _ in range(60)]
    assert served(attacked, "127.0.0.10")
    eventually(lambda: sum(map(ended, half)) >= 60 - connections.PER_ADDRESS)
    assert len(attacked.channels("127.0.0.9")) <= connections.PER_ADDRESS


def test_a_head_that_comes_byte_by_byte_is_not_waited_for(attacked, eventually, monkeypatch):
    monkeypatch.setattr(connections, "HEAD_S", 0.5)
    s = attacked.opened("127.0.0.9", HALF)
    eventually(lambda: attacked.channels("127.0.0.9"))

    def gone():
        try:
            s.sendall(b"x")
        except OSError:
            return True
        return not attacked.channels("127.0.0.9")

    eventually(gone)


def test_a_body_that_never_ends_is_not_waited_for(attacked, eventually, monkeypatch):
    monkeypatch.setattr(connections, "BODY_S", 0.5)
    s = attacked.opened(
        "127.0.0.9",
        b"POST /api/declare HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{",
    )
    assert everything_from(s) == b"" and not attacked.channels("127.0.0.9")


def test_a_connection_that_waits_between_requests_is_kept_and_ended_after_a_while(
    attacked, eventually, monkeypatch
):
    s = attacked.opened("127.0.0.9", WHOLE)
    assert s.recv(65536).startswith(b"HTTP/1.1 200")
    eventually(lambda: [c for c in attacked.channels("127.0.0.9") if not c.busy])
    monkeypatch.setattr(connections, "IDLE_S", 0.1)
    eventually(lambda: not attacked.channels("127.0.0.9"))


def test_a_crowd_of_addresses_makes_room_for_whoever_comes(attacked, eventually, monkeypatch):
    monkeypatch.setattr(connections, "STRANGERS", 30)
    monkeypatch.setattr(connections, "CONNECTIONS", 40)
    for n in range(100):
        attacked.opened(f"127.0.1.{n % 50}", HALF)
    for n in range(5):
        assert served(attacked, f"127.0.2.{n}")
    assert len(attacked.server._server.active_channels) <= 40


def test_a_crowd_that_has_gone_leaves_its_memory(attacked, eventually, monkeypatch):
    """420 half handshakes left 24 MB behind"""
    handed_back = []
    monkeypatch.setattr(connections, "CROWD", 20)
    monkeypatch.setattr(connections, "trim_heap", lambda: handed_back.append(1))
    half = [attacked.opened(f"127.0.3.{n // 8}", HALF) for n in range(40)]
    eventually(lambda: attacked.server._server._most == 40)  # it looks four times a second
    for s in half[:20]:
        s.close()
    eventually(lambda: len(attacked.server._server.active_channels) == 20)
    assert served(attacked, "127.0.0.10") and not handed_back, "it is still there"
    for s in half[20:]:
        s.close()
    eventually(lambda: handed_back == [1])


def test_room_is_kept_for_who_holds_a_seat(attacked, eventually, monkeypatch):
    monkeypatch.setattr(connections, "STRANGERS", 3)
    monkeypatch.setattr(connections, "CONNECTIONS", 5)
    attacked.web.known.note("127.0.0.50")
    streams = [
        attacked.opened(f"127.0.1.{n}", b"GET /api/stream HTTP/1.1\r\nHost: localhost\r\n\r\n")
        for n in range(3)
    ]
    assert all(s.recv(20) for s in streams)
    refused = attacked.opened("127.0.1.77")
    assert refused.recv(10) == b"", "all are being answered, and it is a stranger"
    assert served(attacked, "127.0.0.50")


def test_requests_are_not_queued_without_end(attacked):
    s = attacked.opened("127.0.0.9", PLAN * 200)
    s.shutdown(socket.SHUT_WR)
    try:
        got = everything_from(s)
    except ConnectionResetError:  # what was sent too much lies unread when the table hangs up
        return
    assert 1 <= got.count(b"HTTP/1.1 200") <= connections.QUEUED + 1


def test_two_requests_at_once_are_answered(attacked):
    s = attacked.opened(
        "127.0.0.9", WHOLE + WHOLE.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
    )
    assert everything_from(s).count(b"HTTP/1.1 200") == 2


def test_who_does_not_read_holds_little_and_not_for_long(attacked, eventually, monkeypatch, table):
    monkeypatch.setattr(connections, "UNREAD_S", 0.5)
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    s.bind(("127.0.0.9", 0))
    s.connect(("127.0.0.1", attacked.server.port))
    s.sendall(PLAN * 200)
    eventually(
        lambda: (
            any(c.total_outbufs_len for c in attacked.channels("127.0.0.9"))
            or not attacked.channels("127.0.0.9")
        )
    )
    eventually(lambda: not attacked.channels("127.0.0.9"), 20.0)
    s.close()


def test_all_together_hold_no_more_than_there_is_room_for(attacked, eventually, monkeypatch):
    """Half-sent bodies of one address, and somebody else's ordinary request."""
    monkeypatch.setattr(connections, "HELD", 100_000)
    head = b"POST /api/declare HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n"
    small = attacked.opened("127.0.0.20", head + b"x" * 100)
    eventually(lambda: attacked.channels("127.0.0.20"))
    for _ in range(4):
        attacked.opened("127.0.0.9", head + b"x" * 60_000)
    eventually(lambda: len(attacked.channels("127.0.0.9")) == 1)
    assert attacked.channels("127.0.0.20") and small.fileno() > 0, "the heaviest go, not the others"


def test_a_lone_phone_gets_a_place_among_many_of_one():
    streams = Streams(10, 2, 8)
    first = [streams.enter("a", False) for _ in range(8)] + [
        streams.enter("b", False),
        streams.enter("c", False),
    ]
    assert all(first) and streams.count == 10
    fresh = streams.enter("d", False)
    assert fresh and [p.address for p in first if p.lost] == ["a"] and streams.count == 10
    assert streams.enter("b", False) is None, "who has one takes none from others"
    seated = [streams.enter("p", True), streams.enter("q", True)]
    assert all(seated) and streams.count == 12
    for place in [*first, fresh, *seated]:
        streams.leave(place)
    assert streams.count == 0


def test_no_place_is_taken_from_who_has_but_one():
    streams = Streams(2, 0, 8)
    assert (
        streams.enter("a", False)
        and streams.enter("b", False)
        and streams.enter("c", False) is None
    )


def test_who_holds_a_seat_is_known_for_a_while():
    now = [0.0]
    known = Known(100.0, lambda: now[0])
    known.note("a")
    assert "a" in known and "b" not in known
    now[0] = 101.0
    assert "a" not in known
    for n in range(500):
        known.note(str(n))
    assert len(known._heard) < 100


def test_strangers_fill_no_log(caplog):
    caplog.set_level(logging.DEBUG)
    strangers = quiet.Strangers(logging.getLogger("here"))
    for n in range(500):
        strangers.note("sent no whole request", f"10.0.0.{n % 9}")
        strangers.tell(0.1 * n)
    assert len(caplog.records) == 1
    strangers.tell(70.0)
    assert (
        len(caplog.records) == 2
        and "499 sent no whole request" in caplog.text
        and "of 9 addresses" in caplog.text
    )


def test_a_connection_that_breaks_leaves_no_traceback(attacked, caplog, eventually):
    caplog.set_level(logging.DEBUG)
    for n in range(30):
        s = attacked.opened(
            "127.0.0.9", (PLAN, WHOLE, HALF, b"\x00\xff\r\n\r\n", b"\x16\x03\x01")[n % 5]
        )
        # a reset instead of a goodbye
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        s.close()
    eventually(lambda: not attacked.channels("127.0.0.9"))
    assert served(attacked, "127.0.0.10")
    assert not [r for r in caplog.records if r.exc_info or r.levelno >= logging.ERROR], caplog.text


def test_a_fault_of_our_own_is_still_told():
    assert quiet.Unsurprised().filter(
        logging.LogRecord(
            "waitress",
            logging.ERROR,
            "",
            1,
            "Exception while serving /",
            (),
            (KeyError, KeyError("x"), None),
        )
    )
