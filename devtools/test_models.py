"""Calibrates the copies that the tests read with, once, so that no test has to: `make test-models`.

Writes tests/photos/NAME.npz: of the photographed copy tests/photos/tigris, and of simulated copies.
To be run again when the form of a model changes, or what it is learnt from.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import click

from calibration.fit import calibrate_copy
from companion.simulate import Conditions, make_copy, plan_of

PHOTOS = Path(__file__).resolve().parent.parent / "tests" / "photos"
PHOTOGRAPHED = "tigris"
SIMULATED = ("tigris", "ur")  # games whose simulated copies are read
CONDITIONS = Conditions(resolution=(1024, 768))


def copy_photographed(folder: Path) -> None:
    """The photographed copy's calibration photos into a new folder"""
    leave = shutil.ignore_patterns("test", "game")
    shutil.copytree(PHOTOS / PHOTOGRAPHED, folder, ignore=leave)


def copy_simulated(folder: Path, game: str) -> None:
    """A simulated copy's calibration photos into a new folder"""
    plan, _ = plan_of(game, None)
    make_copy(plan, folder, CONDITIONS, photos=0)


@click.command()
@click.argument("names", nargs=-1)
def main(names: tuple[str, ...]) -> None:
    """Makes these models anew, or all of them."""
    with tempfile.TemporaryDirectory() as place:
        for name in names or (PHOTOGRAPHED, *(f"simulated-{game}" for game in SIMULATED)):
            folder = Path(place) / name
            if name == PHOTOGRAPHED:
                copy_photographed(folder)
            else:
                copy_simulated(folder, name.removeprefix("simulated-"))
            report = calibrate_copy(folder)
            shutil.copyfile(folder / "model.npz", PHOTOS / f"{name}.npz")
            click.echo(f"{name}: {report.seconds:.0f} s; {report.summary}")


if __name__ == "__main__":
    main()
