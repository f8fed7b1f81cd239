"""The bag: what may be drawn and how likely it is, and draws that nobody stated."""

from __future__ import annotations

from itertools import product
from math import comb, prod
from typing import TypeVar

from engine.game import Action
from engine.tigris.actions import BAG, Draw
from engine.tigris.position import Position
from engine.tigris.words import COLOURS

P = TypeVar("P", bound=Position)
Counts = tuple[int, ...]


def draw_pool(s: Position) -> Counts:
    """What a draw may come from, a count per colour: the bag's tiles if they are known, otherwise
    all that nobody has seen."""
    if s.bag_known is not None:
        return s.bag_known
    return tuple(s.unseen(c) for c in range(4))


def could_draw(s: Position, counts: Counts) -> bool:
    """Whether the bag may still hold these tiles."""
    return all(n <= have for n, have in zip(counts, draw_pool(s)))


def possible_handfuls(n: int, have: Counts) -> list[Counts]:
    """All ways to take n tiles when there are so many of each colour."""
    out = []
    for first in product(*(range(min(n, h) + 1) for h in have[:-1])):
        last = n - sum(first)
        if 0 <= last <= have[-1]:
            out.append((*first, last))
    return out


def possible_draws(s: Position, seat: int, n: int) -> list[Draw]:
    """All draws that a seat can make."""
    return [
        Draw(BAG, s.seats[seat], named_tiles(counts))
        for counts in possible_handfuls(n, draw_pool(s))
    ]


def named_tiles(counts: Counts) -> tuple[str, ...]:
    """Counts of each colour as colour names, one per tile."""
    return tuple(c for c, n in zip(COLOURS, counts) for _ in range(n))


def draw_chances(s: Position) -> list[tuple[Action, float]]:
    """The outcomes of the next draw with their probabilities; [] if the game is not waiting for
    one."""
    if s.phase != "draw":
        return []
    seat, n = s.draws[0]
    have = draw_pool(s)
    ways = comb(sum(have), n)
    return [
        (Draw(BAG, s.seats[seat], named_tiles(c)), prod(comb(h, k) for h, k in zip(have, c)) / ways)
        for c in possible_handfuls(n, have)
    ]


def skip_draws(s: P) -> P:
    """The state with its pending draws left unknown."""
    new = s.copy()
    new._before, new._events = s._before, s._events
    unknown = list(s.unknown)
    for seat, n in s.draws:
        unknown[seat] += n
        new.bag -= n
    new.unknown, new.draws, new.bag_known = tuple(unknown), (), None
    if new.phase == "draw":
        new.phase = "action"
    return new
