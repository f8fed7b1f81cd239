"""waitress with limits for a public network: how many connections an address may have, how long a
request's head may take, how much may wait unread.

Addresses without a seat share the room fairly: when it is full, the address with the most
connections loses one, idle ones first. Plain HTTP and TLS use the same port: a TLS client is
recognised by its first byte.
"""

from __future__ import annotations

import socket
import ssl
import threading
import time
from collections import Counter
from collections.abc import Container
from typing import Any

from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser, ParsingError
from waitress.server import TcpWSGIServer

from companion_web.proxies import Networks, is_within
from companion_web.quiet import strangers
from vision.storage.heap_trim import trim_heap

CONNECTIONS = 380  # in all
STRANGERS = 340  # of addresses without a seat: the rest is reserved for players
PER_ADDRESS = 24
QUEUED = 2  # requests at once on one connection: browsers send one after the other
HEAD_LINES = 100  # of a request
HEAD_S, BODY_S = 5.0, 20.0  # seconds for a request's head; for its body, from its first byte on
IDLE_S = 30.0  # ... a connection may stay open without a request
UNREAD_S = 12.0  # ... a response may stay unread
UNREAD = 256 * 1024  # unread bytes of a connection at which the thread that answers it has to wait
HELD = 24 * 2**20  # bytes of half-sent requests and unread responses, of all connections together
LOOK_S = 0.25  # seconds between two checks of all connections
AT_ONCE = 32  # connections accepted in one turn of the loop
CROWD = 100  # after this many simultaneous connections, their memory is returned to the system
OWN = frozenset({"127.0.0.1", "::1"})  # this machine itself: a kiosk, a load test
STREAM = "/api/stream"  # the only path whose response does not end
_TLS = 0x16  # the first byte of a TLS client's hello


class Request(HTTPRequestParser):
    """A request. It has a path even if it could not be read: waitress names it when the sender has
    gone."""

    path = ""

    def parse_header(self, header_plus: bytes) -> None:
        """Refuses heads with more lines than any browser sends, since parsing them delays all
        connections. Also refuses chunked bodies: no browser sends them, and if a length is given
        too, a proxy may have interpreted the request differently (request smuggling). Raises
        ParsingError."""
        if header_plus.count(b"\n") > HEAD_LINES:
            raise ParsingError("too many header lines")
        super().parse_header(header_plus)
        if self.chunked:
            raise ParsingError("a body needs a Content-Length")


