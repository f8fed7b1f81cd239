"""Cameras, all with one face: `open`, `read`, `close`. Which one is said by a dict, `[camera]` of the configuration.

    [camera]
    kind = "pi"            # number = 0, size = [1640, 1232]
    kind = "usb"           # device = "/dev/video0" or 0, size = [1920, 1080], lock = true
    kind = "folder"        # path = "pictures", seconds = 1.0 (each), loop = false
    kind = "video"         # path = "evening.mp4", loop = false
    kind = "simulated"     # made by whoever opens it, see `open_camera`
"""

from __future__ import annotations

import abc
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import cv2
import numpy as np

SETTLE = 1.0       # seconds that exposure and white balance get before they are locked
PICTURES = (".jpg", ".jpeg", ".png")


class CameraLost(OSError):
    """There is no picture to be had; the message is one line that says which camera and what is wrong."""


class BadCamera(ValueError):
    """A camera that the configuration does not describe; the message names the key and the fault."""


class Camera(abc.ABC):
    """A source of pictures. Use it as a context manager, or `open` and `close` it. After CameraLost it may be opened anew.

    live: whether a real sensor looks, whose pictures are never twice the same. twofold: whether `glance` comes from a small
    stream of its own and costs less than a full picture.
    """

    name = "camera"
    live = True
    twofold = False

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
        """A small picture, (h, w, 3) uint8 BGR, for watching whether anything moves. Raises CameraLost."""
        return cv2.resize(self.read(), None, fx=0.25, fy=0.25, interpolation=cv2.INTER_AREA)

    def settle(self) -> None:  # noqa: B027  (most cameras have nothing to settle)
        """Lets exposure and white balance find the room's light anew, then locks both; nothing where there is no such."""

    def __enter__(self) -> Camera:
        self.open()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


