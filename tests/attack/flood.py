"""Asks a table on this machine as fast as it answers, from many addresses; a process of its own,
so that whoever measures the others' pages meanwhile does not wait for it:
python -m tests.attack.flood PORT KIND ADDRESSES CONNECTIONS (until it is ended).
"""

from __future__ import annotations

import contextlib
import selectors
import socket
import sys

HEAD = b"Host: localhost\r\nAccept-Encoding: gzip\r\n"
PIN = b'{"pin": "1"}'
# what is asked, and whether on a new connection each time
KINDS: dict[str, tuple[bytes, bool]] = {
    "pages": (b"GET / HTTP/1.1\r\n" + HEAD + b"\r\n", False),
    "languages": (b"GET /locale/nl.json HTTP/1.1\r\n" + HEAD + b"\r\n", False),
    "moves": (b"GET /api/moves/5 HTTP/1.1\r\n" + HEAD + b"\r\n", False),
    "long heads": (
        b"GET /api/snapshot HTTP/1.1\r\n" + HEAD + b"X-Y: " + b"z" * 30_000 + b"\r\n\r\n",
        False,
    ),
    "many heads": (
        b"GET /api/snapshot HTTP/1.1\r\n"
        + HEAD
        + b"".join(b"X-%d: y\r\n" % n for n in range(2500))
        + b"\r\n",
        False,
    ),
    "chunks": (
        b"POST /api/host HTTP/1.1\r\n" + HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
        b"%s0\r\n\r\n" % (b"1\r\nx\r\n" * 100_000),
        False,
    ),
    "wrong PINs": (
        b"POST /api/host HTTP/1.1\r\nOrigin: http://localhost\r\nContent-Type: application/json\r\n"
        + HEAD
        + b"Content-Length: %d\r\n\r\n%s" % (len(PIN), PIN),
        False,
    ),
    "visits": (b"GET /nothing HTTP/1.1\r\n" + HEAD + b"\r\n", True),
}


def flood_port(port: int, kind: str, addresses: int, connections: int) -> None:
    """Sends one kind of request without end."""
    request, anew = KINDS[kind]
    lines = selectors.DefaultSelector()

    def come(address: str) -> None:
        with contextlib.suppress(OSError):
            s = socket.create_connection(("127.0.0.1", port), 2.0, (address, 0))
            s.setblocking(False)
            lines.register(s, selectors.EVENT_READ, address)
            send(s)

    def send(s: socket.socket) -> None:
        """As much as goes at once, and more of a long one when more is wanted: never."""
        with contextlib.suppress(OSError):
            s.send(request)

    def heard(s: socket.socket) -> bytes:
        with contextlib.suppress(OSError):
            return s.recv(1 << 18)
        return b""

    for n in range(addresses * connections):
        come(f"127.0.40.{n % addresses + 1}")
    while lines.get_map():
        for key, _ in lines.select(0.1):
            s = key.fileobj
            assert isinstance(s, socket.socket)
            answer = heard(s)
            if not answer or anew:
                lines.unregister(s)
                s.close()
                come(key.data)
            elif answer.startswith(b"HTTP/"):
                send(s)


if __name__ == "__main__":
    flood_port(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
