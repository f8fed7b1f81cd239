"""Many phones at one table: clients that follow the page's stream, and how long a change takes to reach them all."""

from __future__ import annotations

import http.client
import threading
import time
from urllib.parse import urlsplit

import companion_web
import engine
from companion.table import Table

Row = tuple[str, float, str, float | None, str]


class Phone(threading.Thread):
    """Follows the stream at `url`; got[version] is the time its snapshot came. refused: the status it was turned away with."""

    def __init__(self, url: str) -> None:
        super().__init__(daemon=True)
        self.url, self.got, self.refused = urlsplit(url), 0, 0
        self.times: list[float] = []
        self.open = threading.Event()
        self.gone = False

    def run(self) -> None:
        try:
            connection = http.client.HTTPConnection(self.url.hostname or "127.0.0.1", self.url.port, timeout=20)
            connection.request("GET", self.url.path, headers={"Accept": "text/event-stream"})
            answer = connection.getresponse()
            if answer.status != 200:
                self.refused = answer.status
                return
            for line in answer:
                if line.startswith(b"data:"):
                    self.times.append(time.monotonic())
                    self.open.set()
                if self.gone:
                    return
        except (OSError, http.client.HTTPException):
            return
        finally:
            self.open.set()


def measure(count: int, changes: int = 5) -> list[Row]:
    """Figures for `count` phones at a table served here on a free port."""
    game = next(iter(engine.games().values()))
    table = Table(game.setup([s.id for s in game.seats[: game.players[0]]]))
    settings = companion_web.Settings(name="bench", streams_per_address=count + 8, max_streams=max(count, 1))
    server = companion_web.serve(companion_web.create_app(table, settings), "127.0.0.1", 0)
    phones = [Phone(server.url + "api/stream") for _ in range(count)]
    try:
        for phone in phones:
            phone.start()
        for phone in phones:
            phone.open.wait(10)
        time.sleep(0.5)
        following = [p for p in phones if p.times and not p.refused]
        slowest, page = [], []
        for n in range(changes):
            had = [len(p.times) for p in following]
            start = time.monotonic()
            table.set(hidden_scores=bool(n % 2))
            asked = time.monotonic()
            connection = http.client.HTTPConnection("127.0.0.1", urlsplit(server.url).port, timeout=5)
            connection.request("GET", "/api/plan")
            connection.getresponse().read()
            page.append(1000 * (time.monotonic() - asked))
            end = start + 5
            while time.monotonic() < end and any(len(p.times) <= h for p, h in zip(following, had)):
                time.sleep(0.005)
            slowest.append(max((p.times[h] - start if len(p.times) > h else 5.0) for p, h in zip(following, had)) * 1000)
            time.sleep(0.3)
        return [(f"phones that follow, of {count}", float(len(following)), "phones", float(count), ""),
                ("a change on the last of them", sorted(slowest)[len(slowest) // 2], "ms", 300.0, f"worst {max(slowest):.0f} ms"),
                ("an ordinary page meanwhile", sorted(page)[len(page) // 2], "ms", None, "")]
    finally:
        for phone in phones:
            phone.gone = True
        server.stop()