class PiCamera(Camera):
    """The Pi's camera through picamera2: a full and a small stream at once, exposure and white balance locked.

    fps: pictures a second by a good light; by little light half as many, as each is exposed longer."""

    twofold = True

    def __init__(self, number: int = 0, size: tuple[int, int] = (1640, 1232), fps: float = 20.0,
                 sleep: Callable[[float], None] = time.sleep) -> None:
        self.number, self.size, self.fps, self._sleep = number, size, fps, sleep
        self.small = size[0] // 8 * 2, size[1] // 8 * 2      # a quarter, and even: its colours come for two by two pixels
        self.name = f"Pi camera {number}"
        self._camera: Any = None

    def open(self) -> None:
        try:
            from picamera2 import Picamera2
        except ImportError:
            raise CameraLost("the Pi camera needs picamera2: sudo apt-get install python3-picamera2 (and a .venv made with "
                             "--system-site-packages)") from None
        self.close()
        try:
            self._camera = Picamera2(self.number)
            self._camera.configure(self._camera.create_video_configuration(
                # libcamera names formats by their order in a word: its RGB888 lies in memory as B, G, R.
                main={"size": self.size, "format": "RGB888"}, lores={"size": self.small, "format": "YUV420"},
                controls={"FrameDurationLimits": (round(1e6 / self.fps), round(2e6 / self.fps))}, buffer_count=4))
            self._camera.start()
        except IndexError:
            self.close()
            raise CameraLost(f"{self.name}: not found; is the cable in, blue side right?") from None
        except (RuntimeError, OSError) as e:
            self.close()
            raise CameraLost(f"{self.name}: {_line(e)}") from None
        self.settle()

    def settle(self) -> None:
        if self._camera is None:
            return
        try:
            self._camera.set_controls({"AeEnable": True, "AwbEnable": True})
            self._sleep(SETTLE)
            seen = self._camera.capture_metadata()
            locked = {k: seen[k] for k in ("ExposureTime", "AnalogueGain", "ColourGains") if k in seen}
            self._camera.set_controls({"AeEnable": False, "AwbEnable": False, **locked})
        except (RuntimeError, OSError) as e:
            raise CameraLost(f"{self.name}: {_line(e)}") from None

    def read(self) -> np.ndarray:
        return np.ascontiguousarray(self._capture("main")[..., :3])

    def glance(self) -> np.ndarray:
        # YUV420: brightness first, then the two colours in rows half as long; any row may be longer than the picture is wide.
        (w, h), planes = self.small, self._capture("lores")
        colours = planes[h:].reshape(2, h // 2, -1)[..., :w // 2]
        return cv2.cvtColor(np.concatenate([planes[:h, :w].ravel(), colours.ravel()]).reshape(-1, w), cv2.COLOR_YUV2BGR_I420)

    def _capture(self, stream: str) -> np.ndarray:
        if self._camera is None:
            raise CameraLost(f"{self.name}: not open")
        try:
            return self._camera.capture_array(stream)
        except (RuntimeError, OSError) as e:
            raise CameraLost(f"{self.name}: {_line(e)}") from None

    def close(self) -> None:
        camera, self._camera = self._camera, None
        if camera is not None:
            for step in (camera.stop, camera.close):
                try:
                    step()
                except Exception:      # a camera that was pulled out cannot be closed properly, and need not be
                    pass


class UsbCamera(Camera):
    """A USB camera through V4L2; exposure and white balance are locked once they have settled, where it can do that."""

    def __init__(self, device: int | str = 0, size: tuple[int, int] = (1920, 1080), lock: bool = True,
                 sleep: Callable[[float], None] = time.sleep, capture: Callable[..., Any] = cv2.VideoCapture) -> None:
        self.device, self.size, self.lock, self._sleep, self._make = device, size, lock, sleep, capture
        self.name = f"/dev/video{device}" if isinstance(device, int) else device
        self._capture: Any = None

    def open(self) -> None:
        self.close()
        if not Path(self.name).exists():
            raise CameraLost(f"{self.name}: no such camera; is it plugged in?")
        capture = self._make(self.device, cv2.CAP_V4L2)
        if not capture.isOpened():
            capture.release()
            raise CameraLost(f"{self.name}: cannot be opened; another program may be using it")
        capture.set(cv2.CAP_PROP_FOURCC, cv2.VideoWriter_fourcc(*"MJPG"))
        capture.set(cv2.CAP_PROP_FRAME_WIDTH, self.size[0])
        capture.set(cv2.CAP_PROP_FRAME_HEIGHT, self.size[1])
        capture.set(cv2.CAP_PROP_BUFFERSIZE, 1)
        self._capture = capture
        self.settle()

    def settle(self) -> None:
        if self._capture is None or not self.lock:
            return
        self._capture.set(cv2.CAP_PROP_AUTO_EXPOSURE, 3)     # V4L2: 3 by aperture priority, 1 by hand
        self._capture.set(cv2.CAP_PROP_AUTO_WB, 1)
        self._sleep(SETTLE)
        self.read()
        self._capture.set(cv2.CAP_PROP_AUTO_EXPOSURE, 1)
        self._capture.set(cv2.CAP_PROP_AUTO_WB, 0)

    def read(self) -> np.ndarray:
        if self._capture is None:
            raise CameraLost(f"{self.name}: not open")
        good, image = self._capture.read()
        if not good or image is None or image.ndim != 3:
            raise CameraLost(f"{self.name}: gives no picture; was it unplugged?")
        return image

    def close(self) -> None:
        capture, self._capture = self._capture, None
        if capture is not None:
            capture.release()


class FolderCamera(Camera):
    """Pictures of a folder in the order of their names, each seen for some seconds."""

    live = False

    def __init__(self, path: str | Path, seconds: float = 1.0, loop: bool = False,
                 clock: Callable[[], float] = time.monotonic) -> None:
        self.path, self.seconds, self.loop, self._clock = Path(path), seconds, loop, clock
        self.name = str(path)
        self._files: list[Path] = []

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


def open_camera(config: Mapping[str, Any], folder: str | Path = ".",
                makers: Mapping[str, Callable[..., Camera]] | None = None) -> Camera:
    """The camera that a configuration describes, not opened yet. Raises BadCamera.

    folder: what paths in it are relative to. makers: further kinds, such as "simulated", called with the other keys.
    """
    options = dict(config)
    kind = options.pop("kind", "usb")
    kinds: dict[str, Callable[..., Camera]] = {"pi": PiCamera, "usb": UsbCamera, "folder": FolderCamera, "video": VideoCamera,
                                               **(makers or {})}
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
    try:
        return kinds[kind](**options)
    except TypeError as e:
        raise BadCamera(f"camera: kind {kind!r}: {_line(e).split('__init__() ')[-1]}") from None


def _line(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__
