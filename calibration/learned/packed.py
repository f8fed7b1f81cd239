"""A lesson as a small file, so that a trunk can be taught on another machine than the photos lie on.
`pack_lesson` writes what `unpack_lesson` reads."""

from __future__ import annotations

import gzip
import pickle
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import cv2
import msgspec
import numpy as np

from calibration.learned.compose import Look
from calibration.learned.standing import StandingLook
from calibration.learned.teach import Lesson

LOWEST_LOG, LOG_STEP = (
    3.0,
    0.011,
)  # of the logarithms of light that are kept, and how finely: grain is 0.03
QUALITY = 95  # of the canvases' JPEG, without loss of colour
Patched = TypeVar("Patched", Look, StandingLook)


def pack_lesson(lesson: Lesson, path: Path) -> None:
    """Writes what samples are made up from: the photos themselves are left out, canvases and looks
    kept in 8 bits"""

    def pack_canvas(canvas: np.ndarray) -> bytes:
        sampling = [cv2.IMWRITE_JPEG_SAMPLING_FACTOR, cv2.IMWRITE_JPEG_SAMPLING_FACTOR_444]
        quality = [cv2.IMWRITE_JPEG_QUALITY, QUALITY, *sampling]
        return cv2.imencode(".jpg", narrow_logs(canvas), quality)[1].tobytes()

    small = msgspec.structs.replace(
        lesson,
        looks=change_patches(lesson.looks, narrow_logs),
        standing=change_patches(lesson.standing, narrow_logs),
        empty=pack_canvas(lesson.empty),
        empties=[pack_canvas(c) for c in lesson.empties],
        reals=[(pack_canvas(c), t) for c, t in lesson.reals],
        shots=[msgspec.structs.replace(s, image=s.image[:1, :1]) for s in lesson.shots],
    )
    path.write_bytes(gzip.compress(pickle.dumps(small)))


def unpack_lesson(path: Path) -> Lesson:
    """Only of files that you packed yourself: they are pickled"""

    def unpack_canvas(kept: bytes) -> np.ndarray:
        return widen_logs(cv2.imdecode(np.frombuffer(kept, np.uint8), cv2.IMREAD_COLOR))

    small = pickle.loads(gzip.decompress(path.read_bytes()))
    return msgspec.structs.replace(
        small,
        looks=change_patches(small.looks, widen_logs),
        standing=change_patches(small.standing, widen_logs),
        empty=unpack_canvas(small.empty),
        empties=[unpack_canvas(c) for c in small.empties],
        reals=[(unpack_canvas(c), t) for c, t in small.reals],
    )


def change_patches(looks: Mapping[str, Sequence[Patched]], change) -> dict[str, list[Patched]]:
    return {
        kind: [msgspec.structs.replace(v, patch=change(v.patch)) for v in some]
        for kind, some in looks.items()
    }


def narrow_logs(logs: np.ndarray) -> np.ndarray:
    return np.clip(np.rint((logs - LOWEST_LOG) / LOG_STEP), 0, 255).astype(np.uint8)


def widen_logs(kept: np.ndarray) -> np.ndarray:
    return kept.astype(np.float32) * np.float32(LOG_STEP) + np.float32(LOWEST_LOG)
