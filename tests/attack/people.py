"""What seated phones, strangers and power cuts do to a game and its secrets."""

from __future__ import annotations

import contextlib
import http.client
import itertools
import json
import math
import os
import random
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from companion.table.journal import Event, Journal
from devtools.load import Crowd, measure_load
from tests.attack.crowds import KEPT_MB, warm_up
from tests.attack.table import PIN, RunningTable

CHANGE_MS = 300.0  # issue 26
Finding = tuple[str, bool]


def acts(table: RunningTable) -> list[tuple[str, str]]:
    """(who, what) of every action in the journal"""
    with contextlib.closing(Journal(table.folder / "game.journal", readonly=True)) as journal:
        return [(e.by, e.data["action"]) for e in journal.events() if e.kind == "action"]


def for_other_seats(table: RunningTable) -> Iterator[Finding]:
    """A seated phone writes another seat's name in every case there is."""
    host = table.host()
    bull = table.seat("bull", host)
    taken = table.seat("lion", host, "127.0.0.5")
    assert taken
    answers = []
    for n, letters in enumerate(itertools.product("lL", "iI", "oO", "nN")):
        for text in (f"{''.join(letters)}: pass", f" {''.join(letters)} : swap 1"):
            answers.append(table.ask("/api/declare", {"text": text}, bull, f"127.0.5.{n + 1}")[0])
    done = [a for a in acts(table) if a[1].startswith("lion")]
    yield (
        (
            f"{len(answers)} ways of acting for another seat: {len(done)} done, answers "
            f"{sorted(set(answers))}"
        ),
        not done and 200 not in answers,
    )


def act_at_once(table: RunningTable, rounds: int = 25) -> Iterator[Finding]:
    """A seated phone says the same eight times at one moment, and takes back what it has done at
    the moment another seat acts: one of them comes when things have changed."""
    host = table.host()
    cookies = {s: table.seat(s, host, f"127.0.0.{n}") for n, s in enumerate(("bull", "lion"), 4)}
    asked = itertools.count()

    def at_once(*requests: tuple[str, dict[str, object], str]) -> None:
        gate = threading.Barrier(len(requests))

        def ask(path: str, data: dict[str, object], seat: str, address: str) -> None:
            gate.wait()
            with contextlib.suppress(OSError, http.client.HTTPException):
                table.ask(path, data, cookies[seat], address)

        phones = [
            threading.Thread(target=ask, args=(*r, f"127.0.{10 + n // 200}.{n % 200 + 1}"))
            for r, n in zip(requests, asked)
        ]
        for phone in phones:
            phone.start()
        for phone in phones:
            phone.join()

    for _ in range(rounds):
        mine = json.loads(table.ask("/api/snapshot", address="127.0.0.3")[1])["turn"]
        other = {"bull": "lion", "lion": "bull"}[mine]
        at_once(*[("/api/declare", {"text": f"{mine}: swap 1"}, mine)] * 8)
        # the other one's first doing, and then the moment at which both do something
        at_once(("/api/declare", {"text": f"{other}: swap 1"}, other))
        moves = json.loads(table.ask("/api/snapshot", address="127.0.0.3")[1])["moves"]
        at_once(
            *[("/api/undo", {"event": moves[-2]["event"]}, other)] * 4,
            *[("/api/declare", {"text": f"{other}: swap 1"}, other)] * 2,
            *[("/api/declare", {"text": f"{mine}: swap 1"}, mine)] * 2,
        )
    with contextlib.closing(Journal(table.folder / "game.journal", readonly=True)) as journal:
        wrong = others_doings(journal.events())
    yield f"{rounds} x 8 requests at one moment: {len(wrong)} did another seat's thing", not wrong


def others_doings(events: list[Event]) -> list[Event]:
    """What was done in a journal by people of other seats than those it is of"""
    wrong, lines = [], list[Event]()
    for e in events:
        people = set(e.by.split()) | ({"bull", "lion"} if "host" in e.by else set())
        if e.kind == "action":
            lines.append(e)
            wrong += [e] * (e.data["action"].split(":")[0] not in people)
        elif e.kind == "undo":
            kept = [line for line in lines if line.id <= e.data["to"]]
            back = {line.data["action"].split(":")[0] for line in lines[len(kept) :]}
            wrong += [e] * (not back <= people)
            lines = kept
    return wrong


def wrong_pins(table: RunningTable) -> Iterator[Finding]:
    """Ten addresses try wrong PINs; the host logs in again from where they were."""
    table.host("127.0.0.3")
    answers = [
        table.ask("/api/host", {"pin": f"{n:08d}"}, address=f"127.0.6.{n % 10 + 1}")[0]
        for n in range(60)
    ]
    again = table.ask("/api/host", {"pin": PIN}, address="127.0.0.3")[0]
    yield (
        (
            f"60 wrong PINs from ten addresses: {answers.count(429)} held off; the host "
            f"meanwhile: {again}"
        ),
        again == 200 and 200 not in answers,
    )


