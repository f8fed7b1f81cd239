"""All that may be done in a state. Trades are without number: those of one good for one are listed."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product

from engine.deluge import actions as act
from engine.deluge.checks import check, willing
from engine.deluge.state import BUILDING, FLIGHT, HARVEST, MOVEMENT, TRADE, DelugeState
from engine.deluge.words import COLOURS, GOODS, PRICE
from engine.game import Action


def legal_actions(state: DelugeState) -> list[Action]:
    """Every action `check` passes; of trades the one-for-one ones."""
    if state.turn is None:
        return []
    seat = str(state.turn)
    make = {MOVEMENT: _movement, HARVEST: _harvests, TRADE: _trades, BUILDING: _builds, FLIGHT: _flights}[state.phase]
    out = [a for a in make(state, seat) if not check(state, a)]
    return out if state.phase == FLIGHT else [*out, act.Done(seat)]


def _crews(state: DelugeState, seat: str, origin: str, fresh: bool) -> Iterator[tuple[int, int, tuple]]:
    """(people, soldiers, slaves) that could leave a cell together"""
    i, cell = state.colour(seat), state.cell(origin)
    people, soldiers, _ = state.unmoved(origin, i) if fresh else (cell.people[i], cell.soldiers[i], 0)
    people = 0 if cell.slaves()[i] else people
    slaves = cell.slaves() if cell.ruler() == i else (0, 0, 0, 0)
    for p, s in product(range(people + 1), range(soldiers + 1)):
        for taken in product(*(range((n if s else 0) + 1) for n in slaves)):
            if p + s:
                yield p, s, tuple((COLOURS[c], n) for c, n in enumerate(taken) if n)


def _movement(state: DelugeState, seat: str) -> Iterator[Action]:
    i = state.colour(seat)
    for origin in state.world.cells:
        cell = state.cell(origin)
        if state.is_land(origin) and (cell.people[i] or cell.soldiers[i]):
            crews = list(_crews(state, seat, origin, True))
            if not crews:
                continue
            for target in state.world.borders[origin]:
                if state.is_land(target):
                    yield from (act.Move(seat, origin, target, *crew) for crew in crews)
            for via, target in crossings(state, i, origin):
                yield from (act.Ferry(seat, origin, target, *crew, via) for crew in crews)
        elif state.is_sea(origin) and cell.ships[i]:
            for target in state.world.borders[origin]:
                if state.is_sea(target):
                    yield from (act.Sail(seat, origin, target, n) for n in range(1, cell.ships[i] + 1))
    for owner in state.seats:
        j = state.colour(owner)
        for sea in state.world.cells:
            if state.cell(sea).ships[j]:
                yield from (act.Agree(owner, guest, sea) for guest in state.seats if guest != owner)


def crossings(state: DelugeState, colour: int, origin: str, longest: int = 6) -> Iterator[tuple[tuple[str, ...], str]]:
    """(seas crossed, land reached) by willing ships, each sea once, at most `longest` of them"""
    open_seas = {s for s in state.world.cells if state.is_sea(s) and willing(state, colour, s)}
    paths: list[tuple[str, ...]] = [(s,) for s in state.world.borders[origin] if s in open_seas]
    while paths:
        path = paths.pop(0)
        for other in state.world.borders[path[-1]]:
            if other in open_seas and other not in path and len(path) < longest:
                paths.append((*path, other))
            elif state.is_land(other) and other != origin:
                yield path, other


def _harvests(state: DelugeState, seat: str) -> Iterator[Action]:
    i = state.colour(seat)
    for cell in state.world.lands:
        if not state.is_land(cell) or state.ruler(cell) != i:
            continue
        pawns, forests, mineral = state.work(cell)
        kind = state.world.mineral[cell]
        free = [s for s in state.world.spots[cell] if s not in state.cell(cell).bare]
        for wood, ore in product(range(min(forests, pawns) + 1), range(min(mineral, pawns) + 1)):
            goods = tuple((g, n) for g, n in sorted((("wood", wood), (kind or "wood", ore)), key=lambda x: GOODS.index(x[0]))
                          if n)
            yield act.Harvest(seat, cell, goods)
            if 0 < wood < len(free):
                yield from (act.Harvest(seat, cell, goods, spots) for spots in combinations(free, wood))


def _trades(state: DelugeState, seat: str) -> Iterator[Action]:
    for other in state.seats:
        if other != seat:
            for mine, theirs in product(GOODS, GOODS):
                yield act.Trade(seat, seat, ((mine, 1),), other, ((theirs, 1),))


def _builds(state: DelugeState, seat: str) -> Iterator[Action]:
    i = state.colour(seat)
    yield from (act.Build(seat, "ship", c) for c in state.world.cells if state.is_sea(c))
    lands = [c for c in state.world.lands if state.is_land(c) and state.ruler(c) == i]
    bills = list(payments(state, i))
    for what, cell, pay in product(("mine", "soldier", "dolmen"), lands, bills):
        yield act.Build(seat, what, cell, pay)


def payments(state: DelugeState, colour: int) -> Iterator[tuple[tuple[str, int], ...]]:
    """The ways a colour can pay for a mine, a soldier or a dolmen (D36)"""
    stock = state.stock(colour)
    for kinds, price in PRICE.items():
        have = [g for g in GOODS if stock[g] >= price]
        for goods in combinations(have, kinds):
            yield tuple((g, price) for g in goods)


def _flights(state: DelugeState, seat: str) -> Iterator[Action]:
    for origin in state.sinking:
        for target in state.world.borders[origin]:
            for crew in _crews(state, seat, origin, False):
                yield act.Flee(seat, origin, target, *crew)
