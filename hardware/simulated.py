"""A camera that films a simulated scene, with faults that can be switched on by name."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import cv2
import numpy as np

from hardware.camera import Camera, CameraLost
from hardware.film import Film
from hardware.scene import Light, Scene, View

FAULTS = {
    "bumped": "somebody knocked against the camera",
    "dark": "the lamp is off",
    "covered": "something lies on the lens",
    "frozen": "the picture stands still",
    "unplugged": "the cable is out",
    "slow": "a picture takes two seconds",
    "noise": "a very noisy picture",
}
SLOW = 2.0


class SimulatedCamera(Camera):
    """Films whatever `scene` says at the moment. `faults` is a set of names from FAULTS; both may
    be changed at any time."""

    name = "simulated camera"

    def __init__(
        self,
        scene: Scene,
        view: View,
        light: Light | None = None,
        seed: int = 0,
        fps: float = 20.0,
        sleep: Callable[[float], object] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.scene, self.view, self.light = scene, view, light or Light()
        self.faults: set[str] = set()
        self._film, self._sleep, self._clock, self._gap = Film(seed), sleep, clock, 1 / fps
        self._last: np.ndarray | None = None
        self._due = -1e9
        self._opened = False
        rng = np.random.default_rng(seed + 77)
        self._bump = view.moved(rng.normal(0, 0.8, 3), rng.normal(0, 5, 3))

    def open(self) -> None:
        if "unplugged" in self.faults:
            raise CameraLost(f"{self.name}: not plugged in")
        self._opened = True

    def close(self) -> None:
        self._opened = False

    def read(self) -> np.ndarray:
        if not self._opened:
            raise CameraLost(f"{self.name}: not open")
        if "unplugged" in self.faults:
            raise CameraLost(f"{self.name}: was unplugged")
        now = self._clock()
        self._sleep(SLOW if "slow" in self.faults else max(0.0, self._due - now))
        self._due = self._clock() + self._gap
        if "frozen" in self.faults and self._last is not None:
            return self._last.copy()
        self._last = self._picture()
        return self._last.copy()

    def _picture(self) -> np.ndarray:
        view = self._bump if "bumped" in self.faults else self.view
        if "covered" in self.faults:
            finger = np.full((view.size[1], view.size[0], 3), (28, 34, 58), np.uint8)
            grain = np.random.default_rng(int(self._clock() * 1000) & 0xFFFF).normal(
                0, 2, finger.shape[:2]
            )
            return cv2.add(finger, cv2.merge([grain] * 3), dtype=cv2.CV_8U)
        light = (
            replace(self.light, exposure=self.light.exposure * 0.06, gloss=0.0)
            if "dark" in self.faults
            else self.light
        )
        return self._film.take(
            self.scene, view, light, noise=view.noise * 8 if "noise" in self.faults else None
        )
