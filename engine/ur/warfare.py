"""Which attacks, in which order, lead from the stones on the board to those that are seen.

A conquered tile may attack in turn, so the attacks of one turn form trees: an own tile at the root,
and each target below the tile it was attacked from. Once every target has its attacker the stones
follow: what moves onto a target is what should lie there in the end, plus what its own attacks cost
and moved on. A tile that its own stones have left may be attacked again; it is then two nodes of
the trees, the place and the place + the number of places.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engine.game import Action
from engine.ur import actions as a
from engine.ur import effects
from engine.ur.domains import war_cost
from engine.ur.legal import stone_shifts
from engine.ur.position import Position
from engine.ur.stage import (
    NOTHING_DONE,
    ONE_MORE_MOVE,
    Aim,
    Run,
    Stage,
    idle_cost,
    use_domain,
    with_tiles,
)
from engine.ur.words import FIVE

# nats: an attack on a free tile just to go on from there, or on a tile that was left before
THROUGH = 0.5
IN_VAIN = 4.0  # nats: attacks that leave nothing to see but stones gone
TRIES = 300  # assignments of attackers looked at, with and without extra stones
MOST_TARGETS = 6

Parents = dict[int, int]


class Campaign:
    """The attacks of one war: targets to be explained, what comes before the war (`first`) and
    after it (`second`)."""

    def __init__(self, state: Position, p: int, aim: Aim, order: tuple[str, ...]) -> None:
        k = order.index("war")
        self.state, self.p, self.aim, self.order = state, p, aim, order
        self.before = order[0] if k else None
        self.after = order[k + 1] if len(order) > k + 1 else None
        local = self.before if self.before != "politics" else None
        self.first: Stage = Stage(state, p, local)
        self.mid = effects.apply_action(state, use_domain(state, p, local, {})) if local else state
        self.own = self.mid.own(p)
        self.size = len(state.tiles)
        self.tries = TRIES

    def second(self, targets: list[int], aim: Aim) -> Stage:
        """The stage after these attacks."""
        after = None if self.after == "politics" else self.after
        held = [i for i in {*self.own, *(t % self.size for t in targets)} if aim.hi[i]]
        return Stage(with_tiles(self.mid, self.p, held) if after else self.mid, self.p, after)

    def price(self, i: int, t: int) -> int:
        """Stones that the attack from one node on another takes off the attacker; a tile that was
        left before is free."""
        i %= self.size
        if t < self.size:
            return war_cost(self.mid, i, t)
        return int(self.mid.face(i) != self.mid.face(t % self.size))

    def attackers(self, t: int, targets: list[int]) -> list[int]:
        """The places, own or already taken, from which a target can be attacked."""
        near = self.mid.board.near[t % self.size]
        return [i for i in (*self.own, *targets) if i % self.size in near]

    def assignments(self, targets: list[int]) -> Iterator[Parents]:
        """Every way to give each target an attacker, without cycles."""

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


def war_runs(
    state: Position, p: int, aim: Aim, order: tuple[str, ...], allowed: int
) -> Iterator[Run]:
    """The runs of a turn with a war in it: exact ones; failing that, single attacks that explain a
    part."""
    c = Campaign(state, p, aim, order)
    mid = c.mid
    must = [
        i
        for i, n in enumerate(aim.lo)
        if n and mid.owner[i] != p and mid.tiles[i] and not mid.zig[i]
    ]
    gone = [i for i in aim.gone if mid.owner[i] not in (-1, p)]
    if len(must) + len(gone) > MOST_TARGETS:
        return
    found = False
    for targets, settled, cost in _target_sets(c, must, gone, allowed):
        run = _best_run(c, targets, settled, allowed)
        if run is not None:
            yield run[0], run[1] + cost
            if isinstance(run[0][-1], a.Extra):
                # what lies there may be the price, which has not been paid yet
                yield run[0][:-1], run[1] + cost
            found = True
            break
    if order != ("war",):
        return
    single = [
        (i, t) for t in must for i in mid.board.near[t] if mid.owner[i] == p and not mid.zig[i]
    ]
    # and the price has not been paid yet
    moved = [(i, t, aim.lo[t]) for i, t in single if 0 < aim.lo[t] == mid.count[i] - aim.lo[i]]
    part = (
        []
        if found
        else [
            (i, t, min(most, aim.lo[t]))
            for i, t in single
            if (most := mid.count[i] - war_cost(mid, i, t)) > 0
        ]
    )
    for i, t, stones in moved + part:
        yield [a.War(state.seats[p], mid.board.sites[i], mid.board.sites[t], stones)], 0.0


def _target_sets(
    c: Campaign, must: list[int], gone: list[int], allowed: int
) -> Iterator[tuple[list[int], int | None, float]]:
    """(targets, a free tile settled with the extra stones, cost): what may have been attacked, the
    simplest first."""
    aim = c.aim
    if not (must or gone):
        yield from ((targets, None, cost) for targets, cost in _unseen_targets(c))
        return
    yield must + gone, None, 0.0
    settled = [
        i for i in must if allowed == 2 and aim.lo[i] == 1 and c.state.free(i) and not c.state.bonus
    ]
    for i in settled:
        yield [t for t in must if t != i] + gone, i, 0.0
    if gone and must:
        yield must, None, 0.0
    yield from ((targets, None, cost) for targets, cost in _targets_beyond(c, must, gone))


def _unseen_targets(c: Campaign) -> Iterator[tuple[list[int], float]]:
    """(targets, cost) of attacks that left no stones where there were none: in vain, or only to go
    on from there by politics."""
    mid = c.mid
    shrunk = [i for i in c.own if 0 < c.aim.hi[i] < mid.count[i]]
    for i in shrunk if len(shrunk) <= 2 else ():
        yield from (([j, i + c.size], IN_VAIN) for j in mid.board.near[i] if mid.free(j))
    if c.after == "politics":
        near = sorted({j for i in c.own for j in mid.board.near[i]})
        yield from (([j], THROUGH) for j in near if mid.free(j))


def _targets_beyond(
    c: Campaign, must: list[int], gone: list[int]
) -> Iterator[tuple[list[int], float]]:
    """(targets, cost) with free tiles that were only passed through, or tiles attacked again after
    they had been left."""
    mid, aim = c.mid, c.aim
    reach = {j for i in (*c.own, *must, *gone) for j in mid.board.near[i]}
    through = [i for i in sorted(reach) if mid.free(i) and i not in must]
    again = [
        i + c.size
        for i in (*c.own, *must)
        if aim.lo[i] and (aim.lo[i] != mid.count[i] or mid.owner[i] != c.p)
    ]
    for i in (*again, *through):
        yield [*must, *gone, i], THROUGH
    for i in through:
        for j in mid.board.near[i]:
            if mid.free(j) and j not in must and (j > i or j not in reach):
                yield [*must, *gone, i, j], 2 * THROUGH


def _best_run(c: Campaign, targets: list[int], settled: int | None, allowed: int) -> Run | None:
    """The exact run with these targets, without or with extra stones."""
    aim = c.aim.less(settled, c.aim.lo[settled]) if settled is not None else c.aim
    extra: Action | None = None
    seat, sites = c.state.seats[c.p], c.state.board.sites
    if settled is not None:
        extra = a.Settle(seat, sites[settled])
    second = c.second(targets, aim)
    left = {t % c.size for t in targets if t >= c.size}
    ways = {
        i: (0, 0) if i in left else _staying_stones(c, i % c.size, second, aim)
        for i in (*c.own, *targets)
    }
    for parents in c.assignments(targets):
        run = _solved_run(c, targets, parents, aim, second, ways)
        if run is not None:
            return run[0] + ([extra] if extra else []), run[1]
        if c.tries <= 0:
            break
    if extra is not None or not allowed:
        return None
    nodes = [i for i in (*c.own, *targets) if i not in left and aim.lo[i % c.size] > 1]
    if c.state.bonus:
        nodes = [i for i in nodes if i % c.size == c.state.bonus[1]]
    nodes.sort(
        key=lambda i: (
            c.mid.count[i % c.size] - aim.lo[i % c.size] if c.mid.owner[i % c.size] == c.p else 0
        )
    )
    for parents in c.assignments(targets):
        for node in nodes[:8]:
            i = node % c.size
            for n in range(1, min(allowed, aim.lo[i] - 1) + 1):
                less = aim.less(i, n)
                run = _solved_run(
                    c,
                    targets,
                    parents,
                    less,
                    second,
                    {**ways, node: _staying_stones(c, i, second, less)},
                )
                if run is not None:
                    return [*run[0], a.Extra(seat, ((sites[i], n),))], run[1]
        if c.tries <= 0:
            break
    return None


def _staying_stones(c: Campaign, i: int, second: Stage, aim: Aim) -> tuple[int, int]:
    """The fewest and most stones on a place after the war."""
    if c.after == "politics":
        return (1 if aim.lo[i] else 0), FIVE
    found = second.before(i, aim.lo[i], aim.hi[i])
    return found[0], found[-1]


def _solved_run(
    c: Campaign,
    targets: list[int],
    parents: Parents,
    aim: Aim,
    second: Stage,
    ways: dict[int, tuple[int, int]],
) -> Run | None:
    """The run if every number fits, otherwise None."""
    c.tries -= 1
    children: dict[int, list[int]] = {}
    for t, i in parents.items():
        children.setdefault(i, []).append(t)
    need: dict[int, tuple[int, int]] = {}
    for i in (*c.own, *targets):
        if i not in parents and not _fill_needs(c, i, children, ways, need):
            return None
    again = {t % c.size for t in targets if t >= c.size}
    wants = {i: 0 if i in again else aim.lo[i % c.size] for i in (*c.own, *targets)}
    if c.before == "politics" or c.after == "politics":
        return _with_politics(c, children, wants, need)
    before: dict[int, int] = {}
    left: dict[int, int] = {}
    for i in c.own:
        low, high = c.first.after(i, c.state.count[i])
        lo, hi = need[i]
        before[i] = max(low, lo)
        if before[i] > min(high, hi):
            return None
        _share_stones(i, before[i], children, ways, need, left, c)
    laid = {i: before[i] - c.first.after(i, c.state.count[i])[0] for i in c.own}
    attacks = _attack_order(c, children, left)
    if attacks is None:
        return None
    left = {i % c.size: n for i, n in left.items() if i not in again}
    after = {
        i: max(0, min(aim.lo[i], second.after(i, n)[1]) - second.after(i, n)[0])
        for i, n in left.items()
    }
    if any(aim.off(i, second.after(i, n)[0] + after[i]) for i, n in left.items()):
        return None
    cost = 0.0
    acts: list[Action] = []
    if c.before:
        acts.append(use_domain(c.state, c.p, c.before, laid))
        cost += idle_cost(c.first, c.state.own(c.p), laid)
    acts += attacks
    if c.after:
        acts.append(use_domain(c.state, c.p, c.after, after))
        cost += idle_cost(second, [i for i, n in left.items() if n], after)
    return acts, cost


def _fill_needs(
    c: Campaign,
    i: int,
    children: dict[int, list[int]],
    ways: dict[int, tuple[int, int]],
    need: dict[int, tuple[int, int]],
) -> bool:
    """Fills in how many stones come onto a place and everything below it, attacks paid for; False
    if a target gets none."""
    low, high = ways[i]
    for t in children.get(i, ()):
        if not _fill_needs(c, t, children, ways, need):
            return False
        price = c.price(i, t)
        if need[t][1] < 1:
            return False
        low += max(1, need[t][0]) + price
        high += need[t][1] + price
    need[i] = (low, high)
    return True


def _share_stones(
    i: int,
    total: int,
    children: dict[int, list[int]],
    ways: dict[int, tuple[int, int]],
    need: dict[int, tuple[int, int]],
    left: dict[int, int],
    c: Campaign,
) -> None:
    """Divides the stones of a place between what stays there and what its attacks cost and move."""
    spare = total - need[i][0]
    stays = min(spare, ways[i][1] - ways[i][0])
    left[i] = ways[i][0] + stays
    spare -= stays
    for t in children.get(i, ()):
        least = max(1, need[t][0])
        more = min(spare, need[t][1] - least)
        spare -= more
        _share_stones(t, least + more, children, ways, need, left, c)


def _attack_order(
    c: Campaign, children: dict[int, list[int]], left: dict[int, int]
) -> list[Action] | None:
    """The attacks in an order that works, None if there is none. `left`: what stays on each node in
    the end."""
    sites, seat = c.state.board.sites, c.state.seats[c.p]

    def moved(t: int) -> int:
        return left[t] + sum(c.price(t, u) + moved(u) for u in children.get(t, ()))

    waiting = [(i, t) for i in sorted(children) for t in children[i]]
    out: list[Action] = []
    while waiting:
        # an attacker must be there; a tile to be taken again must have been left
        held = {t for _, t in waiting}
        i, t = next(
            (
                (i, t)
                for i, t in waiting
                if i not in held
                and (
                    t < c.size
                    or t - c.size not in held
                    and all(x != t - c.size for x, _ in waiting)
                )
            ),
            (-1, -1),
        )
        if t < 0:
            return None
        out.append(a.War(seat, sites[i % c.size], sites[t % c.size], moved(t)))
        waiting.remove((i, t))
    return out


def _with_politics(
    c: Campaign,
    children: dict[int, list[int]],
    wants: dict[int, int],
    need: dict[int, tuple[int, int]],
) -> Run | None:
    """Politics before or after the war: only the sum of the stones is fixed."""
    have = sum(c.state.count[i] for i in c.own)
    price = sum(c.price(i, t) for i, below in children.items() for t in below)
    if sum(wants.values()) + price != have:
        return None
    if c.before == "politics":
        return _politics_first(c, children, wants, need)
    return _politics_last(c, children, wants, need)


def _politics_first(
    c: Campaign,
    children: dict[int, list[int]],
    wants: dict[int, int],
    need: dict[int, tuple[int, int]],
) -> Run | None:
    """Stones move to where the war needs them."""
    have = [c.state.count[i] for i in c.own]
    wanted = [need[i][0] for i in c.own]
    if any(n > FIVE for n in wanted) or sum(wanted) != sum(have):
        return None
    attacks = _attack_order(c, children, wants)
    if attacks is None:
        return None
    moves = stone_shifts([c.state.board.sites[i] for i in c.own], have, wanted)
    return [a.Politics(c.state.seats[c.p], moves), *attacks], _cost_of_moves(moves)


def _politics_last(
    c: Campaign,
    children: dict[int, list[int]],
    wants: dict[int, int],
    need: dict[int, tuple[int, int]],
) -> Run | None:
    """Stones move from where the war has left them."""
    left: dict[int, int] = {}
    for i in c.own:
        if c.state.count[i] < need[i][0]:
            return None
        _keep_stones(c, i, c.state.count[i], children, wants, need, left)
    targets = [t for below in children.values() for t in below]
    if any(left[t] < 1 for t in targets if not children.get(t)):
        return None
    attacks = _attack_order(c, children, left)
    if attacks is None:
        return None
    places = sorted({i % c.size for i in wants})
    have = [sum(n for t, n in left.items() if t % c.size == i) for i in places]
    want = [sum(n for t, n in wants.items() if t % c.size == i) for i in places]
    moves = stone_shifts([c.state.board.sites[i] for i in places], have, want)
    return [*attacks, a.Politics(c.state.seats[c.p], moves)], _cost_of_moves(moves)


def _cost_of_moves(moves: Sequence[object]) -> float:
    """What politics with so many moves costs, in nats."""
    return ONE_MORE_MOVE * (len(moves) - 1) if moves else NOTHING_DONE


def _keep_stones(
    c: Campaign,
    i: int,
    total: int,
    children: dict[int, list[int]],
    wants: dict[int, int],
    need: dict[int, tuple[int, int]],
    left: dict[int, int],
) -> None:
    """Divides stones before politics: to each place as many as should lie there, as far as they
    go."""
    below = children.get(i, ())
    spare = total - sum(c.price(i, t) + max(1, need[t][0]) for t in below) - (1 if wants[i] else 0)
    left[i] = 1 if wants[i] else 0
    more = min(spare, max(0, wants[i] - left[i]))
    left[i], spare = left[i] + more, spare - more
    for t in below:
        more = min(spare, max(0, wants[t] - max(1, need[t][0])))
        spare -= more
        _keep_stones(c, t, max(1, need[t][0]) + more, children, wants, need, left)
    left[i] += spare
