"""Connections: half-sent, unread, many. Everybody else's page, and the table's memory, meanwhile
and afterwards."""

from __future__ import annotations

import contextlib
import socket
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterator

from tests.attack.flood import KINDS
from tests.attack.table import ROOT, RunningTable

HALF = b"GET /api/snapshot HTTP/1.1\r\nHost: localhost\r\nX-"
BODY = (
    b"POST /api/host HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\n"
    b"Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"
)
PLAN = b"GET /api/plan HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\n\r\n"
SECONDS = 10.0
FLOOD_S = 4.0
PAGE_S, MEGABYTES, KEPT_MB = 1.0, 250.0, 10.0  # issue 26

Finding = tuple[str, bool]


# what is sent of a request at once, and then every other second, so that it never ends
UNENDING = {
    "heads": (HALF, b"x"),
    "bodies": (BODY, b"x"),
    "handshakes": (b"\x16\x03\x01\x02\x00\x01\x00", b"\x01"),
}


def half_sent(
    table: RunningTable, what: str, addresses: int, count: int = 420
) -> Iterator[Finding]:
    """Requests that never end; who is thrown out comes again. what: of UNENDING."""
    said = f"{count} half-sent {what}"
    yield from _crowd(table, said, addresses, count, *UNENDING[what])


def unread(table: RunningTable, addresses: int, count: int = 40) -> Iterator[Finding]:
    """Piped requests whose answers nobody reads."""
    said = f"{count} x 200 piped requests, unread,"
    yield from _crowd(table, said, addresses, count, PLAN * 200, b"")


def _crowd(
    table: RunningTable, said: str, addresses: int, count: int, first: bytes, more: bytes
) -> Iterator[Finding]:
    """So many connections from so many addresses, kept while pages are asked for."""
    hosts = [f"127.0.1.{n % addresses + 1}" for n in range(count)]
    yield from while_attacked(
        table,
        f"{said} from {addresses} address(es)",
        lambda stop: keep_sending(table, stop, hosts, first, more),
    )


def streams(table: RunningTable, addresses: int = 5) -> Iterator[Finding]:
    """Streams that nobody reads take all places for lookers; a phone that has none gets one."""
    stop, found = threading.Event(), []
    thread = threading.Thread(
        target=keep_sending,
        args=(
            table,
            stop,
            [f"127.0.1.{n % addresses + 1}" for n in range(24 * addresses)],
            b"GET /api/stream HTTP/1.1\r\nHost: localhost\r\n\r\n",
            b"",
        ),
    )
    thread.start()
    try:
        time.sleep(3)
        for n in range(10):
            with contextlib.suppress(OSError), table.connect(f"127.0.2.{n + 1}") as s:
                s.sendall(b"GET /api/stream HTTP/1.1\r\nHost: localhost\r\n\r\n")
                found.append(b" 200 " in s.recv(64))
    finally:
        stop.set()
        thread.join()
    yield (
        f"streams of {addresses} addresses: {sum(found)} of 10 other phones followed",
        sum(found) == 10,
    )


def flood_requests(table: RunningTable, kinds: Collection[str] = tuple(KINDS)) -> Iterator[Finding]:
    """Ordinary requests as fast as they are answered, from forty addresses; another address's
    pages meanwhile, and how soon a seat acts."""
    host = table.host()
    warm_up(table)
    held, before = table.held(), table.megabytes()
    for kind in kinds:
        command = [sys.executable, "-m", "tests.attack.flood", str(table.port), kind, "40", "8"]
        attack = subprocess.Popen(command, cwd=ROOT)
        pages, acts, failed, most = [], [], 0, before
        try:
            time.sleep(1.0)
            end = time.monotonic() + FLOOD_S
            while time.monotonic() < end:
                try:
                    pages.append(table.page(f"127.0.3.{len(pages) % 200 + 1}"))
                    began = time.monotonic()
                    wish = {"joining": len(acts) % 2}
                    status, _, _ = table.ask("/api/host/settings", wish, host, "127.0.0.3")
                    acts.append(time.monotonic() - began)
                    failed += status not in (200, 429)
                except (OSError, AssertionError):
                    failed += 1
                most = max(most, table.megabytes())
                time.sleep(0.2)
        finally:
            attack.kill()
            attack.wait()
        worst = [1000 * max(times, default=99.0) for times in (pages, acts)]
        yield (
            f"a flood of {kind} from 40 addresses: {len(pages)} pages, worst {worst[0]:.0f} ms, "
            f"the host's wishes {worst[1]:.0f} ms; {failed} failed; {most:.0f} MB at most",
            not failed and max(worst) <= 1000 * PAGE_S and most <= MEGABYTES,
        )
    yield held_again(table, held, "floods: ")


