"""What an owner may draw or correct on a photo of the empty board, and what keeps a plan made that
way from being played.

A game states it as data (`Game.form`, `Game.plan_faults`); `calibration/trace.py` and the page know
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
    """A site has one of `tags`, or none of them if `none` says what that means (None: one has to be
    chosen).

    when: only sites that have one of these tags are asked; (): every site that is drawn.
    """

    name: str
    text: Text
    tags: tuple[Tag, ...]
    none: Text | None = None
    when: tuple[str, ...] = ()


class Spots(msgspec.Struct, frozen=True):
    """Small places inside each site that has the tag `when`: `count` of them, named CELL.name1 and
    so on, of `size` mm, with these tags."""

    when: str
    name: str
    count: int
    size: tuple[float, float]
    tags: tuple[str, ...]
    text: Text


class Form(msgspec.Struct, frozen=True):
    """draws: how a newly drawn site is read ("cluster" or "pile"); None: outlines can be moved but
    none added.

    cells: the tags of drawn areas; these sites border each other, and each must be reachable from
    the others. names: the choices whose tags name a new site, by the first that it has. rows: tags
    of sites numbered in rows (M2.1, M2.2), which may be longer or shorter in another edition.
    """

    draws: str | None = None
    cells: tuple[str, ...] = ()
    choices: tuple[Choice, ...] = ()
    names: tuple[str, ...] = ()
    spots: tuple[Spots, ...] = ()
    rows: tuple[str, ...] = ()


class PlanFault(msgspec.Struct, frozen=True):
    """Something about a plan that its owner should fix: a sentence, and the sites it is about.

    stops: the game cannot be played at all with it.
    """

    text: Text
    sites: tuple[str, ...] = ()
    stops: bool = False
