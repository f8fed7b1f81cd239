"""`nilometer run` without a configuration: serves the set-up page until the host has said everything."""

from __future__ import annotations

import importlib.util
import signal
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

import companion_web
from companion import notify
from companion.config import Web
from companion.setup import Picture, Setup
from companion.show import print_address
from hardware.camera import open_camera
from hardware.supervisor import Supervisor

LOOKS = 5.0      # pictures a second while the table is set up
PATIENCE = 3.0   # seconds to wait for a picture


def set_up(path: Path, web: Web | None = None, camera: Mapping[str, Any] | None = None,
           secret: bool = False) -> bool:
    """secret: PIN and joining link are not printed (a service has a log).

    Blocks until the configuration is written to `path`: True; or until somebody ends the program: False."""
    web, camera = web or Web(), camera or {"kind": likely_camera()}
    with Supervisor(open_camera(camera, path.parent), fps=LOOKS) as supervisor:
        setup = Setup(path, picture_of(supervisor), camera)
        settings = companion_web.Settings(name="Nilometer", pin=web.pin or None, state=path.resolve().parent,
                                          address=web.address or None)
        app = companion_web.create_app(setup, settings)
        server = companion_web.serve(app, web.host, web.port)
        if not secret:
            print_address(app, server, f"{path} is not there yet: set the table up on the page, with the host's PIN.")
        ended = threading.Event()
        before = {n: signal.signal(n, lambda *_: ended.set()) for n in (signal.SIGINT, signal.SIGTERM)}
        notify.ready()
        try:
            while not ended.is_set() and not setup.written.wait(0.2):
                notify.alive()
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
            server.stop()
    return setup.written.is_set()


def likely_camera() -> str:
    """"pi" where the Pi camera's own library is there, else "usb"."""
    return "pi" if importlib.util.find_spec("picamera2") else "usb"


def picture_of(supervisor: Supervisor) -> Picture:
    """What `Setup` asks the camera with."""
    def picture() -> tuple[np.ndarray | None, str]:
        last = supervisor.newest(0, PATIENCE)
        frame = supervisor.newest(last.number if last else 0, PATIENCE)
        return (frame.image, "") if frame is not None else (None, supervisor.message)
    return picture
