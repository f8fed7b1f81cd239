"""Returns unused memory to the system: trim_heap."""

from __future__ import annotations

import ctypes
from contextlib import suppress


def trim_heap() -> None:
    """Returns freed memory to the system: glibc keeps arrays of up to 32 MB in its own heap,
    fragmented"""
    with suppress(AttributeError, OSError):  # other C libraries lack this function
        ctypes.CDLL(None).malloc_trim(0)
