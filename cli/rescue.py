"""When the table cannot start, a page says why and offers the host ways out. Nothing damaged is
deleted."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import click
import msgspec
from flask import Flask

import companion_web
from calibration.files import sync_folder
from cli.faults import input_faults
from cli.serving import https_context
from companion.fault import Fault
from companion.runtime import notify
from companion.runtime.config import Config, Web, load_config, written_path
from companion.runtime.copies import open_copy
from companion.table.journal import BadJournal, Event, begin_again, salvage_events, set_aside
from companion_web.rescue import create_rescue_app
from companion_web.server import CannotServe, Server
from engine.plan import Plan
from hardware.camera import BadCamera
from vision.storage.text_file import parse_toml

PORTS = 20  # tried one after the other if the table's own port is in use
TOLD = "NILOMETER_TOLD"  # environment variable: what the previous attempt has already printed
AGAIN_S = 60.0  # faults that may resolve themselves (a port, a camera) are retried automatically


class Rescue:
    """What is wrong, and what can be done. words: the fault in one line. offers: "go-on" (from the
    last good event; `events` are good, of `said` that there once were), "anew", "set-up",
    "again"."""

    def __init__(self, config: str, fault: Exception) -> None:

        known = isinstance(fault, (*input_faults(), OSError))
        self.words = (
            str(fault)
            if known
            else f"this should not have happened ({type(fault).__name__}: {fault})"
        )
        self.config, self.said = config, 0
        self.events: list[Event] = []
        self.journal: Path | None = None
        self.done = threading.Event()
        offers = ["again"]
        settings = self._settings()
        if (
            isinstance(fault, BadJournal)
            and settings is not None
            and "another table" not in self.words
        ):
            self.journal = settings.path(settings.journal)
            offers = ["anew", "again"]
            with contextlib.suppress(BadJournal):
                self.events, self.said = salvage_events(self.journal, _rules_plan(settings))
                offers = ["go-on", *offers] if self.events else offers
        elif not isinstance(fault, (BadJournal, BadCamera, CannotServe)) and _set_up_here(config):
            offers = ["set-up", "again"]
        self.offers = tuple(offers)

    def do(self, what: str) -> None:
        """Does one of the offers. Raises KeyError for anything else, OSError, BadJournal."""
        if what not in self.offers:
            raise KeyError(what)
        if what in ("go-on", "anew") and self.journal is not None:
            set_aside(self.journal)
            if what == "go-on":
                begin_again(self.journal, self.events)
        elif what == "set-up":
            path = written_path(self.config)
            os.replace(path, path.with_name(f"{path.name}.{time.strftime('%Y%m%d-%H%M%S')}"))
            sync_folder(path.parent)
        self.done.set()

    @property
    def lines(self) -> str:
        """The readable part of the game, as JSON Lines."""
        return "".join(
            json.dumps(msgspec.to_builtins(e), ensure_ascii=False) + "\n" for e in self.events
        )

    @property
    def damaged(self) -> bytes:
        """The damaged journal file, unchanged. Raises OSError."""
        return self.journal.read_bytes() if self.journal is not None else b""

    def _settings(self) -> Config | None:
        try:
            return load_config(self.config)
        except Fault:
            return None


def serve_rescue(config: str, fault: Exception, pin: str | None, secret: bool) -> bool:
    """Serves the page until the host has done something or it is time to try again (True), or
    somebody ends the program (False).

    pin: None if the host's PIN is unknown. secret: do not print PINs.
    """
    rescue = Rescue(config, fault)
    web, folder = web_part(config), written_path(config).resolve().parent
    server = _serve_rescue(
        create_rescue_app(
            rescue,
            companion_web.Settings(
                name="Nilometer", pin=pin, state=folder, hosts=web.hosts, proxies=web.proxies
            ),
        ),
        web,
        folder,
    )
    pin_text = "" if secret or pin is None else f"; the host's PIN: {pin}"
    if os.environ.get(TOLD) != rescue.words + pin_text:  # automatic retries must not fill the log
        os.environ[TOLD] = rescue.words + pin_text
        click.echo(f"nilometer: {rescue.words}", err=True)
        click.echo(f"The page at {server.address} says so too{pin_text}", err=True)
    ended = threading.Event()
    before = {n: signal.signal(n, lambda *_: ended.set()) for n in (signal.SIGINT, signal.SIGTERM)}
    notify.tell_ready("cannot start: see the page")
    until = None if rescue.journal is not None else time.monotonic() + AGAIN_S
    try:
        while not (
            ended.is_set()
            or rescue.done.wait(0.2)
            or until is not None
            and time.monotonic() > until
        ):
            notify.tell_alive()
        # the person who tapped still gets an answer
        time.sleep(0.3 if rescue.done.is_set() else 0.0)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        server.stop()
    return not ended.is_set()


def _serve_rescue(app: Flask, web: Web, folder: Path) -> Server:
    """Serves on the table's own port or one of the next; with TLS if possible. Raises
    CannotServe."""
    tls = None
    with contextlib.suppress(Fault):
        tls = https_context(web, folder)
    for port in [*range(web.port, min(web.port + PORTS, 65536)), 0]:
        with contextlib.suppress(CannotServe):
            return companion_web.serve_app(app, web.host, port, tls)
    return companion_web.serve_app(app, "0.0.0.0", 0, tls)


def _set_up_here(config: str) -> bool:
    """Whether the settings were written by the page; hand-written ones are left for the owner to
    fix."""
    return written_path(config) != Path(config) and written_path(config).is_file()


def web_part(config: str) -> Web:
    """The page's configuration, whatever else is wrong; the owner's settings override those that
    set-up wrote."""
    said: dict[str, Any] = {}
    for path in dict.fromkeys((written_path(config), Path(config))):
        with contextlib.suppress(OSError, ValueError, TypeError):
            said |= parse_toml(path.read_text(encoding="utf-8")).get("web", {})
    with contextlib.suppress(msgspec.ValidationError):
        return msgspec.convert(said, Web)
    return Web()


def _rules_plan(settings: Config) -> Plan | None:
    try:
        return open_copy(settings.path(settings.copy)).rules_plan
    except Exception:  # faults of the copy do not matter here
        return None
