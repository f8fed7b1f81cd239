"""The language of output for people at the table: one of the page's languages."""

from __future__ import annotations

import os

import click

from companion_web.catalogue import ENGLISH, language_names


def machine_language() -> str:
    """The machine's own language if the page has it, otherwise English."""
    named = next(filter(None, map(os.environ.get, ("LC_ALL", "LC_MESSAGES", "LANG"))), "")
    short = named.split("_")[0].lower()
    return short if short in language_names() else ENGLISH


language_option = click.option(
    "--language",
    type=click.Choice(list(language_names())),
    default=machine_language,
    show_default="this machine's, else en",
    help="the language of the sheets",
)
