"""Who went where, as a flow on the map: every pawn moves one cell at most, so at most the pawns
that stood on a cell can have left it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from heapq import heappop, heappush

Node = tuple[str, bool]  # a cell as the place that pawns leave (False) or come to (True)
Moves = dict[tuple[str, str], int]


def explain_flow(
    before: Mapping[str, int],
    change: Mapping[str, int],
    ways: Callable[[str], Iterable[tuple[str, float]]],
    doubt: Callable[[str], float] = lambda cell: 0.0,
) -> tuple[Moves, dict[str, int], dict[str, int]]:
    """The cheapest moves that account for a change of numbers.

    before: cell -> pawns there that may still move. change: cell -> more (positive) or fewer.
    ways(cell): (other cell, cost) for each cell that a pawn can reach in one move. doubt(cell): how
    unlikely it is that pawns gone from there walked away. Returns moves {(from, to): n}, and what
    is left unexplained: fewer {cell: n}, more {cell: n}.
    """
    flow = _Flow(before, change, ways, doubt)
    while any(flow.demand.values()) and any(flow.supply.values()):
        path = flow.cheapest()
        if path is None:
            break
        flow.push(path)
    missing = {c: -n - (flow.given.get(c, 0)) for c, n in change.items() if n < 0}
    return (
        {e: n for e, n in flow.moves.items() if n},
        {c: n for c, n in missing.items() if n},
        {c: n for c, n in flow.demand.items() if n},
    )


class _Flow:
    """Successive shortest paths. If one group moves up behind another, a path continues from the
    cell it came to."""

    def __init__(
        self, before: Mapping[str, int], change: Mapping[str, int], ways: Callable, doubt: Callable
    ) -> None:
        self.supply = {c: min(-n, before.get(c, 0)) for c, n in change.items() if n < 0}
        self.doubt = {c: doubt(c) for c in self.supply}
        self.demand = {c: n for c, n in change.items() if n > 0}
        # pawns that may go if others come
        self.spare = {c: n - self.supply.get(c, 0) for c, n in before.items()}
        self.moves: Moves = {}
        self.behind: dict[str, int] = {}  # such pawns that went
        self.given: dict[str, int] = {}
        self.into: dict[str, dict[str, float]] = {}  # cell -> where moves to it began, cost
        self._ways = ways
        self._reach: dict[str, list[tuple[str, float]]] = {}

    def reach(self, cell: str) -> list[tuple[str, float]]:
        if cell not in self._reach:
            self._reach[cell] = list(self._ways(cell))
        return self._reach[cell]

    def onward(self, node: Node) -> Iterable[tuple[Node, float]]:
        cell, arrived = node
        if arrived:
            if self.behind.get(cell, 0) < self.spare.get(cell, 0):
                yield (cell, False), 0.0
            for a, price in self.into.get(cell, {}).items():
                if self.moves[a, cell]:
                    yield (a, False), -price
        else:
            yield from (((other, True), price) for other, price in self.reach(cell))
            if self.behind.get(cell, 0):
                yield (cell, True), 0.0

    def cheapest(self) -> list[Node] | None:
        """The cheapest way from a cell with spare pawns to one that lacks some."""
        best: dict[Node, float] = {(c, False): self.doubt[c] for c, n in self.supply.items() if n}
        came: dict[Node, Node] = {}
        queue = [(cost, node) for node, cost in best.items()]
        while queue:
            cost, node = heappop(queue)
            if cost > best[node] + 1e-9:
                continue
            for other, price in self.onward(node):
                now = cost + price
                if now < best.get(other, 1e9) - 1e-9:
                    best[other], came[other] = now, node
                    heappush(queue, (now, other))
        ends = [(c, True) for c, n in self.demand.items() if n and (c, True) in came]
        if not ends:
            return None
        path = [min(ends, key=lambda node: (best[node], node))]
        while path[-1] in came:
            path.append(came[path[-1]])
        return path[::-1]

    def push(self, path: list[Node]) -> None:
        """Sends as many pawns along this way as it can take."""
        n = min(self.supply[path[0][0]], self.demand[path[-1][0]])
        for (a, arrived), (b, _) in zip(path, path[1:]):
            if a == b:
                n = min(n, self.spare[a] - self.behind.get(a, 0) if arrived else self.behind[a])
            elif arrived:
                n = min(n, self.moves[b, a])
        for (a, arrived), (b, _) in zip(path, path[1:]):
            if a == b:
                self.behind[a] = self.behind.get(a, 0) + (n if arrived else -n)
            elif arrived:
                self.moves[b, a] -= n
            else:
                self.moves[a, b] = self.moves.get((a, b), 0) + n
                self.into.setdefault(b, {})[a] = next(p for o, p in self.reach(a) if o == b)
        self.supply[path[0][0]] -= n
        self.given[path[0][0]] = self.given.get(path[0][0], 0) + n
        self.demand[path[-1][0]] -= n