def wrong_links(table: RunningTable) -> Iterator[Finding]:
    """Strangers open made-up joining links; who has the right one sits down."""
    host = table.host()
    answers = [
        table.ask("/api/join", {"code": f"{n:016d}", "seat": "lion"}, address=f"127.0.6.{n + 1}")[0]
        for n in range(120)
    ]
    link = json.loads(table.ask("/api/join", cookie=host, address="127.0.0.3")[1])["link"]
    right = {"code": link.split("#")[1], "seat": "bull"}
    sat = table.ask("/api/join", right, address="127.0.0.4")[0]
    yield (
        f"120 made-up joining links of as many addresses: {sorted(set(answers))}; the right one "
        f"meanwhile: {sat}",
        sat == 200 and 200 not in answers,
    )


def rubbish(table: RunningTable) -> Iterator[Finding]:
    """Six hundred requests of nonsense; the log has no traceback of them."""
    rng, served = random.Random(5), 0
    for n in range(600):
        with contextlib.suppress(OSError), table.connect(f"127.0.7.{n % 200 + 1}", 2.0) as s:
            s.settimeout(0.2)
            s.sendall(
                rng.choice(
                    (
                        b"\x16\x03\x01\x02\x00\x01",
                        b"GET / HTTP/9.9\r\n\r\n",
                        b"GET /%00/../.. HTTP/1.1\r\nHost: localhost\r\n\r\n",
                        (
                            b"POST /api/declare HTTP/1.1\r\nHost: "
                            b"localhost\r\nContent-Length: 9\r\nTransfer-Encoding: "
                            b"chunked\r\n\r\n5\r\nxx"
                        ),
                        (
                            b"POST /api/declare HTTP/1.1\r\nHost: "
                            b"localhost\r\nContent-Length: 99999999999\r\n\r\n"
                        ),
                        rng.randbytes(200) + b"\r\n\r\n",
                        b"GET /api/plan HTTP/1.1\r\nHost: evil.example\r\n\r\n",
                        b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 9000,
                    )
                )
            )
            if n % 3:
                s.recv(100)
    for n in range(20):
        with contextlib.suppress(OSError, AssertionError):
            served += table.page(f"127.0.8.{n + 1}") < 5
    yield f"600 requests of nonsense: {served} of 20 pages served afterwards", served == 20
    log = table.log()
    yield (
        f"the log has {log.count('Traceback')} tracebacks, {len(log.splitlines())} lines",
        "Traceback" not in log,
    )


def made_up_names(table: RunningTable, count: int = 300) -> Iterator[Finding]:
    """Files, languages and rules that there are none of: nothing of them is remembered."""
    warm_up(table)
    before, answers = table.megabytes(), set()
    for n in range(count):
        for path in (
            f"/static/js/{n}{'x' * 8000}.js",
            f"/locale/{'y' * 300}{n}.json",
            f"/api/rules/tigris?language=z{n}",
        ):
            gzip: dict[str, str | None] = {"Accept-Encoding": "gzip"}
            answers.add(table.ask(path, address=f"127.0.5.{n % 40 + 1}", headers=gzip)[0])
    after = table.megabytes()
    yield (
        f"{3 * count} made-up names: {before:.0f} MB before, {after:.0f} after; answers "
        f"{sorted(answers)}",
        after <= before + KEPT_MB and answers <= {200, 404, 429},
    )
    log = table.log()
    yield f"the log has {log.count('Traceback')} tracebacks", "Traceback" not in log


def crowd(table: RunningTable) -> Iterator[Finding]:
    """A hundred phones follow; twenty changes are timed till the last one has them."""
    figures = measure_load(f"http://127.0.0.1:{table.port}/", PIN, 100, 20)
    yield (
        (
            f"{figures.followed} of 100 phones follow; a change is on all in "
            f"{figures.change_median_ms:.0f} ms (median), "
            f"{figures.change_worst_ms:.0f} (worst of 20)"
        ),
        figures.followed == 100 and figures.change_worst_ms <= CHANGE_MS,
    )


def busy_crowd(table: RunningTable, phones: int = 100, changes: int = 100) -> Iterator[Finding]:
    """A hundred phones follow a game while other programs keep both cores busy; every act is timed
    till the last phone has it, the journal's write with it."""
    host = table.host()
    crowd = Crowd("127.0.0.1", table.port, phones)
    try:
        followed = crowd.until(1)
        with busy_cores():
            took = sorted(_timed_act(table, host, crowd, n) for n in range(changes))
    finally:
        crowd.close()
    p99 = took[max(0, math.ceil(0.99 * changes) - 1)]
    yield (
        f"{followed} of {phones} phones follow, all cores busy: an act is on all in "
        f"{took[changes // 2]:.0f} ms (median of {changes}), {p99:.0f} (99 of 100), "
        f"{took[-1]:.0f} (worst)",
        followed == phones and p99 <= CHANGE_MS,
    )


