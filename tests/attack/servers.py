"""The same page behind other servers, attacked in the same way: why docs/decisions/0006 says
waitress.

    python -m tests.attack.servers waitress cheroot gunicorn uvicorn

What is not installed is left out (pip install cheroot gunicorn uvicorn a2wsgi, in an environment of
its own). "ours" is waitress as the table serves with it, "waitress" the same without its guards.
"""

from __future__ import annotations

import importlib.util
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import companion_web
import engine
from companion.table.table import Table
from tests.attack import crowds
from tests.attack.table import ROOT, RunningTable, free_port

THREADS = 128
FILES = 1024  # that may be open: as many as systemd lets a service have


def page() -> Any:
    game = engine.game("tigris")
    table = Table(game.setup(["bull", "lion"]))
    return companion_web.create_app(table, companion_web.Settings(pin="24681357"))


def ours(port: int) -> None:
    companion_web.serve_app(page(), "127.0.0.1", port).wait()


def waitress(port: int) -> None:
    from waitress import serve

    serve(page(), host="127.0.0.1", port=port, threads=THREADS, connection_limit=400)


def cheroot(port: int) -> None:
    from cheroot.wsgi import Server

    Server(("127.0.0.1", port), page(), numthreads=THREADS, max=THREADS, timeout=30).start()


def gunicorn(port: int) -> None:
    from gunicorn.app.base import BaseApplication

    class Application(BaseApplication):
        def load_config(self) -> None:
            for key, value in (
                ("bind", f"127.0.0.1:{port}"),
                ("worker_class", "gthread"),
                ("threads", THREADS),
                ("worker_connections", 400),
            ):
                self.cfg.set(key, value)

        def load(self) -> Any:
            return page()

    Application().run()


def uvicorn(port: int) -> None:
    import uvicorn as server
    from a2wsgi import WSGIMiddleware

    server.run(
        WSGIMiddleware(page(), workers=THREADS), host="127.0.0.1", port=port, log_level="error"
    )


SERVERS: dict[str, Callable[[int], None]] = {
    "ours": ours,
    "waitress": waitress,
    "cheroot": cheroot,
    "gunicorn": gunicorn,
    "uvicorn": uvicorn,
}


class Other(RunningTable):
    """The page behind one of SERVERS, in a process of its own (or two)."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder, self.name, self.port = folder, name, free_port()

    def start(self, wait: bool = True) -> None:
        command = [sys.executable, "-m", "tests.attack.servers", "--serve", self.name]
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen(
                [*command, str(self.port)],
                stdout=log,
                stderr=log,
                cwd=ROOT,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (FILES, FILES)),
            )
        self.until_served()

    def megabytes(self) -> float:
        return sum(
            int(Path(f"/proc/{pid}/status").read_text().split("VmRSS:")[1].split()[0]) / 1024
            for pid in self._pids()
        )

    def held(self) -> tuple[int, int]:
        return (
            sum(len(os.listdir(f"/proc/{pid}/fd")) for pid in self._pids()),
            sum(len(os.listdir(f"/proc/{pid}/task")) for pid in self._pids()),
        )

    def _pids(self) -> list[int]:
        children = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()
        return [self.pid, *map(int, children)]


def followed(table: Other) -> Iterator[crowds.Finding]:
    """A hundred phones follow, and one more asks for a page."""
    before, lines, count = table.megabytes(), [], 0
    for n in range(100):
        lines.append(table.connect(f"127.0.5.{n + 1}"))
        lines[-1].sendall(b"GET /api/stream HTTP/1.1\r\nHost: localhost\r\n\r\n")
    for s in lines:
        s.settimeout(5)
        try:
            count += b" 200 " in s.recv(64)
        except OSError:
            pass
    try:
        took = f"{1000 * table.page('127.0.6.1'):.0f} ms"
    except (OSError, AssertionError) as e:
        took = type(e).__name__
    yield (
        f"{count} of 100 follow: {before:.0f} MB -> {table.megabytes():.0f} MB, a page: {took}",
        count == 100,
    )
    for s in lines:
        s.close()
    time.sleep(8)


def main(names: list[str]) -> int:
    if names[:1] == ["--serve"]:
        SERVERS[names[1]](int(names[2]))
        return 0
    for name in names or SERVERS:
        if name != "ours" and importlib.util.find_spec(name) is None:
            print(f"{name}: not installed")
            continue
        for attack in (
            followed,
            lambda t: crowds.half_sent(t, "heads", 1),
            lambda t: crowds.half_sent(t, "heads", 40, 1200),
            lambda t: crowds.half_sent(t, "bodies", 40),
            lambda t: crowds.unread(t, 40),
        ):
            with tempfile.TemporaryDirectory() as folder:
                table = Other(Path(folder), name)
                try:
                    table.start()
                    for words, held in attack(table):
                        print(f"{name:9} {'held' if held else 'WEAK'}  {words}", flush=True)
                except (OSError, AssertionError) as e:
                    print(f"{name:9} WEAK  {type(e).__name__}: {e}", flush=True)
                finally:
                    for pid in table._pids()[1:] if table.process else ():
                        os.kill(pid, 9)
                    table.kill()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
