"""Reads text files as written by common editors."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any


def read_text(path: str | Path) -> str:
    """A text file, with or without a byte-order mark. Raises OSError;
    ValueError that says which line is not UTF-8."""
    data = Path(path).read_bytes()
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as e:
        line = data[: e.start].count(b"\n") + 1
        raise ValueError(f"line {line}: not UTF-8; save the file with that encoding") from None


def read_toml(path: str | Path) -> dict[str, Any]:
    """A TOML file. Raises OSError; ValueError that says what is wrong where."""
    return parse_toml(read_text(path))


def parse_toml(text: str) -> dict[str, Any]:
    """The data of a TOML text. Raises ValueError that says what is wrong where."""
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("brackets within brackets without end") from None
