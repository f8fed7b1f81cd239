"""Languages: one JSON file each in `locale/`, `{"name": "Nederlands", "texts": {English template:
translation}}`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib import resources
from typing import Any

from flask import request

from engine.text import Text

_FOLDER = resources.files("companion_web").joinpath("locale")
ENGLISH = "en"
COOKIE = "nilometer_language"


class BadCatalogue(ValueError):
    """A language file that cannot be used; the message names it and the fault."""


def _language_codes() -> frozenset[str]:
    return frozenset(f.name[:-5] for f in _FOLDER.iterdir() if f.name.endswith(".json"))


@cache
def language_names() -> dict[str, str]:
    """code -> the language's own name; English first"""
    found = {code: catalogue_of(code)["name"] for code in _language_codes()}
    return {ENGLISH: found.pop(ENGLISH), **dict(sorted(found.items()))}


@cache
def catalogue_of(language: str) -> dict[str, Any]:
    """Raises BadCatalogue; KeyError for a language without a file."""
    if language not in _language_codes():
        raise KeyError(language)
    path = _FOLDER.joinpath(f"{language}.json")
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(data["name"], str) or not all(
            isinstance(v, str) for v in data["texts"].values()
        ):
            raise TypeError("every text is a string")
    except (ValueError, KeyError, TypeError, AttributeError) as e:
        raise BadCatalogue(f"{path.name}: {type(e).__name__}: {e}") from None
    return data


def translated_text(language: str, template: str, **args: Any) -> str:
    """A template in that language, filled in; English if the catalogue lacks it."""
    texts = catalogue_of(language)["texts"]
    return Text(template, args).translated(lambda t: texts.get(t, t))


def translated_sentence(language: str, packed: Mapping[str, Any]) -> str:
    """A packed sentence (engine.text.pack_text) in a language, the sentences inside it too."""
    args = {
        k: translated_sentence(language, v) if isinstance(v, dict) and "t" in v else v
        for k, v in packed.get("a", {}).items()
    }
    return translated_text(language, packed["t"], **args)


def chosen_language(wished: str | None, accepted: Iterable[str]) -> str:
    """The language asked for, otherwise the first available one that the browser accepts, otherwise
    English."""
    there = language_names()
    for code in [wished or "", *accepted]:
        short = code.split("-")[0].lower()
        if short in there:
            return short
    return ENGLISH


def request_language() -> str:
    """The one that a request is answered in."""
    return chosen_language(request.cookies.get(COOKIE), request.accept_languages.values())


def template_translator(language: str) -> Callable[..., str]:
    """`translate` into that language, for templates."""
    return lambda template, **args: translated_text(language, template, **args)


def text_writer(language: str) -> Callable[[Text], str]:
    """A function that renders a text, including the texts inside it, in that language."""
    texts = catalogue_of(language)["texts"]
    return lambda text: text.translated(lambda template: texts.get(template, template))
