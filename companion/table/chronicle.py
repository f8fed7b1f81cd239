"""The evening in figures: how long it took, who took how long, the greatest gains, what the game
itself finds worth telling."""

from __future__ import annotations

from typing import Any

from companion.table.pause import LONG
from companion.table.snapshot import packed_doing
from companion.table.table import Table
from engine.text import pack_text

GAINS = 3  # greatest gains listed


def game_chronicle(table: Table) -> dict[str, Any]:
    """{"began", "ended": seconds since 1970, "played": seconds without pauses, "moves", "undone",
    "edits", "seats": [{"id", "moves", "seconds", "longest": seconds, "at": move number}], "gains":
    [{"seat", "points", "move", "words"}], "tables"}"""
    events, lines = table.journal.events(), table.lines
    times = {e.id: e.at for e in events}
    seats: dict[str, dict[str, Any]] = {
        s: {"id": s, "moves": 0, "seconds": 0.0, "longest": 0.0, "at": None}
        for s in table.state.seats
    }
    gains: list[dict[str, Any]] = []
    played, number = 0.0, 0
    for before, line in zip(lines, lines[1:]):
        took = times[line.event] - times[before.event]
        took = took if 0 <= took < LONG else 0.0
        played += took
        if line.action is None:
            continue
        number += 1
        seat = seats.get(line.action.split(":")[0])
        if seat is not None:
            seat["moves"] += 1
            seat["seconds"] += took
            if took > seat["longest"]:
                seat["longest"], seat["at"] = took, number
        was, now = before.state.scores(), line.state.scores()
        words = packed_doing(line.state)
        gains += [
            {"seat": s, "points": n, "move": number, "words": words, "text": line.action}
            for s in now
            if (n := total_score(now[s]) - total_score(was.get(s))) > 0
        ]
    gains.sort(key=lambda g: -g["points"])
    actions = [(line.state.parse(line.action), line.state) for line in lines if line.action]
    return {
        "began": events[0].at,
        "ended": events[-1].at,
        "played": played,
        "moves": number,
        "undone": sum(e.kind == "undo" for e in events),
        "edits": sum(e.kind == "edit" for e in events),
        "seats": list(seats.values()),
        "gains": gains[:GAINS],
        "tables": pack_text(table.game.chronicle(lines[0].state, actions)),
    }


def total_score(score: Any) -> float:
    """One number for a score: itself, its "total", or all its parts together"""
    if isinstance(score, dict):
        return score["total"] if "total" in score else sum(score.values())
    return score or 0
