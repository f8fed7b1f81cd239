"""A camera that comes and goes, and a clock that tests turn by hand."""

import numpy as np

from hardware.camera import Camera, CameraLost


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


class Plug(Camera):
    """A camera whose cable, picture and light the test holds in its hands."""

    name = "test camera"

    def __init__(self):
        self.plugged, self.still, self.flat, self.level, self.opened, self.settled = (
            True,
            False,
            False,
            120,
            0,
            0,
        )
        self.rng = np.random.default_rng(1)
        self.scene = np.kron(self.rng.integers(-90, 90, (12, 16)), np.ones((10, 10))).astype(int)
        self.last = None

    def open(self):
        if not self.plugged:
            raise CameraLost("test camera: not there")
        self.opened += 1

    def close(self):
        pass

    def settle(self):
        self.settled += 1

    def read(self):
        if not self.plugged:
            raise CameraLost("test camera: unplugged")
        if not (self.still and self.last is not None):
            detail = 0 if self.flat else self.scene * self.level / 120
            noise = self.rng.normal(0, 2, self.scene.shape)
            self.last = np.repeat(
                np.clip(self.level + detail + noise, 0, 255)[..., None], 3, 2
            ).astype(np.uint8)
        return self.last
