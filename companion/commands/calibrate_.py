"""nilometer calibrate COPY: photos and layouts in, COPY/model.npz out, and a report of what it confuses."""

from __future__ import annotations

import click

from calibration.fit import calibrate


@click.command()
@click.argument("copy", type=click.Path())
@click.option("--quiet", is_flag=True, help="print only the last line")
def command(copy: str, quiet: bool) -> int:
    """Fit the reader to one's own copy."""
    def progress(text: str, part: float) -> None:
        if not quiet:
            click.echo(f"{100 * part:3.0f} %  {text}", err=True)

    report = calibrate(copy, progress)
    click.echo(report.summary())
    return 0
