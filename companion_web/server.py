"""Serving the page: waitress in a thread of this process, so the table, the camera and the page
share one memory."""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import signal
import socket
import ssl
import threading
import time
from typing import Any

from flask import Flask
from waitress import wasyncore
from waitress.adjustments import Adjustments

from companion_web.connections import CONNECTIONS, IDLE_S, UNREAD, Guarded
from companion_web.proxies import parsed_networks
from companion_web.quiet import Unsurprised
from companion_web.served import served_by
from companion_web.turns import PATIENCE_S, FairTurns

log = logging.getLogger(__name__)
THREADS = 128  # one for each following phone, the rest for everything else
# above this, waitress hangs up; the page's own limit is far lower and gives a message
BODY_LIMIT = 5 * 2**18
UNANSWERED_MS = 15_000  # a phone that silently left the Wi-Fi is dropped after this
# how long requests under way get when the server stops; `stop` waits a little longer
LAST_WORDS_S = 1.8

logging.getLogger("waitress.queue").setLevel(logging.ERROR)
logging.getLogger("waitress").addFilter(Unsurprised())


class CannotServe(ValueError):
    """The address cannot be used; the message says why."""


class Server:
    """A running server. `port` is the actual one, even if 0 was asked for."""

    def __init__(self, app: Flask, host: str, port: int, tls: ssl.SSLContext | None = None) -> None:
        self.app, self.scheme = app, "https" if tls is not None else "http"
        self._served = served_by(app)
        proxies = self._served.proxies
        try:
            # Bound here and not by waitress, which would start its threads first and leave them
            # running if the port is in use.
            listening = _bound_socket(host, port)
        except (OSError, OverflowError, UnicodeError) as e:
            raise CannotServe(f"{host}:{port}: {_why_not(e)}") from None
        adjusted = Adjustments(
            sockets=[listening],
            threads=THREADS,
            connection_limit=CONNECTIONS + 20,
            channel_timeout=int(IDLE_S),
            ident=None,
            max_request_body_size=BODY_LIMIT,
            max_request_header_size=32 * 1024,
            inbuf_overflow=BODY_LIMIT,
            outbuf_overflow=2**30,
            outbuf_high_watermark=UNREAD,
            log_socket_errors=False,
            # Reading on while a stream runs notices when the phone hangs up.
            channel_request_lookahead=1,
            asyncore_use_poll=True,
            clear_untrusted_proxy_headers=not proxies,
        )
        dispatcher = FairTurns()
        dispatcher.set_thread_count(THREADS)
        self._server: Any = Guarded(
            app,
            {},
            _sock=listening,
            dispatcher=dispatcher,
            adj=adjusted,
            bind_socket=False,
            sockinfo=(listening.family, listening.type, listening.proto, listening.getsockname()),
            tls=tls,
            known=self._served.known,
            trusted=parsed_networks(proxies),
        )
        self._server.adj.socket_options = [*self._server.adj.socket_options, *_socket_options()]
        self.host, self.port = host, int(self._server.effective_port)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="web", daemon=True)
        self._served.start()
        self._thread.start()

    @property
    def url(self) -> str:
        """The URL for this machine itself."""
        own = "localhost" if self.host in ("0.0.0.0", "::", "") else _in_brackets(self.host)
        return f"{self.scheme}://{own}:{self.port}/"

    @property
    def address(self) -> str:
        """The URL for phones in the network."""
        public = lan_address() if self.host in ("0.0.0.0", "::", "") else self.host
        return f"{self.scheme}://{_in_brackets(public)}:{self.port}/"

    def stop(self, timeout: float = 2.0) -> None:
        """Says goodbye to every phone, answers requests under way, closes. May be called twice, and
        from a signal handler."""
        self._served.stop()
        self._stop.set()
        with contextlib.suppress(OSError):  # already closed if it was stopped before
            self._server.pull_trigger()
        if threading.current_thread() is not self._thread:
            self._thread.join(timeout)

    def wait(self) -> None:
        """Blocks until it is stopped."""
        while self._thread.is_alive():
            self._thread.join(0.5)

    def stop_on_signals(self) -> None:
        """SIGTERM and SIGINT stop it instead of killing it in the middle of an answer (main thread
        only)."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(
                number, lambda *_: threading.Thread(target=self.stop, daemon=True).start()
            )

    def _run(self) -> None:
        server = self._server
        turns: FairTurns = server.task_dispatcher
        while not self._stop.is_set():
            self._turn(PATIENCE_S / 2 if turns.is_crowded else 0.5)
            turns.look()
            server.look()
        server.accepting = False
        turns.set_thread_count(0)
        # The last messages of the streams must be sent, and this loop sends them.
        until = time.monotonic() + LAST_WORDS_S
        while time.monotonic() < until:
            self._turn(0.05)
            if not turns.threads and not any(
                c.total_outbufs_len for c in list(server.active_channels.values())
            ):
                break
        for channel in list(server.active_channels.values()):
            channel.handle_close()
        server.close()

    def _turn(self, seconds: float) -> None:
        try:
            wasyncore.loop(timeout=seconds, map=self._server._map, count=1, use_poll=True)
        except OSError:
            log.exception("a connection failed")


def serve_app(
    app: Flask, host: str = "0.0.0.0", port: int = 8000, tls: ssl.SSLContext | None = None
) -> Server:
    """Starts serving in threads of its own and returns. tls: https is served on the same port as
    http. Raises CannotServe (port in use, no such address)."""
    return Server(app, host, port, tls)


def lan_address() -> str:
    """The address of this machine that phones in its network see; nothing is sent to find it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        try:
            s.connect(("192.0.2.1", 9))
            return s.getsockname()[0]
        except OSError:
            return "127.0.0.1"


def _bound_socket(host: str, port: int) -> socket.socket:
    if not 0 <= port < 65536:
        raise OverflowError("no such port")
    family, _, _, _, address = socket.getaddrinfo(
        host or "0.0.0.0", port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    return socket.create_server(address[:2], family=family, backlog=256)


def _why_not(e: Exception) -> str:
    number = getattr(e, "errno", None) or 0
    if number == errno.EADDRINUSE:
        return "another program serves there; is a table running already?"
    # Python adds the address to its message; errors for unknown names have negative numbers.
    return os.strerror(number) if number > 0 else getattr(e, "strerror", None) or str(e)


def _in_brackets(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _socket_options() -> list[tuple[int, int, int]]:
    out = [(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)]
    if hasattr(socket, "TCP_USER_TIMEOUT"):
        out.append((socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, UNANSWERED_MS))
    return out
