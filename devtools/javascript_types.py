"""The types of what the page is sent, as TypeScript, for checking its JavaScript.

python -m devtools.javascript_types     # writes companion_web/types/snapshot.d.ts
"""

from __future__ import annotations

import types
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, NotRequired, Union, get_args, get_origin, get_type_hints

from companion.table import snapshot_types
from companion_web.snapshot_types import Snapshot

FILE = Path(__file__).parent.parent / "companion_web" / "types" / "snapshot.d.ts"
PLAIN = {str: "string", int: "number", float: "number", bool: "boolean", Any: "any"}
# unions that have their own name
NAMED = {"Words": snapshot_types.Words, "Score": snapshot_types.Score}


def type_declarations() -> str:
    """The text of the file: an interface for each TypedDict that a snapshot is made of."""
    known: dict[str, str] = {}
    _declare_type(Snapshot, known)
    named = [f"export type {n} = {_written_type(t, known, whole=True)};" for n, t in NAMED.items()]
    head = (
        "// Written by `python -m devtools.javascript_types` from the Python types. Do not edit.\n"
    )
    return "\n".join([head, *named, "", *(known[name] for name in sorted(known))]).rstrip() + "\n"


def fields_of(cls: type) -> Mapping[str, tuple[Any, bool]]:
    """name -> (type, whether it may be missing) for each field of a TypedDict."""
    out = {}
    for name, hint in get_type_hints(cls, include_extras=True).items():
        optional = get_origin(hint) is NotRequired
        out[name] = (get_args(hint)[0] if optional else hint), optional
    return out


def _declare_type(cls: type, known: dict[str, str]) -> None:
    if cls.__name__ in known:
        return
    known[cls.__name__] = ""
    doc = " ".join((cls.__doc__ or "").split()) if "dict(" not in (cls.__doc__ or "") else ""
    lines = [f"/** {doc} */"] if doc else []
    lines.append(f"export interface {cls.__name__} {{")
    for name, (hint, optional) in fields_of(cls).items():
        lines.append(f"  {name}{'?' if optional else ''}: {_written_type(hint, known)};")
    known[cls.__name__] = "\n".join([*lines, "}\n"])


def _written_type(hint: Any, known: dict[str, str], whole: bool = False) -> str:
    if not whole:
        for name, union in NAMED.items():
            if hint == union:
                return name
    if hint in PLAIN:
        return PLAIN[hint]
    if hint is type(None):
        return "null"
    origin, args = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        parts = dict.fromkeys(_written_type(a, known) for a in args)
        return " | ".join(parts)
    if origin is Literal:
        return " | ".join(_literal_type(a) for a in args)
    if origin is list:
        one = _written_type(args[0], known)
        return f"({one})[]" if " " in one else f"{one}[]"
    if origin is dict:
        return f"{{ [key: string]: {_written_type(args[1], known)} }}"
    _declare_type(hint, known)
    return hint.__name__


def _literal_type(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else f'"{value}"'


if __name__ == "__main__":
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text(type_declarations(), encoding="utf-8")
