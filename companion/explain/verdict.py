"""What the table concluded from a settled view (docs/contracts.md, Verdicts)."""

from __future__ import annotations

from typing import Any

import msgspec

from engine import Action, State, Text, Violation, say
from engine.layout import Contents, Layout

SAME, MOVED, UNFINISHED, ILLEGAL, UNCLEAR, BUSY = (
    "same",
    "moved",
    "unfinished",
    "illegal",
    "unclear",
    "busy",
)


class ToDo(msgspec.Struct, frozen=True):
    """One thing people still have to do with the pieces, and the sites it names."""

    text: Text
    sites: tuple[str, ...] = ()
    seat: str | None = None


class Answer(msgspec.Struct, frozen=True):
    """One answer to a question.

    run: the actions it stands for, starting `undo` events back; None: everything is put back as it
    was. misread: what is seen elsewhere (`Question.seen`) does not really lie there.
    """

    text: Text
    run: tuple[str, ...] | None = None
    undo: int = 0
    picture: str | None = None
    misread: bool = False


class Question(msgspec.Struct, frozen=True):
    """Asked on the phone of `seat` (None: anybody seated). seen: site -> contents that nothing
    explains."""

    text: Text
    answers: tuple[Answer, ...]
    seat: str | None = None
    sites: tuple[str, ...] = ()
    seen: Layout = {}


class Verdict(msgspec.Struct, frozen=True):
    """undo: how many events are taken back before `actions` are done. state: the one to continue
    from.

    seen: site -> contents where the board is behind the state (to-dos). back: how to put an illegal
    action back. certain: False if several sets of actions give the same board and this one is a
    guess. redone: indices of the actions that had been done before and are only replayed after one
    inserted before them. wrong: site -> contents that hands left there although nothing allows it.
    """

    verdict: str
    state: State
    actions: tuple[Action, ...] = ()
    undo: int = 0
    violations: tuple[Violation, ...] = ()
    todo: tuple[ToDo, ...] = ()
    back: tuple[Text, ...] = ()
    question: Question | None = None
    seen: Layout = {}
    text: Text = say("nothing changed")
    certain: bool = True
    redone: frozenset[int] = frozenset()
    wrong: Layout = {}

    @property
    def news(self) -> tuple[Action, ...]:
        """The new actions, without those that are only replayed."""
        return tuple(a for n, a in enumerate(self.actions) if n not in self.redone)


def pieces_text(contents: Contents, name: Any) -> Text:
    """ "a temple, a treasure"; `name` is Game.kind_name"""
    if not contents:
        return say("nothing")
    parts = [name(k) if k != "?" else say("whatever lies below") for k in contents]
    out = parts[0]
    for p in parts[1:]:
        out = say("{first}, {next}", first=out, next=p)
    return out


def mend_text(site: str, have: Contents, want: Contents, name: Any) -> Text:
    """What to do on a site so that it shows `want` instead of `have`."""
    from collections import Counter

    off = list((Counter(have) - Counter(want)).elements())
    on = list((Counter(want) - Counter(have)).elements())
    if off and not on:
        return say("take {pieces} off {site}", pieces=_counted_pieces(off, name), site=site)
    if on and not off:
        return say("put {pieces} on {site}", pieces=_counted_pieces(on, name), site=site)
    if not off and not on:
        return say("{site} should show {pieces}", site=site, pieces=pieces_text(want, name))
    return say(
        "on {site} take {off} off and put {on} there",
        site=site,
        off=_counted_pieces(off, name),
        on=_counted_pieces(on, name),
    )


def _counted_pieces(kinds: list[str], name: Any) -> Text:
    out = None
    for kind in dict.fromkeys(kinds):
        n = kinds.count(kind)
        piece = name(kind) if kind != "?" else say("whatever lies below")
        part = piece if n == 1 else say("{n} × {piece}", n=n, piece=piece)
        out = part if out is None else say("{first}, {next}", first=out, next=part)
    return out or say("nothing")
