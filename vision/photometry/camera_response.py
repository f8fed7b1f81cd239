"""How a camera renders a picture, light apart: its tone and its colours, told against what is known
of the board and undone."""

from __future__ import annotations

import msgspec
import numpy as np

from vision.photometry.colour_response import chroma_of, even
from vision.photometry.room_light import from_logs, to_logs
from vision.photometry.tone_response import power_of, toned, untoned


class Rendition(msgspec.Struct, frozen=True):
    """power: by which its grey levels are those known; chroma: how many times as far from grey its
    colours then are; each 1 where that cannot be told or is not worth undoing"""

    power: float = 1.0
    chroma: float = 1.0

    def undone(self, image: np.ndarray) -> np.ndarray:
        """An image (h, w, 3) uint8 without it; itself where there is nothing to undo"""
        return even(toned(image, self.power), self.chroma)


PLAIN = Rendition()


def rendition_of(view: np.ndarray, empty: np.ndarray, size: tuple[float, float]) -> Rendition:
    """A small view's against the empty board's, both (h, w, 3) log; size: the board's, mm"""
    power = power_of(view, empty, size)
    if power != 1:
        view = to_logs(untoned(from_logs(view).clip(0), power))
    return Rendition(power, chroma_of(view, empty, size))
