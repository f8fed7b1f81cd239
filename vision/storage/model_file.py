"""The model file: arrays in an .npz, grouped by prefix, written atomically."""

from __future__ import annotations

import json
import os
import tempfile
import threading
import typing
import zipfile
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

Arrays = dict[str, np.ndarray]
FORMAT = 11
MEETING_TYPES = threading.Lock()  # see vision/plan.py


class BadModel(ValueError):
    """A model file that cannot be used; the message names the file and the fault."""


def add_prefix(name: str, arrays: Arrays) -> Arrays:
    """The arrays with a common prefix, to be stored in one file with others"""
    return {f"{name}/{key}": value for key, value in arrays.items()}


def strip_prefix(name: str, arrays: Arrays) -> Arrays:
    """The arrays with one prefix, under their own names again"""
    return {
        key[len(name) + 1 :]: value for key, value in arrays.items() if key.startswith(name + "/")
    }


def save_arrays(path: str | Path, arrays: Arrays) -> None:
    """Writes a temporary file and renames it, so that a reader sees either the old model or the new
    one."""
    path = Path(path)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as f:
            named: dict[str, Any] = {"format": np.array(FORMAT), **arrays}
            np.savez_compressed(f, **named)
            f.flush()
            os.fsync(f.fileno())
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def load_arrays(path: str | Path) -> Arrays:
    """Raises BadModel."""
    try:
        with np.load(path, allow_pickle=False) as f:
            arrays = {key: f[key] for key in f.files}
    except OSError as e:
        raise BadModel(f"{path}: {e.strerror or e}") from None
    except (ValueError, zipfile.BadZipFile, EOFError, KeyError) as e:
        raise BadModel(
            f"{path}: not a model, or cut off ({type(e).__name__}); calibrate again"
        ) from None
    if int(arrays.pop("format", np.array(0))) != FORMAT:
        raise BadModel(f"{path}: made by another version; calibrate again")
    return arrays


def text_as_array(value: str) -> np.ndarray:
    """A string as an array of bytes, for a model file."""
    return np.frombuffer(value.encode(), np.uint8).copy()


def array_as_text(array: np.ndarray) -> str:
    """The inverse of `text_as_array`."""
    return array.tobytes().decode()


def pack_struct(value: msgspec.Struct) -> Arrays:
    """A struct of arrays, plain data and further structs (or lists of them) as arrays;
    `unpack_struct` is the inverse."""
    out: Arrays = {}
    plain: dict[str, Any] = {}
    for field in msgspec.structs.fields(value):
        part = getattr(value, field.name)
        if isinstance(part, np.ndarray):
            out[field.name] = part
        elif isinstance(part, msgspec.Struct):
            out |= add_prefix(field.name, pack_struct(part))
        elif isinstance(part, list) and part and isinstance(part[0], msgspec.Struct):
            for n, item in enumerate(part):
                out |= add_prefix(f"{field.name}.{n}", pack_struct(item))
        elif part is not None:
            plain[field.name] = part
    out["about"] = text_as_array(json.dumps(msgspec.to_builtins(plain)))
    return out


def convert_plain(plain: Any, kind: Any) -> Any:
    """Raises msgspec.ValidationError if it is not of this type."""
    with MEETING_TYPES:  # any type used in models may be used here for the first time
        return msgspec.convert(plain, kind)


def unpack_struct(kind: type[msgspec.Struct], arrays: Arrays) -> Any:
    """Raises KeyError or msgspec.ValidationError if something is missing or invalid."""
    plain = json.loads(array_as_text(arrays["about"]))
    hints = typing.get_type_hints(kind)
    values: dict[str, Any] = {}
    for field in msgspec.structs.fields(kind):
        hint, name = hints[field.name], field.name
        types = [t for t in (hint, *typing.get_args(hint)) if isinstance(t, type)]
        inner = next((t for t in types if issubclass(t, msgspec.Struct)), None)
        if name in arrays:
            values[name] = arrays[name]
        elif name in plain:
            values[name] = convert_plain(plain[name], hint)
        elif inner is not None and typing.get_origin(hint) is list:
            numbers = sorted(
                {int(k[len(name) + 1 :].split("/")[0]) for k in arrays if k.startswith(name + ".")}
            )
            values[name] = [
                unpack_struct(inner, strip_prefix(f"{name}.{n}", arrays)) for n in numbers
            ]
        elif inner is not None and strip_prefix(name, arrays):
            values[name] = unpack_struct(inner, strip_prefix(name, arrays))
    try:
        return kind(**values)
    except TypeError as e:
        raise KeyError(str(e)) from None
