"""nilometer run [--config FILE]: the real table."""

from __future__ import annotations

import signal
import threading
from pathlib import Path

import click

import companion_web
from companion import notify
from companion.cli import Fault
from companion.commands.play_ import read_text
from companion.config import Config, load_config
from companion.copies import Specimen, game_of, open_copy
from companion.eye import Eye
from companion.journal import Journal
from companion.loop import Loop
from companion.show import page_of, print_address
from companion.table import Table
from engine import BadText, State, Statement, script
from hardware.camera import open_camera
from hardware.panel import Panel, PinFault
from hardware.supervisor import Supervisor


def first_state(config: Config, specimen: Specimen) -> State:
    """The state a new game begins with: a script's, or the game's own beginning. Raises Fault, BadScript."""
    game = game_of(specimen)
    if config.start:
        return script.run(read_text(config.path(config.start)), specimen.rules_plan).state
    seats = config.seats or [s.id for s in game.seats[: game.players[1]]]
    try:
        options = [Statement(0, ("option", k, v)) for k, v in config.options.items()]
        return game.setup(seats, options, specimen.rules_plan)
    except BadText as e:
        raise Fault(f"configuration: {str(e).removeprefix('line 0: ')}") from None


@click.command()
@click.option("--config", default="nilometer.toml", show_default=True, type=click.Path(), help="see docs/play.md")
def command(config: str) -> int:
    """The real table."""
    settings = load_config(config)
    specimen = open_copy(settings.path(settings.copy))
    journal = Journal(settings.path(settings.journal), settings.picture_budget_mb * 2**20)
    state = None if journal.events() else first_state(settings, specimen)
    table = Table(state, journal, specimen.rules_plan, {"hidden_scores": settings.hidden_scores})
    try:
        panel = Panel.open(settings.pins) if settings.pins else Panel()
    except PinFault as e:
        raise Fault(f"{config}: {e}") from None
    camera = open_camera(settings.camera, settings.folder)
    loop = Loop(table, Eye(specimen.reader), Supervisor(camera, fps=settings.looks_per_second), panel, notify.alive)
    page = page_of(specimen, specimen.name, settings.web.pin or None, Path(settings.folder), settings.web.address or None)
    app = companion_web.create_app(table, page)
    server = companion_web.serve(app, settings.web.host, settings.web.port)
    print_address(app, server, f"{specimen.name}: {table.game.title}")
    _buttons(panel, table)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: loop.stop())
    notify.ready()
    try:
        watching = threading.Thread(target=loop.run, name="loop", daemon=True)
        watching.start()
        while watching.is_alive():
            watching.join(0.2)
    finally:
        notify.stopping()
        server.stop()
        panel.close()
        journal.close()
    return 0


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
