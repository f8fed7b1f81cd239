"""What comes through a proxy, or says that it does: made-up addresses, names and ways, and requests
that a proxy hands on half sent."""

from __future__ import annotations

import time
from collections.abc import Iterator

from tests.attack.crowds import BODY, Finding, keep_sending, while_attacked
from tests.attack.pages import answered
from tests.attack.table import PIN, RunningTable

PROXY, NAME = "127.0.7.7", "table.club.example"
TRUSTED = f'proxies = ["{PROXY}"]\nnames = ["{NAME}"]\n'
PHONE = "203.0.113.9"
# What a phone says of itself, so as to seem another one each time.
CLAIMS = (
    "X-Forwarded-For",
    "X-Real-IP",
    "Forwarded",
    "X_Forwarded_For",
    "X-Forwarded-By",
    "CF-Connecting-IP",
    "True-Client-IP",
)
ODD = (
    "",
    ",",
    "unknown",
    "[::1]:80",
    "203.0.113.9:4711",
    "x" * 9000,
    "1.2.3.4\t, \t",
    "%00",
    "::1%lo",
)
EVIL = (
    "evil.example",
    "table.local.evil.example",
    "127.0.0.1.evil.example",
    "evil.example#.local",
    "evil.example/.local",
    "evil.example?.local",
    "localhost@evil.example",
    "localhost:80@evil.example",
    f"{NAME}.evil.example",
)


def through(*phone: str, **more: str) -> dict[str, str | None]:
    """The headers of a proxy that appends the address it was asked from (nginx, Caddy, HAProxy):
    what the phone claimed comes first. more: other headers, "_" for "-"."""
    return {
        "X-Forwarded-For": ", ".join(phone),
        "X-Forwarded-Host": NAME,
        "X-Forwarded-Proto": "https",
        "Origin": f"https://{NAME}",
        **{name.replace("_", "-"): value for name, value in more.items()},
    }


def spoofed(table: RunningTable) -> Iterator[Finding]:
    """Limits are an address's: who claims to be somebody else stays one address."""
    for way, address, phone in (
        ("itself", "127.0.8.1", ()),
        ("a proxy", PROXY, ("198.51.100.1",)),
    ):
        answers = []
        for n in range(8):
            told = f"10.9.0.{n + 1}"
            headers = {claim: told for claim in CLAIMS}
            if phone:
                headers |= through(told, *phone)
            answers.append(
                table.ask("/api/host", {"pin": f"{n:08d}"}, "", address, headers=headers)[0]
            )
        yield (
            f"8 wrong PINs under made-up addresses, by {way}: {answers}",
            429 in answers[:6] and 200 not in answers,
        )
    status, _, headers = table.ask(
        "/api/host", {"pin": PIN}, address=PROXY, headers=through("198.51.100.99")
    )
    cookie = headers["Set-Cookie"] or ""
    yield f"another phone behind it, with the right one: {status}", status == 200
    yield "its cookie stays with https", "Secure" in cookie
    told = {"X-Forwarded-Proto": "https", "X-Forwarded-Host": "evil.example"}
    status, _, headers = table.ask("/api/host", {"pin": PIN}, address="127.0.0.3", headers=told)
    mine = (headers["Set-Cookie"] or "").split(";")[0]
    yield (
        f"a phone that claims https over http: {status}",
        status == 200 and "Secure" not in (headers["Set-Cookie"] or ""),
    )
    link = table.ask("/api/join", cookie=mine, address="127.0.0.3", headers=told)[1]
    yield "and another name: not in the joining link", b"evil" not in link
    for address, claimed in (
        ("127.0.8.99", {"X-Forwarded-For": "127.0.0.1"}),
        (PROXY, through("127.0.0.1", "198.51.100.77")),
    ):
        count = _followers(table, address, claimed)
        yield f"40 streams as if of the table itself, from {address}: {count}", 0 < count <= 24
    answers = [table.ask("/", address=PROXY, headers=through(odd))[0] for odd in ODD]
    yield f"odd addresses, told by the proxy: {answers}", all(s < 500 for s in answers)
    yield f"the log has {table.log().count('Traceback')} tracebacks", "Traceback" not in table.log()


def _followers(table: RunningTable, address: str, headers: dict[str, str | None]) -> int:
    """How many of 40 streams at once are given"""
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    lines, count = [], 0
    for _ in range(40):
        try:
            lines.append(s := table.connect(address))
            s.sendall(f"GET /api/stream HTTP/1.1\r\nHost: localhost\r\n{head}\r\n".encode())
            count += b" 200 " in s.recv(64)
        except OSError:
            continue
    for s in lines:
        s.close()
    return count


def half_sent(table: RunningTable) -> Iterator[Finding]:
    """One phone's bodies that never end, all handed on by a proxy that waits for nothing; others
    ask through the same proxy."""
    head = "".join(f"{name}: {value}\r\n" for name, value in through(PHONE).items())
    body = BODY.replace(b"Origin: http://localhost\r\n", head.encode())

    def page(address: str) -> float:
        began = time.monotonic()
        status = table.ask("/", address=PROXY, headers=through(address))[0]
        assert status == 200, status
        return time.monotonic() - began

    yield from while_attacked(
        table,
        "420 half-sent bodies through a proxy",
        lambda stop: keep_sending(table, stop, [PROXY] * 420, body, b"x"),
        page,
    )


def host_names(table: RunningTable) -> Iterator[Finding]:
    """Names that only look like the table's, said to it directly and through the proxy."""
    for n, name in enumerate(EVIL):
        own = {"Host": name, "Origin": f"http://{name}"}
        asked = table.ask("/api/snapshot", address=f"127.0.9.{n + 1}", headers=own)
        wrote = table.ask("/api/host", {"pin": PIN}, "", f"127.0.9.{n + 1}", headers=own)[0]
        told = through(f"198.51.100.{n + 1}", X_Forwarded_Host=name, Origin=f"https://{name}")
        by_proxy = table.ask("/api/snapshot", address=PROXY, headers=told)[0]
        yield (
            f"as {name}: {asked[0]}, a login {wrote}, through the proxy {by_proxy}",
            all(400 <= status < 500 for status in (asked[0], wrote, by_proxy)),
        )
    said = {"X-Forwarded-Host": NAME, "Host": "evil.example"}
    status = table.ask("/api/snapshot", address="127.0.9.50", headers=said)[0]
    yield f"a stranger's word for the name: {status}", status == 421
    requests = {
        "two names": b"GET /api/snapshot HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n",
        "a whole address": b"GET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\n\r\n",
        "a port that is none": b"GET /api/snapshot HTTP/1.1\r\nHost: evil.example:x\r\n\r\n",
        "no name": b"GET /api/snapshot HTTP/1.1\r\nHost:\r\n\r\n",
    }
    for n, (name, data) in enumerate(requests.items()):
        status = answered(table, data, f"127.0.9.{n + 60}")
        yield f"{name}: {status or 'hung up'}", 400 <= status < 500 or name == "no name"
    status, body, _ = table.ask(
        "/api/join", cookie=table.host(), address="127.0.0.3", headers={"Host": "a.local:1"}
    )
    yield f"the joining link is under the name asked for: {status}", status == 200
    yield f"the log has {table.log().count('Traceback')} tracebacks", "Traceback" not in table.log()
