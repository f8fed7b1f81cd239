"""Nested values (structs, arrays, tuples, dicts) as one drawer of arrays and back, without pickle:
nothing in a model file is ever run. Structs are named by class and looked up among those a caller
allows."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
import numpy as np

from vision.storage import model_file


class Unpackable(TypeError):
    """A value of a kind that no model file can hold."""


def freeze_value(value: Any) -> model_file.Arrays:
    """Raises Unpackable. A struct's field that holds such a value but has a default (a cache) is
    left out."""
    arrays: model_file.Arrays = {}
    outline = _freeze_value(value, arrays)
    arrays["outline"] = model_file.text_as_array(json.dumps(outline, separators=(",", ":")))
    return arrays


def _freeze_value(value: Any, arrays: model_file.Arrays) -> Any:
    if isinstance(value, np.ndarray):
        key = f"a{len(arrays)}"
        arrays[key] = value
        return {"array": key}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, msgspec.Struct):
        fields = {}
        for f in msgspec.structs.fields(value):
            spare: model_file.Arrays = dict(arrays)
            try:
                fields[f.name] = _freeze_value(getattr(value, f.name), spare)
            except Unpackable:
                if f.required:
                    raise
                continue
            arrays.update(spare)
        return {"struct": type(value).__name__, "fields": fields}
    if isinstance(value, Mapping):
        return {
            "dict": [[_freeze_value(k, arrays), _freeze_value(v, arrays)] for k, v in value.items()]
        }
    if isinstance(value, (list, tuple)):
        return {type(value).__name__: [_freeze_value(v, arrays) for v in value]}
    if isinstance(value, (set, frozenset)):
        return {"frozenset": [_freeze_value(v, arrays) for v in sorted(value)]}
    raise Unpackable(type(value).__name__)


def thaw_value(arrays: model_file.Arrays, kinds: Iterable[type[msgspec.Struct]]) -> Any:
    """kinds: the structs that may stand in it. Raises KeyError or ValueError where something is
    missing or odd."""
    names = {k.__name__: k for k in kinds}
    try:
        return _thaw_value(json.loads(model_file.array_as_text(arrays["outline"])), arrays, names)
    except (TypeError, AttributeError) as e:
        raise ValueError(str(e)) from None


def _thaw_value(outline: Any, arrays: model_file.Arrays, names: Mapping[str, type]) -> Any:
    if not isinstance(outline, dict):
        return outline
    if "array" in outline:
        return arrays[outline["array"]]
    if "struct" in outline:
        return names[outline["struct"]](
            **{k: _thaw_value(v, arrays, names) for k, v in outline["fields"].items()}
        )
    if "dict" in outline:
        return {
            _thaw_value(k, arrays, names): _thaw_value(v, arrays, names) for k, v in outline["dict"]
        }
    ((what, items),) = outline.items()
    made = {"list": list, "tuple": tuple, "frozenset": frozenset}[what]
    return made(_thaw_value(v, arrays, names) for v in items)
