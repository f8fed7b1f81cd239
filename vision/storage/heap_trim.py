"""Memory that is no longer needed. Its value: trim_heap."""

from __future__ import annotations

import ctypes
from contextlib import suppress


def trim_heap() -> None:
    """Hands what was freed back to the machine: glibc keeps arrays of up to 32 MB for itself, in
    pieces that nothing else fits into"""
    with suppress(AttributeError, OSError):  # other libraries have nothing of the kind
        ctypes.CDLL(None).malloc_trim(0)
