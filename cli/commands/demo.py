"""nilometer demo [GAME]: a simulated table plays, with camera, reading, page and all."""

from __future__ import annotations

import signal
import tempfile
import threading
import time
from pathlib import Path

import click
import cv2
from flask import Flask

import companion_web
import engine
from cli.serving import page_settings, print_address
from cli.show import Show
from companion.runtime.eye import Eye
from companion.runtime.loop import Loop, leave_process
from companion.runtime.machine import reading_threads
from companion.simulate import Conditions, Director, plan_of
from companion.simulate.demo_copy import default_game, demo_copy, state_dir
from companion.table.journal import Journal
from companion.table.table import Table
from hardware.panel import Panel
from hardware.simulated import FAULTS
from hardware.supervisor import Supervisor

PORT = 8000
PICTURES = 60 * 2**20  # bytes of pictures of the moves, deleted when the demo ends


@click.command()
@click.argument("name", metavar="[GAME]", required=False, default="")
@click.option(
    "--port",
    type=int,
    help=f"the page's port; 0: any free one  [default: {PORT}, or any where that is taken]",
)
@click.option(
    "--host", default="127.0.0.1", show_default=True, help="0.0.0.0 lets other machines look"
)
@click.option(
    "--moves", default=0, help="stop after this many actions (0: play to the end and wait)"
)
@click.option("--seed", default=1, show_default=True, help="another game")
@click.option("--pace", default=1.0, show_default=True, help="seconds between actions")
def command(name: str, port: int | None, host: str, moves: int, seed: int, pace: float) -> int:
    """A simulated table plays; opens a local page."""
    game = engine.game(name or default_game())
    specimen = demo_copy(game.name, state_dir() / "demo" / game.name)
    count = min(max(3, game.players[0]), game.players[1])
    state = game.setup([s.id for s in game.seats[:count]], (), specimen.rules_plan)
    folder = tempfile.TemporaryDirectory(prefix="nilometer-demo-")
    journal = Journal(Path(folder.name) / "demo.journal", PICTURES)
    table = Table(state, journal, specimen.rules_plan)
    plan, _ = plan_of(game.name, None)
    director = Director(plan, layout=state.layout(), seed=seed, view=Conditions().look(plan))
    cv2.setNumThreads(reading_threads())
    loop = Loop(table, Eye(specimen.reader), Supervisor(director.camera, fps=5.0), Panel())
    settings = page_settings(specimen, "Demo", state=Path(folder.name))
    app = companion_web.create_app(table, settings, faults_of(director))
    server = _serve_page(app, host, port)
    print_address(app, server, f"{game.title}: a simulated table plays. Ctrl-C ends it.")
    watching = threading.Thread(target=loop.run, name="loop", daemon=True)
    watching.start()
    faults = specimen.folder / "faults"
    for old in faults.glob("*.jpg"):
        old.unlink()
    show = Show(table, director, lambda: loop.pictures, seed, pace, keep=faults)
    stopped = threading.Event()

    def stop(*_: object) -> None:
        stopped.set()
        show.stop()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    try:
        summary = show.play(moves, click.echo)
        click.echo(summary.words())
        while not moves and not stopped.is_set():
            time.sleep(0.2)
    finally:
        loop.stop()
        server.stop()
        watching.join(3)
        journal.close()
        folder.cleanup()
    return leave_process(0 if summary.holds or stopped.is_set() else 1)


def _serve_page(app: Flask, host: str, port: int | None) -> companion_web.Server:
    """Serves the page: at the port asked for, or a fault; otherwise at the next free port."""
    try:
        return companion_web.serve_app(app, host, PORT if port is None else port)
    except companion_web.CannotServe:
        if port is not None:
            raise
        return companion_web.serve_app(app, host, 0)


def faults_of(director: Director) -> companion_web.Switches:
    """Faults that the demo's host may cause from the page: of the simulated camera, or rubbish on
    the board."""
    cup = "cup"

    def on() -> set[str]:
        return director.camera.faults | ({cup} if director.littered else set())

    def switch(name: str, wanted: bool) -> None:
        if name != cup:
            director.fault(name, wanted)
        elif wanted:
            width, height = director.top.plan.size
            director.put(cup, (width / 2, height / 2))
        else:
            director.clear()

    return companion_web.Switches({**FAULTS, cup: "a cup stands on the board"}, on, switch)
