"""nilometer run [--config FILE]: the real table."""

from __future__ import annotations

import contextlib
import logging
import os
import secrets
import signal
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
import cv2
import msgspec

import companion_web
from calibration.files import write_whole
from cli.first_start import serve_set_up
from cli.rescue import serve_rescue, web_part
from cli.serving import https_context, page_settings, print_address
from companion.fault import Fault
from companion.runtime import notify
from companion.runtime.beginning import beginning_state, scripted_state
from companion.runtime.club import Publisher
from companion.runtime.config import Config, is_begun, load_config, owners_part, written_path
from companion.runtime.copies import Specimen, open_copy
from companion.runtime.eye import Eye
from companion.runtime.half_learnt import NewModel, is_half_learnt, learn_rest
from companion.runtime.lessons import Lessons
from companion.runtime.loop import Loop, leave_process
from companion.runtime.machine import limit_heaps, reading_threads, watch_machine
from companion.setup.setup import LEARNS
from companion.table.journal import BadJournal, Journal
from companion.table.table import Gone, Table
from companion_web import catalogue
from companion_web.speaker import Speaker
from engine import BadText, State, Text, say
from hardware.camera import BadCamera
from hardware.panel import NoPins, Panel, PinFault
from hardware.supervisor import Supervisor
from hardware.voice import NoVoice, Voice

USUAL = "nilometer.toml"
log = logging.getLogger(__name__)


def first_state(config: Config, specimen: Specimen, name: str) -> State:
    """The state a new game begins with. Raises Fault, naming the script or the configuration."""
    if config.start:
        return scripted_state(config.path(config.start), specimen)
    try:
        return beginning_state(specimen, config.seats, config.options)
    except BadText as e:
        raise Fault(f"{name}: {e}") from None


@click.command()
@click.option("--config", type=click.Path(), help=f"see docs/manual/play.md  [default: {USUAL}]")
@click.option(
    "--stay",
    is_flag=True,
    help="a table that cannot start serves a page that says why (a service always does)",
)
def command(config: str | None, stay: bool) -> int:
    """The real table. Without a configuration, or with one that names no copy, a page to set the
    table up comes first."""
    as_service = bool(os.environ.get("NOTIFY_SOCKET"))
    try:
        with click.Context(command).scope():
            return play_evening(config)
    except Exception as e:
        if not (stay or as_service):
            raise
        log.debug("the table cannot start", exc_info=True)
        again = serve_rescue(
            config or USUAL, e, _rescuers_pin(config or USUAL, as_service), as_service
        )
    # in a new process, which closes whatever was opened before the fault (pins, a camera)
    if again:
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])
    return leave_process(0)


def _rescuers_pin(config: str, as_service: bool) -> str | None:
    """The host's PIN, as far as it can be known; None: not even one can be stored."""
    if pin := web_part(config).pin:
        return pin
    with contextlib.suppress(OSError):
        return kept_pin(written_path(config).resolve().parent / "pin") if as_service else new_pin()
    return None


