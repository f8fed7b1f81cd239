"""Pictures from files: which way up."""

from __future__ import annotations

import struct

import cv2
import numpy as np
import pytest

from vision.storage.photo_file import encode_photo, load_photo

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


def test_a_kept_photo_shows_colours_as_fine_as_the_camera_did(tmp_path):
    """Stripes of blue a pixel wide, on grey that they do not lighten"""
    image = np.full((64, 64, 3), 128, np.uint8)
    image[:, ::2, 0], image[:, 1::2, 0] = 168, 88
    (tmp_path / "kept.jpg").write_bytes(encode_photo(image))
    blue = load_photo(tmp_path / "kept.jpg")[..., 0].astype(float)
    assert blue[:, ::2].mean() - blue[:, 1::2].mean() > 70
