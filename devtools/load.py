"""A load test against a running table: many phones follow, and changes are timed until the last
phone has them.

    python -m devtools.load http://nilometer.local:8080/ --pin 12345678 --phones 100

The changes are the host opening and closing the table for joining, which does not affect the game.
Raises CannotMeasure.
"""

from __future__ import annotations

import argparse
import http.client
import json
import selectors
import socket
import statistics
import sys
import threading
import time
from collections.abc import Mapping
from typing import cast
from urllib.parse import urlsplit

import msgspec


class CannotMeasure(ValueError):
    """The server cannot be measured; the message says why."""


class LoadFigures(msgspec.Struct):
    """Milliseconds, except for the counts. `change`: from the host's tap to the last of all phones.
    `page`: an ordinary page while they follow. `refused`: what one phone too many gets, (status,
    Retry-After)."""

    phones: int
    followed: int
    changes: int
    change_median_ms: float
    change_worst_ms: float
    page_median_ms: float
    page_worst_ms: float
    refused: tuple[int, str | None]


class Crowd:
    """Phones that follow, all read by one thread."""

    def __init__(self, host: str, port: int, count: int) -> None:
        self.selector, self.unread, self.seen = selectors.DefaultSelector(), {}, {}
        for _ in range(count):
            s = socket.create_connection((host, port), timeout=5)
            s.sendall(f"GET /api/stream HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode())
            s.setblocking(False)
            self.selector.register(s, selectors.EVENT_READ)
            self.unread[s], self.seen[s] = b"", 0

    def until(self, serial: int, seconds: float = 10.0) -> int:
        """Reads until every phone has an event of at least `serial`, or the seconds are over;
        returns how many have it."""
        end = time.monotonic() + seconds
        while (
            missing := [s for s, seen in self.seen.items() if seen < serial]
        ) and time.monotonic() < end:
            for key, _ in self.selector.select(0.1):
                self._read(cast(socket.socket, key.fileobj))
        return len(self.seen) - len(missing)

    def _read(self, s: socket.socket) -> None:
        data = s.recv(1 << 16)
        if not data:
            self.selector.unregister(s)
            return
        *lines, self.unread[s] = (self.unread[s] + data).split(b"\n")
        for line in lines:
            if line.startswith(b"id: "):
                self.seen[s] = int(line[4:])

    def close(self) -> None:
        for s in self.seen:
            s.close()
        self.selector.close()


def measure_load(url: str, pin: str, phones: int = 100, changes: int = 20) -> LoadFigures:
    """Puts the load on the server at `url` and takes it off again."""
    where = urlsplit(url)
    host, port = where.hostname or "localhost", where.port or 80
    try:
        cookie = _log_in(host, port, pin)
        crowd = Crowd(host, port, phones)
        try:
            followed = crowd.until(1)
            refused = _get_page(host, port, "/api/stream", headers_only=True)
            took, pages = [], []
            for n in range(changes):
                watcher = threading.Thread(target=lambda: pages.append(_timed_page(host, port)))
                serial, began = _change_setting(host, port, cookie, {"joining": n % 2})
                watcher.start()
                if crowd.until(serial) < followed:
                    raise CannotMeasure(
                        f"{url}: a change did not reach all {followed} phones in 10 s"
                    )
                took.append(1000 * (time.monotonic() - began))
                watcher.join()
            _change_setting(host, port, cookie, {"joining": 1})
        finally:
            crowd.close()
    except (OSError, http.client.HTTPException) as e:
        raise CannotMeasure(f"{url}: {getattr(e, 'strerror', None) or type(e).__name__}") from None
    return LoadFigures(
        phones,
        followed,
        changes,
        round(statistics.median(took), 1),
        round(max(took), 1),
        round(statistics.median(pages), 1),
        round(max(pages), 1),
        refused,
    )


def _log_in(host: str, port: int, pin: str) -> str:
    status, headers, _ = _post_form(host, port, "/api/host", {"pin": pin}, "")
    if status != 200:
        raise CannotMeasure(f"http://{host}:{port}/: the PIN was not taken ({status})")
    return (headers["Set-Cookie"] or "").split(";")[0]


def _change_setting(
    host: str, port: int, cookie: str, wish: Mapping[str, object]
) -> tuple[int, float]:
    """Changes a setting; returns the serial of the change, and when it was requested (not counting
    refusals of hasty writes)."""
    for _ in range(50):
        began = time.monotonic()
        status, headers, body = _post_form(host, port, "/api/host/settings", wish, cookie)
        if status != 429:
            return json.loads(body)["serial"], began
        time.sleep(float(headers["Retry-After"] or 1))
    raise CannotMeasure(f"http://{host}:{port}/: too many requests")


def _post_form(
    host: str, port: int, path: str, data: Mapping[str, object], cookie: str
) -> tuple[int, http.client.HTTPMessage, bytes]:
    line = http.client.HTTPConnection(host, port, timeout=10)
    headers = {
        "Content-Type": "application/json",
        "Origin": f"http://{host}:{port}",
        "Cookie": cookie,
    }
    line.request("POST", path, json.dumps(data), headers)
    answer = line.getresponse()
    out = answer.status, answer.headers, answer.read()
    line.close()
    return out


def _get_page(
    host: str, port: int, path: str, headers_only: bool = False
) -> tuple[int, str | None]:
    line = http.client.HTTPConnection(host, port, timeout=10)
    line.request("GET", path)
    answer = line.getresponse()
    if not headers_only:
        answer.read()
    line.close()
    return answer.status, answer.headers["Retry-After"]


def _timed_page(host: str, port: int) -> float:
    began = time.monotonic()
    _get_page(host, port, "/")
    return 1000 * (time.monotonic() - began)


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m devtools.load", description="A hundred phones at a started table."
    )
    parser.add_argument("url")
    parser.add_argument("--pin", required=True, help="the host's PIN, shown when the table started")
    parser.add_argument("--phones", type=int, default=100)
    parser.add_argument("--changes", type=int, default=20)
    args = parser.parse_args(argv)
    try:
        figures = measure_load(args.url, args.pin, args.phones, args.changes)
    except CannotMeasure as e:
        print(e, file=sys.stderr)
        return 2
    print(json.dumps(msgspec.to_builtins(figures), indent=1))
    return 0 if figures.followed == figures.phones else 1


if __name__ == "__main__":
    sys.exit(main())
