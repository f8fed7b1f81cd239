"""The numbered statements of `engine/<game>/rules.md` (in another language: `rules.nl.md`), and
which numbers the tests name."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from importlib import resources

import msgspec

_STATEMENT = re.compile(r"^- ([A-Z]\d+)(?:-[A-Z]?\d+)? (.*)$")


class Rule(msgspec.Struct, frozen=True):
    """One statement: its number, its words, the heading of the ledger it stands under, and the
    language of both."""

    number: str
    text: str
    heading: str
    language: str = "en"


@cache
def rules(game: str, language: str = "en") -> dict[str, Rule]:
    """number -> Rule, in the ledger's order; in English what has no words in that language (two
    letters).

    Raises ModuleNotFoundError where there is no such game."""
    out = _ledger(game, "rules.md", "en")
    if (
        re.fullmatch("[a-z]{2}", language)
        and resources.files(f"engine.{game}").joinpath(f"rules.{language}.md").is_file()
    ):
        told = _ledger(game, f"rules.{language}.md", language)
        out = {n: told.get(n, rule) for n, rule in out.items()}
    return out


def _ledger(game: str, file: str, language: str) -> dict[str, Rule]:
    out: dict[str, Rule] = {}
    heading = ""
    for line in (
        resources.files(f"engine.{game}").joinpath(file).read_text(encoding="utf-8").splitlines()
    ):
        if line.startswith("## "):
            heading = line[3:].strip()
        elif m := _STATEMENT.match(line):
            out[m[1]] = Rule(m[1], m[2], heading, language)
    return out


def source_text(game: str) -> str:
    """The Dutch rules text the ledger is made from."""
    return resources.files(f"engine.{game}").joinpath("rules.nl.txt").read_text(encoding="utf-8")


def uncovered(game: str, texts: Iterable[str]) -> list[str]:
    """The numbers of the ledger that none of `texts` (test files, scripts) names."""
    named: set[str] = set()
    for text in texts:
        named.update(re.findall(r"(?<![A-Za-z])([A-Z]\d+)(?!\d)", text))
    return [n for n in rules(game) if n not in named]
