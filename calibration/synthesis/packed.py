"""A lesson as a small file, so that a trunk can be taught on another machine than the photos lie on.
`pack_lesson` writes what `unpack_lesson` reads."""

from __future__ import annotations

import gzip
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2
import msgspec
import numpy as np

from calibration.synthesis.lesson import Lesson, change_patches
from vision.learned.canvas import narrow_logs, widen_logs
from vision.storage.photo_file import encode_photo


def pack_lesson(lesson: Lesson, path: Path) -> None:
    """Writes what samples are made up from: the photos themselves are left out, canvases and looks
    kept in 8 bits"""

    def pack_canvas(canvas: np.ndarray) -> bytes:
        packed = encode_photo(narrow_logs(canvas))
        assert packed is not None
        return packed

    bare = [msgspec.structs.replace(s, image=s.image[:1, :1]) for s in lesson.shots]
    small = recode_lesson(
        msgspec.structs.replace(lesson, shots=bare, specimens=()), narrow_logs, pack_canvas
    )
    path.write_bytes(gzip.compress(pickle.dumps(small)))


def unpack_lesson(path: Path) -> Lesson:
    """Only of files that you packed yourself: they are pickled"""

    def unpack_canvas(kept: bytes) -> np.ndarray:
        return widen_logs(cv2.imdecode(np.frombuffer(kept, np.uint8), cv2.IMREAD_COLOR))

    small = pickle.loads(gzip.decompress(path.read_bytes()))
    return recode_lesson(small, widen_logs, unpack_canvas)


def recode_lesson(
    lesson: Lesson, patch: Callable[[np.ndarray], np.ndarray], canvas: Callable[[Any], Any]
) -> Lesson:
    """The same with other codes of its looks' patches and of its canvases"""
    looks, standing = (change_patches(v, patch) for v in (lesson.looks, lesson.standing))
    return msgspec.structs.replace(lesson, looks=looks, standing=standing).with_canvases(canvas)
