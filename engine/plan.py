"""What the rules need of a plan (docs/contracts.md, Plans and layouts): sites with tags and
borders, kinds and how many of each are in the box.

Where things lie in millimetres is the business of `vision`, which reads the same file.
"""

from __future__ import annotations

import re
import tomllib
from functools import cached_property
from typing import Any

_WORD, _ARROW = re.compile(r"[\w.-]+"), re.compile(r"\s*>\s*")


class BadPlan(ValueError):
    """A plan that cannot be used; the message names the place in the file and the fault."""


class Site:
    """One place: `id`, `reads` ("pile" or "cluster"), `tags`, `borders` (ids), `of` (the cell that
    a spot lies in), `optional`.

    group: sites of one group look alike, and pieces lie the same way round on them; None if the
    plan does not say.
    """

    __slots__ = ("also", "borders", "group", "id", "of", "optional", "outline", "reads", "tags")

    def __init__(self, data: dict[str, Any]) -> None:
        self.id: str = data["id"]
        self.reads: str = data.get("reads", "pile")
        self.tags: frozenset[str] = frozenset(data.get("tags", ()))
        self.borders: tuple[str, ...] = tuple(data.get("borders", ()))
        self.of: str | None = data.get("of")
        self.group: str | None = _optional_word(data, "group")
        self.optional: bool = bool(data.get("optional", False))
        self.outline: tuple[tuple[float, float], ...] = tuple(
            tuple(p) for p in data.get("outline", ())
        )
        self.also: tuple[tuple[tuple[float, float], ...], ...] = tuple(
            tuple(tuple(p) for p in o) for o in data.get("also", ())
        )

    def number(self, prefix: str) -> int | None:
        """The number in a tag such as `palms3` for the prefix `palms`; None if there is no such
        tag."""
        for tag in self.tags:
            if tag.startswith(prefix) and tag[len(prefix) :].isdecimal():
                return int(tag[len(prefix) :])
        return None


class Plan:
    """A plan as the rules see it. `sites` keeps the file's order; `counts` is kind -> number in the
    box.

    base: the kinds that lie below the loose pieces of their site (tiles, cards). artwork: kind ->
    what is printed on it, part by part; two kinds with the same word at the same index look alike
    there. Kinds without the key are left out. backs: kind -> the kind on the other side of the same
    piece.
    """

    def __init__(self, data: dict[str, Any]) -> None:
        try:
            self.game: str = data["game"]
            width, height = data.get("size", (0, 0))
            self.size: tuple[float, float] = (float(width), float(height))
            self.sites: dict[str, Site] = {s["id"]: Site(s) for s in data["site"]}
            pieces = data.get("piece", ())
            self.counts: dict[str, int] = {p["kind"]: int(p.get("count", 0)) for p in pieces}
            self.backs: dict[str, str] = {p["kind"]: p["back"] for p in pieces if p.get("back")}
            self.base: frozenset[str] = frozenset(
                p["kind"] for p in pieces if _yes_or_no(p, "base")
            )
            self.artwork: dict[str, tuple[str, ...]] = {
                p["kind"]: words for p in pieces if (words := _word_list(p, "artwork"))
            }
        except (KeyError, TypeError, ValueError) as e:
            raise BadPlan(f"plan: {type(e).__name__} {e}") from None
        if len(self.sites) != len(data["site"]):
            raise BadPlan("plan: a site id appears twice")
        for s in self.sites.values():
            for b in s.borders:
                if b not in self.sites:
                    raise BadPlan(f"plan: site {s.id} borders {b}, which is not in the plan")
            if s.of is not None and s.of not in self.sites:
                raise BadPlan(f"plan: site {s.id} is of {s.of}, which is not in the plan")

    @classmethod
    def parse(cls, text: str) -> Plan:
        """A plan from the text of a plan.toml. Raises BadPlan."""
        try:
            return cls(tomllib.loads(text))
        except tomllib.TOMLDecodeError as e:
            raise BadPlan(f"plan: {e}") from None

    def called(self, word: str) -> str | None:
        """The id of the site that people call by this word, ignoring case; None if there is
        none."""
        return word if word in self.sites else self._folded.get(word.casefold())

    def as_written(self, text: str) -> str:
        """The text with its sites spelled as in the plan, and no spaces around its arrows."""
        return _WORD.sub(lambda word: self.called(word[0]) or word[0], _ARROW.sub(">", text))

    @cached_property
    def _folded(self) -> dict[str, str]:
        return {site.casefold(): site for site in self.sites}

    def tagged(self, tag: str) -> list[Site]:
        """The sites that have a tag."""
        return [s for s in self.sites.values() if tag in s.tags]

    @cached_property
    def spots(self) -> dict[str, list[str]]:
        """cell -> the spots inside it, in the file's order"""
        out: dict[str, list[str]] = {}
        for s in self.sites.values():
            if s.of is not None:
                out.setdefault(s.of, []).append(s.id)
        return out


def _optional_word(data: dict[str, Any], key: str) -> str | None:
    """The text at a key; None if the key is missing. Raises TypeError for anything else."""
    value = data.get(key)
    if value is not None and not isinstance(value, str):
        raise TypeError(f"{key} is not a text: {value!r}")
    return value


def _yes_or_no(data: dict[str, Any], key: str) -> bool:
    """The boolean at a key; False if the key is missing. Raises TypeError for anything else."""
    value = data.get(key, False)
    if not isinstance(value, bool):
        raise TypeError(f"{key} is neither true nor false: {value!r}")
    return value


def _word_list(data: dict[str, Any], key: str) -> tuple[str, ...]:
    """The texts at a key; () if the key is missing. Raises TypeError for anything else."""
    value = data.get(key, ())
    if not isinstance(value, (list, tuple)) or not all(isinstance(word, str) for word in value):
        raise TypeError(f"{key} is not a list of texts: {value!r}")
    return tuple(value)
