"""What several worker processes of one test run need, and one of them makes for all."""

import fcntl
import os
import shutil
from pathlib import Path


def made_once(tmp_path_factory, name, make):
    """A folder of that name, filled by `make(folder)` in the first process that asks; the others
    wait for it. Nobody may change what is in it. If `make` raises, the next to ask tries again."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder, half = shared / name, shared / "half" / name
    with Path(shared / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            shutil.rmtree(half, ignore_errors=True)
            half.mkdir(parents=True)
            make(half)
            half.rename(folder)
    return folder
