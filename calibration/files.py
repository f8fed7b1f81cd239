"""Files that are there whole or not at all, whatever happens in the middle: no room left, no power
left."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def check_writable(folder: Path) -> None:
    """Nobody should work for minutes to be told that the outcome cannot be kept. Raises OSError."""
    tempfile.TemporaryFile(dir=folder).close()


def write_whole(path: str | Path, data: bytes, mode: int | None = None) -> None:
    """What stood there before stays until the new stands whole, on the disk. Raises OSError that
    names `path`; nothing is left beside it.

    mode: the file's rights, whatever the umask; None: those it has, and for a new file what the
    umask leaves of 0644."""
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
    """The names in it are on the disk too: a rename that is not may be undone by a power cut.
    Raises OSError."""
    number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
