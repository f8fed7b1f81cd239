"""This game's own expectations in scripts: `? tide flood`, `? obelisk 28`, `? jokers red 2`, `?
points 1` ..."""

from __future__ import annotations

from collections.abc import Sequence

from engine.nile.board import FRUITS, Board
from engine.nile.position import Position
from engine.nile.scoring import out_count


def check_expectation(p: Position, board: Board, words: Sequence[str]) -> tuple[bool, str] | None:
    """(whether it holds, what was found); None if it is not one of this game's."""
    head, rest = words[0], list(words[1:])
    single = {
        "tide": p.tide,
        "obelisk": str(p.obelisk),
        "starter": p.seats[p.starter],
        "phase": p.phase,
        "round": str(p.round),
        "points": str(p.points),
        "deserts": str(p.deserts),
    }
    if head in single and len(rest) == 1:
        return rest[0] == single[head], single[head]
    if not rest or rest[0] not in p.seats:
        return None
    i = p.seat(rest.pop(0))
    if head in ("jokers", "points", "out") and len(rest) == 1:
        value = {
            "jokers": p.jokers[i],
            "points": p.points if i == p.turn else 0,
            "out": out_count(p, i),
        }[head]
        return rest[0] == str(value), str(value)
    if head == "tops" and rest:
        tops = [top for top, n in p.piles[i] if n]
        return sorted(rest) == sorted(tops), " ".join(tops) or "none"
    if head == "stock" and rest and rest[0] in FRUITS and len(rest) == 2:
        found = str(p.stock[i][FRUITS.index(rest[0])])
        return rest[1] == found, found
    if head == "stock" and len(rest) == 1:
        return rest[0] == str(p.in_stock(i)), str(p.in_stock(i))
    return None
