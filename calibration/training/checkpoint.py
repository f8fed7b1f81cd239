"""Keeps a network that is being learnt, so that a calibration which was killed goes on where it was.
Its central value: Checkpoint."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from pathlib import Path

import msgspec
import numpy as np

from calibration.files import write_whole
from vision.learned.network import Weights

KEPT_EVERY = 100  # steps after which it is kept: ten seconds of learning


class Checkpoint(msgspec.Struct, frozen=True):
    """path: where it is kept; key: what is learnt from; another's checkpoint is not gone on with"""

    path: Path
    key: str

    @classmethod
    def of(cls, path: Path, lesson, steps: int, seed: int) -> Checkpoint:
        """For learning from this lesson (calibration.synthesis.lesson.Lesson) in so many steps"""
        told = hashlib.sha256(json.dumps([steps, seed]).encode())
        told.update(msgspec.json.encode([lesson.shapes.groups, lesson.shapes.forms]))
        for picture in (lesson.empty, *(canvas for canvas, _ in lesson.reals)):
            told.update(np.ascontiguousarray(picture, np.float32))
        return cls(path, told.hexdigest())

    def save_progress(self, done: int, state: Weights) -> None:
        """Nothing where the disk is full: learning goes on without"""
        file = io.BytesIO()
        np.savez(file, done=np.array(done), key=np.array(self.key), **state)
        try:
            write_whole(self.path, file.getvalue())
        except OSError:
            return

    def load_progress(self) -> tuple[int, Weights] | None:
        """(steps done, the learner's state) where the same was being learnt; None otherwise"""
        try:
            with np.load(self.path, allow_pickle=False) as kept:
                if str(kept["key"]) != self.key:
                    return None
                state = {k: kept[k] for k in kept.files if k not in ("done", "key")}
                return int(kept["done"]), state
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
            return None
