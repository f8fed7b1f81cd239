"""How a camera renders a picture, light apart: its tone and its colours, as they are undone."""

from __future__ import annotations

import msgspec
import numpy as np

from vision.photometry.colour_response import undo_chroma
from vision.photometry.tone_response import apply_power


class CameraResponse(msgspec.Struct, frozen=True):
    """power: by which its grey levels are those known; chroma: how many times as far from grey its
    colours then are; each 1 where that cannot be told or is not worth undoing"""

    power: float = 1.0
    chroma: float = 1.0

    def undone(self, image: np.ndarray) -> np.ndarray:
        """An image (h, w, 3) uint8 without it; itself where there is nothing to undo"""
        return undo_chroma(apply_power(image, self.power), self.chroma)


NEUTRAL_RESPONSE = CameraResponse()
