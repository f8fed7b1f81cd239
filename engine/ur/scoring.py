"""What tiles are worth: the best division into sets (U25 to U28)."""

from __future__ import annotations

from collections.abc import Mapping

from engine.ur.words import DOMAINS

WORTH = (0, 1, 3, 6, 10, 15, 21)  # U27
ZIGGURAT = "ziggurat"


def best_sets(tiles: Mapping[str, int], ziggurats: int = 0) -> list[tuple[str, ...]]:
    """The best division of these tiles per domain and this many ziggurats into sets, largest set
    first; exact for any numbers.

    No set holds a domain twice, nor two ziggurats (U26), so a ziggurat is like a sixth domain. The
    value of a set grows faster than its size. Filling the first set with one of everything there
    is, the second with one of everything left, and so on, gives sizes that majorize those of every
    other division, and therefore the highest sum.
    """
    counts = {d: tiles.get(d, 0) for d in DOMAINS}
    counts[ZIGGURAT] = ziggurats
    sets: list[tuple[str, ...]] = []
    level = 1
    while members := tuple(d for d, n in counts.items() if n >= level):
        sets.append(members)
        level += 1
    return sets


def sets_worth(sets: list[tuple[str, ...]]) -> int:
    """Points of a division into sets."""
    return sum(WORTH[len(s)] for s in sets)


def best_with_hand(
    tiles: Mapping[str, int], ziggurats: int, hand: str | None
) -> tuple[int, list[tuple[str, ...]], str | None]:
    """(points, sets, the face of the hand tile that was counted); the hand tile counts by either
    face (U25)."""
    if hand is None:
        sets = best_sets(tiles, ziggurats)
        return sets_worth(sets), sets, None
    best: tuple[int, list[tuple[str, ...]], str | None] | None = None
    for domain in hand.split("/"):
        if domain in DOMAINS:
            sets = best_sets({**tiles, domain: tiles.get(domain, 0) + 1}, ziggurats)
            points = sets_worth(sets)
            if best is None or points > best[0]:
                best = (points, sets, domain)
    return best or best_with_hand(tiles, ziggurats, None)
