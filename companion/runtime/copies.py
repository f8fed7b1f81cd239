"""A copy ready to be read: its plan, its reader, and the rules' view of the same plan."""

from __future__ import annotations

from pathlib import Path

import msgspec

from companion.fault import Fault
from engine.plan import Plan as RulesPlan
from vision.reader import Reader
from vision.storage.text_file import read_toml


class Specimen(msgspec.Struct, frozen=True, eq=False):
    """reader: the copy's fitted model; rules_plan: the plan it was made for, in the rules' form."""

    folder: Path
    name: str
    game: str
    reader: Reader
    rules_plan: RulesPlan


def open_copy(folder: str | Path) -> Specimen:
    """The copy in a folder. Raises BadModel; Fault if the folder is not a copy, or has not been
    calibrated yet."""
    folder = Path(folder)
    path = folder / "copy.toml"
    try:
        data = read_toml(path)
    except OSError as e:
        raise Fault(f"{path}: {e.strerror}") from None
    except ValueError as e:
        raise Fault(f"{path}: {e}") from None
    model = folder / "model.npz"
    if not model.is_file():
        raise Fault(f"{model}: not there yet; make it with: nilometer calibrate {folder}")
    reader = Reader.load(model)
    rules_plan = RulesPlan(msgspec.to_builtins(reader.given_plan))
    return Specimen(
        folder, str(data.get("name", folder.name)), reader.plan.game, reader, rules_plan
    )


def read_name(folder: Path) -> tuple[str, str]:
    """(game, name) of a copy's folder; "" and the folder's name if its copy.toml cannot be read."""
    try:
        data = read_toml(folder / "copy.toml")
    except (OSError, ValueError):
        return "", folder.name
    return str(data.get("game", "")), str(data.get("name", folder.name))
