"""Whether JSON data is of a type that companion.table.snapshot_types describes."""

import types
from typing import Any, Literal, Union, get_args, get_origin

from devtools.javascript_types import fields_of


def faults_of(value, hint, at="snapshot"):
    """Where data is not as its type says, as ["snapshot.seats[0].name: ..."]; [] where it is"""
    origin, args = get_origin(hint), get_args(hint)
    if hint is Any:
        return []
    if hint in (str, int, float, bool, type(None)):
        known = {float: (int, float)}.get(hint, hint)
        good = isinstance(value, known) and (hint is bool or not isinstance(value, bool))
        return [] if good else [f"{at}: {value!r} is no {hint.__name__}"]
    if origin in (Union, types.UnionType):
        found = [faults_of(value, a, at) for a in args]
        return min(found, key=lambda f: (bool(f), -len(f[0]) if f else 0))
    if origin is Literal:
        return [] if value in args else [f"{at}: {value!r} is none of {args}"]
    if origin is list:
        if not isinstance(value, list):
            return [f"{at}: {value!r} is no list"]
        return [f for i, v in enumerate(value) for f in faults_of(v, args[0], f"{at}[{i}]")]
    if not isinstance(value, dict):
        return [f"{at}: {value!r} is no object"]
    if origin is dict:
        return [f for k, v in value.items() for f in faults_of(v, args[1], f"{at}.{k}")]
    fields = fields_of(hint)
    out = [f"{at}: {k} is not in its type" for k in value if k not in fields]
    for name, (kind, optional) in fields.items():
        if name in value:
            out += faults_of(value[name], kind, f"{at}.{name}")
        elif not optional:
            out.append(f"{at}: {name} is missing")
    return out
