"""`nilometer run` without a configuration: serves the set-up page until the host has answered
everything."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

import companion_web
from calibration.files import check_writable
from cli.serving import https_context, print_address
from companion.fault import Fault
from companion.runtime import notify
from companion.runtime.config import Web
from companion.setup.setup import Setup
from hardware import found
from hardware.camera import AUTO, BadCamera
from hardware.camera_kinds import open_camera
from hardware.supervisor import Supervisor

LOOKS = 5.0  # pictures a second while the table is set up
PATIENCE = 5.0  # seconds to wait for a picture


class Sight:
    """The camera's view while the table is set up; the camera may be changed at any time."""

    def __init__(self, camera: Mapping[str, Any], folder: Path) -> None:
        self._folder, self._supervisor, self._said = folder, _start_watching(camera, folder), camera

    def use(self, camera: Mapping[str, Any]) -> None:
        """Switches to another camera. Raises BadCamera; then the previous one continues."""
        old, self._supervisor, self._said = (
            self._supervisor,
            _start_watching(camera, self._folder),
            camera,
        )
        old.__exit__(None, None, None)

    @property
    def name(self) -> str:
        return self._supervisor.camera.name

    @property
    def focuses(self) -> bool:
        """Whether the lens has autofocus, and no focus is configured."""
        return self._supervisor.camera.focuses and self._said.get("focus", AUTO) == AUTO

    @property
    def focus(self) -> float | None:
        return self._supervisor.camera.focus

    def focus_anew(self) -> None:
        self._supervisor.focus_anew()

    @property
    def hangs(self) -> bool:
        return self._supervisor.hangs

    def picture(self) -> tuple[np.ndarray | None, str]:
        """A picture taken after this call; or None, and why there is none."""
        supervisor = self._supervisor
        frame = supervisor.picture(PATIENCE)
        return (frame.image, "") if frame is not None else (None, supervisor.message)

    def close(self) -> None:
        self._supervisor.__exit__(None, None, None)


def _start_watching(camera: Mapping[str, Any], folder: Path) -> Supervisor:
    return Supervisor(open_camera(camera, folder), fps=LOOKS).__enter__()


def serve_set_up(
    path: Path, web: Web, camera: Mapping[str, Any] | None = None, secret: bool = False
) -> bool:
    """Blocks until the configuration is written to `path` (True) or somebody ends the program
    (False).

    camera: None lets the host choose among those found. secret: do not print the PIN and the
    joining link (a service's output is logged). Raises Fault, CannotServe.
    """
    folder = path.resolve().parent
    try:
        check_writable(folder)
    except OSError as e:
        raise Fault(f"{folder}: nothing can be written there: {e.strerror}") from None
    choice = found.cameras_here() if camera is None else []
    camera = camera or (choice[0]["camera"] if choice else found.usual_camera())
    try:
        sight = Sight(camera, folder)
    except BadCamera as e:
        raise Fault(f"{path}: {e}") from None
    with contextlib.closing(sight):
        setup = Setup(path, sight.picture, camera, choice, sight.use, sight)
        settings = companion_web.Settings(
            name="Nilometer",
            pin=web.pin or None,
            state=folder,
            address=web.address or None,
            hosts=web.hosts,
            proxies=web.proxies,
            redirect=web.redirect,
        )
        app = companion_web.create_setup_app(setup, settings)
        server = companion_web.serve_app(app, web.host, web.port, https_context(web, folder))
        if not secret:
            print_address(
                app,
                server,
                f"{path} names no copy yet: set the table up on the page, with the host's PIN.",
                seats=False,
            )
        ended = threading.Event()
        before = {
            n: signal.signal(n, lambda *_: ended.set()) for n in (signal.SIGINT, signal.SIGTERM)
        }
        notify.tell_ready("waiting to be set up")
        try:
            while not ended.is_set() and not setup.written.wait(0.2):
                if not sight.hangs:
                    notify.tell_alive()
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
            server.stop()
    return setup.written.is_set()
