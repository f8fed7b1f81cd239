"""The computer that runs the table: whether its power supply suffices, whether it is too hot, how
many threads reading may use."""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import subprocess
import threading
from collections.abc import Callable, Sequence

from engine.text import Text, say

EVERY = 30.0  # seconds between two checks
# vcgencmd get_throttled: the present state; 16 bits higher the same since the start
VOLTAGE, CAPPED, THROTTLED, WARM = 1, 2, 4, 8
SINCE_START = 16


def read_throttled() -> int | None:
    """The firmware's bits; None if this is not a Raspberry Pi, or if they may not be read."""
    command = shutil.which("vcgencmd")
    if command is None:
        return None
    try:
        said = subprocess.run([command, "get_throttled"], capture_output=True, text=True, timeout=5)
        return int(said.stdout.strip().removeprefix("throttled="), 16)
    except (OSError, subprocess.TimeoutExpired, ValueError):
        return None


def power_faults(bits: int | None) -> list[Text]:
    """What people should know about these bits."""
    bits = bits or 0
    out = []
    if bits & VOLTAGE:
        out.append(
            say(
                "The power supply is too weak for this computer: reading is slow, and "
                "the camera may fail. Use the one made for it."
            )
        )
    if bits & WARM or bits & (CAPPED | THROTTLED) and not bits & VOLTAGE:
        out.append(say("This computer is too hot and has slowed down: it needs air, or a fan."))
    return out


def watch_machine(
    always: Sequence[Text],
    tell: Callable[[tuple[Text, ...]], object],
    ended: threading.Event,
    read: Callable[[], int | None] = read_throttled,
    every: float = EVERY,
) -> None:
    """Tells the host's page what there is to say about this machine, until `ended`. always: what
    always holds."""
    while True:
        bits = read()
        tell((*always, *power_faults(bits)))
        if bits is None or ended.wait(every):
            return


def limit_heaps() -> None:
    """Limits glibc to two heaps: it gives threads their own, and each would hold on to the memory
    that reading once needed."""
    with contextlib.suppress(OSError, AttributeError):  # other C libraries do not have it
        ctypes.CDLL(None).mallopt(-8, 2)  # M_ARENA_MAX


def reading_threads() -> int:
    """How many threads one picture may use: one processor is left to the page."""
    return max(1, len(os.sched_getaffinity(0)) - 1)
