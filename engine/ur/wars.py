"""The wars of a whole game, the longest first, for the summary of the evening."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.game import Action
from engine.text import say
from engine.ur.actions import War
from engine.ur.position import Position
from engine.ur.words import seat_name

SHOWN = 5


def longest_wars(
    start: Position, played: Sequence[tuple[Action, Position]]
) -> list[dict[str, Any]]:
    """One table (as in `view`) with the wars that had most attacks; [] if there were none.
    Consecutive attacks of one seat are a war; `lost`: the stones it cost everybody together."""
    wars: list[dict[str, Any]] = []
    before, last = start, 0
    for n, (action, after) in enumerate(played, 1):
        if isinstance(action, War) and action.source:
            if not wars or last != n - 1 or wars[-1]["seat"] != action.seat:
                wars.append(
                    {"seat": action.seat, "move": n, "way": [], "stones": _stones_lying(before)}
                )
            wars[-1]["way"].append(f"{action.source}>{action.target}")
            wars[-1]["lost"] = wars[-1]["stones"] - _stones_lying(after)
            last = n
        before = after
    wars.sort(key=lambda w: (-len(w["way"]), -w["lost"]))
    if not wars:
        return []
    rows = [
        [w["move"], seat_name(w["seat"]), len(w["way"]), ", ".join(w["way"]), w["lost"]]
        for w in wars[:SHOWN]
    ]
    return [
        {
            "title": say("the longest wars"),
            "rows": rows,
            "columns": [
                say("move"),
                say("player"),
                say("attacks"),
                say("where"),
                say("stones lost"),
            ],
        }
    ]


def _stones_lying(state: Position) -> int:
    """Stones on the tiles, of all colours together."""
    return sum(c in state.seats for contents in state.layout().values() for c in contents)
