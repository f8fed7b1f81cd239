"""Which choices in a turn's actions lead from the stones on the board to the stones that are seen.

Only the domains of the hand tile are possible, in at most four orders. Agriculture, trade and
culture act on each place separately once it is clear who holds what (`Stage`); politics preserves a
sum; `warfare` handles war. The choices are derived by working backwards from the difference, so
there is no trial and error.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from engine.game import Action
from engine.ur import actions as a
from engine.ur import warfare
from engine.ur.domains import extra_allowance
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
from engine.ur.words import DOMAINS


def domain_orders(
    state: Position, p: int, domains: Iterable[str] | None = None
) -> list[tuple[str, ...]]:
    """The domains that may still be used, in every order. domains: used instead of the hand
    tile's."""
    if state.built or state.returned or state.bonus:
        return [()]
    known = state.known(p)
    mine = (
        list(domains)
        if domains is not None
        else [d for d in DOMAINS if d in known]
        if len(known) == 2
        else list(DOMAINS)
    )
    going = state.used[-1:] == ("war",)
    fresh = [d for d in mine if d not in state.used]
    room = 2 - len(state.used)
    out: list[tuple[str, ...]] = [()]
    if room >= 1:
        out += [(d,) for d in fresh]
    if room >= 2:
        out += [(d, e) for d in fresh for e in fresh if d != e]
    if going:
        out += [("war",), *(("war", d) for d in fresh if room >= 1)]
    return out


def nearest_runs(state: Position, p: int, aim: Aim, order: tuple[str, ...]) -> Iterator[Run]:
    """The ways to use the domains in that order that come nearest to the aim, with extra stones,
    before the swap."""
    allowed = 0
    if not (state.built or state.returned):
        allowed = extra_allowance(state, len({*state.used, *order}))
        if state.bonus:
            allowed = allowed - state.bonus[2] if state.bonus[0] == "extra" else 0
    if "war" in order:
        yield from warfare.war_runs(state, p, aim, order, allowed)
    elif "politics" in order:
        yield from _with_politics(state, p, aim, order, allowed)
    else:
        yield from _each_place(state, p, aim, order, allowed)


def bonus_stones(
    state: Position, p: int, allowed: int, wanted: dict[int, int], there: dict[int, int]
) -> list[Action | None]:
    """The extra stones for the places that lack some, the best first; `there`: own stones on them
    by then."""
    seat, sites = state.seats[p], state.board.sites
    if not allowed:
        return [None]
    extra = [
        i
        for i, n in wanted.items()
        if n > 0 and there.get(i) and state.bonus in (None, ("extra", i, 1))
    ]
    extra.sort(key=lambda i: (wanted[i] > allowed, -wanted[i]))
    out: list[Action | None] = [
        a.Extra(seat, ((sites[i], min(wanted[i], allowed)),)) for i in extra
    ]
    if allowed == 2 and not state.bonus:
        out += [
            a.Settle(seat, sites[i])
            for i, n in wanted.items()
            if n == 1 and not there.get(i) and (state.free(i) or state.owner[i] == p)
        ]
    return [*out[:3], None]


def _each_place(
    state: Position, p: int, aim: Aim, order: tuple[str, ...], allowed: int
) -> Iterator[Run]:
    """Agriculture, trade and culture: the fewest stones, place by place, that come nearest to the
    aim."""
    own = state.own(p)
    first = Stage(state, p, order[0] if order else None)
    kept = [i for i in own if first.after(i, state.count[i])[0] > 0]
    second = Stage(with_tiles(state, p, kept), p, order[1] if len(order) > 1 else None)
    laid: tuple[dict[int, int], dict[int, int]] = ({}, {})
    there: dict[int, int] = {}
    wanted = {i: aim.lo[i] for i in range(len(aim.lo)) if aim.lo[i] and state.owner[i] != p}
    for i in own:
        low, high = first.after(i, state.count[i])
        best: tuple[int, int, int, int, int] | None = None
        for m in range(low, high + 1):
            lo, hi = second.after(i, m)
            n = min(max(lo, aim.lo[i]), hi) if lo < aim.lo[i] else lo
            rank = (abs(aim.off(i, n)), m - low + n - lo, m - low, n - lo, n)
            if best is None or rank < best:
                best = rank
        assert best is not None
        laid[0][i], laid[1][i], there[i] = best[2], best[3], best[4]
        if aim.off(i, best[4]) > 0:
            wanted[i] = aim.off(i, best[4])
    acts: list[Action] = [use_domain(state, p, d, stones) for d, stones in zip(order, laid)]
    cost = sum(
        idle_cost(st, own, stones) for st, stones in zip((first, second)[: len(order)], laid)
    )
    for extra in bonus_stones(state, p, allowed, wanted, there):
        yield acts + ([extra] if extra else []), cost


