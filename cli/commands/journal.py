"""nilometer journal FILE: list, export (JSON Lines), replay a game."""

from __future__ import annotations

import datetime

import click

from calibration.files import write_whole
from companion.table.journal import Journal, export_lines, fold_events


@click.command()
@click.argument("file", type=click.Path())
@click.option("--export", "as_lines", is_flag=True, help="every event as a JSON line")
@click.option(
    "--replay", is_flag=True, help="play it again from the start and compare every state's hash"
)
@click.option(
    "--backup",
    type=click.Path(),
    metavar="TO",
    help="a copy in one whole file, also while the game is played",
)
def command(file: str, as_lines: bool, replay: bool, backup: str | None) -> int:
    """List, export, replay or copy a game."""
    journal = Journal(file, readonly=True)
    if backup is not None:
        write_whole(backup, journal.whole())
        click.echo(f"{backup}: {len(journal.events())} events")
        return 0
    events = journal.events()
    if as_lines:
        for row in export_lines(events):
            click.echo(row)
        return 0
    if replay:
        lines = fold_events(events, name=file)
        for line in lines:
            click.echo(f"{line.event:5d}  {line.action or 'start'}")
        if lines:
            state = lines[-1].state
            outcome = state.outcome()
            click.echo(
                f"{len(events)} events, every state as written; scores {state.scores()}"
                + (f"; winner {' '.join(outcome.winners)}" if outcome else f"; turn {state.turn}")
            )
        return 0
    for e in events:
        when = datetime.datetime.fromtimestamp(e.at).isoformat(" ", "seconds")
        what = {"action": "action", "undo": "to"}.get(e.kind)
        click.echo(
            f"{e.id:5d}  {when}  {e.kind:7s} {e.data.get(what, '') if what else ''}  ({e.by})"
        )
    return 0
