"""The kinds of camera that a configuration may name."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from hardware.camera import AUTO, BadCamera, Camera, FolderCamera, VideoCamera, one_line
from hardware.pi_camera import PiCamera
from hardware.usb_camera import UsbCamera


def open_camera(
    config: Mapping[str, Any],
    folder: str | Path = ".",
    makers: Mapping[str, Callable[..., Camera]] | None = None,
) -> Camera:
    """The camera that a configuration describes, not opened yet. Raises BadCamera.

    folder: the one that paths in it are relative to. makers: constructors of further kinds, such as
    "simulated", called with the other keys.
    """
    options = dict(config)
    kind = options.pop("kind", "usb")
    kinds: dict[str, Callable[..., Camera]] = {
        "pi": PiCamera,
        "usb": UsbCamera,
        "folder": FolderCamera,
        "video": VideoCamera,
        **(makers or {}),
    }
    if kind not in kinds:
        raise BadCamera(f"camera: kind {kind!r} is none of {', '.join(sorted(kinds))}")
    if "path" in options:
        options["path"] = Path(folder) / options["path"]
    if "size" in options:
        try:
            w, h = options["size"]
            options["size"] = int(w), int(h)
        except (TypeError, ValueError):
            raise BadCamera(f"camera: size is {options['size']!r}, not [width, height]") from None
    for key, good, wanted in (
        (
            "focus",
            options.get("focus") == AUTO or _is_number(options.get("focus")),
            '"auto" or a number',
        ),
        ("mains", options.get("mains") in (50, 60), "50 or 60"),
    ):
        if key in options and not good:
            raise BadCamera(f"camera: {key} is {options[key]!r}, not {wanted}")
    needed = [
        p.name
        for p in inspect.signature(kinds[kind]).parameters.values()
        if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD and p.name not in options
    ]
    if needed:
        raise BadCamera(f"camera: kind {kind!r} needs {', '.join(needed)}")
    try:
        return kinds[kind](**options)
    except TypeError as e:
        raise BadCamera(f"camera: kind {kind!r}: {one_line(e).split('__init__() ')[-1]}") from None


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value >= 0
