"""What foreign pages, odd requests and overheard secrets get: refusals, and nothing is done."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import struct
import time
from collections.abc import Iterator

from tests.attack.people import acts
from tests.attack.table import PIN, RunningTable

Finding = tuple[str, bool]
QUICK_S = 5.0  # a refusal, on a machine that does other things as well
BURST, A_SECOND = 400, 60  # requests of one address that are answered
STREAM = b"GET /api/stream HTTP/1.1\r\nHost: localhost\r\n\r\n"

# What a page of another origin makes a seated phone's browser send.
CROSS_SITE: dict[str, dict[str, str | None]] = {
    "without an origin": {"Origin": None},
    "of origin null": {"Origin": "null"},
    "of a foreign origin": {"Origin": "http://evil.example"},
    "of another port": {"Origin": "http://127.0.0.1:9"},
    "said to be cross-site": {"Sec-Fetch-Site": "cross-site"},
    "as a form": {"Content-Type": "application/x-www-form-urlencoded"},
    "as plain text": {"Content-Type": "text/plain"},
    "under a rebound name": {"Host": "evil.example", "Origin": "http://evil.example"},
    "of an origin that is no address": {"Origin": "http://["},
}
PATHS = (
    "/../../etc/passwd",
    "/static/../app.py",
    "/static/%2e%2e/%2e%2e/etc/passwd",
    "/static/..%5capp.py",
    "//etc/passwd",
    "/locale/../settings.json",
    "/api/moves/1/../../seats.json",
)
WRITES: dict[str, object] = {
    "/api/host/free": {"seat": "lion"},
    "/api/host/seat": {"seat": "lion"},
    "/api/host/link": {},
    "/api/host/end": {"id": "others"},
    "/api/host/settings": {"hidden_scores": 1},
    "/api/host/switch": {"name": "dark", "on": 1},
    "/api/host/edit": {"site": "C4", "contents": ["temple"]},
    "/api/host/go-on": {},
    "/api/host/unlearn": {},
    "/api/name": {"seat": "lion", "name": "Mine"},
}
READS = (
    "/api/join",
    "/join.svg",
    "/api/host/sessions",
    "/api/host/copy",
    "/api/host/live.jpg",
    "/report",
    "/trace",
    "/api/record.play",
    "/api/record.json",
    "/api/record.journal",
    "/api/chronicle",
    "/api/actions?seat=lion",
)


def cross_site(table: RunningTable) -> Iterator[Finding]:
    """Each way once; then the same words without a trick, which have to be taken."""
    bull = table.seat("bull", table.host())
    for n, (way, headers) in enumerate(CROSS_SITE.items()):
        status = table.ask(
            "/api/declare", {"text": "bull: pass"}, bull, f"127.0.5.{n + 1}", headers=headers
        )[0]
        yield f"a write {way}: {status}", 400 <= status < 500 and not acts(table)
    status = table.ask("/api/declare", {"text": "bull: pass"}, bull)[0]
    yield f"the same without a trick: {status}", status == 200 and len(acts(table)) == 1


def odd_requests(table: RunningTable) -> Iterator[Finding]:
    """Paths that climb, bodies and heads without end, lengths that contradict each other."""
    bull = table.seat("bull", table.host())
    for n, path in enumerate(PATHS):
        status, body, _ = table.ask(path, address=f"127.0.6.{n + 1}")
        yield f"{path}: {status}", 400 <= status < 500 and b"root:" not in body
    post = (
        f"POST /api/declare HTTP/1.1\r\nHost: localhost\r\nOrigin: "
        f"http://localhost\r\nContent-Type: application/json\r\nCookie: {bull}\r\n"
    ).encode()
    deep, text = b"[" * 9000, b'{"text": "bull: pass"}'
    requests = {
        "JSON 9,000 levels deep": post + b"Content-Length: %d\r\n\r\n" % len(deep) + deep,
        "a megabyte": post + b"Content-Length: 1048576\r\n\r\n" + b" " * 2**20,
        "a number of 60,000 digits": post
        + b"Content-Length: 60012\r\n\r\n"
        + b'{"event": 1%s}' % (b"0" * 60000),
        "9,000 header lines": b"GET / HTTP/1.1\r\nHost: localhost\r\n"
        + b"X: y\r\n" * 9000
        + b"\r\n",
        "two lengths": post + b"Content-Length: 0\r\nContent-Length: %d\r\n\r\n" % len(text) + text,
        "a length and chunks": post
        + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n"
        % (len(text), text),
        "an unknown encoding": post + b"Transfer-Encoding: xchunked\r\n\r\n" + text,
        "no host": b"GET /api/snapshot HTTP/1.0\r\n\r\n",
    }
    for n, (name, data) in enumerate(requests.items()):
        began, before = time.monotonic(), len(acts(table))
        status = answered(table, data, f"127.0.7.{n + 1}")
        took = time.monotonic() - began
        done = len(acts(table)) - before
        good = 400 <= status < 600 or not status
        yield (
            f"{name}: {status or 'hung up'} in {1000 * took:.0f} ms, {done} done",
            good and took < QUICK_S and not done,
        )
    log = table.log()
    yield f"the log has {log.count('Traceback')} tracebacks", "Traceback" not in log


def answered(table: RunningTable, data: bytes, address: str) -> int:
    """The status, 0 where the table hung up without one"""
    with table.connect(address) as s:
        with contextlib.suppress(OSError):
            s.sendall(data)
        with contextlib.suppress(OSError):
            head = s.recv(64).split()
            return int(head[1]) if len(head) > 1 else 0
    return 0


def hosts_things(table: RunningTable) -> Iterator[Finding]:
    """Everything that is the host's or another seat's, asked for by a seat and by a looker."""
    host = table.host()
    bull = table.seat("bull", host)
    before = table.ask("/api/snapshot", cookie=host, address="127.0.0.3")[1]
    asked: list[tuple[str, object]] = [*WRITES.items(), *((path, None) for path in READS)]
    for n, (path, data) in enumerate(asked):
        got = [
            table.ask(path, data, cookie, f"127.0.{8 + k}.{n + 1}")[0]
            for k, cookie in enumerate((bull, ""))
        ]
        yield f"{path} to a seat and a looker: {got}", all(s in (403, 404) for s in got)
    after = table.ask("/api/snapshot", cookie=host, address="127.0.0.3")[1]
    same = all(
        json.loads(before)[k] == json.loads(after)[k] for k in ("settings", "layout", "moves")
    )
    opened = sum(table.ask(path, cookie=host, address="127.0.0.3")[0] == 200 for path in READS[:10])
    yield f"and nothing has changed; the host is given {opened} of ten", same and opened >= 8


def secrets(table: RunningTable) -> Iterator[Finding]:
    """Cookies, links and PINs that were overheard, made up, changed or given back."""
    made_up = f"nilometer_seat={'x' * 43}"
    status, _, headers = table.ask("/api/host", {"pin": PIN}, made_up, "127.0.0.3")
    said = headers["Set-Cookie"] or ""
    host = said.split(";")[0]
    yield f"a made-up cookie is replaced at the login ({status})", host not in ("", made_up)
    flags = all(flag in said for flag in ("HttpOnly", "SameSite=Strict", "Max-Age=604800"))
    yield f"the host's cookie: {said.split(';', 1)[1].strip()}", flags
    bull = table.seat("bull", host)
    name = "<img src=x onerror=alert(1)>"
    status = table.ask("/api/name", {"seat": "bull", "name": name[:24]}, bull)[0]
    _, page, headers = table.ask("/")
    policy = headers["Content-Security-Policy"] or ""
    yield f"markup as a name ({status}) is in no page", name[:10].encode() not in page
    yield (
        f"the page's policy: {policy[:60]} ...",
        "unsafe" not in policy and "script-src 'self'" in policy,
    )
    for dotted in ("localhost.", "nilometer.local."):
        status = table.ask("/api/snapshot", headers={"Host": f"{dotted}:{table.port}"})[0]
        yield f"asked as {dotted}: {status}", status == 200
    link = json.loads(table.ask("/api/join", cookie=host, address="127.0.0.3")[1])["link"]
    table.ask("/api/host/link", {}, host, "127.0.0.3")
    status = table.ask("/api/join", {"code": link.split("#")[1], "seat": "lion"})[0]
    yield f"a joining link from before the new one: {status}", status == 403
    lion = table.seat("lion", host, "127.0.0.5")
    table.ask("/api/leave", {}, lion, "127.0.0.5")
    other = table.host("127.0.0.6")
    ended = table.ask("/api/host/end", {"id": "others"}, host, "127.0.0.3")[0]
    yield f"another host's session, ended by the host ({ended})", not is_host(table, other)
    fresh = table.seat("bull", host, "127.0.0.7")
    table.kill(15)
    table.configure(pin="19283746")
    table.start()
    yield "a seat that was left, after a restart", not seats_of(table, lion)
    yield "a seat that was kept, after a restart", seats_of(table, fresh) == ["bull"]
    yield "the host's cookie after the PIN was changed", not is_host(table, host)
    status = table.ask("/api/host", {"pin": PIN}, address="127.0.0.3")[0]
    yield f"the old PIN: {status}", status == 403


def is_host(table: RunningTable, cookie: str) -> bool:
    return json.loads(table.ask("/api/snapshot", cookie=cookie)[1])["you"]["host"]


def seats_of(table: RunningTable, cookie: str) -> list[str]:
    return json.loads(table.ask("/api/snapshot", cookie=cookie)[1])["you"]["seats"]


def too_many(table: RunningTable) -> Iterator[Finding]:
    """Of one address: requests, streams, connections reset, and phones that never read."""
    answers, began = [], time.monotonic()
    for _ in range(600):
        answers.append(table.ask("/api/snapshot", address="127.0.8.1")[0])
        if answers[-1] == 429:
            break
    took = time.monotonic() - began
    yield (
        f"{len(answers)} requests of one address in {took:.1f} s: then {answers[-1]}",
        answers[-1] == 429 or len(answers) <= BURST + A_SECOND * took,
    )
    held = table.held()
    lines = [table.connect("127.0.8.2") for _ in range(40)]
    followed = 0
    for s in lines:
        with contextlib.suppress(OSError):
            s.sendall(STREAM)
            followed += b" 200 " in s.recv(64)
    for s in lines:
        s.close()
    yield f"of 40 streams of one address {followed} follow", 0 < followed <= 24
    for n in range(500):
        with contextlib.suppress(OSError):
            s = table.connect(f"127.0.8.{n % 100 + 3}", 2.0)
            s.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
            s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            s.close()
    mute = [table.connect(f"127.0.9.{n + 1}") for n in range(60)]
    for s in mute:
        s.sendall(STREAM)
    for s in mute:
        s.close()
    end = time.monotonic() + 30
    while time.monotonic() < end and table.held() > held:
        time.sleep(0.5)
    after = table.held()
    yield (
        f"500 resets and 60 phones that went: files and threads {held} before, {after} after",
        after[0] <= held[0] and after[1] <= held[1],
    )


def stopped_in_a_crowd(table: RunningTable) -> Iterator[Finding]:
    """A hundred phones follow when the table is stopped."""
    phones = [table.connect(f"127.0.8.{n + 1}") for n in range(100)]
    for s in phones:
        s.sendall(STREAM)
    followed = sum(b" 200 " in s.recv(64) for s in phones)
    began = time.monotonic()
    process = table.process
    table.kill(15)
    took = time.monotonic() - began
    for s in phones:
        s.close()
    code = process.returncode if process is not None else None
    yield (
        f"stopped with {followed} phones in {took:.2f} s, exit code {code}",
        took < 3.0 and code == 0 and followed == 100,
    )


def taken_back(table: RunningTable) -> Iterator[Finding]:
    """A seated phone takes back what others did, and answers for them."""
    host = table.host()
    bull, lion = table.seat("bull", host), table.seat("lion", host, "127.0.0.5")
    for seat, cookie in (("bull", bull), ("bull", bull), ("lion", lion)):
        table.ask("/api/declare", {"text": f"{seat}: swap 1"}, cookie)
    before = acts(table)
    first = json.loads(table.ask("/api/snapshot")[1])["moves"]
    start = min(m["event"] for m in first) - 1
    status, body, _ = table.ask("/api/undo", {"event": start}, bull)
    asked = status == 200 and json.loads(body).get("offered")
    yield (
        f"bull takes all of it back: {status}, {'asked of lion' if asked else body[:60]}",
        (acts(table) == before and len(_standing(table)) == len(first)),
    )
    offers = json.loads(table.ask("/api/snapshot", cookie=bull)[1])["offers"]
    answers = [table.ask("/api/offer", {"id": o["id"], "yes": 1}, bull)[0] for o in offers]
    yield f"and agrees in lion's stead: {answers}", 200 not in answers
    status = table.ask("/api/undo", {"event": start}, address="127.0.9.1")[0]
    yield f"a looker takes it back: {status}", status == 403
    table.ask("/api/undo", {"event": first[-2]["event"]}, lion)
    status = table.ask("/api/redo", {}, lion)[0]
    yield (
        f"lion takes back its own and takes that back: {status}",
        (status == 200 and len(_standing(table)) == len(first)),
    )


def _standing(table: RunningTable) -> list[dict[str, object]]:
    return json.loads(table.ask("/api/snapshot")[1])["moves"]


def over_tls(table: RunningTable) -> Iterator[Finding]:
    """Both at one port, and the cookie that came over TLS stays there. The table has
    `tls = "auto"` and `redirect = true`."""
    import ssl

    loose = ssl.create_default_context()
    loose.check_hostname, loose.verify_mode = False, ssl.CERT_NONE
    line = http.client.HTTPSConnection("127.0.0.1", table.port, timeout=10, context=loose)
    line.request(
        "POST",
        "/api/host",
        json.dumps({"pin": PIN}),
        {"Origin": f"https://127.0.0.1:{table.port}", "Content-Type": "application/json"},
    )
    answer = line.getresponse()
    said = answer.headers["Set-Cookie"] or ""
    line.close()
    yield (
        f"the login over TLS: {answer.status}; {said.split(';', 1)[-1].strip()}",
        (answer.status == 200 and "Secure" in said),
    )
    status, _, headers = table.ask("/")
    yield f"plain HTTP is sent on: {status} {headers['Location']}", status == 308
    key = table.folder / "tls.pem"
    mode = oct(key.stat().st_mode & 0o777) if key.exists() else "not there"
    yield f"the key's file: {mode}", mode == "0o600"
