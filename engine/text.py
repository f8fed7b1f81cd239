"""Sentences shown to people: an English template and its arguments, so that a catalogue can
translate them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec


class Text(msgspec.Struct, frozen=True):
    """`Text("take {piece} off {site}", {"piece": Text("the green leader of Lion"), "site": "J5"})`.

    The English template is its own key in the catalogues; arguments that are `Text` are translated
    as well.
    """

    template: str
    args: dict[str, Any] = {}

    def translated(self, catalogue: Callable[[str], str]) -> str:
        """The sentence, with each template looked up by `catalogue(template)`."""
        if not self.args:
            return catalogue(self.template)
        args = {
            k: v.translated(catalogue) if isinstance(v, Text) else v for k, v in self.args.items()
        }
        return catalogue(self.template).format(**args)

    def __str__(self) -> str:
        return self.translated(lambda template: template)

    def __hash__(self) -> int:
        return hash((self.template, str(self)))


def whole_number(word: str) -> int | None:
    """The number that a word of at most four plain digits stands for; None if it is anything else
    (no game here has larger numbers)."""
    return int(word) if word.isascii() and word.isdecimal() and len(word) <= 4 else None


def say(template: str, **args: Any) -> Text:
    """A sentence with arguments; catalogues translate the template."""
    return Text(template, args)


def pack_text(value: Any) -> Any:
    """`value` as plain data for JSON: a Text becomes `{"t": template, "a": {...}}` (just `{"t":
    ...}` without arguments)."""
    if isinstance(value, Text):
        return (
            {"t": value.template, "a": pack_text(value.args)}
            if value.args
            else {"t": value.template}
        )
    if isinstance(value, dict):
        return {str(k): pack_text(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [pack_text(v) for v in value]
    if isinstance(value, msgspec.Struct):
        return {k: pack_text(getattr(value, k)) for k in value.__struct_fields__}
    return value
