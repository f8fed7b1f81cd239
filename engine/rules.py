"""The numbered statements of `engine/<game>/rules.md` (in another language: `rules.nl.md`), and
which numbers the tests name."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import SequenceMatcher
from functools import cache
from importlib import resources

import msgspec

_STATEMENT = re.compile(r"^- ([A-Z]\d+)(?:-[A-Z]?\d+)? (.*)$")
# the heading of the original text that a statement comes from
_PLACE = re.compile(r"\[([A-Z][^\]]*)\] ?")
_LONGEST = 1600  # characters in a passage


class Rule(msgspec.Struct, frozen=True):
    """One statement: its number, its text, the heading of the ledger it is under, the language of
    both, and the headings of the original rules text (Dutch) that it comes from."""

    number: str
    text: str
    heading: str
    language: str = "en"
    places: tuple[str, ...] = ()


def load_rules(game: str, language: str = "en") -> dict[str, Rule]:
    """number -> Rule, in the ledger's order; English for statements that have no translation into
    that language (two letters). Do not change the dict.

    Raises ModuleNotFoundError if there is no such game.
    """
    return _rules_in(game, language if language in _translations_of(game) else "en")


@cache
def _translations_of(game: str) -> frozenset[str]:
    """The languages that a game's rules are translated into."""
    names = (f.name for f in resources.files(f"engine.{game}").iterdir())
    return frozenset(m[1] for name in names if (m := re.fullmatch(r"rules\.([a-z]{2})\.md", name)))


@cache
def _rules_in(game: str, language: str) -> dict[str, Rule]:
    out = _read_ledger(game, "rules.md", "en")
    if language != "en":
        translated = _read_ledger(game, f"rules.{language}.md", language)
        out = {
            n: msgspec.structs.replace(translated[n], places=rule.places)
            if n in translated
            else rule
            for n, rule in out.items()
        }
    return out


def _read_ledger(game: str, file: str, language: str) -> dict[str, Rule]:
    out: dict[str, Rule] = {}
    heading, places = "", ()
    for line in (
        resources.files(f"engine.{game}").joinpath(file).read_text(encoding="utf-8").splitlines()
    ):
        if line.startswith("## "):
            heading, places = line[3:].strip(), ()
        elif m := _STATEMENT.match(line):
            # A statement without a place of its own continues that of the one before it.
            own = tuple(p.strip() for found in _PLACE.findall(m[2]) for p in found.split(","))
            places = own or places
            ruling = m[2].startswith("*") and not own
            text = _PLACE.sub("", m[2])
            out[m[1]] = Rule(m[1], text, heading, language, () if ruling else places)
    return out


def source_text(game: str) -> str:
    """The Dutch rules text that the ledger was made from."""
    return resources.files(f"engine.{game}").joinpath("rules.nl.txt").read_text(encoding="utf-8")


def rules_passage(game: str, place: str) -> str:
    """What the rules text (Dutch) says under the heading most similar to `place`, with that
    heading; "" if none is similar enough."""
    lines = source_text(game).splitlines()
    marked = any(line.startswith("#") for line in lines)
    heads = [i for i, line in enumerate(lines) if _is_heading(line, marked)]
    alike = [(_heading_likeness(place, lines[i]), -i) for i in heads]
    if not alike or max(alike)[0] < 0.75:
        return ""
    start = -max(alike)[1]
    ends = (i for i in heads if i > start and not lines[i].strip().endswith(":"))
    body = "\n".join(line.strip(" #*\t") for line in lines[start : next(ends, len(lines))])
    # lines broken at the end of the page's width
    body = re.sub(r"\n\s*(?=[a-zé(])", " ", body.strip())
    return body if len(body) <= _LONGEST else body[:_LONGEST].rsplit(" ", 1)[0] + " …"


def _is_heading(line: str, marked: bool) -> bool:
    """marked: the text's headings begin with #; otherwise they are short lines that begin with a
    capital letter and do not end like a sentence."""
    if marked:
        return line.startswith("#")
    line = line.strip()
    return bool(re.match(r"(?:\w\. |Fase \d+ ?: ?)?[A-Z]", line)) and (
        len(line) < 80 and line[-1] not in ".,;!?"
    )


def _heading_likeness(place: str, line: str) -> float:
    if line.strip(" #*:.").lower() == place.lower():
        return 3.0
    a, b = (re.sub(r"^(de|het|een) ", "", _bare_heading(text)) for text in (place, line))
    if not a or not b:
        return 1.5 * line.strip(" #*").lower().startswith(place.lower())
    return 2.0 if a == b else 1.5 if b.startswith(a) else SequenceMatcher(None, a, b).ratio()


def _bare_heading(text: str) -> str:
    text = re.sub(r"^[#\s*]*(fase \d+:? *)?(\w\. )?", "", text.lower())
    return re.sub(r"[\s\d:.*-]+$", "", text).strip()


def uncovered_rules(game: str, texts: Iterable[str]) -> list[str]:
    """The numbers of the ledger that none of `texts` (test files, scripts) names."""
    named: set[str] = set()
    for text in texts:
        named.update(re.findall(r"(?<![A-Za-z])([A-Z]\d+)(?!\d)", text))
    return [n for n in load_rules(game) if n not in named]
