"""A stand-in for OpenCV's capture of a USB camera."""

import cv2
import numpy as np


class FakeCapture:
    """focuses: whether the lens can; honest: whether the driver says where the lens found its
    focus"""

    focuses, honest, now, made = False, True, 0.0, []

    def __init__(self, device, api):
        assert api == cv2.CAP_V4L2
        self.settings, self.dead, self.released, self.lens, self.at = {}, False, False, 0.0, 0.0
        self.scene = np.random.default_rng(1).integers(0, 255, (48, 64, 3), dtype=np.uint8)
        type(self).made.append(self)

    def isOpened(self):
        return not self.dead

    def set(self, key, value):
        if key in (cv2.CAP_PROP_AUTOFOCUS, cv2.CAP_PROP_FOCUS) and not type(self).focuses:
            return False
        self.settings[key] = value
        if key == cv2.CAP_PROP_FOCUS:
            self.lens = self.at = value
        elif key == cv2.CAP_PROP_AUTOFOCUS and value:
            self.lens = 35.0
            self.at = 35.0 if type(self).honest else self.at
        return True

    def get(self, key):
        assert key == cv2.CAP_PROP_FOCUS
        return self.at

    def read(self):
        type(self).now += 0.1
        # Some drivers hand over their last picture once more while they say that there is none.
        sharp = (
            self.scene
            if self.lens == 35 or not type(self).focuses
            else cv2.blur(self.scene, (5, 5))
        )
        return not self.dead, sharp

    def release(self):
        self.released = True
