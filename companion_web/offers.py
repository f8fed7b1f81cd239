"""Actions to which other seats have to agree first: a trade, taking back what others did, going on
although they have not passed.

Kept only in memory, like a word across the table. Each of those asked taps once; the host's consent
alone is enough.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection
from typing import Any

import msgspec

MOST = 12  # open at once


class Offer(msgspec.Struct, frozen=True):
    """asks: who still has to agree (nobody: only the host can); agreed: who has. `text` and `words`
    (packed sentences) say what is asked; stands(): whether it can still be done; do(by) does it."""

    id: int
    giver: str
    asks: tuple[str, ...]
    text: str
    words: list[Any]
    stands: Callable[[], bool]
    do: Callable[[str], object]
    agreed: tuple[str, ...] = ()


class Offers:
    """The open offers, oldest first."""

    def __init__(self) -> None:
        self._open: list[Offer] = []
        self._lock = threading.Lock()
        self._count = 0

    def __bool__(self) -> bool:
        return bool(self._open)

    def add(
        self,
        giver: str,
        asks: Collection[str],
        text: str,
        words: list[Any],
        stands: Callable[[], bool],
        do: Callable[[str], object],
    ) -> None:
        """Adds an offer, unless the same one is open already."""
        with self._lock:
            if all((o.giver, o.text) != (giver, text) for o in self._open):
                self._count += 1
                self._open.append(
                    Offer(self._count, giver, tuple(sorted(asks)), text, words, stands, do)
                )
                del self._open[:-MOST]

    def get(self, number: int) -> Offer | None:
        with self._lock:
            return next((o for o in self._open if o.id == number), None)

    def agree(self, number: int, seats: Collection[str], all_of_them: bool) -> Offer | None:
        """These seats agree. Returns the offer, closed, once nobody is left to ask; None if others
        still have to agree."""
        with self._lock:
            at = next((n for n, o in enumerate(self._open) if o.id == number), None)
            if at is None:
                return None
            old = self._open[at]
            left = () if all_of_them else tuple(s for s in old.asks if s not in seats)
            said = tuple(s for s in old.asks if s in seats)
            new = msgspec.structs.replace(old, asks=left, agreed=(*old.agreed, *said))
            if left:
                self._open[at] = new
                return None
            del self._open[at]
            return new

    def close(self, number: int) -> None:
        with self._lock:
            self._open = [o for o in self._open if o.id != number]

    def standing(self) -> list[dict[str, Any]]:
        """[{"id", "from", "to": seats, "text", "words"}] of those that can still be done; forgets
        the others."""
        with self._lock:
            self._open = [o for o in self._open if o.stands()]
            return [
                {"id": o.id, "from": o.giver, "to": list(o.asks), "text": o.text, "words": o.words}
                for o in self._open
            ]
