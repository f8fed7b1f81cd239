"""Worker processes for calibration, and the memory available for them."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
from pathlib import Path

CGROUP = Path("/sys/fs/cgroup")


def begin_apart() -> None:
    """Prepares a new process: the parent reports Ctrl-C, the process ends with its parent, and it
    has a lower priority than the page that shows the progress"""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    with contextlib.suppress(OSError):  # a service may not be allowed to
        os.nice(5)

    def end_together() -> None:
        parent = multiprocessing.parent_process()
        if parent is not None:
            parent.join()
        os._exit(1)

    threading.Thread(target=end_together, daemon=True).start()


def free_mb() -> float:
    """MB that this process and its children may still use, given the machine's memory and a
    service's limit; 0 if unknown"""
    try:
        lines = dict(line.split(":") for line in Path("/proc/meminfo").read_text().splitlines())
        free = float(lines["MemAvailable"].split()[0]) / 1024
    except (OSError, KeyError, ValueError):
        return 0.0
    try:
        taken, most = (
            (CGROUP / own_group() / name).read_text() for name in ("memory.current", "memory.max")
        )
        return min(free, (int(most) - int(taken)) / 1024**2)
    except (OSError, ValueError):  # no such limit
        return free


def own_group() -> str:
    """The control group this process runs in, as a path below CGROUP"""
    return Path("/proc/self/cgroup").read_text().partition("::/")[2].strip()
