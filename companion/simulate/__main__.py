"""`python -m companion.simulate`: writes a simulated copy; companion/simulate/__init__.py tells how
to use it."""

from __future__ import annotations

import re
import sys

import click

from companion.simulate import Conditions, make_copy, plan_of
from vision.plan import BadPlan


@click.command()
@click.argument("game")
@click.argument("folder", type=click.Path(file_okay=False))
@click.option(
    "--plan",
    "plan_file",
    type=click.Path(dir_okay=False),
    help="a plan of one's own; GAME may then be -",
)
@click.option("--seed", default=0, help="another camera, light and layouts")
@click.option("--edition", default=0, help="another edition's colours and signs; 0: our own")
@click.option("--no-markers", is_flag=True, help="no marker cards: tapped corners instead")
@click.option("--turned", is_flag=True, help="the camera hangs on the opposite side")
@click.option("--photos", default=14, help="test photos")
@click.option("--resolution", help="such as 1920x1080")
@click.option("--sloppy", default=1.0, help="how crooked pieces lie: 0 exact, 1 as people do it")
def main(
    game: str,
    folder: str,
    plan_file: str | None,
    seed: int,
    edition: int,
    no_markers: bool,
    turned: bool,
    photos: int,
    resolution: str | None,
    sloppy: float,
) -> None:
    """Write a simulated copy of GAME into FOLDER."""
    pixels = re.fullmatch(r"(\d+)x(\d+)", resolution) if resolution else None
    if resolution and not pixels:
        raise click.UsageError(f"--resolution {resolution}: not of the form 1920x1080")
    conditions = Conditions(
        seed,
        edition,
        not no_markers,
        turned,
        (int(pixels[1]), int(pixels[2])) if pixels else None,
        sloppy,
    )
    try:
        plan, own = plan_of(game, plan_file)
    except (BadPlan, ModuleNotFoundError) as e:
        click.echo(f"{game}: {e}", err=True)
        sys.exit(2)
    click.echo(make_copy(plan, folder, conditions, photos, own))


if __name__ == "__main__":
    main()
