"""nilometer accuracy FOLDER...: how accurate the reader is on every copy in these folders, compared
with the last run."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import click
import msgspec

from calibration.accuracy import (
    Accuracy,
    Last,
    copies_in,
    figures_table,
    joint_reliability,
    kept_figures,
    measure_copy,
    reliability_lines,
)
from calibration.copy import BadCopy
from calibration.files import write_whole
from companion.fault import Fault
from companion.simulate.demo_copy import state_dir


@click.command()
@click.argument("folders", nargs=-1, required=True, type=click.Path())
@click.option("--json", "as_json", is_flag=True, help="one JSON line a copy")
def command(folders: tuple[str, ...], as_json: bool) -> int:
    """How right the reader is on photos it was not fitted on. Exits with 1 where a copy had to be
    left out."""
    copies = [c for f in folders for c in copies_in(Path(f))]
    if not copies:
        raise Fault(f"{folders[0]}: no copy with a test folder in it")
    kept = state_dir() / "accuracy.json"
    last = kept_figures(kept)
    measured: list[Accuracy] = []
    unkept = None
    for folder in copies:
        try:
            found = measure_copy(
                folder, lambda line: None if as_json else click.echo(line, err=True)
            )
        except BadCopy as e:
            # measuring the others may take an hour, so it goes on
            click.echo(f"left out: {e}", err=True)
            continue
        key = str(folder.resolve())
        if as_json:
            click.echo(
                json.dumps(
                    {"folder": str(folder), **msgspec.to_builtins(found)}, ensure_ascii=False
                )
            )
        else:
            click.echo("\n".join(figures_table(found, last.get(key))))
        last[key] = Last.of(found)
        measured.append(found)
        try:
            write_whole(kept, msgspec.json.format(msgspec.json.encode(last), indent=1))
            unkept = None
        except OSError as e:
            unkept = f"{kept}: the figures could not be kept for the next run: {e.strerror}"
    if measured and not as_json:
        in_all(measured)
    if unkept:
        click.echo(unkept, err=True)
    if not measured:
        return 2
    if len(measured) < len(copies):
        click.echo(
            f"{len(copies) - len(measured)} of {len(copies)} copies left out, see above", err=True
        )
    return 1 if unkept or len(measured) < len(copies) else 0


def in_all(measured: Sequence[Accuracy]) -> None:
    """The figures of all copies together."""
    right, sites, boards, photos = (
        sum(getattr(a, what) for a in measured) for what in ("right", "sites", "boards", "photos")
    )
    click.echo(
        f"all: sites {right}/{sites} {100 * right / max(sites, 1):.3f} %, boards exact "
        f"{boards}/{photos}"
    )
    if len(measured) > 1:
        click.echo("\n".join(reliability_lines(joint_reliability(measured))))
