"""nilometer calibrate COPY: takes photos and layouts, writes COPY/model.npz, and reports what it
confuses."""

from __future__ import annotations

import click

from calibration.fit import calibrate_copy
from calibration.training.fit import LEARNING_STEPS


@click.command()
@click.argument("copy", type=click.Path())
@click.option("--quiet", is_flag=True, help="print only the last line")
@click.option("--no-report", is_flag=True, help="only the model, a little sooner")
@click.option(
    "--steps",
    type=click.IntRange(8, 20000),
    default=LEARNING_STEPS,
    show_default=True,
    help="in which the network learns: more reads better and takes longer",
)
def command(copy: str, quiet: bool, no_report: bool, steps: int) -> int:
    """Fit the reader to one's own copy."""

    said = ""

    def progress(text: str, part: float) -> None:
        nonlocal said
        before, said = said, f"{100 * part:3.0f} %  {text}"
        if said != before and not quiet:
            click.echo(said)

    report = calibrate_copy(copy, progress, not no_report, steps=steps)
    error = max(report.error_px, default=0.0)
    click.echo(
        f"{report.copy}: learnt from {report.photos} photos in {report.seconds:.0f} s; "
        f"board found to {error:.1f} px; "
        f"{len(report.missing)} kinds in no photo"
    )
    if report.page is not None:
        click.echo(f"{report.summary} With pictures: {report.page}")
    for line in report.advice:
        click.echo(f"  {line}")
    return 0
