"""The Pi's camera through picamera2, which is imported late: it can be installed only on a Pi."""

from __future__ import annotations

import copy
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import cv2
import numpy as np

from hardware.camera import AUTO, Camera, CameraHangs, CameraLost, one_line, wait_for_rest

WAIT, START = 1.5, 5.0  # seconds to wait for a picture, of a running camera and of one just started
FOCUS = 8.0  # ... and for a complete autofocus search
# pictures a second while exposure and focus are searched for, which takes one step per picture
QUICK = 30.0
BUFFERS = 4
# pictures that still arrive with the old settings after a change: one for each buffer, one that
# picamera2 keeps, and those that the sensor has already begun
UNDER_WAY = BUFFERS + 4
SLOWEST = 2  # how many times longer a picture may take in dim light
MANUAL, LOCKED = 1, 0  # libcamera's AeFlickerMode, AfMode


class PiCamera(Camera):
    """A full and a small stream at once; exposure, white balance and focus locked.

    number: libcamera's. size: of the full picture, pixels. fps: pictures a second in good light,
    the most that anybody reads. focus: dioptres (1 / metres). mains: Hz."""

    twofold = True

    def __init__(
        self,
        number: int = 0,
        size: tuple[int, int] = (1640, 1232),
        fps: float = 10.0,
        focus: float | str = AUTO,
        mains: int = 50,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.number, self.size, self.fps, self.mains, self._clock = number, size, fps, mains, clock
        self.focus = None if focus == AUTO else float(focus)
        # a quarter, and even, since YUV420 has one colour for two by two pixels
        self.small = size[0] // 8 * 2, size[1] // 8 * 2
        self.name = f"Pi camera {number}"
        self._camera: Any = None

    def open(self) -> None:
        made = tidy_picamera2()
        self.close()
        with self._told():
            if self.number >= len(made.global_camera_info()):
                raise CameraLost(f"{self.name}: not found; is the cable in, the right way round?")
            self._camera = made(self.number)
            self._camera.configure(
                self._camera.create_video_configuration(
                    # libcamera names formats by their order in a word: its RGB888 is B, G, R in
                    # memory.
                    main={"size": self.size, "format": "RGB888"},
                    lores={"size": self.small, "format": "YUV420"},
                    raw=None,
                    buffer_count=BUFFERS,
                )
            )
            self.focuses = "AfMode" in self._camera.camera_controls
            self._set(AeFlickerMode=MANUAL, AeFlickerPeriod=round(1e6 / (2 * self.mains)))
            self._camera.start()
        self.settle()

    def settle(self) -> None:
        if self._camera is None:
            return
        with self._told():
            self._light()  # submits what was set before, on its own, with this picture's request
            self._set(AeEnable=True, AwbEnable=True, FrameDurationLimits=self._limits(QUICK))
            if self.focus is not None:
                self._set(AfMode=LOCKED, LensPosition=self.focus)
            for _ in range(UNDER_WAY):  # still with the old, locked exposure, which looks settled
                self._light()
            wait_for_rest(self._light, self._clock)
            if self.focuses and self.focus is None:
                self._find_focus()
            seen = self._camera.capture_metadata(wait=WAIT)
            locked = {
                k: seen[k] for k in ("ExposureTime", "AnalogueGain", "ColourGains") if k in seen
            }
            self._set(
                AeEnable=False,
                AwbEnable=False,
                FrameDurationLimits=self._limits(self.fps),
                **locked,
            )

    def focus_anew(self) -> None:
        super().focus_anew()
        if self._camera is not None and self.focus is not None:
            # a failed search leaves the lens at any position
            self._set(AfMode=LOCKED, LensPosition=self.focus)

    def _find_focus(self) -> None:
        """A picture without contrast gives no focus: the search is repeated when the exposure is
        next adjusted"""
        try:
            if not self._camera.autofocus_cycle(wait=FOCUS):
                return
        except TimeoutError:  # the next request shows whether it gives pictures at all
            self._camera.cancel_all_and_flush()
            return
        self.focus = float(self._camera.capture_metadata(wait=WAIT)["LensPosition"])
        self._set(AfMode=LOCKED, LensPosition=self.focus)
        self.on_focus(self.focus)

    def _light(self) -> tuple[float, ...]:
        seen = self._camera.capture_metadata(wait=START)
        return (
            seen.get("ExposureTime", 0) * seen.get("AnalogueGain", 1),
            *seen.get("ColourGains", ()),
        )

    def _limits(self, fps: float) -> tuple[int, int]:
        return round(1e6 / fps), round(SLOWEST * 1e6 / self.fps)

    def _set(self, **controls: Any) -> None:
        """Sets those controls that the camera has: a monochrome sensor has no white balance, many
        lenses no focus"""
        known = self._camera.camera_controls
        self._camera.set_controls({k: v for k, v in controls.items() if k in known})

    def read(self) -> np.ndarray:
        return np.ascontiguousarray(self._capture("main")[..., :3])

    def glance(self) -> np.ndarray:
        # YUV420: first brightness, then the two colour planes in rows half as long; rows may be
        # padded beyond the picture's width.
        (w, h), planes = self.small, self._capture("lores")
        colours = planes[h:].reshape(2, h // 2, -1)[..., : w // 2]
        return cv2.cvtColor(
            np.concatenate([planes[:h, :w].ravel(), colours.ravel()]).reshape(-1, w),
            cv2.COLOR_YUV2BGR_I420,
        )

    def _capture(self, stream: str) -> np.ndarray:
        if self._camera is None:
            raise CameraLost(f"{self.name}: not open")
        with self._told():
            return self._camera.capture_array(stream, wait=WAIT)

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Turns any error into CameraLost, and closes the camera"""
        try:
            yield
        except CameraLost:
            raise
        except TimeoutError:
            self.close()
            raise CameraHangs(f"{self.name}: gives no pictures; cable, power supply?") from None
        except Exception as e:
            self.close()
            raise CameraLost(f"{self.name}: {one_line(e)}") from None

    def close(self) -> None:
        camera, self._camera = self._camera, None
        if camera is not None:
            # Pending requests are dropped first: `stop` would wait for them for ever.
            for step in (camera.cancel_all_and_flush, camera.stop, camera.close):
                # a camera that was unplugged cannot be closed properly, and need not be
                with suppress(Exception):
                    step()

    def renewed(self) -> Camera:
        other = copy.copy(self)
        other._camera = None
        return other


def load_picamera2() -> Any:
    """picamera2's class; None if it is not installed. Raises CameraLost."""
    try:
        from picamera2 import Picamera2
    except Exception as e:  # built for a different numpy, or without its libcamera
        if isinstance(e, ModuleNotFoundError) and e.name == "picamera2":
            return None
        raise CameraLost(f"picamera2 cannot be loaded: {one_line(e)}") from None
    return Picamera2


def tidy_picamera2() -> Any:
    """picamera2's class, changed to release its resources if its constructor fails. Raises
    CameraLost."""
    Picamera2 = load_picamera2()
    if Picamera2 is None:
        raise CameraLost(
            "the Pi camera needs picamera2: sudo apt-get install python3-picamera2, then "
            "make install"
        )

    class Tidy(Picamera2):  # type: ignore[misc, valid-type]
        def __init__(self, number: int) -> None:
            try:
                super().__init__(number)
            except Exception:
                # Its pipe is created first, and nobody closes this end of it: if a busy camera is
                # tried every second, file descriptors run out.
                with suppress(Exception):
                    self.close() if self.is_open else os.close(self.notifyme_w)
                raise

    return Tidy