class Connection(HTTPChannel):
    """One connection, plain or TLS."""

    parser_class = Request
    request: Any  # the one being read, None between requests
    socket: Any  # plain or wrapped in TLS, None once closed

    def __init__(self, server: Guarded, sock: Any, addr: Any, adj: Any, map: Any = None) -> None:
        self.since = time.monotonic()  # when the current phase began: the connection, or a request
        self.tls: bool | None = None if server.tls is not None else False  # None: not known yet
        self.shaken = True
        self._wants_write = False
        # a TLS connection must not be read and written at once: workers write while the loop reads
        self._tls_lock = threading.RLock()
        super().__init__(server, sock, addr, adj, map)

    @property
    def address(self) -> str:
        return str(self.addr[0])

    @property
    def busy(self) -> bool:
        """Whether something is being answered"""
        return bool(self.requests)

    @property
    def held(self) -> int:
        """Bytes of memory it takes up"""
        half = self.request
        bodies = sum(
            r.body_bytes_received for r in (*self.requests, *((half,) if half is not None else ()))
        )
        return self.total_outbufs_len + bodies + (len(half.header_plus) if half is not None else 0)

    def late(self, now: float, unread: float) -> str | None:
        """Why it has to be closed for taking too long ("": not worth logging); None if it may stay.
        unread: seconds since any of its response was read."""
        waited, request = now - self.since, self.request
        if self.total_outbufs_len and unread > UNREAD_S:
            return "did not read their answers"
        if self.busy or self.total_outbufs_len:
            return None
        if request is None and self.shaken:
            return "" if waited >= IDLE_S else None
        whole = request is not None and request.headers_finished
        return "sent no whole request" if waited >= (BODY_S if whole else HEAD_S) else None

    def received(self, data: bytes) -> bool:
        """Reads at most QUEUED requests ahead; a client that sends more at once gets these answered
        and is then disconnected."""
        if data is _NOTHING_YET:
            return True
        begun, head = self.request, self.request is not None and self.request.headers_finished
        super().received(data)
        now = self.request
        if now is not None and (now is not begun or now.headers_finished and not head):
            self.since = time.monotonic()
        with self.requests_lock:
            for request in self.requests:
                if self.tls:
                    request.url_scheme = "https"
            if len(self.requests) > QUEUED:
                strangers.note("sent requests without waiting for answers", self.address)
                for request in self.requests[QUEUED:]:
                    request.close()
                del self.requests[QUEUED:]
                self.requests[-1].headers["CONNECTION"] = "close"
                self.request = None
        return True

    def service(self) -> None:
        super().service()
        self.since = time.monotonic()

    @property
    def asker(self) -> str:
        """The client's address: for a proxy's connection, the one that the proxy names"""
        if self.requests and is_within(self.address, self.server.trusted):
            said = self.requests[0].headers.get("X_FORWARDED_FOR", "")
            return str(said.rpartition(",")[2].strip()) or self.address
        return self.address

    def write_soon(self, data: Any) -> int:
        written = super().write_soon(data)
        # a following phone has everything so far, and waits for the next change
        if self.requests and self.requests[0].path == STREAM:
            self.server.task_dispatcher.only_waits(self)
        return int(written)

    def _flush_outbufs_below_high_watermark(self) -> None:
        if self.total_outbufs_len > self.adj.outbuf_high_watermark:
            self.server.task_dispatcher.only_waits(self)
        super()._flush_outbufs_below_high_watermark()

    # TLS, if the first byte asks for it

    def readable(self) -> bool:
        return super().readable() if self.shaken else not self.will_close

    def writable(self) -> Any:
        return super().writable() if self.shaken else self._wants_write or self.will_close

    def handle_read(self) -> None:
        if self.tls is None and not self._known_by_its_first_byte():
            return
        if not self.shaken and not self._shake_hands():
            return
        super().handle_read()
        # Data that TLS has already taken off the wire does not wake the poll.
        while (
            self.tls
            and self.connected
            and self.socket is not None
            and super().readable()
            and self.socket.pending()
        ):
            super().handle_read()

    def handle_write(self) -> None:
        if self.shaken or self.will_close:
            super().handle_write()
        else:
            self._shake_hands()

    def _known_by_its_first_byte(self) -> bool:
        first = self.socket.recv(1, socket.MSG_PEEK)
        if not first:
            self.handle_close()
            return False
        self.tls = first[0] == _TLS
        if self.tls:
            self.shaken = False
            # The same file descriptor, wrapped: whatever is keyed by it stays valid.
            self.socket = self.server.tls.wrap_socket(
                self.socket, server_side=True, do_handshake_on_connect=False
            )
        return True

    def _shake_hands(self) -> bool:
        try:
            with self._tls_lock:
                self.socket.do_handshake()
        except ssl.SSLWantReadError:
            self._wants_write = False
            return False
        except ssl.SSLWantWriteError:
            self._wants_write = True
            return False
        except OSError:
            strangers.note("broke off a TLS handshake", self.address)
            self.handle_close()
            return False
        self.shaken, self.since = True, time.monotonic()
        return True

    # The lock covers only reading and writing: closing takes the output lock, which a sending
    # worker already holds.

    def recv(self, buffer_size: int) -> bytes:
        if not self.tls:
            return super().recv(buffer_size)
        try:
            with self._tls_lock:
                data = self.socket.recv(buffer_size)
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
            return _NOTHING_YET
        except OSError:
            data = b""
        if not data:
            self.handle_close()
        return data

    def send(self, data: bytes, do_close: bool = True) -> int:
        if not self.tls:
            return super().send(data, do_close)
        try:
            with self._tls_lock:
                return self.socket.send(data) if self.socket is not None else 0
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
            return 0
        except OSError:
            if do_close:
                self.handle_close()
            return 0

    def close(self) -> None:
        with self._tls_lock:
            super().close()


