"""Work spread over processes, as many as the machine has processors and memory for. Its central
value: Workers."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

# MB that a process takes at the most, with a game of fifty looks; and the one that waits for them
NEED, OWN = 400, 250
CGROUP = Path("/sys/fs/cgroup")


class Workers:
    """Runs functions of picklable arguments in other processes, or, where there is but one, in this
    one. The results are the same bit for bit. A process that dies, say for want of memory, loses
    nothing: its work is done here.

    Processes are started afresh, not forked: OpenCV's and the page's threads would not survive
    that."""

    def __init__(self, processes: int) -> None:
        self.pool = (
            ProcessPoolExecutor(processes, multiprocessing.get_context("spawn"), begin_apart)
            if processes > 1
            else None
        )

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *fault: object) -> None:
        if self.pool is not None:
            for process in multiprocessing.active_children() if fault[0] is not None else ():
                process.terminate()
            self.pool.shutdown(cancel_futures=True)

    def start(self, work: Callable[..., Any], *args: object) -> Callable[[], Any]:
        """Begins with work(*args); what is returned waits for it and gives its result, or raises
        what it raised"""
        try:
            future = self.pool.submit(work, *args) if self.pool is not None else None
        except (
            BrokenProcessPool,
            OSError,
        ):  # no room for processes, or no shared memory to speak with them
            future = None

        def result() -> Any:
            try:
                return work(*args) if future is None else future.result()
            except BrokenProcessPool:
                self.pool = None
                return work(*args)

        return result

    def each(self, work: Callable[..., Any], every: Iterable[tuple]) -> list[Any]:
        """[work(*args) for args in every]"""
        return [result() for result in [self.start(work, *args) for args in every]]


def begin_apart() -> None:
    """In a new process: an end by the keyboard is told by the one that started it, and without that
    one nobody waits; the page, which shows how far it is, goes first"""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    with contextlib.suppress(OSError):  # the service may not ask for it
        os.nice(5)

    def end_together() -> None:
        parent = multiprocessing.parent_process()
        if parent is not None:
            parent.join()
        os._exit(1)

    threading.Thread(target=end_together, daemon=True).start()


def processes_here() -> int:
    """How many processes of calibrating this machine has room for now, beside the one that asks"""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
    return max(min(cores, int((free_mb() - OWN) // NEED)), 1)


def free_mb() -> float:
    """MB that this process and those it starts may still take, by the machine and by a service's
    limit; 0 where nobody tells"""
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
