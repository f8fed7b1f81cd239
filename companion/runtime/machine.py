"""The computer the table runs on: whether its power supply will do, whether it is too hot, how much
of it reading may take."""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import subprocess
import threading
from collections.abc import Callable, Sequence

from engine.text import Text, say

EVERY = 30.0  # seconds between two looks
# vcgencmd get_throttled: what is so now; 16 bits higher the same, since the start
VOLTAGE, CAPPED, THROTTLED, WARM = 1, 2, 4, 8
SINCE_START = 16


def read_throttled() -> int | None:
    """The firmware's bits; None: this is no Raspberry Pi, or it may not be asked."""
    command = shutil.which("vcgencmd")
    if command is None:
        return None
    try:
        said = subprocess.run([command, "get_throttled"], capture_output=True, text=True, timeout=5)
        return int(said.stdout.strip().removeprefix("throttled="), 16)
    except (OSError, subprocess.TimeoutExpired, ValueError):
        return None


def power_faults(bits: int | None) -> list[Text]:
    """What people should know of these bits"""
    bits = bits or 0
    out = []
    if bits & VOLTAGE:
        out.append(
            say(
                "The power supply is too weak for this computer: it reads slowly, and "
                "the camera may fail. Take the one made for it."
            )
        )
    if bits & WARM or bits & (CAPPED | THROTTLED) and not bits & VOLTAGE:
        out.append(say("This computer is too hot and has slowed down: give it air, or a fan."))
    return out


def watch_machine(
    told: Sequence[Text],
    tell: Callable[[tuple[Text, ...]], object],
    ended: threading.Event,
    read: Callable[[], int | None] = read_throttled,
    every: float = EVERY,
) -> None:
    """Tells the host's page what there is to say of this machine, until `ended`. told: what is so
    all the time."""
    while True:
        bits = read()
        tell((*told, *power_faults(bits)))
        if bits is None or ended.wait(every):
            return


def limit_heaps() -> None:
    """Glibc gives threads heaps of their own, where what reading took stays for later: with two of
    them it stays but once"""
    with contextlib.suppress(OSError, AttributeError):  # another C library has no such thing
        ctypes.CDLL(None).mallopt(-8, 2)  # M_ARENA_MAX


def reading_threads() -> int:
    """How many threads one picture may take: a processor is left to the page"""
    return max(1, len(os.sched_getaffinity(0)) - 1)
