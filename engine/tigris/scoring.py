"""Points: tiles, monuments, and the result."""

from __future__ import annotations

from engine.game import Outcome
from engine.text import say
from engine.tigris.pieces import Kingdom
from engine.tigris.position import Position
from engine.tigris.words import BLACK

REASONS = {
    "T63": say("the bag could not fill a hand again"),
    "T64": say("only one or two treasures were left on the board"),
}


def point_scorer(kingdom: Kingdom, colour: int) -> int:
    """The number of the leader whose owner gets a tile's point (T20); the king replaces a missing
    leader (T21). -1: none."""
    for wanted in (colour, BLACK):
        for n in kingdom.leaders:
            if n % 4 == wanted:
                return n
    return -1


def monument_points(s: Position, seat: int) -> list[tuple[int, int]]:
    """(colour, monument) for every point that a seat gets at the end of its turn (T57)."""
    out = []
    for number, cell in enumerate(s.pieces.monuments):
        if cell < 0:
            continue
        kingdom = s.pieces.kingdom_at(cell)
        if kingdom is None:
            continue
        for colour in s.board.monument_colours(s.board.monuments[number]):
            if seat * 4 + colour in kingdom.leaders:
                out.append((colour, number))
    return out


def spread_jokers(points: tuple[int, ...], jokers: int) -> tuple[int, ...]:
    """Points per colour, weakest first, with each joker added to the weakest, where it helps most
    (T62, T65)."""
    out = sorted(points)
    for _ in range(jokers):
        out[0] += 1
        out.sort()
    return tuple(out)


def seat_results(s: Position) -> list[tuple[int, ...]]:
    """Each seat's result: the points of its colours in ascending order, with treasures added where
    they help most."""
    return [
        spread_jokers(s.points[i * 5 : i * 5 + 4], s.points[i * 5 + 4]) for i in range(len(s.seats))
    ]


def game_outcome(s: Position) -> Outcome | None:
    """Who won and why the game ended; None while it is still going on."""
    if not s.over:
        return None
    all_results = seat_results(s)
    best = max(all_results)
    return Outcome(
        tuple(seat for seat, r in zip(s.seats, all_results) if r == best), REASONS[s.over]
    )
