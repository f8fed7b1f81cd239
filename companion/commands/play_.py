"""nilometer play FILE.play ...: run rule scripts; exit 1 when an expectation fails, naming file and line."""

from __future__ import annotations

import click

from companion.beginning import read_text
from companion.cli import Fault
from engine import script


@click.command()
@click.argument("files", nargs=-1, required=True)
@click.option("--show", is_flag=True, help="print each action done, with the scores after it")
def command(files: tuple[str, ...], show: bool) -> int:
    """Run rule scripts (.play)."""
    wrong = bad = expectations = 0
    for name in files:
        def done(action, state):
            if show:
                click.echo(f"{action}    {state.scores()}")
        try:
            result = script.run(read_text(name), on_action=done)
        except script.BadScript as e:
            at, _, why = str(e).partition(": ")
            click.echo(f"nilometer: {name}:{at.removeprefix('line ')}: {why}", err=True)
            bad += 1
            continue
        except Fault as e:
            click.echo(f"nilometer: {e}", err=True)
            bad += 1
            continue
        expectations += result.expectations
        for fault in result.faults:
            click.echo(f"{name}:{fault.line}: expected {fault.expected}; found {fault.found}")
        wrong += bool(result.faults)
    click.echo(f"{len(files) - wrong - bad} of {len(files)} scripts hold, {expectations} expectations")
    return 2 if bad else 1 if wrong else 0
