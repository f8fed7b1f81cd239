"""The simulated copy used by the demo, the bench and the tests, and where it is stored."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import click

import engine
from companion.fault import Fault
from companion.runtime.copies import Specimen, open_copy
from companion.simulate import Conditions, make_copy, plan_of
from vision.storage.model_file import BadModel

ROOT = Path(__file__).resolve().parents[2]
DEMO_STEPS = 60  # training steps: few, since simulated pictures are clean and people wait


def state_dir() -> Path:
    """Where the demo keeps its copies: `var/` in the checkout, or NILOMETER_STATE."""
    folder = Path(os.environ.get("NILOMETER_STATE") or ROOT / "var")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as e:
        raise Fault(f"{folder}: {e.strerror}") from None
    return folder


def demo_copy(name: str, folder: Path, steps: int = DEMO_STEPS) -> Specimen:
    """The simulated copy of a game, photographed and calibrated the first time. steps: training
    steps, as for `calibrate_copy`"""
    if (folder / "model.npz").is_file():
        try:
            return open_copy(folder)
        except BadModel:
            click.echo("The demo's copy was learnt by another version of Nilometer.")
    from calibration.fit import calibrate_copy

    click.echo(
        f"The first time: photographing a simulated copy of {name} and learning its "
        "pieces, which takes some minutes ..."
    )
    plan, _ = plan_of(name, None)
    make_copy(plan, folder, Conditions(phone=False), photos=0)
    calibrate_copy(folder, tell_tenths(), report=False, steps=steps)
    return open_copy(folder)


def tell_tenths() -> Callable[[str, float], None]:
    """A progress callback that prints each new stage and each tenth of the whole on the terminal"""
    told: set[tuple[str, int]] = set()

    def tell(words: str, part: float) -> None:
        if (step := (words, int(10 * part))) not in told:
            told.add(step)
            click.echo(f"  {100 * part:3.0f} %  {words}")

    return tell


def default_game() -> str:
    """Tigris & Euphrates, or whatever else comes last in the alphabet but has a printed start: rich
    from the first move."""
    starts = {
        g.name: len(g.setup([s.id for s in g.seats[: g.players[0]]]).layout())
        for g in engine.games().values()
    }
    return max(starts, key=lambda name: (starts[name] > 1, starts[name]))
