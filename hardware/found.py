"""Lists the cameras that the set-up offers. None is opened, so that one in use is found too."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import Any

from hardware.pi_camera import load_picamera2

log = logging.getLogger(__name__)

Found = dict[str, Any]  # {"name": what people read, "camera": a `[camera]` table}


def cameras_here(
    sys: Path = Path("/sys/class/video4linux"), dev: Path = Path("/dev")
) -> list[Found]:
    """The Pi's own first, then USB cameras; [] if there is none."""
    return [*_pi_cameras(), *_usb_cameras(sys, dev)]


def usual_camera() -> dict[str, Any]:
    """The `[camera]` section for a configuration without one"""
    return next((c["camera"] for c in cameras_here()), {"kind": "usb"})


def _pi_cameras() -> list[Found]:
    try:
        made = load_picamera2()
        known = made.global_camera_info() if made is not None else []
    except Exception as e:
        log.warning("%s", e)
        return []
    # libcamera lists USB cameras too, but their exposure and focus can only be locked through V4L2.
    return [
        {"name": f"Pi camera {n}: {c.get('Model', '?')}", "camera": {"kind": "pi", "number": n}}
        for n, c in enumerate(known)
        if "usb" not in str(c.get("Id", "")).lower()
    ]


def _usb_cameras(sys: Path, dev: Path) -> list[Found]:
    # The number may change when the camera is plugged in again; udev's names do not.
    lasting = {p.resolve().name: p for p in sorted((dev / "v4l" / "by-id").glob("*-video-index0"))}
    found = []
    for node in sorted(sys.glob("video*"), key=lambda p: (len(p.name), p.name)):
        try:
            name, index = (
                (node / key).read_text(encoding="utf-8", errors="replace").strip()
                for key in ("name", "index")
            )
        except OSError:
            continue
        # A camera has further nodes without pictures, and a Pi a dozen nodes that are not cameras.
        if index == "0" and f"{os.sep}usb" in os.path.realpath(node / "device"):
            found.append(
                {
                    "name": name,
                    "camera": {
                        "kind": "usb",
                        "device": str(lasting.get(node.name, dev / node.name)),
                    },
                }
            )
    return found
