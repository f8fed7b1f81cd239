"""What a move may have been instead: other actions of the same kind that leave the same board. No
camera can tell them apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from companion.table.journal import Line
from companion.table.snapshot import packed_doing
from engine import Action, State

RECENT = 8  # moves of the whole table that are examined
MOST = 6  # the most alternatives to one move


class Otherwise:
    """Caches the alternatives to an event as long as its action is one of the last."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, str], list[dict[str, Any]]] = {}

    def of(self, lines: Sequence[Line], seat: str) -> list[dict[str, Any]]:
        """[{"event", "text", "words": [T], "others": [{"text", "words": [T]}]}], the newest first,
        of a seat's last moves"""
        out: list[dict[str, Any]] = []
        for before, line in list(zip(lines, lines[1:]))[-RECENT:]:
            if line.action is None:
                out = []  # a correction made since cannot be replayed
                continue
            key = line.event, line.action
            if line.action.split(":")[0] != seat:
                continue
            if key not in self._known:
                self._known[key] = other_tellings(before.state, line.action, line.state)
            if self._known[key]:
                out.append(_distinct_tellings(line, self._known[key]))
        recent = {(line.event, line.action) for line in lines[-RECENT:]}
        self._known = {key: found for key, found in self._known.items() if key in recent}
        return out[::-1]


def _distinct_tellings(line: Line, found: list[dict[str, Any]]) -> dict[str, Any]:
    """Uses the notation instead of sentences that do not tell the alternatives apart (they do not
    mention an event's picture)."""
    every = [{"text": line.action, "words": packed_doing(line.state)}, *found]
    if len({str(one["words"]) for one in every}) < len(every):
        every = [{**one, "words": []} for one in every]
    return {"event": line.event, **every[0], "others": every[1:]}


def other_tellings(before: State, text: str, after: State) -> list[dict[str, Any]]:
    """Legal actions of the same kind, at the same place, after which the board looks the same but
    the state of the game differs."""
    action, layout = before.parse(text), after.layout()
    out: dict[bytes, dict[str, Any] | None] = {after.key(): None}
    for a in before.legal_actions():
        if (
            type(a) is type(action)
            and a.seat == action.seat
            and a.asks() is None
            and _done_where(a) == _done_where(action)
            and a != action
        ):
            then = before.apply(a)
            if then.layout() == layout:
                out.setdefault(then.key(), {"text": str(a), "words": packed_doing(then)})
                if len(out) > MOST:
                    break
    return [o for o in out.values() if o is not None]


def _done_where(action: Action) -> list[str]:
    return [w for w in action.words().split()[:2] if not w.isdecimal()]
