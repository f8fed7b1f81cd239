"""A table of its own to attack: `nilometer run` in a process, on a folder of pictures as camera."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PHOTOS = ROOT / "tests" / "photos" / "tigris"
PIN = "73910462"
BEGIN_S = 90.0  # a slow machine's start


def calibrated_copy() -> Path:
    """The photographed copy of the tests with its model"""
    folder = ROOT / "var" / "attack" / "tigris"
    folder.parent.mkdir(parents=True, exist_ok=True)
    leave = shutil.ignore_patterns("test", "game")
    shutil.copytree(PHOTOS, folder, ignore=leave, dirs_exist_ok=True)
    shutil.copyfile(ROOT / "tests" / "models" / "tigris.npz", folder / "model.npz")
    return folder


class RunningTable:
    """`nilometer run` in `folder`. Can be killed and started again: the journal stays."""

    def __init__(self, folder: Path, more: str = "") -> None:
        self.folder, self.port, self.pictures = folder, free_port(), PHOTOS / "game"
        self.environ: dict[str, str] = {}
        self.within: list[str] = []  # a command that the table is started by
        self.logged = folder / "log"
        self.configure(more)
        self.process: subprocess.Popen[bytes] | None = None

    def configure(self, more: str = "", pin: str = PIN, copy: str = "") -> None:
        """more: what else stands under [web]"""
        (self.folder / "nilometer.toml").write_text(
            f'copy = "{copy or calibrated_copy()}"\nseats = ["bull", "lion"]\nlearn = false\n'
            f'[camera]\nkind = "folder"\nloop = true\npath = "{self.pictures}"\n'
            f'[web]\nhost = "127.0.0.1"\nport = {self.port}\npin = "{pin}"\n{more}'
        )

    def start(self, wait: bool = True) -> None:
        environ = {
            **{
                k: v for k, v in os.environ.items() if k not in ("NILOMETER_STATE", "NOTIFY_SOCKET")
            },
            **self.environ,
        }
        with open(self.logged, "ab") as log:
            command = [
                *self.within,
                sys.executable,
                "-m",
                "cli",
                "run",
                "--stay",
                "--config",
                str(self.folder / "nilometer.toml"),
            ]
            self.process = subprocess.Popen(command, stdout=log, stderr=log, env=environ, cwd=ROOT)
        if wait:
            self.until_served()

    def until_served(self) -> float:
        """Seconds until a page is answered. Raises TimeoutError."""
        began = time.monotonic()
        while time.monotonic() - began < BEGIN_S:
            with contextlib.suppress(OSError, http.client.HTTPException):
                if self.ask("/api/snapshot")[0] < 500:
                    return time.monotonic() - began
            if self.process is not None and self.process.poll() is not None:
                raise TimeoutError(f"the table ended by itself: {self.log()[-300:]}")
            time.sleep(0.1)
        raise TimeoutError(f"no page in {BEGIN_S:.0f} s: {self.log()[-300:]}")

    def kill(self, number: int = signal.SIGKILL) -> None:
        if self.process is not None:
            self.process.send_signal(number)
            self.process.wait(20)
            self.process = None

    def log(self) -> str:
        return self.logged.read_text(errors="replace")

    # What it uses

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    def megabytes(self) -> float:
        status = Path(f"/proc/{self.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0]) / 1024

    def held(self) -> tuple[int, int]:
        """(open files, threads)"""
        return len(os.listdir(f"/proc/{self.pid}/fd")), len(os.listdir(f"/proc/{self.pid}/task"))

    # What phones say

    def connect(self, address: str, timeout: float = 10.0) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout, (address, 0))

    def ask(
        self,
        path: str,
        data: object = None,
        cookie: str = "",
        address: str = "127.0.0.2",
        timeout: float = 10.0,
        headers: dict[str, str | None] | None = None,
    ) -> tuple[int, bytes, http.client.HTTPMessage]:
        """headers: other ones than usual; None leaves one out"""
        line = http.client.HTTPConnection("127.0.0.1", self.port, timeout, (address, 0))
        try:
            said = {
                "Origin": f"http://127.0.0.1:{self.port}",
                "Content-Type": "application/json",
                "Cookie": cookie,
                **(headers or {}),
            }
            line.request(
                "GET" if data is None else "POST",
                path,
                None if data is None else data if isinstance(data, bytes) else json.dumps(data),
                {name: value for name, value in said.items() if value is not None},
            )
            answer = line.getresponse()
            return answer.status, answer.read(), answer.headers
        finally:
            line.close()

    def page(self, address: str) -> float:
        """Seconds an ordinary page takes a phone"""
        began = time.monotonic()
        status, _, _ = self.ask("/", address=address)
        assert status == 200, status
        return time.monotonic() - began

    def host(self, address: str = "127.0.0.3") -> str:
        """The host's cookie"""
        status, body, headers = self.ask("/api/host", {"pin": PIN}, address=address)
        assert status == 200, body
        return headers["Set-Cookie"].split(";")[0]

    def seat(self, seat: str, host: str, address: str = "127.0.0.4") -> str:
        """The cookie of a phone that sits there"""
        link = json.loads(self.ask("/api/join", cookie=host, address="127.0.0.3")[1])["link"]
        status, body, headers = self.ask(
            "/api/join", {"code": link.split("#")[1], "seat": seat}, address=address
        )
        assert status == 200, body
        return headers["Set-Cookie"].split(";")[0]


@contextlib.contextmanager
def running(folder: Path, more: str = "") -> Iterator[RunningTable]:
    folder.mkdir(parents=True, exist_ok=True)
    table = RunningTable(folder, more)
    try:
        table.start()
        yield table
    finally:
        table.kill()


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]