def _with_politics(
    state: Position, p: int, aim: Aim, order: tuple[str, ...], allowed: int
) -> Iterator[Run]:
    """Politics preserves the number of stones, so what comes before and after it must make up the
    difference."""
    k = order.index("politics")
    own = state.own(p)
    first = Stage(state, p, order[0] if k else None)
    held = [i for i in own if first.after(i, state.count[i])[0] > 0]
    last = order[1] if not k and len(order) > 1 else None
    second = Stage(with_tiles(state, p, [i for i in held if aim.hi[i]]), p, last)
    gap, moved = _rearranged_stones(state, p, aim, held, first, second)
    extra: Action | None = None
    if gap > 0 and gap <= allowed:
        filled = _grown_place(state, aim, held, gap)
        if filled is None:
            return
        extra = a.Extra(state.seats[p], ((state.board.sites[filled], gap),))
        gap, moved = _rearranged_stones(state, p, aim.less(filled, gap), held, first, second)
    elif not gap and allowed == 2 and not state.bonus:
        ones = [i for i, n in enumerate(aim.lo) if n == 1 and i not in held]
        settled = next((i for i in ones if state.free(i) or i in own), None)
        if settled is not None:
            extra = a.Settle(state.seats[p], state.board.sites[settled])
    if gap:
        return
    before, after, laid = moved
    sites = [state.board.sites[i] for i in held]
    moves = stone_shifts(sites, [before[i] for i in held], [after[i] for i in held])
    laid_first = {i: before[i] - first.after(i, state.count[i])[0] for i in held}
    acts: list[Action] = []
    cost = NOTHING_DONE if not moves else ONE_MORE_MOVE * (len(moves) - 1)
    for d in order:
        if d == "politics":
            acts.append(a.Politics(state.seats[p], moves))
        else:
            stage, stones = (first, laid_first) if k else (second, laid)
            acts.append(use_domain(state, p, d, stones))
            cost += idle_cost(stage, own, stones)
    yield acts + ([extra] if extra else []), cost


def _grown_place(state: Position, aim: Aim, held: list[int], gap: int) -> int | None:
    """The place that extra stones, `gap` of them, most likely came to; None if there is none."""
    grown = [i for i in held if aim.lo[i] > gap and (not state.bonus or i == state.bonus[1])]
    return min(grown, key=lambda i: state.count[i] - aim.lo[i], default=None)


def _rearranged_stones(
    state: Position, p: int, aim: Aim, held: list[int], first: Stage, second: Stage
) -> tuple[int, tuple[dict[int, int], dict[int, int], dict[int, int]]]:
    """(stones missing, (before politics, after it, laid after it)), with as few stones moved as
    possible."""
    before: dict[int, int] = {}
    after: dict[int, int] = {}
    span = {i: first.after(i, state.count[i]) for i in held}
    ways = {i: second.before(i, aim.lo[i], aim.hi[i]) for i in held}
    for i in held:
        low, high = span[i]
        after[i] = min(ways[i], key=lambda n: (max(low - n, n - high, 0), abs(n - low)))
        before[i] = min(max(low, after[i]), high)
    gap = sum(after.values()) - sum(before.values())
    step = 1 if gap > 0 else -1  # more stones before it or fewer after it, or the other way round
    for useful in (True, False):  # first where that saves a move
        for i in held:
            while (
                gap
                and span[i][0] <= before[i] + step <= span[i][1]
                and (not useful or step * (after[i] - before[i]) > 0)
            ):
                before[i] += step
                gap -= step
            while (
                gap
                and after[i] - step in ways[i]
                and (not useful or step * (after[i] - before[i]) > 0)
            ):
                after[i] -= step
                gap -= step
    laid = {}
    for i in held:
        low, high = second.after(i, after[i])
        laid[i] = max(0, min(aim.lo[i], high) - low)
    return gap, (before, after, laid)
