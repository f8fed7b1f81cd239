"""The Pi's camera through picamera2, which is imported late: it can be installed nowhere else."""

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

WAIT, START = 1.5, 5.0  # seconds a camera that runs, or has just been started, gets for a picture
FOCUS = 8.0  # ... and for a whole search for the focus
# pictures a second while light and focus are searched for, which goes picture by picture
QUICK = 30.0
BUFFERS = 4
# pictures that still come as they were asked for before something is set: by as many requests, by
# one that picamera2 keeps, and those that the sensor has begun
UNDER_WAY = BUFFERS + 4
SLOWEST = 2  # times longer a picture may take by little light
MANUAL, LOCKED = 1, 0  # libcamera's AeFlickerMode, AfMode


class PiCamera(Camera):
    """A full and a small stream at once; exposure, white balance and focus locked.

    number: libcamera's. size: of the full picture, pixels. fps: pictures a second by a good light;
    nobody looks more often. focus: dioptres (1 / metres). mains: Hz."""

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
        # a quarter, and even: its colours come for two by two pixels
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
                    # libcamera names formats by their order in a word: its RGB888 lies in memory as
                    # B, G, R.
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
            self._light()  # what was set before is handed in with this picture's request, alone
            self._set(AeEnable=True, AwbEnable=True, FrameDurationLimits=self._limits(QUICK))
            if self.focus is not None:
                self._set(AfMode=LOCKED, LensPosition=self.focus)
            for _ in range(UNDER_WAY):  # in which a light that is locked rests
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
            # a search that found none has left the lens anywhere
            self._set(AfMode=LOCKED, LensPosition=self.focus)

    def _find_focus(self) -> None:
        """By a picture without contrast none is found: it is looked for again when the light is
        found anew"""
        try:
            if not self._camera.autofocus_cycle(wait=FOCUS):
                return
        except TimeoutError:  # whether it gives pictures at all the next one asked for tells
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
        """Those that this sensor has: a monochrome one has no white balance, many lenses no
        focus"""
        known = self._camera.camera_controls
        self._camera.set_controls({k: v for k, v in controls.items() if k in known})

    def read(self) -> np.ndarray:
        return np.ascontiguousarray(self._capture("main")[..., :3])

    def glance(self) -> np.ndarray:
        # YUV420: brightness first, then the two colours in rows half as long; any row may be longer
        # than the picture is wide.
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
        """What goes wrong becomes CameraLost, and the camera is closed"""
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
            # What was asked for and never came is dropped first: `stop` would wait behind it for
            # ever.
            for step in (camera.cancel_all_and_flush, camera.stop, camera.close):
                # a camera that was pulled out cannot be closed properly, and need not be
                with suppress(Exception):
                    step()

    def renewed(self) -> Camera:
        other = copy.copy(self)
        other._camera = None
        return other


def load_picamera2() -> Any:
    """picamera2's class. Raises CameraLost; None: it is not installed."""
    try:
        from picamera2 import Picamera2
    except Exception as e:  # built for another numpy, or its libcamera is missing
        if isinstance(e, ModuleNotFoundError) and e.name == "picamera2":
            return None
        raise CameraLost(f"picamera2 cannot be loaded: {one_line(e)}") from None
    return Picamera2


def tidy_picamera2() -> Any:
    """picamera2's class, which gives back what it took when it cannot be made. Raises
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
                # Its pipe is made first, and this end of it is nobody's then: tried every second, a
                # busy camera takes all there are.
                with suppress(Exception):
                    self.close() if self.is_open else os.close(self.notifyme_w)
                raise

    return Tidy
