"""How a camera renders a picture, light apart: its tone and its colours, told against what is known
of the board and undone."""

from __future__ import annotations

import msgspec
import numpy as np

from vision.photometry.colour_response import undo_chroma, view_chroma
from vision.photometry.room_light import from_logs, to_logs
from vision.photometry.tone_response import apply_power, estimate_power, undo_power


class CameraResponse(msgspec.Struct, frozen=True):
    """power: by which its grey levels are those known; chroma: how many times as far from grey its
    colours then are; each 1 where that cannot be told or is not worth undoing"""

    power: float = 1.0
    chroma: float = 1.0

    def undone(self, image: np.ndarray) -> np.ndarray:
        """An image (h, w, 3) uint8 without it; itself where there is nothing to undo"""
        return undo_chroma(apply_power(image, self.power), self.chroma)


NEUTRAL_RESPONSE = CameraResponse()


def estimate_response(
    view: np.ndarray, empty: np.ndarray, size: tuple[float, float]
) -> CameraResponse:
    """A small view's against the empty board's, both (h, w, 3) log; size: the board's, mm"""
    power = estimate_power(view, empty, size)
    if power != 1:
        view = to_logs(undo_power(from_logs(view).clip(0), power))
    return CameraResponse(power, view_chroma(view, empty, size))
