"""Loads pictures from files safely: huge ones are not decoded, and truncated ones are reported as
such."""

from __future__ import annotations

import struct
from pathlib import Path

import cv2
import numpy as np

MOST_PHOTO_PIXELS = 64_000_000
MOST_BYTES = 128 << 20
SMALLEST_PHOTO = 64  # pixels a side
# Other formats written by phones and web pages, by their bytes from the fifth and from the ninth
# on.
OTHER_FORMATS = {
    b"ftyphei": "HEIC",
    b"ftyphev": "HEIC",
    b"ftypmif": "HEIC",
    b"ftypmsf": "HEIC",
    b"ftypavi": "AVIF",
    b"WEBP": "WebP",
}

# for stored photos: full chroma resolution, as in the camera's later pictures. By default JPEG
# halves it: dark signs on yellow, learnt from such photos, were misread in pictures of the camera
PHOTO_KEPT = (
    cv2.IMWRITE_JPEG_QUALITY,
    95,
    cv2.IMWRITE_JPEG_SAMPLING_FACTOR,
    cv2.IMWRITE_JPEG_SAMPLING_FACTOR_444,
)


class BadPhoto(ValueError):
    """A picture that cannot be used; the message names the file and the fault."""


def _jpeg_size(data: bytes) -> tuple[int, int] | None:
    """(width, height) from a JPEG's frame header"""
    at = 2
    while at + 9 < len(data):
        if data[at] != 0xFF:
            return None
        marker = data[at + 1]
        if marker == 0xFF:
            at += 1
        elif marker in range(0xC0, 0xD0) and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", data[at + 5 : at + 9])
            return width, height
        elif marker in range(0xD0, 0xDA) or marker == 0x01:
            at += 2
        else:
            at += 2 + struct.unpack(">H", data[at + 2 : at + 4])[0]
    return None


def _claimed_size(data: bytes) -> tuple[int, int] | None:
    if data[:3] == b"\xff\xd8\xff":
        return _jpeg_size(data)
    if data[:8] == b"\x89PNG\r\n\x1a\n" and len(data) >= 24:
        return struct.unpack(">II", data[16:24])
    return None


def _cut_off(data: bytes) -> bool:
    """Whether the end of the picture is missing. Some cameras append bytes, so the end marker is
    searched for, not required at the end."""
    if data[:2] == b"\xff\xd8":
        return data.rfind(b"\xff\xd9") < data.rfind(b"\xff\xda")
    return b"IEND" not in data[-4096:]


def _other_format(data: bytes) -> str | None:
    """The name of an unsupported format, recognised by its first bytes"""
    for begin, name in OTHER_FORMATS.items():
        if data.startswith(begin, 4) or data.startswith(begin, 8):
            return name
    return None


def load_photo(path: str | Path) -> np.ndarray:
    """(h, w, 3) uint8 BGR of a JPEG or PNG file, turned as its orientation tag says. Raises
    BadPhoto."""
    path = Path(path)
    try:
        if path.stat().st_size > MOST_BYTES:
            raise BadPhoto(f"{path}: larger than {MOST_BYTES >> 20} MB")
        data = path.read_bytes()
    except OSError as e:
        raise BadPhoto(f"{path}: {e.strerror}") from None
    return decode_photo(data, str(path))


def decode_photo(data: bytes, name: str) -> np.ndarray:
    """The same from a file's bytes; `name` is for messages."""
    if not data:
        raise BadPhoto(f"{name}: empty file")
    try:
        size = _claimed_size(data)
    except struct.error:
        size = None
    if size is None:
        other = _other_format(data)
        if other:
            raise BadPhoto(f"{name}: {other}, which is not read here; save it as JPEG first")
        raise BadPhoto(f"{name}: not a JPEG or PNG picture")
    width, height = size
    if width * height > MOST_PHOTO_PIXELS:
        raise BadPhoto(
            f"{name}: {width} x {height} pixels, more than {MOST_PHOTO_PIXELS // 1_000_000} million"
        )
    if min(width, height) < SMALLEST_PHOTO:
        raise BadPhoto(f"{name}: {width} x {height} pixels, too small to show a board")
    if _cut_off(data):
        raise BadPhoto(f"{name}: the picture is cut off")
    try:
        image = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
    except cv2.error:
        image = None
    if image is None:
        raise BadPhoto(f"{name}: cannot be decoded")
    return image


def is_dark(image: np.ndarray) -> bool:
    """A covered lens or no light: hardly any pixel brighter than a camera's noise"""
    return float((image[::8, ::8] >= 30).mean()) < 0.01


def encode_photo(image: np.ndarray) -> bytes | None:
    """(h, w, 3) uint8 BGR as a JPEG file; None if it is not a picture"""
    done, data = cv2.imencode(".jpg", image, PHOTO_KEPT)
    return data.tobytes() if done else None
