"""A stand-in for picamera2 that waits where the real one waits, and fails as it fails."""

import os
import threading

import numpy as np

ALL = (
    "AeEnable",
    "AwbEnable",
    "ExposureTime",
    "AnalogueGain",
    "ColourGains",
    "FrameDurationLimits",
    "AeFlickerMode",
    "AeFlickerPeriod",
)


LATE = 7  # pictures until what was set is to be seen


class FakePicamera2:
    """Behaves as picamera2 0.3.38 does where this project touches it: streams, controls, jobs that
    wait for pictures, faults.

    A camera that is `gone` gives no more pictures: whoever asks for one without a limit waits for
    ever, and so does `stop` as long as a job that was given up stands before it in the queue."""

    cameras, busy, has, made, now, focus = 1, False, ALL, [], 0.0, 1.8
    white = 2.0  # the gain that the light asks for

    def __init__(self, number=0):
        self.notifyme_r, self.notifyme_w = os.pipe2(os.O_NONBLOCK)
        self.notifymeread = os.fdopen(self.notifyme_r, "rb")
        self.is_open = False
        if number >= FakePicamera2.cameras:
            raise RuntimeError(f"No camera number {number} found")
        if FakePicamera2.busy:
            try:
                raise RuntimeError("Failed to acquire camera: Device or resource busy")
            except RuntimeError as e:
                raise RuntimeError("Camera __init__ sequence did not complete.") from e
        self.number, self.running, self.is_open, self.controls, self.log, self.gone = (
            number,
            False,
            True,
            {},
            [],
            False,
        )
        self.jobs, self.lens, self.focusing = 0, 1.0, 0
        self.camera_controls = {name: (0, 1, 0) for name in FakePicamera2.has}
        self.awb = 1.0  # a colour gain on its way to `white`
        self.pending, self.under_way, self.in_force = {}, [], {"AwbEnable": True}
        FakePicamera2.made.append(self)

    @staticmethod
    def global_camera_info():
        return [{"Num": n} for n in range(FakePicamera2.cameras)]

    def create_video_configuration(self, main, lores, raw, buffer_count):
        assert raw is None, "nobody looks at the raw stream"
        return {"main": main, "lores": lores, "buffer_count": buffer_count}

    def configure(self, config):
        assert not self.running
        self.config = config

    def start(self):
        self.running = True

    def stop(self):
        if self.jobs:
            threading.Event().wait(20)
            raise AssertionError("the real one waits for ever")
        self.running = False

    def close(self):
        if self.running:
            self.stop()
        if self.is_open:
            self.is_open = False
            self.notifymeread.close()
            os.close(self.notifyme_w)

    def cancel_all_and_flush(self):
        self.jobs = 0

    def set_controls(self, controls):
        for name in controls:
            if name not in self.camera_controls:
                raise RuntimeError(f"Control {name} is not advertised by libcamera")
        self.controls.update(controls)
        self.log.append(dict(controls))
        self.pending |= controls
        self.lens = controls.get("LensPosition", self.lens)

    def _next_picture(self, wait):
        if self.gone:
            self.jobs += 1
            threading.Event().wait(20 if wait is None else wait)
            assert wait is not None, "the real one waits for ever"
            raise TimeoutError
        self.under_way.append(self.pending)
        self.pending = {}
        if len(self.under_way) > LATE:
            now = self.under_way.pop(0)
            self.in_force |= now
            if "ColourGains" in now:  # gains that are given end the white balance
                self.awb, self.in_force["AwbEnable"] = now["ColourGains"][0], False
        FakePicamera2.now += self.in_force.get("FrameDurationLimits", (100_000,))[0] / 1e6
        self.awb += 0.05 * (self.white - self.awb) * self.in_force["AwbEnable"]

    def autofocus_cycle(self, wait=None):
        self._next_picture(wait)
        self.focusing += 1
        if FakePicamera2.focus is None:
            self.lens = 1.0
            return False
        self.lens = FakePicamera2.focus
        return True

    def capture_metadata(self, wait=None):
        self._next_picture(wait)
        seen = {
            "ExposureTime": 12000,
            "AnalogueGain": 2.0,
            "ColourGains": (self.awb, 1.8),
            "Lux": 300.0,
        }
        return {k: v for k, v in seen.items() if k == "Lux" or k in self.camera_controls} | (
            {"LensPosition": self.lens} if "AfMode" in self.camera_controls else {}
        )

    def capture_array(self, stream, wait=None):
        self._next_picture(wait)
        w, h = self.config[stream]["size"]
        if stream == "main":
            assert self.config["main"]["format"] == "RGB888"
            return np.dstack([np.full((h, w), v, np.uint8) for v in (10, 20, 200)])
        # Rows of brightness, then of the two colours, half as long and two to a row; the hardware
        # pads each.
        assert w % 2 == h % 2 == 0 and self.config["lores"]["format"] == "YUV420"
        stride = (w + 63) // 64 * 64
        planes = np.zeros((h * 3 // 2, stride), np.uint8)
        planes[:h, :w] = 77
        planes[h:].reshape(2, h // 2, stride // 2)[0, :, : w // 2] = 128
        planes[h:].reshape(2, h // 2, stride // 2)[1, :, : w // 2] = 200
        return planes
