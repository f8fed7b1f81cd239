"""Which attacks, in which order, lead from the stones that lie to those that are seen.

A conquered tile may attack on, so the attacks of a turn form trees: an own tile at the root, each target below the tile it
was attacked from. Once every target has its attacker the stones follow: what moves onto a target is what is to lie there
in the end, and what its own attacks took and moved on.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from engine.game import Action
from engine.ur import actions as a
from engine.ur import effects
from engine.ur.domains import war_cost
from engine.ur.legal import shifts
from engine.ur.stage import NOTHING_DONE, ONE_MORE_MOVE, Aim, Run, Stage, idle, pattern, use
from engine.ur.words import FIVE

if TYPE_CHECKING:
    from engine.ur.state import UrState

THROUGH = 1.5           # nats: an attack on a free tile only to go on from there
TRIES = 300             # assignments of attackers looked at, with and without extra stones
MOST_TARGETS = 6

Parents = dict[int, int]


class Campaign:
    """The attacks of one war: targets to be explained, what lies before it (`first`) and what comes after it (`second`)."""

    def __init__(self, state: UrState, p: int, aim: Aim, order: tuple[str, ...]) -> None:
        k = order.index("war")
        self.state, self.p, self.aim, self.order = state, p, aim, order
        self.before = order[0] if k else None
        self.after = order[k + 1] if len(order) > k + 1 else None
        local = self.before if self.before != "politics" else None
        self.first: Stage = Stage(state, p, local)
        self.mid = effects.apply(state, use(state, p, local, {})) if local else state
        self.own = self.mid.own(p)
        self.tries = TRIES

    def second(self, targets: list[int], aim: Aim) -> Stage:
        after = None if self.after == "politics" else self.after
        held = [i for i in (*self.own, *targets) if aim.hi[i]]
        return Stage(pattern(self.mid, self.p, held) if after else self.mid, self.p, after)

    def attackers(self, t: int, targets: list[int]) -> list[int]:
        return [i for i in self.mid.board.near[t] if i in self.own or i in targets]

    def assignments(self, targets: list[int]) -> Iterator[Parents]:
        """Every way to give each target an attacker, without circles."""
        def give(k: int, parents: Parents) -> Iterator[Parents]:
            if k == len(targets):
                yield dict(parents)
                return
            t = targets[k]
            for i in self.attackers(t, targets):
                x: int | None = i
                while x is not None and x != t:
                    x = parents.get(x)
                if x is None:
                    parents[t] = i
                    yield from give(k + 1, parents)
                    del parents[t]
        yield from give(0, {})


def runs(state: UrState, p: int, aim: Aim, order: tuple[str, ...], allowed: int) -> Iterator[Run]:
    """The runs of a turn with a war in it, exact ones; else single attacks that explain a part."""
    c = Campaign(state, p, aim, order)
    mid = c.mid
    must = [i for i, n in enumerate(aim.lo) if n and mid.owner[i] != p and mid.tiles[i] and not mid.zig[i]]
    gone = [i for i in aim.gone if mid.owner[i] not in (-1, p)]
    if not (must or gone) or len(must) + len(gone) > MOST_TARGETS:
        return
    found = False
    for targets, settled, cost in _targets(c, must, gone, allowed):
        run = _best(c, targets, settled, allowed)
        if run is not None:
            yield run[0], run[1] + cost
            found = True
            break
    if not found and order == ("war",):
        for t in must:
            for i in mid.board.near[t]:
                most = mid.count[i] - war_cost(mid, i, t) if mid.owner[i] == p and not mid.zig[i] else 0
                if most > 0:
                    yield [a.War(state.seats[p], mid.board.sites[i], mid.board.sites[t], min(most, aim.lo[t]))], 0.0


def _targets(c: Campaign, must: list[int], gone: list[int], allowed: int) -> Iterator[tuple[list[int], int | None, float]]:
    """(targets, a free tile settled with the extra stones, cost): what may have been attacked, the plainest first."""
    yield must + gone, None, 0.0
    settled = [i for i in must if allowed == 2 and c.aim.lo[i] == 1 and c.state.free(i) and not c.state.bonus]
    for i in settled:
        yield [t for t in must if t != i] + gone, i, 0.0
    if gone and must:
        yield must, None, 0.0
    reach = {j for i in (*c.own, *must, *gone) for j in c.mid.board.near[i]}
    through = [i for i in sorted(reach) if c.mid.free(i) and i not in must]
    for i in through:
        yield [*must, *gone, i], None, THROUGH
    for i in through:
        for j in c.mid.board.near[i]:
            if c.mid.free(j) and j not in must and (j > i or j not in reach):
                yield [*must, *gone, i, j], None, 2 * THROUGH


def _best(c: Campaign, targets: list[int], settled: int | None, allowed: int) -> Run | None:
    """The exact run with these targets, without or with extra stones."""
    aim = c.aim.less(settled, c.aim.lo[settled]) if settled is not None else c.aim
    extra: Action | None = None
    seat, sites = c.state.seats[c.p], c.state.board.sites
    if settled is not None:
        extra = a.Settle(seat, sites[settled])
    second = c.second(targets, aim)
    ways = {i: _stays(c, i, second, aim) for i in (*c.own, *targets)}
    for parents in c.assignments(targets):
        run = _solved(c, targets, parents, aim, second, ways)
        if run is not None:
            return run[0] + ([extra] if extra else []), run[1]
        if c.tries <= 0:
            break
    if extra is not None or not allowed:
        return None
    places = [i for i in (*c.own, *targets) if aim.lo[i] > 1 and (not c.state.bonus or c.state.bonus[1] == i)]
    places.sort(key=lambda i: c.mid.count[i] - aim.lo[i] if c.mid.owner[i] == c.p else 0)
    for parents in c.assignments(targets):
        for i in places[:8]:
            for n in range(1, min(allowed, aim.lo[i] - 1) + 1):
                less = aim.less(i, n)
                run = _solved(c, targets, parents, less, second, {**ways, i: _stays(c, i, second, less)})
                if run is not None:
                    return [*run[0], a.Extra(seat, ((sites[i], n),))], run[1]
        if c.tries <= 0:
            break
    return None


def _stays(c: Campaign, i: int, second: Stage, aim: Aim) -> tuple[int, int]:
    """Fewest and most stones on a place after the war."""
    if c.after == "politics":
        return (1 if aim.lo[i] else 0), FIVE
    found = second.before(i, aim.lo[i], aim.hi[i])
    return found[0], found[-1]


def _solved(c: Campaign, targets: list[int], parents: Parents, aim: Aim, second: Stage, ways: dict[int, tuple[int, int]]
            ) -> Run | None:
    """The run when every number fits, else None."""
    c.tries -= 1
    children: dict[int, list[int]] = {}
    for t, i in parents.items():
        children.setdefault(i, []).append(t)
    need: dict[int, tuple[int, int]] = {}
    for i in (*c.own, *targets):
        if i not in parents and not _span(c, i, children, ways, need):
            return None
    if c.before == "politics" or c.after == "politics":
        return _with_politics(c, children, aim, need)
    before, left = {}, {}
    for i in c.own:
        low, high = c.first.after(i, c.state.count[i])
        lo, hi = need[i]
        before[i] = max(low, lo)
        if before[i] > min(high, hi):
            return None
        _share(i, before[i], children, ways, need, left, c)
    laid = {i: before[i] - c.first.after(i, c.state.count[i])[0] for i in c.own}
    after = {i: max(0, min(aim.lo[i], second.after(i, n)[1]) - second.after(i, n)[0]) for i, n in left.items()}
    if any(aim.off(i, second.after(i, n)[0] + after[i]) for i, n in left.items()):
        return None
    cost = 0.0
    acts: list[Action] = []
    if c.before:
        acts.append(use(c.state, c.p, c.before, laid))
        cost += idle(c.first, c.state.own(c.p), laid)
    acts += _attacks(c, children, left)
    if c.after:
        acts.append(use(c.state, c.p, c.after, after))
        cost += idle(second, [i for i, n in left.items() if n], after)
    return acts, cost


def _span(c: Campaign, i: int, children: dict[int, list[int]], ways: dict[int, tuple[int, int]],
          need: dict[int, tuple[int, int]]) -> bool:
    """Fills in how many stones come onto a place and all below it, attacks paid; False when a target gets none."""
    low, high = ways[i]
    for t in children.get(i, ()):
        if not _span(c, t, children, ways, need):
            return False
        price = war_cost(c.mid, i, t)
        if need[t][1] < 1:
            return False
        low += max(1, need[t][0]) + price
        high += need[t][1] + price
    need[i] = (low, high)
    return True


def _share(i: int, total: int, children: dict[int, list[int]], ways: dict[int, tuple[int, int]],
           need: dict[int, tuple[int, int]], left: dict[int, int], c: Campaign) -> None:
    """Deals the stones of a place out to what stays there and what its attacks take and move."""
    spare = total - need[i][0]
    stays = min(spare, ways[i][1] - ways[i][0])
    left[i] = ways[i][0] + stays
    spare -= stays
    for t in children.get(i, ()):
        least = max(1, need[t][0])
        more = min(spare, need[t][1] - least)
        spare -= more
        _share(t, least + more, children, ways, need, left, c)


def _attacks(c: Campaign, children: dict[int, list[int]], left: dict[int, int]) -> list[Action]:
    """The attacks from the roots down; `left`: what stays on each place in the end."""
    sites, seat = c.state.board.sites, c.state.seats[c.p]

    def moved(t: int) -> int:
        return left[t] + sum(war_cost(c.mid, t, u) + moved(u) for u in children.get(t, ()))

    def go(i: int) -> Iterator[Action]:
        for t in children.get(i, ()):
            yield a.War(seat, sites[i], sites[t], moved(t))
            yield from go(t)

    return [x for i in sorted(children) if i in c.own for x in go(i)]


def _with_politics(c: Campaign, children: dict[int, list[int]], aim: Aim, need: dict[int, tuple[int, int]]) -> Run | None:
    """Politics before or after the war: only the sum of the stones is bound."""
    sites, seat = c.state.board.sites, c.state.seats[c.p]
    have = {i: c.state.count[i] for i in c.own}
    targets = [t for below in children.values() for t in below]
    price = sum(war_cost(c.mid, i, t) for i, below in children.items() for t in below)
    if sum(aim.lo[i] for i in (*c.own, *targets)) + price != sum(have.values()):
        return None
    places = sorted({*c.own, *targets})
    if c.before == "politics":
        wanted = {i: need[i][0] for i in c.own}
        if any(n > FIVE for n in wanted.values()) or sum(wanted.values()) != sum(have.values()):
            return None
        moves = shifts([sites[i] for i in c.own], list(have.values()), list(wanted.values()))
        acts = [a.Politics(seat, moves), *_attacks(c, children, {i: aim.lo[i] for i in places})]
    else:
        left: dict[int, int] = {}
        for i in c.own:
            if have[i] < need[i][0]:
                return None
            _keep(c, i, have[i], children, aim, need, left)
        if any(left[t] < 1 for t in targets if not children.get(t)):
            return None
        moves = shifts([sites[i] for i in places], [left[i] for i in places], [aim.lo[i] for i in places])
        acts = [*_attacks(c, children, left), a.Politics(seat, moves)]
    return acts, (NOTHING_DONE if not moves else ONE_MORE_MOVE * (len(moves) - 1))


def _keep(c: Campaign, i: int, total: int, children: dict[int, list[int]], aim: Aim, need: dict[int, tuple[int, int]],
          left: dict[int, int]) -> None:
    """Deals stones out before politics: as many to each place as are to lie there, as far as they go."""
    below = children.get(i, ())
    spare = total - sum(war_cost(c.mid, i, t) + max(1, need[t][0]) for t in below) - (1 if aim.lo[i] else 0)
    left[i] = 1 if aim.lo[i] else 0
    more = min(spare, max(0, aim.lo[i] - left[i]))
    left[i], spare = left[i] + more, spare - more
    for t in below:
        more = min(spare, max(0, aim.lo[t] - max(1, need[t][0])))
        spare -= more
        _keep(c, t, max(1, need[t][0]) + more, children, aim, need, left)
    left[i] += spare
