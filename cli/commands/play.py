"""nilometer play FILE.play ...: runs rule scripts; exit code 1 if an expectation fails, naming file
and line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from companion.fault import Fault
from companion.runtime.beginning import read_text
from engine import Action, State, script


@click.command()
@click.argument("files", nargs=-1, required=True)
@click.option("--show", is_flag=True, help="print each action done, with the scores after it")
def command(files: tuple[str, ...], show: bool) -> int:
    """Run rule scripts (.play)."""
    wrong = bad = expectations = 0
    for name in files:

        def done(action: Action, state: State) -> None:
            if show:
                click.echo(f"{action}    {scores_line(state.scores())}")

        try:
            result = script.run_script(read_text(name), on_action=done)
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
    if len(files) > bad:
        click.echo(
            f"{len(files) - wrong - bad} of {len(files)} scripts hold, {expectations} expectations"
        )
    return 2 if bad else 1 if wrong else 0


def scores_line(scores: Mapping[str, Any]) -> str:
    """ "bull red 1 black 0, lion red 0 black 0", or "blue 4, red 2" """
    return ", ".join(
        " ".join([seat, *(f"{k} {n}" for k, n in score.items())])
        if isinstance(score, Mapping)
        else f"{seat} {score}"
        for seat, score in scores.items()
    )