class _Nothing(bytes):
    """No bytes, although the other side has not hung up"""

    def __bool__(self) -> bool:
        return True


_NOTHING_YET = _Nothing()


class Guarded(TcpWSGIServer):
    """The listening socket. known: addresses that hold a seat, as far as the page knows. trusted:
    proxies, whose connections belong to many people."""

    channel_class = Connection

    def __init__(
        self,
        *args: Any,
        tls: ssl.SSLContext | None = None,
        known: Container[str] = (),
        trusted: Networks | tuple[()] = (),
        **kw: Any,
    ) -> None:
        self.tls, self.known, self.trusted = tls, known, trusted
        self._looked, self._most = 0.0, 0
        self._unread: dict[Connection, tuple[int, float]] = {}
        super().__init__(*args, **kw)

    def handle_accept(self) -> None:
        for _ in range(AT_ONCE):
            try:
                pair = self.accept()
                if pair is None:
                    return
                self.set_socket_options(pair[0])
            except OSError:
                return
            sock, addr = pair
            if self._room_for(str(addr[0])):
                self.channel_class(self, sock, addr, self.adj, map=self._map)
            else:
                strangers.note("found no room", str(addr[0]))
                sock.close()

    def _room_for(self, address: str) -> bool:
        """Whether it may connect; closes another connection if that is necessary."""
        channels = [c for c in self.active_channels.values() if isinstance(c, Connection)]
        exempt = address in OWN or is_within(address, self.trusted)
        if not exempt:
            own = [c for c in channels if c.address == address]
            if len(own) >= PER_ADDRESS and not self._let_go(own):
                return False
        others = [c for c in channels if c.address not in self.known]
        if address not in self.known and not exempt and len(others) >= STRANGERS:
            return self._let_go(others)
        return len(self.active_channels) < CONNECTIONS or self._let_go(channels)

    def _let_go(self, among: list[Connection]) -> bool:
        """Closes one that is not being answered: the oldest one of the address with the most.
        False: all are being answered."""
        waiting = [c for c in among if not c.busy and c.connected]
        if not waiting:
            return False
        many = Counter(c.address for c in waiting)
        first = min(waiting, key=lambda c: (-many[c.address], c.since))
        strangers.note("had more connections than their share", first.address)
        first.handle_close()
        return True

    def look(self, now: float | None = None) -> None:
        """Closes connections that have timed out, and the largest ones if all together hold too
        much. Returns memory to the system once a crowd has gone."""
        now = time.monotonic() if now is None else now
        if now - self._looked < LOOK_S:
            return
        self._looked = now
        channels = [c for c in self.active_channels.values() if isinstance(c, Connection)]
        unread: dict[Connection, tuple[int, float]] = {}
        for c in channels:
            if size := c.total_outbufs_len:
                before = self._unread.get(c)
                unread[c] = before if before is not None and size >= before[0] else (size, now)
        self._unread = unread
        held: Counter[str] = Counter()
        for c in channels:
            why = c.late(now, now - unread.get(c, (0, now))[1])
            if why:
                strangers.note(why, c.address)
            if why is None:
                held[c.address] += c.held
            else:
                c.handle_close()
        over = held.total() - HELD
        for address, _ in held.most_common():
            for c in sorted(
                (c for c in channels if c.address == address and c.connected), key=lambda c: -c.held
            ):
                if over <= 0:
                    break
                over -= c.held
                strangers.note("made the table hold too much for them", address)
                c.handle_close()
        strangers.tell(now)
        self._most = max(self._most, len(channels))
        if self._most >= CROWD and 4 * len(channels) <= self._most:
            self._most = len(channels)
            trim_heap()

    def maintenance(self, now: float) -> None:
        """Nothing: `look` does it."""
