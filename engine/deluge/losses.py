"""Who lost most at once, by war, fanatics or water, for the summary of the evening."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.deluge.position import Position
from engine.deluge.words import seat_name
from engine.game import Action
from engine.text import say

SHOWN = 5


def heaviest_losses(
    start: Position, played: Sequence[tuple[Action, Position]]
) -> list[dict[str, Any]]:
    """One table (as in `view`) with the moves that took most pawns off the map; [] if there were
    none."""
    rows: list[list[Any]] = []
    before = start
    for n, (action, after) in enumerate(played, 1):
        for seat in start.seats:
            i = start.colour(seat)
            people, soldiers = (
                before.on_map(what, i) - after.on_map(what, i) for what in ("people", "soldiers")
            )
            if people + soldiers > 0:
                rows.append(
                    [
                        n,
                        seat_name(seat),
                        max(people, 0),
                        max(soldiers, 0),
                        seat_name(action.seat),
                        people + soldiers,
                    ]
                )
        before = after
    rows.sort(key=lambda row: -row[-1])
    if not rows:
        return []
    return [
        {
            "title": say("the heaviest losses"),
            "rows": [row[:-1] for row in rows[:SHOWN]],
            "columns": [
                say("move"),
                say("who lost"),
                say("people"),
                say("soldiers"),
                say("move of"),
            ],
        }
    ]
