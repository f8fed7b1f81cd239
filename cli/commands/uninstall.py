"""nilometer uninstall: removes the service again."""

from __future__ import annotations

import click

from companion.setup.install import Machine, uninstall_service


@click.command()
@click.option("--root", default="/", type=click.Path(file_okay=False), help="another system's root")
@click.option("--dry-run", is_flag=True, help="only say what would be done")
@click.option("--everything", is_flag=True, help="the games and the configuration too")
def command(root: str, dry_run: bool, everything: bool) -> int:
    """Takes away what install put there; games stay."""
    uninstall_service(Machine(root, dry_run, click.echo), everything)
    return 0
