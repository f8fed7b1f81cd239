"""USB cameras through V4L2."""

from __future__ import annotations

import copy
import fcntl
import struct
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from hardware.camera import AUTO, Camera, CameraLost, wait_for_rest

FOCUS = 3.0  # seconds a lens gets to focus
# share of the sharpness found by autofocus: if less is left once the lens is fixed at the position
# that the driver reports, the driver reports it wrongly
AS_SHARP = 0.8
# pictures a second, the most that anybody reads; a camera that cannot do that uses its nearest rate
FPS = 10
S_CTRL, POWER_LINE = 0xC008561C, 0x00980918  # VIDIOC_S_CTRL, V4L2_CID_POWER_LINE_FREQUENCY


class UsbCamera(Camera):
    """Exposure, white balance and focus are locked once they have settled, if the camera can do
    that.

    device: number or path. size: pixels. lock: False leaves everything to the camera. focus: in the
    driver's own unit. mains: Hz."""

    def __init__(
        self,
        device: int | str = 0,
        size: tuple[int, int] = (1920, 1080),
        lock: bool = True,
        focus: float | str = AUTO,
        mains: int = 50,
        clock: Callable[[], float] = time.monotonic,
        capture: Callable[..., Any] = cv2.VideoCapture,
    ) -> None:
        self.device, self.size, self.lock, self.mains, self._clock, self._make = (
            device,
            size,
            lock,
            mains,
            clock,
            capture,
        )
        self.focus = None if focus == AUTO else float(focus)
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
        capture.set(cv2.CAP_PROP_FOURCC, cv2.VideoWriter.fourcc(*"MJPG"))
        capture.set(cv2.CAP_PROP_FRAME_WIDTH, self.size[0])
        capture.set(cv2.CAP_PROP_FRAME_HEIGHT, self.size[1])
        capture.set(cv2.CAP_PROP_FPS, FPS)
        capture.set(cv2.CAP_PROP_BUFFERSIZE, 1)
        self._avoid_flicker()
        self._capture = capture
        self.settle()

    def settle(self) -> None:
        if self._capture is None or not self.lock:
            return
        self._capture.set(cv2.CAP_PROP_AUTO_EXPOSURE, 3)  # V4L2: 3 aperture priority, 1 manual
        self._capture.set(cv2.CAP_PROP_AUTO_WB, 1)
        self._keep_focus()
        wait_for_rest(lambda: self.read()[::16, ::16].mean((0, 1)) + 1, self._clock)
        self._capture.set(cv2.CAP_PROP_AUTO_EXPOSURE, 1)
        self._capture.set(cv2.CAP_PROP_AUTO_WB, 0)

    def _keep_focus(self) -> None:
        self.focuses = bool(self._capture.set(cv2.CAP_PROP_AUTOFOCUS, int(self.focus is None)))
        if not self.focuses:
            return
        if self.focus is not None:
            self._capture.set(cv2.CAP_PROP_FOCUS, self.focus)
            return
        found = picture_sharpness(self._seen_for(FOCUS))
        focus = float(self._capture.get(cv2.CAP_PROP_FOCUS))
        self._capture.set(cv2.CAP_PROP_AUTOFOCUS, 0)
        if focus < 0:
            return
        self._capture.set(cv2.CAP_PROP_FOCUS, focus)
        if picture_sharpness(self._seen_for(FOCUS / 3)) >= AS_SHARP * found:
            self.focus = focus
            self.on_focus(focus)
            return
        # Some drivers report the lens position that was last set, not the real one: then the lens
        # focuses at every start and stays there.
        self._capture.set(cv2.CAP_PROP_AUTOFOCUS, 1)
        self._seen_for(FOCUS)
        self._capture.set(cv2.CAP_PROP_AUTOFOCUS, 0)

    def _seen_for(self, seconds: float) -> np.ndarray:
        """The last picture after so many seconds"""
        end = self._clock() + seconds
        image = self.read()
        while self._clock() < end:
            image = self.read()
        return image

    def _avoid_flicker(self) -> None:
        # not every camera supports it, and OpenCV has no constant for it
        with suppress(OSError), open(self.name, "rb") as node:
            fcntl.ioctl(node, S_CTRL, struct.pack("Ii", POWER_LINE, {50: 1, 60: 2}[self.mains]))

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

    def renewed(self) -> Camera:
        other = copy.copy(self)
        other._capture = None
        return other


def picture_sharpness(image: np.ndarray) -> float:
    """Of (h, w, 3) uint8: comparable between pictures of the same scene in the same light"""
    return float(cv2.Laplacian(image, cv2.CV_16S).std())
