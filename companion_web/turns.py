"""Decides whose request is answered next. Each address gets the same share of CPU time, whatever it
asks for and how often, so that a crowd delays itself but nobody else.
"""

from __future__ import annotations

import time
from collections import deque
from typing import Protocol

from waitress.task import ThreadedTaskDispatcher

# Requests processed at once: with more, the thread that reads and writes the connections waits too
# long for its turn among Python's threads. Requests that only wait (following phones) do not count.
AT_ONCE = 2
PATIENCE_S = 0.1  # what takes longer is waiting for something else: the table, the disk, a lens
GUESS_S = 0.002  # CPU time assumed for a request that has not been measured
REMEMBERED = 500  # the most addresses remembered for having used more than others


class Task(Protocol):
    """A connection with a request to be answered. asker: the address it is for."""

    @property
    def asker(self) -> str: ...

    def service(self) -> None: ...

    def cancel(self) -> None: ...


class FairTurns(ThreadedTaskDispatcher):
    """Counts the CPU seconds that each address has used: the one that has used least is next. A new
    or returning address starts with what the last one served had used."""

    def __init__(self) -> None:
        super().__init__()
        self._waiting: dict[str, deque[Task]] = {}
        self._used: dict[str, float] = {}
        self._least = 0.0  # what the address served last had used
        self._worked_on: dict[Task, float] = {}  # and since when

    def add_task(self, task: Task) -> None:
        with self.lock:
            self._waiting.setdefault(task.asker, deque()).append(task)
            self.queue_cv.notify()

    @property
    def is_crowded(self) -> bool:
        """Whether requests are waiting for their turn, so that `look` has to be called soon."""
        return bool(self._waiting)

    def look(self, now: float | None = None) -> None:
        """Gives the turns of requests that wait for something else to others."""
        now = time.monotonic() if now is None else now
        with self.lock:
            for task, since in [*self._worked_on.items()]:
                if now - since >= PATIENCE_S:
                    del self._worked_on[task]
                    self.queue_cv.notify()

    def only_waits(self, task: Task) -> None:
        """The task continues, but only waits: others get its turn."""
        with self.lock:
            if self._worked_on.pop(task, None) is not None:
                self.queue_cv.notify()

    def handler_thread(self, thread_no: int) -> None:
        while (found := self._next(thread_no)) is not None:
            asker, task = found
            began = time.thread_time()
            try:
                task.service()
            except BaseException:
                self.logger.exception("Exception when servicing %r", task)
            with self.lock:
                self._worked_on.pop(task, None)
                self._note_use(asker, time.thread_time() - began - GUESS_S)

    def _next(self, thread_no: int) -> tuple[str, Task] | None:
        """Blocks until a task's turn has come; returns its address and the task, or None if this
        thread is to end."""
        with self.lock:
            while not self.stop_count and (not self._waiting or len(self._worked_on) >= AT_ONCE):
                self.active_count -= 1
                self.queue_cv.wait()
                self.active_count += 1
            if self.stop_count > 0:
                self.active_count -= 1
                self.stop_count -= 1
                self.threads.discard(thread_no)
                self.thread_exit_cv.notify()
                return None
            asker = min(self._waiting, key=self._used_by)
            task = self._waiting[asker].popleft()
            if not self._waiting[asker]:
                del self._waiting[asker]
            self._least = self._used_by(asker)
            self._note_use(asker, GUESS_S)
            self._worked_on[task] = time.monotonic()
            return asker, task

    def _used_by(self, asker: str) -> float:
        return max(self._least, self._used.get(asker, 0.0))

    def _note_use(self, asker: str, seconds: float) -> None:
        self._used[asker] = self._used_by(asker) + seconds
        if len(self._used) > REMEMBERED:
            most = sorted(self._used.items(), key=lambda one: -one[1])
            self._used = dict(most[: REMEMBERED // 2])
