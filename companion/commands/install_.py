"""nilometer install: the table as a service of this machine."""

from __future__ import annotations

import click

from companion.install import Machine, install


@click.command()
@click.option("--root", default="/", type=click.Path(file_okay=False), help="another system's root, such as a mounted SD card")
@click.option("--dry-run", is_flag=True, help="only say what would be done")
def command(root: str, dry_run: bool) -> int:
    """User, directories, service, log, name: the table starts with the machine. May be run again."""
    install(Machine(root, dry_run, click.echo))
    if not dry_run:
        click.echo("Done. The page: http://nilometer.local:8080/   What it says: journalctl --namespace=nilometer -f")
    return 0
