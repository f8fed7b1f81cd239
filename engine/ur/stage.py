"""What may become of the stones on a place: the aim, and one use of a domain considered place by
place."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from engine.game import Action
from engine.ur import actions as a
from engine.ur.domains import culture_beside, trade_sides
from engine.ur.position import Position
from engine.ur.words import FIVE

NOTHING_DONE = 0.6  # nats: a domain used without moving a stone
ONE_MORE_MOVE = 0.6  # nats: every move of politics after the first

Run = tuple[list[Action], float]


class Aim:
    """How many stones of a seat should lie on each place: from `lo` to `hi`. `gone`: places where
    the stones of others have disappeared."""

    def __init__(self, lo: Sequence[int], hi: Sequence[int], gone: Iterable[int] = ()) -> None:
        self.lo, self.hi, self.gone = list(lo), list(hi), frozenset(gone)

    def off(self, i: int, n: int) -> int:
        """How far n stones on a place are from the aim; positive: more are needed."""
        return self.lo[i] - n if n < self.lo[i] else min(0, self.hi[i] - n)

    def less(self, i: int, n: int) -> Aim:
        """The same, with n fewer stones needed on a place (they come as extra stones)."""
        new = Aim(self.lo, self.hi, self.gone)
        new.lo[i], new.hi[i] = max(0, self.lo[i] - n), max(0, self.hi[i] - n)
        return new


class Stage:
    """One use of agriculture, trade or culture (or of nothing), and what may become of n stones on
    a place."""

    def __init__(self, state: Position, p: int, domain: str | None) -> None:
        self.domain = domain
        self.lose: set[int] = set()
        self.gain: dict[int, int] = {}
        self.short = False
        self.most: dict[int, int] = {}
        self._after: dict[tuple[int, int], tuple[int, int]] = {}
        if domain == "agriculture":
            self.most = {i: 2 for i in state.own(p) if state.face(i) == "agriculture"}
            # of the places held by then (U29)
            self.lose = {
                i
                for i, near in enumerate(state.board.near)
                if state.face(i) != "agriculture" and not any(j in self.most for j in near)
            }
        elif domain == "trade":
            self.most = {
                i: trade_sides(state, i, p) for i in state.own(p) if state.face(i) == "trade"
            }
        elif domain == "culture":
            self.gain = culture_beside(state, p)
            wanted = sum(n for i, n in self.gain.items() if state.owner[i] == p)
            # in that case people choose where the stones go (U15)
            self.short = wanted > state.supplies[p]

    def after(self, i: int, n: int) -> tuple[int, int]:
        """The fewest and most stones after it, given n before."""
        if not n:
            return 0, 0
        found = self._after.get((i, n))
        if found is None:
            low = n - 1 if i in self.lose else max(n, min(FIVE, n + self.gain.get(i, 0)))
            found = self._after[(i, n)] = (
                n if self.short else low,
                max(low, min(FIVE, low + self.most.get(i, 0))),
            )
        return found

    def before(self, i: int, lo: int, hi: int) -> list[int]:
        """The numbers before it that can lead to lo to hi; the nearest number if none can."""
        if self.domain is None:
            return list(range(lo, min(hi, FIVE) + 1)) or [lo]
        found = [n for n in range(FIVE + 1) if (r := self.after(i, n))[0] <= hi and lo <= r[1]]
        return found or [lo]


def with_tiles(state: Position, p: int, own: Iterable[int]) -> Position:
    """The state with the seat holding exactly these tiles; the number of stones on them does not
    matter."""
    own = set(own)
    owner, count = list(state.owner), list(state.count)
    for i, q in enumerate(owner):
        if i in own:
            owner[i], count[i] = p, max(1, count[i] if q == p else 1)
        elif q == p and not state.zig[i]:
            owner[i], count[i] = -1, 0
    return state.changed(owner=tuple(owner), count=tuple(count))


def use_domain(state: Position, p: int, domain: str, stones: dict[int, int]) -> Action:
    """The action of a domain that lays this many stones per place."""
    sites, seat = state.board.sites, state.seats[p]
    found = tuple((sites[i], n) for i, n in sorted(stones.items()) if n)
    if domain == "agriculture":
        return a.Agriculture(seat, found)
    return a.Trade(seat, found) if domain == "trade" else a.Culture(seat)


def idle_cost(stage: Stage, own: Iterable[int], stones: dict[int, int]) -> float:
    """The cost of a use that changes nothing on the board."""
    seen = any(stones.values()) or stage.gain or not stage.lose.isdisjoint(own)
    return 0.0 if seen else NOTHING_DONE
