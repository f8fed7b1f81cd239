"""Who went where, by flow on the map: every pawn moves one cell at most, so what left a cell is at most what stood there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from heapq import heappop, heappush
from itertools import count

Edges = Mapping[str, Iterable[tuple[str, float]]]


def explain_flow(before: Mapping[str, int], change: Mapping[str, int], ways: Callable[[str], Iterable[tuple[str, float]]]
                 ) -> tuple[dict[tuple[str, str], int], dict[str, int], dict[str, int]]:
    """The cheapest moves that account for a change of numbers.

    before: cell -> pawns there that may still move; change: cell -> more (positive) or fewer; ways(cell): (other cell, cost)
    a pawn can reach in one move. Returns moves {(from, to): n}, and what is left unexplained: fewer {cell: n}, more {cell: n}.
    Successive shortest paths; a path may run over several cells, one group moving up behind the other.
    """
    supply = {c: -n for c, n in change.items() if n < 0}
    demand = {c: n for c, n in change.items() if n > 0}
    moves: dict[tuple[str, str], int] = {}
    gone: dict[str, int] = {}                     # pawns that left a cell
    reach: dict[str, list[tuple[str, float]]] = {}

    def onward(cell: str) -> list[tuple[str, float]]:
        if cell not in reach:
            reach[cell] = list(ways(cell))
        return reach[cell]

    while any(demand.values()) and any(supply.values()):
        path = _cheapest(supply, demand, before, moves, gone, onward)
        if path is None:
            break
        n = _width(path, supply, demand, before, moves, gone)
        for a, b, back in path:
            if back:
                moves[b, a] -= n
                gone[b] -= n
            else:
                moves[a, b] = moves.get((a, b), 0) + n
                gone[a] = gone.get(a, 0) + n
        supply[path[0][0]] -= n
        demand[path[-1][1]] -= n
    return ({e: n for e, n in moves.items() if n}, {c: n for c, n in supply.items() if n}, {c: n for c, n in demand.items() if n})


def _cheapest(supply, demand, before, moves, gone, onward) -> list[tuple[str, str, bool]] | None:
    """The cheapest path from a cell with pawns to give to one that wants some (Bellman-Ford's costs by a queue)"""
    best = {c: 0.0 for c, n in supply.items() if n}
    came: dict[str, tuple[str, bool]] = {}
    tick = count()
    queue = [(0.0, next(tick), c) for c in best]
    while queue:
        cost, _, cell = heappop(queue)
        if cost > best[cell] + 1e-9:
            continue
        steps = []
        if gone.get(cell, 0) < before.get(cell, 0):
            steps += [(other, price, False) for other, price in onward(cell)]
        prices = None
        for (a, b), n in moves.items():
            if n and b == cell:
                prices = prices or {}
                steps.append((a, -next((p for o, p in onward(a) if o == cell), 1.0), True))
        for other, price, back in steps:
            now = cost + price
            if now < best.get(other, 1e9) - 1e-9:
                best[other] = now
                came[other] = (cell, back)
                heappush(queue, (now, next(tick), other))
    wanted = [c for c, n in demand.items() if n and c in came]
    if not wanted:
        return None
    end = min(wanted, key=lambda c: (best[c], c))
    path: list[tuple[str, str, bool]] = []
    seen = set()
    while end in came and end not in seen:
        seen.add(end)
        source, back = came[end]
        path.append((source, end, back))
        end = source
    return path[::-1]


def _width(path, supply, demand, before, moves, gone) -> int:
    n = min(supply.get(path[0][0], 0) or 1, demand[path[-1][1]])
    for a, b, back in path:
        n = min(n, moves[b, a] if back else before.get(a, 0) - gone.get(a, 0))
    return max(n, 1)
