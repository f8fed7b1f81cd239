"""Every legal action, and the outcomes of drawing from the box.

If the choices of one domain multiply beyond FEW, only some are listed: no stone, the stones of one
tile, and as many as possible (agriculture, trade, culture); no move, and the moves between two
tiles (politics). `check` accepts them all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engine.game import Action
from engine.ur import actions as a
from engine.ur.board import both_domains, face_up
from engine.ur.checks import ZIGGURATS_A_TURN
from engine.ur.domains import (
    culture_needs,
    extra_allowance,
    harvest_losses,
    remaining_tiles,
    round_of,
    short_of,
    trade_sides,
    war_cost,
)
from engine.ur.position import Position
from engine.ur.words import DOMAINS, FIVE

FEW = 200


def legal_actions(state: Position) -> list[Action]:
    """Every legal action."""
    if state.phase == "over":
        return []
    if state.phase == "lay":
        return list(_lay_actions(state))
    seat, p = state.seats[state.mover], state.mover
    lays = list(_lay_actions(state))
    if state.phase == "put":
        return [*_put_actions(state, seat, p), *lays]
    if state.phase == "swap":
        return [*_swap_actions(state, seat, p), a.Pass(seat), *lays]
    out: list[Action] = []
    if not (state.built or state.returned or state.bonus):
        for domain in DOMAINS:
            again = domain == "war" and state.used[-1:] == ("war",)
            if (domain not in state.used or again) and state.could_bear(p, domain):
                out += _USES[domain](state, seat, p)
    if not state.returned:
        out += _ziggurat_actions(state, seat, p)
        if not state.built:
            out += _bonus_actions(state, seat, p)
    if (
        not (state.built or state.returned or state.bonus or state.used or state.own(p))
        and state.supplies[p] >= 3
    ):
        out += [a.Return(seat, s) for i, s in enumerate(state.board.sites) if state.free(i)]
    swaps = list(_swap_actions(state, seat, p))
    return [*out, *(swaps or [a.Pass(seat)]), *lays]


def _put_actions(state: Position, seat: str, p: int) -> Iterator[Action]:
    if not state.supplies[p]:
        return
    first = not round_of(state)
    for i, site in enumerate(state.board.sites):
        if state.zig[i] or state.tiles[i] is None or state.count[i] >= FIVE:
            continue
        q = state.owner[i]
        if (first and q < 0) or (not first and (q == p or (q < 0 and _beside_own(state, i, p)))):
            yield a.Put(seat, site)


def _beside_own(state: Position, i: int, p: int) -> bool:
    return any(state.owner[j] == p and not state.zig[j] for j in state.board.near[i])


def _swap_actions(state: Position, seat: str, p: int) -> Iterator[Action]:
    mine = state.known(p)
    setup = state.phase == "swap"
    faces = _possible_faces(state, p)
    for i, site in enumerate(state.board.sites):
        if not state.free(i):
            continue
        there = both_domains(state.tiles[i] or "")
        if len(mine) == 2:
            if setup or there != mine:
                for up in faces:
                    yield a.Swap(seat, site, up)
        else:
            for tile in faces:
                if setup or both_domains(tile) != there:
                    yield a.Swap(seat, site, *tile.split("/"))
    if (
        not setup
        and state.spare
        and len(state.seats) == 3
        and (len(mine) < 2 or both_domains(state.spare) != mine)
    ):
        yield a.Swap(seat, a.SPARE)


def _possible_faces(state: Position, p: int) -> list[str]:
    """The faces that the hand tile may show; for an unknown tile, both signs as far as they are
    possible."""
    mine = state.known(p)
    if len(mine) == 2:
        return [d for d in DOMAINS if d in mine]
    return sorted(f"{x}/{y}" for x in DOMAINS for y in DOMAINS if x != y and mine <= {x, y})


def stone_spreads(limits: Sequence[tuple[str, int]], supply: int) -> list[a.Stones]:
    """The ways to lay up to so many stones on each of the tiles, or some of the ways if there are
    too many."""
    ways = 1
    for _, most in limits:
        ways *= most + 1
    if ways <= FEW:
        out: list[a.Stones] = [()]
        for site, most in limits:
            out += [(*rest, (site, n)) for rest in out for n in range(1, most + 1)]
        return [s for s in out if sum(n for _, n in s) <= supply]
    full, left = [], supply
    for site, most in limits:
        if n := min(most, left):
            full.append((site, n))
            left -= n
    return [
        (),
        *(((s, n),) for s, most in limits for n in range(1, min(most, supply) + 1)),
        tuple(full),
    ]


def _agriculture_actions(state: Position, seat: str, p: int) -> list[Action]:
    sites = state.board.sites
    limits = [
        (sites[i], min(2, FIVE - state.count[i]))
        for i in state.own(p)
        if state.face(i) == "agriculture"
    ]
    supply = state.supplies[p] + len(harvest_losses(state, p))
    return [a.Agriculture(seat, s) for s in stone_spreads([x for x in limits if x[1] > 0], supply)]


def _trade_actions(state: Position, seat: str, p: int) -> list[Action]:
    sites = state.board.sites
    limits = [
        (sites[i], min(trade_sides(state, i, p), FIVE - state.count[i]))
        for i in state.own(p)
        if state.face(i) == "trade"
    ]
    return [
        a.Trade(seat, s) for s in stone_spreads([x for x in limits if x[1] > 0], state.supplies[p])
    ]


def _culture_actions(state: Position, seat: str, p: int) -> list[Action]:
    needs = culture_needs(state, p)
    short = short_of(state, needs)
    out: list[Action] = [a.Culture(seat)]
    ways: list[a.Stones] = [()]
    for q, there in short.items():
        limits = [(state.board.sites[i], n) for i, n in needs.items() if state.owner[i] == q]
        exact = [s for s in stone_spreads(limits, there) if sum(n for _, n in s) == there]
        ways = [(*w, *s) for w in ways for s in exact]
    return out + [a.Culture(seat, a.canonical_stones(w, state.board)) for w in ways[:FEW] if w]


def _politics_actions(state: Position, seat: str, p: int) -> list[Action]:
    own, sites = state.own(p), state.board.sites
    have = [state.count[i] for i in own]
    out: list[Action] = []
    for want in _stone_distributions(len(own), sum(have)):
        if len(out) == FEW:
            break
        out.append(a.Politics(seat, stone_shifts([sites[i] for i in own], have, want)))
    else:
        return out
    return [
        a.Politics(seat),
        *(
            a.Politics(seat, ((sites[i], sites[j], n),))
            for i in own
            for j in own
            if i != j
            for n in range(1, min(state.count[i], FIVE - state.count[j]) + 1)
        ),
    ]


def _stone_distributions(tiles: int, stones: int) -> Iterator[tuple[int, ...]]:
    """The ways to put this many stones on this many tiles, at most five each."""
    if not tiles:
        if not stones:
            yield ()
        return
    for n in range(max(0, stones - FIVE * (tiles - 1)), min(FIVE, stones) + 1):
        for rest in _stone_distributions(tiles - 1, stones - n):
            yield (n, *rest)


def stone_shifts(sites: Sequence[str], have: Sequence[int], want: Sequence[int]) -> a.Moves:
    """A short list of moves from one distribution to another of as many stones; equal amounts are
    paired first. In the order of the sites."""
    give = {i: h - w for i, (h, w) in enumerate(zip(have, want)) if h > w}
    take = {i: w - h for i, (h, w) in enumerate(zip(have, want)) if w > h}
    pairs = []
    for i, n in list(give.items()):
        j = next((j for j, m in take.items() if m == n), None)
        if j is not None:
            pairs.append((i, j, n))
            del give[i], take[j]
    while give and take:
        i, j = next(iter(give)), next(iter(take))
        n = min(give[i], take[j])
        pairs.append((i, j, n))
        for side, k in ((give, i), (take, j)):
            side[k] -= n
            if not side[k]:
                del side[k]
    return tuple((sites[i], sites[j], n) for i, j, n in sorted(pairs))


def _war_actions(state: Position, seat: str, p: int) -> list[Action]:
    sites = state.board.sites
    return [
        a.War(seat, sites[i], sites[j], n)
        for i in state.own(p)
        for j in state.board.near[i]
        if state.tiles[j] is not None and not state.zig[j] and state.owner[j] != p
        for n in range(1, state.count[i] - war_cost(state, i, j) + 1)
    ]


def _bonus_actions(state: Position, seat: str, p: int) -> Iterator[Action]:
    allowed = extra_allowance(state, len(state.used))
    sites, supply = state.board.sites, state.supplies[p]
    if state.bonus is not None:
        kind, i, had = state.bonus
        places = [i] if kind == "extra" else []
    else:
        places, had = state.own(p), 0
        if allowed == 2 and supply:
            yield from (a.Settle(seat, s) for i, s in enumerate(sites) if state.free(i))
    for i in places:
        for n in range(1, min(allowed - had, FIVE - state.count[i], supply) + 1):
            yield a.Extra(seat, ((sites[i], n),))


def _ziggurat_actions(state: Position, seat: str, p: int) -> Iterator[Action]:
    if state.used or state.bonus is not None:
        return
    full = [state.board.sites[i] for i in state.own(p) if state.count[i] >= FIVE]
    most = min(ZIGGURATS_A_TURN - state.built, state.board.ziggurats - state.ziggurats)
    if most >= 1:
        yield from (a.Ziggurat(seat, (x,)) for x in full)
    if most >= 2:
        yield from (a.Ziggurat(seat, (x, y)) for k, x in enumerate(full) for y in full[k + 1 :])


def _lay_actions(state: Position) -> Iterator[Action]:
    places = _bare_places(state)
    if not places:
        return
    left = remaining_tiles(state)
    kinds = sorted(
        f"{x}/{y}"
        for x in DOMAINS
        for y in DOMAINS
        if x != y and left.get(frozenset((x, y)), 0) > 0
    )
    for site in places:
        for tile in kinds:
            yield a.Lay(a.BOX, site, tile)


def _bare_places(state: Position) -> list[str]:
    """Places still without a tile: the square first, then beside it."""
    board = state.board
    out = (
        [s for i, s in enumerate(board.sites) if state.tiles[i] is None]
        if state.phase == "lay"
        else []
    )
    out += [s for s, tile in zip(board.hands, state.hands) if tile is None]
    if board.spare and len(state.seats) == 3 and state.spare is None:
        out.append(board.spare)
    return out


def tile_chances(state: Position) -> list[tuple[Action, float]]:
    """The next tile of a shuffled box (open mode), with its face; a face that a neighbour shows is
    laid the other way up or put back (U4) as long as there is another tile."""
    if state.phase != "lay" or not state.drawn:
        return []
    site = _bare_places(state)[0]
    i = state.board.index.get(site)
    near = {state.face(j) for j in state.board.near[i]} if i is not None else set()
    weights = {
        tile: n for both, n in remaining_tiles(state).items() if n > 0 for tile in _both_ways(both)
    }
    fitting = {t: n for t, n in weights.items() if face_up(t) not in near} or weights
    total = sum(fitting.values())
    return [(a.Lay(a.BOX, site, t), n / total) for t, n in sorted(fitting.items())]


def _both_ways(both: frozenset[str]) -> list[str]:
    x, y = sorted(both)
    return [f"{x}/{y}", f"{y}/{x}"]


_USES = {
    "agriculture": _agriculture_actions,
    "trade": _trade_actions,
    "culture": _culture_actions,
    "politics": _politics_actions,
    "war": _war_actions,
}