def _timed_act(table: RunningTable, host: str, crowd: Crowd, n: int) -> float:
    """Milliseconds from one act's request until all have it"""
    before = json.loads(table.ask("/api/snapshot", cookie=host, address="127.0.0.3")[1])
    began = time.monotonic()
    status, body, _ = table.ask(
        "/api/declare", {"text": f"{before['turn']}: swap 1"}, host, f"127.0.9.{n % 200 + 1}"
    )
    assert status == 200, body
    missed = len(crowd.seen) - crowd.until(before["serial"] + 1)
    return 10_000.0 if missed else 1000 * (time.monotonic() - began)


@contextlib.contextmanager
def busy_cores() -> Iterator[None]:
    """A loop for each core that does nothing but use it, with the priority of everything else"""
    loops = [
        subprocess.Popen([sys.executable, "-c", "while True: pass"])
        for _ in range(os.cpu_count() or 1)
    ]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def kills(table: RunningTable, times: int) -> Iterator[Finding]:
    """kill -9 at a random moment while seats act; what was acknowledged is there afterwards, and
    who had a seat has it."""
    rng, said, lost, held = random.Random(3), 0, 0, 0
    host = table.host()
    cookies = {s: table.seat(s, host, f"127.0.0.{n}") for n, s in enumerate(("bull", "lion"), 4)}
    for _ in range(times):
        stop, acknowledged = threading.Event(), []
        poster = threading.Thread(target=_act, args=(table, cookies, stop, acknowledged))
        before = len(acts(table))
        poster.start()
        time.sleep(rng.uniform(0.1, 1.2))  # an act or two, and another half done
        table.kill()
        stop.set()
        poster.join()
        said += len(acknowledged)
        lost += max(0, len(acknowledged) - (len(acts(table)) - before))
        table.start()
        held += json.loads(table.ask("/api/snapshot", cookie=cookies["bull"])[1])["you"][
            "seats"
        ] == ["bull"]
    yield (
        f"{times} kills: {lost} of {said} acknowledged acts lost, the seat held {held} times",
        not lost and held == times,
    )


def _act(
    table: RunningTable, cookies: dict[str, str], stop: threading.Event, acknowledged: list[str]
) -> None:
    while not stop.is_set():
        for n, (seat, cookie) in enumerate(cookies.items(), 4):
            with contextlib.suppress(OSError, http.client.HTTPException):
                status, body, _ = table.ask(
                    "/api/declare", {"text": f"{seat}: swap 1"}, cookie, f"127.0.0.{n}", 3.0
                )
                # an offer is but a word across the table
                if status == 200 and not json.loads(body).get("offered"):
                    acknowledged.append(seat)
            if stop.wait(0.25):
                return


def _alter(path: Path) -> None:
    with sqlite3.connect(path) as db:
        db.execute("UPDATE event SET data=? WHERE id=5", (json.dumps({"action": "lion: swap 6"}),))


def _newer(path: Path) -> None:
    with sqlite3.connect(path) as db:
        db.execute("UPDATE meta SET value='99' WHERE key='version'")


DAMAGE: dict[str, tuple[Callable[[Path], object], str]] = {
    "a row altered": (_alter, "go-on"),
    "emptied": (lambda p: p.write_bytes(b""), "anew"),
    "newer": (_newer, "anew"),
    "its head zeroed": (lambda p: p.write_bytes(bytes(512) + p.read_bytes()[512:]), "anew"),
    "gone": (lambda p: p.unlink(), "anew"),
}


def damage(table: RunningTable) -> Iterator[Finding]:
    """The game's file damaged between two starts: a page comes up, the host goes on."""
    for name, (spoil, wish) in DAMAGE.items():
        play(table, 6)
        table.kill(15)
        for ending in ("-wal", "-shm"):
            Path(f"{table.folder / 'game.journal'}{ending}").unlink(missing_ok=True)
        spoil(table.folder / "game.journal")
        table.start(wait=False)
        status = until(table, lambda code: code == 503)
        _, body, headers = table.ask("/api/host", {"pin": PIN}, address="127.0.0.3")
        cookie = (headers["Set-Cookie"] or "").split(";")[0]
        said = json.loads(table.ask("/api/rescue", cookie=cookie, address="127.0.0.3")[1])
        done = table.ask("/api/rescue", {"do": wish}, cookie, "127.0.0.3")[0]
        back = until(table, lambda code: code == 200)
        yield (
            (
                f"the game's file {name}: page {status}, {said['words']!r} -> {wish} {done}, "
                f"then {back}"
            ),
            (status, done, back) == (503, 200, 200)
            and bool(list(table.folder.glob("game.journal.damaged-*"))),
        )


def play(table: RunningTable, count: int) -> None:
    """So many swaps of whoever's turn it is."""
    host = table.host()
    for n in range(count):
        seat = json.loads(table.ask("/api/snapshot", cookie=host, address="127.0.0.3")[1])["turn"]
        table.ask("/api/declare", {"text": f"{seat}: swap 1"}, host, f"127.0.9.{n + 1}")


def until(table: RunningTable, holds: Callable[[int], bool], seconds: float = 90.0) -> int:
    """The status the table answers with, once it holds or the time is over"""
    end, code = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        with contextlib.suppress(OSError, http.client.HTTPException):
            code = table.ask("/api/snapshot")[0]
            if holds(code):
                break
        time.sleep(0.2)
    return code
