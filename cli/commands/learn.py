"""nilometer learn COPY: the model learns from pictures of the table on which the reader and the
rules agreed; --undo reverts this."""

from __future__ import annotations

import click

from calibration.learning import learn_from_views, undo_learning


@click.command()
@click.argument("copy", type=click.Path())
@click.option(
    "--undo",
    "back",
    is_flag=True,
    help="the model before the last learning again, and forget the views",
)
def command(copy: str, back: bool) -> int:
    """Learn from what was seen at the table."""
    if back:
        undo_learning(copy)
        click.echo(f"{copy}: the model is the one before the last learning")
        return 0
    found = learn_from_views(copy)
    for line in found.left_out:
        click.echo(f"  left out {line}")
    click.echo(f"{copy}: {'' if found.learnt else 'nothing changed: '}{found.why}")
    return 0
