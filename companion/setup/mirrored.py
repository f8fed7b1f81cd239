"""Whether a picture is a mirror image, as some cameras produce."""

from __future__ import annotations

import numpy as np

from vision.registration.aruco_cards import ENOUGH_CARDS, find_cards
from vision.storage.image_array import to_grey
from vision.storage.photo_file import is_dark


def shows_mirrored_cards(image: np.ndarray) -> bool:
    """Whether the marker cards can be read only in the mirror image of a picture, (h, w, 3) uint8
    BGR."""
    if is_dark(image):
        return False
    grey = to_grey(image)
    return (
        not find_cards(grey)
        and len(find_cards(np.ascontiguousarray(grey[:, ::-1]))) >= ENOUGH_CARDS
    )
