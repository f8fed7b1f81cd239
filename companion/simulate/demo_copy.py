"""The simulated copy that the demo, the bench and the tests play with, and where it is kept."""

from __future__ import annotations

import os
from pathlib import Path

import click

import engine
from companion.fault import Fault
from companion.runtime.copies import Specimen, open_copy
from companion.simulate import Conditions, make_copy, plan_of
from vision.storage.model_file import BadModel

ROOT = Path(__file__).resolve().parents[2]


def state_dir() -> Path:
    """Where the demo keeps its copies: `var/` in the checkout, or NILOMETER_STATE."""
    folder = Path(os.environ.get("NILOMETER_STATE") or ROOT / "var")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as e:
        raise Fault(f"{folder}: {e.strerror}") from None
    return folder


def demo_copy(name: str, folder: Path, steps: int = 0) -> Specimen:
    """The simulated copy of a game, photographed and calibrated the first time. steps: how long its
    network is taught, as of `calibrate_copy`; 0: it has none"""
    if (folder / "model.npz").is_file():
        try:
            return open_copy(folder)
        except BadModel:
            click.echo("The demo's copy was learnt by another version of Nilometer.")
    from calibration.fit import calibrate_copy

    click.echo(
        f"The first time: photographing a simulated copy of {name} and learning its "
        f"pieces ({'some minutes' if steps else 'a minute or two'}) ..."
    )
    plan, _ = plan_of(name, None)
    make_copy(plan, folder, Conditions(), photos=0)
    calibrate_copy(
        folder,
        lambda words, part: click.echo(f"  {100 * part:3.0f} %  {words}"),
        report=False,
        steps=steps,
    )
    return open_copy(folder)


def default_game() -> str:
    """Tigris & Euphrates, or whatever else comes last in the alphabet but has a printed start: rich
    from the first move."""
    starts = {
        g.name: len(g.setup([s.id for s in g.seats[: g.players[0]]]).layout())
        for g in engine.games().values()
    }
    return max(starts, key=lambda name: (starts[name] > 1, starts[name]))
