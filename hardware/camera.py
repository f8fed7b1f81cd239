"""Cameras, all with the same interface: `open`, `read`, `close`. A dict, `[camera]` in the
configuration, says which one to use.

    [camera]
    kind = "pi"            # number = 0, size = [1640, 1232], focus, mains (hardware/pi_camera.py)
    kind = "usb"           # device = "/dev/video0" or 0, size = [1920, 1080], lock = true, focus,
                           # mains (hardware/usb_camera.py)
    kind = "folder"        # path = "pictures", seconds = 1.0 (each), loop = false
    kind = "video"         # path = "evening.mp4", loop = false
    kind = "simulated"     # constructed by the caller, see `open_camera`

focus = "auto" lets an autofocus lens focus once; a number fixes the focus there (Pi: dioptres,
USB: the driver's own unit). mains = 60 where the mains frequency is 60 Hz, else 50.
"""

from __future__ import annotations

import abc
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import cv2
import numpy as np

# seconds that exposure and white balance get before they are locked: least, most
SETTLE, LONGEST = 1.0, 6.0
# they have settled once they have not changed by more than this share for so many seconds
CALM, CHANGE = 0.5, 0.01
AUTO = "auto"
PICTURES = (".jpg", ".jpeg", ".png")


class CameraLost(OSError):
    """The camera gives no picture; the message is one line that names the camera and the fault."""


class CameraHangs(CameraLost):
    """The camera is there but does not respond: only a new process may be able to free it."""


class BadCamera(ValueError):
    """The configuration describes no usable camera; the message names the key and the fault."""


class Camera(abc.ABC):
    """A source of pictures. Use it as a context manager, or `open` and `close` it. After CameraLost
    it may be opened again.

    live: whether this is a real sensor, which never gives the same picture twice. twofold: whether
    `glance` comes from a separate small stream and costs less than a full picture. focuses: whether
    the lens has autofocus; known once the camera has been open. focus: the position at which such a
    lens is kept, in its own unit; None: not found yet. on_focus: called with the position found.
    """

    name = "camera"
    live = True
    twofold = False
    focuses = False
    focus: float | None = None
    on_focus: Callable[[float], object] = staticmethod(lambda focus: None)

    @abc.abstractmethod
    def open(self) -> None:
        """Raises CameraLost."""

    @abc.abstractmethod
    def read(self) -> np.ndarray:
        """The newest picture, (h, w, 3) uint8 BGR. Raises CameraLost."""

    @abc.abstractmethod
    def close(self) -> None:
        """Never raises; closing twice does nothing."""

    def glance(self) -> np.ndarray:
        """A small picture, (h, w, 3) uint8 BGR, for watching whether anything moves. Raises
        CameraLost."""
        return cv2.resize(self.read(), None, fx=0.25, fy=0.25, interpolation=cv2.INTER_AREA)

    def settle(self) -> None:  # noqa: B027
        """Lets exposure and white balance adapt to the room again, and an unfocused lens focus,
        then locks them; does nothing if the camera has none of these. Raises CameraLost."""

    def focus_anew(self) -> None:
        """Lets the lens focus again; if it finds no focus, or has no autofocus, it stays where it
        is. Raises CameraLost."""
        before, self.focus = self.focus, None
        try:
            self.settle()
        finally:
            self.focus = before if self.focus is None else self.focus

    def renewed(self) -> Camera:
        """An unopened camera like this one, to replace it when it hangs."""
        return self

    def __enter__(self) -> Camera:
        self.open()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class FolderCamera(Camera):
    """The pictures in a folder, in file-name order, each shown for some seconds."""

    live = False

    def __init__(
        self,
        path: str | Path,
        seconds: float = 1.0,
        loop: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.path, self.seconds, self.loop, self._clock = Path(path), seconds, loop, clock
        self.name = str(path)
        self._files: list[Path] = []
        self._shown: tuple[int, np.ndarray] = (-1, np.empty(0))

    def open(self) -> None:
        if not self.path.is_dir():
            raise CameraLost(f"{self.path}: no such folder")
        self._files = sorted(p for p in self.path.iterdir() if p.suffix.lower() in PICTURES)
        if not self._files:
            raise CameraLost(f"{self.path}: no pictures in it")
        self._since, self._shown = self._clock(), (-1, np.empty(0))

    def read(self) -> np.ndarray:
        if not self._files:
            raise CameraLost(f"{self.path}: not open")
        n = int((self._clock() - self._since) / self.seconds)
        if n >= len(self._files) and not self.loop:
            raise CameraLost(f"{self.path}: no more pictures")
        n %= len(self._files)
        if self._shown[0] != n:
            image = cv2.imread(str(self._files[n]), cv2.IMREAD_COLOR)
            if image is None:
                raise CameraLost(f"{self._files[n]}: not a picture")
            self._shown = n, image
        return self._shown[1]

    def close(self) -> None:
        self._files = []


class VideoCamera(Camera):
    """A video file, picture after picture."""

    live = False

    def __init__(self, path: str | Path, loop: bool = False) -> None:
        self.path, self.loop = Path(path), loop
        self.name = str(path)
        self._capture: Any = None

    def open(self) -> None:
        self.close()
        if not self.path.is_file():
            raise CameraLost(f"{self.path}: no such file")
        self._capture = cv2.VideoCapture(str(self.path))
        if not self._capture.isOpened():
            self.close()
            raise CameraLost(f"{self.path}: not a video that can be read")

    def read(self) -> np.ndarray:
        if self._capture is None:
            raise CameraLost(f"{self.path}: not open")
        good, image = self._capture.read()
        if not good and self.loop:
            self._capture.set(cv2.CAP_PROP_POS_FRAMES, 0)
            good, image = self._capture.read()
        if not good:
            raise CameraLost(f"{self.path}: the video is over")
        return image

    def close(self) -> None:
        capture, self._capture = self._capture, None
        if capture is not None:
            capture.release()


def wait_for_rest(sample: Callable[[], Sequence[float]], clock: Callable[[], float]) -> None:
    """Waits SETTLE to LONGEST seconds, until what `sample` returns has settled (CALM, CHANGE)."""
    began = clock()
    seen: list[tuple[float, np.ndarray]] = []
    while True:
        values = np.array(sample(), float)
        now = clock()
        seen = [(at, v) for at, v in seen if now - at <= CALM] + [(now, values)]
        span = np.ptp([v for _, v in seen], axis=0)
        if (
            now - began >= LONGEST
            or now - began >= SETTLE
            and (span <= CHANGE * np.abs(values)).all()
        ):
            return


def one_line(error: BaseException) -> str:
    """The message of an error, followed by that of its cause"""
    words = " ".join(str(error).split()) or type(error).__name__
    cause = error.__cause__
    while cause is not None and cause.__cause__ is not None:
        cause = cause.__cause__
    return words if cause is None or not str(cause) else f"{words.rstrip('.')}: {one_line(cause)}"
