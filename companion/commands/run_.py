"""nilometer run [--config FILE]: the real table."""

from __future__ import annotations

import os
import secrets
import signal
import threading
from pathlib import Path

import click
import msgspec

import companion_web
from companion import notify
from companion.beginning import beginning, scripted
from companion.cli import Fault
from companion.club import Publisher
from companion.config import Config, is_begun, load_config, owners_part, written
from companion.copies import Specimen, open_copy
from companion.eye import Eye
from companion.first_start import set_up
from companion.journal import Journal
from companion.lessons import Lessons
from companion.loop import Loop
from companion.show import page_of, print_address
from companion.table import Table
from engine import BadText, State
from hardware.camera import BadCamera, open_camera
from hardware.panel import Panel, PinFault
from hardware.supervisor import Supervisor

USUAL = "nilometer.toml"


def first_state(config: Config, specimen: Specimen, name: str) -> State:
    """The state a new game begins with. Raises Fault, naming the script or the configuration."""
    if config.start:
        return scripted(config.path(config.start), specimen)
    try:
        return beginning(specimen, config.seats, config.options)
    except BadText as e:
        raise Fault(f"{name}: {e}") from None


@click.command()
@click.option("--config", type=click.Path(), help=f"see docs/play.md  [default: {USUAL}]")
def command(config: str | None) -> int:
    """The real table. Without --config and without a nilometer.toml here, a page to set the table up comes first."""
    # A file that somebody named and that is not there is a typing error, no wish for a new table.
    if config is None and not Path(USUAL).exists() and not set_up(Path(USUAL)):
        return 0
    config = config or USUAL
    stopped = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopped.set())
    as_service = bool(os.environ.get("NOTIFY_SOCKET"))
    if as_service and not is_begun(config) and not _set_up_service(config):
        return 0
    settings = load_config(config)
    specimen = open_copy(settings.path(settings.copy))
    journal = Journal(settings.path(settings.journal), settings.picture_budget_mb * 2**20)
    click.get_current_context().call_on_close(journal.close)
    journal.keep_to_oneself()
    state = None if journal.events() else first_state(settings, specimen, config)
    table = Table(state, journal, specimen.rules_plan, {"hidden_scores": settings.hidden_scores})
    try:
        camera = open_camera(settings.camera, settings.folder)
        panel = Panel.open(settings.pins) if settings.pins else Panel()
    except (BadCamera, PinFault) as e:
        raise Fault(f"{config}: {e}") from None
    loop = Loop(table, Eye(specimen.reader), Supervisor(camera, fps=settings.looks_per_second), panel, notify.alive,
                lessons=Lessons(specimen.folder) if settings.learn else None)
    publisher = Publisher(table, settings.club, specimen.name) if settings.club.broker else None
    pin = settings.web.pin or (kept_pin(settings.path("pin")) if as_service else None)
    page = page_of(specimen, specimen.name, pin, Path(settings.folder), settings.web.address or None)
    app = companion_web.create_app(table, page)
    server = companion_web.serve(app, settings.web.host, settings.web.port)
    if as_service:      # a service's words go into a log, and a log is no place for the PIN and the joining link
        click.echo(f"{specimen.name}: {server.address}; the host's PIN is in {settings.path('pin')}")
    else:
        print_address(app, server, f"{specimen.name}: {table.game.title}")
    _buttons(panel, table)
    watching = threading.Thread(target=loop.run, name="loop", daemon=True)
    try:
        watching.start()
        if publisher is not None:
            publisher.start()
        notify.ready()
        while watching.is_alive() and not stopped.wait(0.2):
            pass
    finally:
        notify.stopping()
        ended = not watching.is_alive()
        loop.stop()
        server.stop()
        if publisher is not None:
            publisher.stop()
        watching.join(0.5)
        panel.close()
    return 1 if ended else 0      # a loop that ended by itself is a fault: systemd starts the table again


def _set_up_service(config: str) -> bool:
    """A service's first start: the set-up page, with what its owner has said already about page and camera."""
    path, said = written(config), owners_part(config)
    pin = said.web.pin or kept_pin(path.parent / "pin")
    click.echo(f"{config} names no copy yet: set the table up on the page; the host's PIN is in {path.parent / 'pin'}")
    return set_up(path, msgspec.structs.replace(said.web, pin=pin), said.camera, secret=True)


def kept_pin(path: Path) -> str:
    """The host's PIN over restarts, in a file that only the table's own user and root can read. Raises OSError."""
    try:
        return path.read_text(encoding="ascii").strip()
    except FileNotFoundError:
        made = f"{secrets.randbelow(10**8):08d}"
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as f:
            f.write(made + "\n")
        return made


def _buttons(panel: Panel, table: Table) -> None:
    """done: the seat whose turn it is says so; undo: the last act; mute is the panel's own."""
    def undo() -> None:
        lines = table.lines
        if len(lines) > 1:
            table.undo(lines[-2].event, "button")

    def done() -> None:
        for words in ("done", "pass"):
            try:
                table.declare(f"{table.state.turn}: {words}", "button")
                return
            except ValueError:
                continue

    panel.on("undo", undo)
    panel.on("done", done)
