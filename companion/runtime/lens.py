"""Where a copy's camera keeps its focus: found once, then put there at every start, as another
focus makes it another lens."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Protocol

from calibration.files import write_whole
from hardware.camera import Camera

FILE = "focus.json"  # in the copy's folder: {"camera": "Pi camera 0", "focus": 1.83}


class Lens(Protocol):
    """The lens of the camera that looks. focuses: whether it may find its focus by itself; focus:
    where it stands, None: not known;
    name: the camera's."""

    @property
    def focuses(self) -> bool:
        """Whether the lens finds its focus by itself."""

    @property
    def focus(self) -> float | None:
        """Where it stands, in the camera's own unit; None: not known."""

    @property
    def name(self) -> str:
        """The camera's name."""

    def focus_anew(self) -> object:
        """Lets it look for its focus again."""


class Fixed:
    """One that cannot be moved from here"""

    focuses, focus, name = False, None, ""

    def focus_anew(self) -> None:
        """Nothing: this lens cannot be moved."""


def kept_focus(folder: Path, name: str) -> float | None:
    """Where the camera of that name had its focus when this copy was photographed; None: nobody
    knows."""
    try:
        data = json.loads((folder / FILE).read_text(encoding="utf-8"))
        return float(data["focus"]) if data["camera"] == name else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def keep_focus(folder: Path, name: str, focus: float | None) -> None:
    """A folder that cannot be written has it found anew at the next start."""
    if focus is not None:
        with contextlib.suppress(OSError):
            write_whole(
                folder / FILE,
                (json.dumps({"camera": name, "focus": round(focus, 3)}) + "\n").encode(),
            )


def take_over_focus(camera: Camera, folder: Path) -> None:
    """A camera to which nobody has told its focus has the copy's, and what it finds becomes the
    copy's."""
    if camera.focus is None:
        camera.focus = kept_focus(folder, camera.name)
        camera.on_focus = lambda focus: keep_focus(folder, camera.name, focus)
