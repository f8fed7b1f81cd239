"""The numbered statements of `engine/<game>/rules.md`, and which numbers the tests name."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from importlib import resources

import msgspec

_STATEMENT = re.compile(r"^- ([A-Z]\d+)(?:-[A-Z]?\d+)? (.*)$")


class Rule(msgspec.Struct, frozen=True):
    """One statement: its number, its words, and the heading of the ledger it stands under."""

    number: str
    text: str
    heading: str


@cache
def rules(game: str) -> dict[str, Rule]:
    """number -> Rule, in the ledger's order."""
    out: dict[str, Rule] = {}
    heading = ""
    for line in resources.files(f"engine.{game}").joinpath("rules.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            heading = line[3:].strip()
        elif m := _STATEMENT.match(line):
            out[m[1]] = Rule(m[1], m[2], heading)
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
