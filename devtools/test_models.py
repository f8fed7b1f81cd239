"""Calibrates the copies that the tests read with, once, so that no test has to: `make test-models`.

Writes tests/models/NAME.npz, for a photographed copy (tests/photos/NAME) or a simulated one. Run it
again when the model format or the training data change.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import click

from calibration.fit import calibrate_copy
from companion.simulate import Conditions, make_copy, plan_of

TESTS = Path(__file__).resolve().parent.parent / "tests"
SIMULATED = "simulated-"  # prefix of the game's name in the name of a simulated copy
CONDITIONS = Conditions(resolution=(1024, 768))


def copy_photos(name: str, folder: Path) -> None:
    """A copy's calibration photos into a new folder"""
    if name.startswith(SIMULATED):
        plan, _ = plan_of(name.removeprefix(SIMULATED), None)
        make_copy(plan, folder, CONDITIONS, photos=0)
    else:
        leave = shutil.ignore_patterns("test", "game")
        shutil.copytree(TESTS / "photos" / name, folder, ignore=leave)


@click.command()
@click.argument("names", nargs=-1)
def main(names: tuple[str, ...]) -> None:
    """Recreates these models, or all existing ones."""
    with tempfile.TemporaryDirectory() as place:
        for name in names or sorted(p.stem for p in (TESTS / "models").glob("*.npz")):
            folder = Path(place) / name
            copy_photos(name, folder)
            report = calibrate_copy(folder)
            shutil.copyfile(folder / "model.npz", TESTS / "models" / f"{name}.npz")
            click.echo(f"{name}: {report.seconds:.0f} s; {report.summary}")


if __name__ == "__main__":
    main()
