"""What somebody offers and another has to accept before it is done: a trade. Kept in memory: an offer is a word across the table."""

from __future__ import annotations

import threading
from typing import Any

from companion.snapshot import doing
from engine import Action, State

MOST = 12      # open at once


class Offers:
    """Trades that one seat has offered and another has not yet answered, in the order they were made."""

    def __init__(self) -> None:
        self._open: list[dict[str, Any]] = []
        self._lock = threading.Lock()
        self._count = 0

    def __bool__(self) -> bool:
        return bool(self._open)

    def add(self, state: State, action: Action) -> None:
        """A legal action that another seat has to agree to; the same offer is not made twice."""
        words = doing(state.apply(action))
        with self._lock:
            if all(o["text"] != str(action) for o in self._open):
                self._count += 1
                self._open.append({"id": self._count, "from": action.seat, "to": action.asks(), "text": str(action), "words": words})
                del self._open[:-MOST]

    def get(self, number: int) -> dict[str, Any] | None:
        with self._lock:
            return next((o for o in self._open if o["id"] == number), None)

    def close(self, number: int) -> None:
        with self._lock:
            self._open = [o for o in self._open if o["id"] != number]

    def standing(self, state: State) -> list[dict[str, Any]]:
        """Those the rules still allow; the others are forgotten."""
        with self._lock:
            self._open = [o for o in self._open if not state.check(state.parse(o["text"]))]
            return list(self._open)