def play_evening(config: str | None) -> int:
    """Runs the table for an evening and returns the exit code. Raises `input_faults` if the table
    cannot start."""
    as_service = bool(os.environ.get("NOTIFY_SOCKET"))
    # A file that was named but does not exist is a typing error, not a request for a new table.
    if config is not None and not Path(config).exists() and not as_service:
        raise Fault(f"{config}: No such file or directory")
    config = config or USUAL
    said = owners_part(config) if not is_begun(config) else None
    pin = (
        said.web.pin or (kept_pin(written_path(config).parent / "pin") if as_service else new_pin())
        if said is not None
        else ""
    )
    if said is not None and not _set_up(config, said, pin, as_service):
        return 0
    limit_heaps()
    stopped = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopped.set())
    settings = load_config(config)
    newer = NewModel(settings.path(settings.copy))  # newer than the one in use
    specimen = open_copy(settings.path(settings.copy))
    journal = Journal(settings.path(settings.journal), settings.picture_budget_mb * 2**20)
    click.get_current_context().call_on_close(journal.close)
    journal.keep_to_oneself()
    state = None if journal.events() else first_state(settings, specimen, config)
    table = Table(
        state,
        journal,
        specimen.rules_plan,
        {"hidden_scores": settings.hidden_scores},
        laid_out=False,
    )
    table.try_writing()
    try:
        camera = settings.open_camera()
        panel, lacking = open_panel(settings.pins)
    except (BadCamera, PinFault) as e:
        raise Fault(f"{config}: {e}") from None
    cv2.setNumThreads(reading_threads())
    loop = Loop(
        table,
        Eye(specimen.reader),
        Supervisor(camera, fps=settings.looks_per_second),
        panel,
        notify.tell_alive,
        lessons=Lessons(specimen.folder) if settings.learn else None,
        new_reader=newer.reader,
    )
    if is_half_learnt(specimen.folder) and LEARNS not in [t.name for t in threading.enumerate()]:
        learn_rest(specimen.folder)
    club = (
        settings.club
        if not settings.club.ca
        else msgspec.structs.replace(settings.club, ca=str(settings.path(settings.club.ca)))
    )
    publisher = Publisher(table, club, specimen.name) if club.broker else None
    voice, speaker = open_voice(settings, table)
    pin = settings.web.pin or pin or (kept_pin(settings.path("pin")) if as_service else new_pin())
    page = page_settings(specimen, specimen.name, pin, Path(settings.folder), settings.web)
    app = companion_web.create_app(table, page)
    server = companion_web.serve_app(
        app,
        settings.web.host,
        settings.web.port,
        https_context(settings.web, Path(settings.folder)),
    )
    # a service's output goes to a log, and a log is no place for the PIN and the joining link
    if as_service:
        click.echo(
            f"{specimen.name}: {server.address}; the host's PIN is in {settings.path('pin')}"
        )
    else:
        print_address(app, server, f"{specimen.name}: {table.game.title}")
    _connect_buttons(panel, table)
    watching = threading.Thread(target=loop.run, name="loop", daemon=True)
    threading.Thread(
        target=watch_machine,
        args=(lacking, table.tell_machine, stopped),
        name="machine",
        daemon=True,
    ).start()
    try:
        watching.start()
        if publisher is not None:
            publisher.start()
        if speaker is not None:
            speaker.start()
        notify.tell_ready()
        while watching.is_alive() and not stopped.wait(0.2):
            pass
    finally:
        notify.tell_stopping()
        ended = not watching.is_alive()
        loop.stop()
        server.stop()
        if publisher is not None:
            publisher.stop()
        if speaker is not None and voice is not None:
            speaker.stop()
            voice.stop()
        watching.join(0.5)
        panel.close()
        journal.close()
    # a loop that ends on its own is a fault: systemd restarts the table
    return leave_process(1 if ended else 0)


def open_panel(pins: Mapping[str, Any]) -> tuple[Panel, tuple[Text, ...]]:
    """Lamp, buzzer and buttons, and what to say if this machine's pins cannot be used. Raises
    PinFault."""
    try:
        return Panel.open(pins), ()
    except NoPins as e:
        click.echo(str(e), err=True)
        return Panel(), (say("Lamp, buzzer and buttons do not work: {why}", why=str(e)),)


def open_voice(settings: Config, table: Table) -> tuple[Voice | None, Speaker | None]:
    """What reads the verdicts aloud, if the configuration asks for it and this machine can."""
    said = settings.speech
    if not said.language:
        return None, None
    if said.language not in catalogue.language_names():
        there = ", ".join(catalogue.language_names())
        raise Fault(f"speech: there is no language {said.language!r} (there are {there})")
    try:
        voice = Voice.find(said.language, str(settings.path(said.piper)) if said.piper else "")
    except NoVoice as e:
        click.echo(f"The table stays silent: {e}", err=True)
        return None, None
    return voice, Speaker(table, voice.say, said.language)


def _set_up(config: str, said: Config, pin: str, as_service: bool) -> bool:
    """The first start, with what the owner has already configured about page and camera."""
    path = written_path(config)
    if as_service:
        click.echo(
            f"{config} names no copy yet: set the table up on the page; the host's PIN "
            f"is in {path.parent / 'pin'}"
        )
    return serve_set_up(
        path, msgspec.structs.replace(said.web, pin=pin), said.camera or None, secret=as_service
    )


def new_pin() -> str:
    return f"{secrets.randbelow(10**8):08d}"


def kept_pin(path: Path) -> str:
    """The host's PIN, kept across restarts in a file that only the table's own user and root can
    read. Raises OSError."""
    with contextlib.suppress(FileNotFoundError):
        if pin := path.read_text(encoding="ascii", errors="replace").strip():
            return pin
    made = new_pin()  # also if a power cut left the file empty
    write_whole(path, made.encode() + b"\n", 0o600)
    return made


def _connect_buttons(panel: Panel, table: Table) -> None:
    """Connects the buttons: done, by the seat whose turn it is; undo, of the last action. The panel
    handles mute itself."""

    def undo() -> None:
        lines = table.lines
        if len(lines) > 1:
            # A full disk, or a phone that was quicker: the page says so, and gpiozero's thread must
            # survive it.
            with contextlib.suppress(BadJournal, Gone):
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
