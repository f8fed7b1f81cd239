"""The inner loops of reading, in C if there was a compiler during installation. Central value:
Kernel.

A function with a kernel also has a numpy version, for use without it:

    _to_px = Kernel("to_px", "dddnd")    # of pose.c, one letter per argument

    def to_px(pose, mm):
        if _to_px: _to_px(pose, mm, ...)
        else: ... numpy ...
"""

from __future__ import annotations

import ctypes
import hashlib
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

SOURCES = Path(__file__).parent
LIBRARY = SOURCES / "built.so"
WAY = "NILOMETER_KERNELS"  # environment variable: "numpy" disables all kernels
ARRAYS = {
    "B": np.dtype(np.uint8),
    "f": np.dtype(np.float32),
    "d": np.dtype(np.float64),
}
ADDRESS = ctypes.c_byte * 0  # type used to get an array's address
NUMBERS = {"n": ctypes.c_int, "x": ctypes.c_double}


@cache
def load_library() -> tuple[ctypes.CDLL | None, str]:
    """The library, or None and why there is none"""
    if os.environ.get(WAY) == "numpy":
        return None, f"{WAY} is set to numpy"
    if not LIBRARY.is_file():
        return None, "not compiled; with a C compiler make install does that"
    sources = sorted(p for p in SOURCES.iterdir() if p.suffix in (".c", ".h"))
    wanted = hashlib.sha256(b"".join(p.read_bytes() for p in sources)).hexdigest()[:16]
    try:
        library = ctypes.CDLL(str(LIBRARY))
        library.built_from.restype = ctypes.c_char_p
        built = library.built_from().decode()
    except (OSError, AttributeError) as e:
        return None, f"cannot be loaded: {e}"
    if built != wanted:  # its functions may have other signatures
        return None, "compiled from another version; make install compiles them anew"
    return library, ""


def kernel_mode() -> str:
    """Which of the two versions is used, in words"""
    library, why = load_library()
    return "compiled" if library is not None else f"numpy ({why})"


class Kernel:
    """A C function from this folder; falsy if numpy has to be used. Arguments are C-contiguous
    arrays and numbers; results are written into arrays."""

    def __init__(self, name: str, arguments: str) -> None:
        """arguments: one letter each: B, f, d are arrays of uint8, float32, float64; n, x are an
        int and a double"""
        self.name, self.arguments = name, arguments
        self._function: Callable[..., None] | None = None

    def __bool__(self) -> bool:
        return load_library()[0] is not None

    def __call__(self, *given: np.ndarray | float | None) -> None:
        """None is passed as a null pointer. Raises TypeError for an array of the wrong type or
        layout."""
        if self._function is None:
            function = getattr(load_library()[0], self.name)
            function.argtypes = [NUMBERS.get(a, ctypes.c_void_p) for a in self.arguments]
            function.restype = None
            self._function = function
        taken: list[Any] = []
        for letter, value in zip(self.arguments, given, strict=True):
            if letter in ARRAYS and isinstance(value, np.ndarray):
                if value.dtype != ARRAYS[letter] or not value.flags.c_contiguous:
                    pieces = "" if value.flags.c_contiguous else " in pieces"
                    raise TypeError(f"{self.name}: {value.dtype} array{pieces} for {letter}")
                # ten times as fast as value.ctypes.data, but only for writable arrays
                own: Any = value
                taken.append(ADDRESS.from_buffer(own) if own.flags.writeable else own.ctypes.data)
            else:
                taken.append(value)
        self._function(*taken)
