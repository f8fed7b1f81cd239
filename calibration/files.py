"""Files that are there whole or not at all, whatever happens in the middle: no room left, no power left."""

from __future__ import annotations

import os
from pathlib import Path


def write_whole(path: str | Path, data: bytes, mode: int = 0o644) -> None:
    """What stood there before stays until the new stands whole. Raises OSError that names `path`; nothing is left beside it."""
    path = Path(path)
    part = path.with_name(path.name + ".part")
    try:
        with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "wb") as f:
            f.write(data)
            f.flush()
            os.fsync(f.fileno())
        os.replace(part, path)
    except OSError as e:
        part.unlink(missing_ok=True)
        raise OSError(e.errno, e.strerror, str(path)) from None
