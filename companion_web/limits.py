"""How often somebody may ask: token buckets and counted tries, in memory, bounded."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable

KNOWN = 64  # addresses that hold seats
REMEMBERED = 2000  # addresses; the least recently seen are forgotten first


class Rate:
    """A token bucket for each address: `per_second` refills, `burst` at most."""

    def __init__(
        self, per_second: float, burst: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.per_second, self.burst, self.clock = per_second, burst, clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._lock = threading.Lock()

    def wait(self, who: str) -> float:
        """Takes a token and returns 0.0; if there is none, returns the seconds until there is
        one."""
        with self._lock:
            now = self.clock()
            left, then = self._left.pop(who, (self.burst, now))
            left = min(self.burst, left + (now - then) * self.per_second)
            short = 1.0 - left
            self._left[who] = (left if short > 0 else left - 1.0, now)
            if len(self._left) > REMEMBERED:
                self._left.popitem(last=False)
            return short / self.per_second if short > 0 else 0.0


class Tries:
    """Limits failed tries at a secret: so many in so many seconds for each address, `overall` times
    that for all together (0: no overall limit, for a secret that cannot be guessed)."""

    def __init__(
        self,
        tries: int,
        seconds: float,
        overall: int = 10,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.tries, self.seconds, self.overall, self.clock = tries, seconds, overall, clock
        self._failed: OrderedDict[str, list[float]] = OrderedDict()
        self._lock = threading.Lock()

    def wait(self, who: str, trusted: bool = False) -> float:
        """0.0 if `who` may try, otherwise the seconds until then. trusted: ignore the tries of
        others."""
        with self._lock:
            now = self.clock()
            own = [t for t in self._failed.get(who, ()) if now - t < self.seconds]
            if len(own) >= self.tries:
                return self.seconds - (now - own[-self.tries])
            if trusted or not self.overall:
                return 0.0
            every = sorted(t for ts in self._failed.values() for t in ts if now - t < self.seconds)
            most = self.tries * self.overall
            return self.seconds - (now - every[-most]) if len(every) >= most else 0.0

    def failed(self, who: str) -> None:
        with self._lock:
            now = self.clock()
            times = self._failed.pop(who, [])
            self._failed[who] = [*(t for t in times if now - t < self.seconds), now]
            if len(self._failed) > REMEMBERED:
                self._failed.popitem(last=False)

    def succeeded(self, who: str) -> None:
        with self._lock:
            self._failed.pop(who, None)


class Known:
    """Addresses from which a seated phone has recently asked; the least recently seen are forgotten
    first."""

    def __init__(
        self, seconds: float = 12 * 3600.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.seconds, self.clock = seconds, clock
        self._heard: OrderedDict[str, float] = OrderedDict()
        self._lock = threading.Lock()

    def note(self, address: str) -> None:
        with self._lock:
            self._heard.pop(address, None)
            self._heard[address] = self.clock()
            if len(self._heard) > KNOWN:
                self._heard.popitem(last=False)

    def __contains__(self, address: object) -> bool:
        heard = self._heard.get(str(address))
        return heard is not None and self.clock() - heard < self.seconds
