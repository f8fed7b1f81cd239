"""A copy that is played with before all of it has been learnt: it is read as well as it can be
until then, and with what was learnt from then on."""

from __future__ import annotations

import logging
import subprocess
import sys
from pathlib import Path

from companion.fault import Fault
from companion.runtime.copies import open_copy
from vision.reader import Reader
from vision.storage.model_file import BadModel

MARK, MODEL = ".half-learnt", "model.npz"
log = logging.getLogger(__name__)


def mark_half_learnt(folder: Path) -> None:
    """Notes that the copy's model lacks what is still being learnt. Raises OSError."""
    (folder / MARK).write_bytes(b"")


def mark_learnt(folder: Path) -> None:
    """Notes that nothing is being learnt any more. Raises OSError."""
    (folder / MARK).unlink(missing_ok=True)


def is_half_learnt(folder: Path) -> bool:
    """Whether the copy's model is still the one that was there when that was noted."""
    try:
        return (folder / MARK).stat().st_mtime_ns >= (folder / MODEL).stat().st_mtime_ns
    except OSError:
        return False


def learn_rest(folder: Path) -> subprocess.Popen | None:
    """Learns the rest in a low-priority process of its own, if the table was switched off before
    it was learnt; nobody waits for it."""
    try:
        return subprocess.Popen(
            ["nice", "-n", "19", sys.executable, "-m", "cli", "calibrate", str(folder)],
            start_new_session=True,
            stdout=subprocess.DEVNULL,
        )
    except OSError:
        return None


class NewModel:
    """Waits for the model of a copy that is half learnt now."""

    def __init__(self, folder: Path) -> None:
        self.folder, self._waits = folder, is_half_learnt(folder)
        self._used = self._written()

    def _written(self) -> int:
        try:
            return (self.folder / MODEL).stat().st_mtime_ns
        except OSError:
            return 0

    def reader(self) -> Reader | None:
        """The reader with what was learnt since this was last asked; None if that is nothing."""
        if not self._waits:  # asked every other second of a game
            return None
        written = self._written()
        if written == self._used or is_half_learnt(self.folder):
            return None
        self._used = written
        try:
            return open_copy(self.folder).reader
        except (Fault, BadModel, OSError):
            log.exception("the new model cannot be read; the table keeps the one it has")
            return None
