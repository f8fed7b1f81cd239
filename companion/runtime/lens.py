"""Where a copy's camera keeps its focus: found once, then set at every start, since another focus
acts like another lens."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Protocol

from calibration.files import write_whole
from hardware.camera import Camera

FILE = "focus.json"  # in the copy's folder: {"camera": "Pi camera 0", "focus": 1.83}


class Lens(Protocol):
    """The lens of a camera. focuses: whether it may find its focus itself; focus: its position,
    None: unknown; name: the camera's."""

    @property
    def focuses(self) -> bool:
        """Whether the lens finds its focus itself."""

    @property
    def focus(self) -> float | None:
        """Its position, in the camera's own unit; None: unknown."""

    @property
    def name(self) -> str:
        """The camera's name."""

    def focus_anew(self) -> object:
        """Lets it search for its focus again."""


class Fixed:
    """A lens that cannot be moved from here."""

    focuses, focus, name = False, None, ""

    def focus_anew(self) -> None:
        """Does nothing: this lens cannot be moved."""


def kept_focus(folder: Path, name: str) -> float | None:
    """The focus that the camera of that name had when this copy was photographed; None if
    unknown."""
    try:
        data = json.loads((folder / FILE).read_text(encoding="utf-8"))
        return float(data["focus"]) if data["camera"] == name else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def keep_focus(folder: Path, name: str, focus: float | None) -> None:
    """Stores the focus. If the folder cannot be written, it is found again at the next start."""
    if focus is not None:
        with contextlib.suppress(OSError):
            write_whole(
                folder / FILE,
                (json.dumps({"camera": name, "focus": round(focus, 3)}) + "\n").encode(),
            )


def take_over_focus(camera: Camera, folder: Path) -> None:
    """Gives a camera without a configured focus the copy's; otherwise what it finds becomes the
    copy's."""
    if camera.focus is None:
        camera.focus = kept_focus(folder, camera.name)
        camera.on_focus = lambda focus: keep_focus(folder, camera.name, focus)
