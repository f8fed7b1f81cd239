"""Writes files completely or not at all, even if the disk is full or the power fails."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def check_writable(folder: Path) -> None:
    """Checks that a folder is writable before minutes of work are wasted. Raises OSError."""
    tempfile.TemporaryFile(dir=folder).close()


def write_whole(path: str | Path, data: bytes, mode: int | None = None) -> None:
    """Replaces a file atomically: the old one stays until the new one is completely on the disk.
    Raises OSError that names `path`; leaves no temporary file.

    mode: the file's permissions, regardless of the umask; None: unchanged, and for a new file 0644
    less the umask."""
    path = Path(path)
    part = path.with_name(path.name + ".part")
    try:
        if mode is None and path.exists():
            mode = path.stat().st_mode & 0o777
        with open(
            os.open(
                part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644 if mode is None else mode & 0o600
            ),
            "wb",
        ) as f:
            if mode is not None:
                os.fchmod(f.fileno(), mode)
            f.write(data)
            f.flush()
            os.fsync(f.fileno())
        os.replace(part, path)
        sync_folder(path.parent)
    except OSError as e:
        part.unlink(missing_ok=True)
        raise OSError(e.errno, e.strerror, str(path)) from None


def sync_folder(folder: Path) -> None:
    """Flushes a folder's entries to the disk: otherwise a power cut may undo a rename. Raises
    OSError."""
    number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
