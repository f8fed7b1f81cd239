"""What an owner may draw or correct on a photo of the empty board, and what keeps a plan so made
from being played.

A game says it as data (`Game.form`, `Game.plan_faults`); `calibration/trace.py` and the page know
no game.
"""

from __future__ import annotations

import msgspec

from engine.text import Text


class Tag(msgspec.Struct, frozen=True):
    """A tag of the plan and what people call it."""

    tag: str
    text: Text


class Choice(msgspec.Struct, frozen=True):
    """Of `tags` a site bears one, or none where `none` says what that means (None: one has to be
    chosen).

    when: only sites that bear one of these tags are asked; (): every site that is drawn.
    """

    name: str
    text: Text
    tags: tuple[Tag, ...]
    none: Text | None = None
    when: tuple[str, ...] = ()


class Spots(msgspec.Struct, frozen=True):
    """Small places inside each site that bears `when`: so many, called CELL.name1 and on, of `size`
    mm, with these tags."""

    when: str
    name: str
    count: int
    size: tuple[float, float]
    tags: tuple[str, ...]
    text: Text


class Form(msgspec.Struct, frozen=True):
    """draws: how a newly drawn site is read ("cluster" or "pile"), None: outlines are moved, but
    none is new.

    cells: the tags of what is drawn: these sites touch, and have to be reached from each other.
    names: of which choices' tags a new site's id is made, the first that it bears. rows: tags of
    sites numbered in rows (M2.1, M2.2), which may be longer or shorter in another edition.
    """

    draws: str | None = None
    cells: tuple[str, ...] = ()
    choices: tuple[Choice, ...] = ()
    names: tuple[str, ...] = ()
    spots: tuple[Spots, ...] = ()
    rows: tuple[str, ...] = ()


class PlanFault(msgspec.Struct, frozen=True):
    """Something about a plan that people should mend: a sentence, and the sites it is about.

    stops: with it the game cannot be played at all.
    """

    text: Text
    sites: tuple[str, ...] = ()
    stops: bool = False
