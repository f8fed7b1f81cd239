"""nilometer accuracy FOLDER...: how right the reader is on every copy below, beside the last run's figures."""

from __future__ import annotations

import json
from pathlib import Path

import click
import msgspec

from calibration.accuracy import Accuracy, copies_in, honesty, measure, table, together
from calibration.files import write_whole
from companion.cli import Fault
from companion.commands.demo_ import state_dir


@click.command()
@click.argument("folders", nargs=-1, required=True, type=click.Path())
@click.option("--json", "as_json", is_flag=True, help="one JSON line a copy")
def command(folders: tuple[str, ...], as_json: bool) -> int:
    """How right the reader is on photos it was not fitted on."""
    copies = [c for f in folders for c in copies_in(Path(f))]
    if not copies:
        raise Fault(f"{folders[0]}: no copy with a test folder in it")
    kept = state_dir() / "accuracy.json"
    try:
        last = json.loads(kept.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        last = {}
    measured: list[Accuracy] = []
    for folder in copies:
        found = measure(folder, lambda line: None if as_json else click.echo(line, err=True))
        key = str(folder.resolve())
        if as_json:
            click.echo(json.dumps({"folder": str(folder), **msgspec.to_builtins(found)}, ensure_ascii=False))
        else:
            click.echo("\n".join(table(found, last.get(key))))
        last[key] = {"share": found.share, "boards": f"{found.boards}/{found.photos}", "ms": found.ms}
        measured.append(found)
        write_whole(kept, json.dumps(last, indent=1).encode())
    if not as_json:
        right, sites, boards, photos = (sum(getattr(a, what) for a in measured) for what in ("right", "sites", "boards", "photos"))
        click.echo(f"all: sites {right}/{sites} {100 * right / max(sites, 1):.3f} %, boards exact {boards}/{photos}")
        if len(measured) > 1:
            click.echo("\n".join(honesty(together(measured))))
    return 0
