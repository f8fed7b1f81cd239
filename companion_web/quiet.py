"""Keeps strangers from filling the log: what they do is counted and logged in one line a minute."""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter

EVERY_S = 60.0
NAMED = 3  # addresses named in a line


class Strangers:
    """Counts what strangers did, and logs it in one line from time to time."""

    def __init__(self, log: logging.Logger) -> None:
        self._log, self._lock = log, threading.Lock()
        self._done: dict[str, Counter[str]] = {}
        self._told: float | None = None

    def note(self, what: str, address: str = "") -> None:
        """`what` follows "connections that": "sent no whole request"."""
        with self._lock:
            self._done.setdefault(what, Counter())[address] += 1

    def tell(self, now: float | None = None) -> None:
        """Logs the first incident in a minute at once, and the others when the minute is over."""
        now = time.monotonic() if now is None else now
        with self._lock:
            if not self._done or self._told is not None and now - self._told < EVERY_S:
                return
            done, self._done, self._told = self._done, {}, now
        for_all: Counter[str] = Counter()
        for by in done.values():
            for_all.update(by)
        said = "; ".join(f"{by.total()} {what}" for what, by in done.items())
        who = ", ".join(a for a, _ in for_all.most_common(NAMED) if a)
        self._log.warning(
            "of %d addresses (%s%s): %s",
            len(for_all),
            who,
            ", ..." if len(for_all) > NAMED else "",
            said,
        )


strangers = Strangers(logging.getLogger(__name__))


class Unsurprised(logging.Filter):
    """Keeps messages and tracebacks about broken connections out of a log, and counts them
    instead."""

    def filter(self, record: logging.LogRecord) -> bool:
        fault = record.exc_info[1] if record.exc_info else None
        broken = (
            isinstance(fault, OSError)
            or isinstance(fault, ValueError)
            and "closed file" in str(fault)
        )
        if (
            broken
            or "uncaptured python exception" in record.getMessage()
            or record.levelno < logging.ERROR
        ):
            if record.levelno >= logging.WARNING:
                strangers.note("broke off")
            return False
        return True
