"""Pictures from files: which way up."""

from __future__ import annotations

import struct

import cv2
import numpy as np
import pytest

from vision.storage.photo_file import load_photo

# where the white one goes
CORNER = {
    1: (0, 0),
    2: (0, -1),
    3: (-1, -1),
    4: (-1, 0),
    5: (0, 0),
    6: (0, -1),
    7: (-1, -1),
    8: (-1, 0),
}


@pytest.mark.parametrize("way", range(1, 9))
def test_a_phone_held_upright_is_taken_at_its_word(tmp_path, way):
    image = np.zeros((80, 120, 3), np.uint8)
    image[:30, :30] = 255
    data = cv2.imencode(".jpg", image)[1].tobytes()
    tag = b"Exif\0\0MM\0*" + struct.pack(">IHHHIHHI", 8, 1, 0x0112, 3, 1, way, 0, 0)
    (tmp_path / "phone.jpg").write_bytes(
        data[:2] + b"\xff\xe1" + struct.pack(">H", len(tag) + 2) + tag + data[2:]
    )
    seen = load_photo(tmp_path / "phone.jpg")
    assert seen.shape == ((80, 120, 3) if way < 5 else (120, 80, 3))
    assert [tuple(c) for c in ((0, 0), (0, -1), (-1, -1), (-1, 0)) if seen[c][0] > 128] == [
        CORNER[way]
    ]