def while_attacked(
    table: RunningTable,
    name: str,
    attack: Callable[[threading.Event], None],
    page: Callable[[str], float] | None = None,
) -> Iterator[Finding]:
    """Pages are asked for from other addresses while it goes on (page: how, seconds); memory is
    looked at all the time."""
    page = page or table.page
    warm_up(table)
    before, held = table.megabytes(), table.held()
    stop, pages, failed, most = threading.Event(), [], 0, before
    usual = max(page(f"127.0.3.{n + 1}") for n in range(10))
    thread = threading.Thread(target=attack, args=(stop,))
    thread.start()
    try:
        end, n = time.monotonic() + SECONDS, 0
        while time.monotonic() < end:
            n += 1
            try:
                pages.append(page(f"127.0.3.{n % 200 + 1}"))
            except (OSError, AssertionError):
                failed += 1
            most = max(most, table.megabytes())
            time.sleep(0.2)
    finally:
        stop.set()
        thread.join()
    after = table.megabytes()
    end = time.monotonic() + 20
    while time.monotonic() < end and (table.held() > held or after > before + KEPT_MB):
        time.sleep(0.5)
        after = table.megabytes()
    worst, middle = max(pages, default=99.0), statistics.median(pages) if pages else 99.0
    yield (
        (
            f"{name}: {len(pages)} of {len(pages) + failed} pages, median {1000 * middle:.0f} ms, "
            f"worst {1000 * worst:.0f} ms (of ten before: {1000 * usual:.0f})"
        ),
        not failed and worst <= PAGE_S,
    )
    yield (
        f"{name}: {before:.0f} MB before, {most:.0f} at most, {after:.0f} after",
        most <= MEGABYTES and after <= before + KEPT_MB,
    )
    yield held_again(table, held, f"{name}: ", patience_s=0)


def held_at_rest(table: RunningTable) -> tuple[int, int]:
    """Files and threads that it holds once all of its threads have started"""
    before, now = (0, 0), table.held()
    while now != before:
        time.sleep(0.5)
        before, now = now, table.held()
    return now


def held_again(
    table: RunningTable, before: tuple[int, int], name: str = "", patience_s: float = 20.0
) -> Finding:
    """Files and threads that the table holds, when all have gone"""
    end = time.monotonic() + patience_s
    after = table.held()
    while (after[0] > before[0] or after[1] > before[1]) and time.monotonic() < end:
        time.sleep(0.5)
        after = table.held()
    return (
        f"{name}files and threads {before} before, {after} after",
        after[0] <= before[0] and after[1] <= before[1],
    )


def warm_up(table: RunningTable) -> None:
    """An ordinary evening's crowd first: every thread has worked once, and its stack stays in
    memory from then on."""
    for _ in range(2):
        phones = [
            threading.Thread(target=_ask, args=(table, path, f"127.0.4.{n + 1}"))
            for n in range(150)
            for path in ("/", "/api/plan")
        ]
        for phone in phones:
            phone.start()
        for phone in phones:
            phone.join()
        time.sleep(3)


def _ask(table: RunningTable, path: str, address: str) -> None:
    # three hundred at once take a slow machine longer than anybody waits
    with contextlib.suppress(OSError):
        table.ask(path, address=address)


def keep_sending(
    table: RunningTable, stop: threading.Event, addresses: list[str], first: bytes, then: bytes
) -> None:
    """A connection for each entry, opened again when the table ends it, until told to stop."""
    lines: list[socket.socket | None] = [None] * len(addresses)
    while not stop.wait(0.05):
        for n, address in enumerate(addresses):
            if stop.is_set():
                break
            s = lines[n]
            try:
                if s is None:
                    lines[n] = s = table.connect(address, 2.0)
                    s.setblocking(False)
                    s.send(first)
                elif then and int(time.monotonic() * 10 + n) % 20 == 0:
                    s.send(then)
                elif not then:
                    s.send(b"")
                    if s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
                        raise OSError
            except BlockingIOError:
                continue
            except OSError:
                if s is not None:
                    s.close()
                lines[n] = None
    for s in lines:
        if s is not None:
            s.close()
