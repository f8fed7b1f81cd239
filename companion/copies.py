"""A copy ready to be read: its plan, its reader, and the game's engine where there is one."""

from __future__ import annotations

from pathlib import Path

import msgspec
from vision.reader import Reader

import engine
from calibration.copy import Copy, load_copy
from companion.cli import Fault
from engine.plan import Plan as RulesPlan


class Specimen(msgspec.Struct, frozen=True, eq=False):
    """copy: its copy.toml; reader: its fitted model; rules_plan: the same plan as the rules see it."""

    copy: Copy
    reader: Reader
    rules_plan: RulesPlan


def open_copy(folder: str | Path) -> Specimen:
    """Raises BadCopy, BadModel; Fault when it was not calibrated yet."""
    copy = load_copy(folder, photos=False)
    model = Path(folder) / "model.npz"
    if not model.is_file():
        raise Fault(f"{model}: not there yet; make it with: nilometer calibrate {folder}")
    return Specimen(copy, Reader.load(model, copy.plan), RulesPlan.parse(copy.plan_text))


def game_of(specimen: Specimen) -> engine.Game:
    """Raises UnknownGame for a copy of a game without an engine."""
    return engine.game(specimen.copy.game)
