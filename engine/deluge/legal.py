"""All legal actions of a state. There are countless trades, so only those of one good for one are
listed. Of crossings, detours are left out: a sea that borders an earlier one on the way could have
been reached from there. Of large groups of slaves, none, one or all of a colour go along."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from itertools import combinations, product

from engine.deluge import actions as act
from engine.deluge.checks import check_action, ferries_colour, ready_to_sail
from engine.deluge.position import BUILDING, FLIGHT, HARVEST, MOVEMENT, TRADE, Position
from engine.deluge.words import COLOURS, GOODS, PRICE, SHIP_WOOD
from engine.game import Action

CROWD = 12  # if a cell has more slaves than this, not every number is listed
Who = tuple[int, int, tuple[tuple[str, int], ...]]


def legal_actions(state: Position) -> list[Action]:
    """Every action that `check` accepts; of trades only the one-for-one ones, of crossings only the
    direct ones."""
    if state.turn is None:
        return []
    seat = str(state.turn)
    out = list(_PHASES[state.phase](state, seat))
    return out if state.phase == FLIGHT else [*out, act.Done(seat)]


class Crews:
    """The groups that could leave a cell, by whether people and slaves are let in where they go."""

    def __init__(self, state: Position, seat: str, origin: str, fresh: bool) -> None:
        i, cell = state.colour(seat), state.cell(origin)
        slaves = cell.slaves()
        self.people, self.soldiers, _ = (
            state.unmoved(origin, i) if fresh else (cell.people[i], cell.soldiers[i], 0)
        )
        self.people = 0 if slaves[i] else self.people
        held = slaves if cell.ruler() == i else (0,) * 4
        self.slaves = tuple(
            min(n, state.unmoved(origin, c)[0]) if fresh else n for c, n in enumerate(held)
        )
        self._lists: dict[tuple[bool, bool], list[Who]] = {}

    def list(self, people: bool, slaves: bool) -> list[Who]:
        """Every crew that may leave, with or without people, with or without slaves."""
        if (people, slaves) not in self._lists:
            most = self.slaves if slaves else (0,) * 4
            some = [range(n + 1) if sum(most) <= CROWD else sorted({0, min(1, n), n}) for n in most]
            gangs = [
                tuple((COLOURS[c], n) for c, n in enumerate(taken) if n) for taken in product(*some)
            ]
            self._lists[people, slaves] = [
                (p, s, gang)
                for p in range((self.people if people else 0) + 1)
                for s in range(self.soldiers + 1)
                if p + s
                for gang in (gangs if s else [()])
            ]
        return self._lists[people, slaves]


def _movement_actions(state: Position, seat: str) -> Iterator[Action]:
    i, doors = state.colour(seat), _open_lands(state, seat)
    there = [(name, cell) for name in state.world.cells if (cell := state.cells.get(name))]
    for origin, cell in there:
        if origin in doors and (cell.people[i] or cell.soldiers[i]):
            yield from _moves_from(state, seat, origin, doors)
        elif cell.ships[i] and state.is_sea(origin):
            ready = ready_to_sail(state, i, origin)
            for target in state.world.borders[origin] if ready > 0 else ():
                if state.is_sea(target):
                    yield from [act.Sail(seat, origin, target, n) for n in range(1, ready + 1)]
    for owner in state.seats:
        j = state.colour(owner)
        for sea in [name for name, cell in there if cell.ships[j]]:
            yield from [act.Agree(owner, guest, sea) for guest in state.seats if guest != owner]


def _open_lands(state: Position, seat: str) -> dict[str, tuple[bool, bool]]:
    """Land that may be entered: (by people too, by slaves too)."""
    i, out = state.colour(seat), {}
    for land in state.world.lands:
        cell = state.cells.get(land)
        if cell is None:
            out[land] = True, False
        elif not cell.flooded and not cell.taken:
            ruler = cell.ruler()
            out[land] = ruler is None or ruler == i, ruler == i
    return out


def _moves_from(
    state: Position, seat: str, origin: str, doors: dict[str, tuple[bool, bool]]
) -> Iterator[Action]:
    """Moves and crossings from one cell."""
    crews = Crews(state, seat, origin, True)
    if not crews.people and not crews.soldiers:
        return
    for target in state.world.borders[origin]:
        if target in doors:
            yield from [act.Move(seat, origin, target, *who) for who in crews.list(*doors[target])]
    for via, target in ship_crossings(state, state.colour(seat), origin):
        if target in doors:
            yield from [
                act.Ferry(seat, origin, target, *who, via=via) for who in crews.list(*doors[target])
            ]


def ship_crossings(
    state: Position, colour: int, origin: str
) -> Iterator[tuple[tuple[str, ...], str]]:
    """(seas crossed, land reached) by willing ships, shortest first, without detours."""
    open_seas = {
        s
        for s, c in state.cells.items()
        if any(c.ships) and state.is_sea(s) and ferries_colour(state, colour, s)
    }
    paths: list[tuple[str, ...]] = [(s,) for s in state.world.borders[origin] if s in open_seas]
    for path in paths:
        for other in state.world.borders[path[-1]]:
            if other in open_seas and goes_on(state, path, other):
                paths.append((*path, other))
            elif state.is_land(other) and other != origin:
                yield path, other


def goes_on(state: Position, path: tuple[str, ...], sea: str) -> bool:
    """Whether a way continues to this sea without a detour."""
    return sea not in path and not any(
        sea in state.world.touching[earlier] for earlier in path[:-1]
    )


def _harvest_actions(state: Position, seat: str) -> Iterator[Action]:
    i = state.colour(seat)
    for cell in state.world.lands:
        if not state.is_land(cell) or state.ruler(cell) != i:
            continue
        pawns, forests, mineral = state.work(cell)
        kind = state.world.mineral[cell]
        free = [s for s in state.world.spots[cell] if s not in state.cell(cell).bare]
        most = max(0, min(mineral, pawns)) if kind else 0
        for wood, ore in product(range(max(0, min(forests, pawns)) + 1), range(most + 1)):
            if not 0 < wood + ore <= pawns:
                continue
            have = {"wood": wood, kind: ore}
            goods = tuple((g, have[g]) for g in GOODS if have.get(g))
            yield act.Harvest(seat, cell, goods)
            if wood:
                yield from (
                    act.Harvest(seat, cell, goods, spots) for spots in combinations(free, wood)
                )


def _trade_actions(state: Position, seat: str) -> Iterator[Action]:
    mine = [good for good, n in zip(GOODS, state.stocks[state.colour(seat)]) if n]
    for other in state.seats:
        if mine and other != seat:
            theirs = [good for good, n in zip(GOODS, state.stocks[state.colour(other)]) if n]
            yield from [_one_for_one(seat, give, other, take) for give in mine for take in theirs]


@cache
def _one_for_one(seat: str, give: str, other: str, take: str) -> Action:
    return act.Trade(seat, seat, ((give, 1),), other, ((take, 1),))


def _build_actions(state: Position, seat: str) -> Iterator[Action]:
    i, world = state.colour(seat), state.world
    bills = list(possible_payments(state, i))
    if not bills and state.stocks[i][GOODS.index("wood")] < SHIP_WOOD:
        return
    own = [c for c in world.lands if state.ruler(c) == i and state.is_land(c)]
    shores = {sea for land in own for sea in world.borders[land] if state.is_sea(sea)}
    ships = [act.Build(seat, "ship", sea) for sea in world.cells if sea in shores]
    yield from (ship for ship in ships if not check_action(state, ship))
    for what, cell in product(("mine", "soldier", "dolmen"), own):
        if bills and not check_action(state, act.Build(seat, what, cell, bills[0])):
            yield from (act.Build(seat, what, cell, pay) for pay in bills)


def possible_payments(state: Position, colour: int) -> Iterator[tuple[tuple[str, int], ...]]:
    """The ways in which a colour can pay for a mine, a soldier or a dolmen (D36)."""
    stock = state.stocks[colour]
    for kinds, price in PRICE.items():
        have = [g for g, n in zip(GOODS, stock) if n >= price]
        for goods in combinations(have, kinds):
            yield tuple((g, price) for g in goods)


def possible_refuges(state: Position, colour: int, origin: str) -> dict[str, bool]:
    """Land that a sinking cell's soldiers can flee to, and whether people can too (D48)."""
    out = {}
    for target in state.world.borders[origin]:
        cell = state.cell(target)
        if state.is_land(target) and target not in state.sinking and not cell.taken:
            out[target] = state.ruler(target) == colour or not (cell.pawns or cell.fanatics)
    return out


def _flight_actions(state: Position, seat: str) -> Iterator[Action]:
    i = state.colour(seat)
    for origin in state.sinking:
        crews = Crews(state, seat, origin, False)
        for target, people in possible_refuges(state, i, origin).items():
            for who in crews.list(people, state.ruler(target) == i):
                yield act.Flee(seat, origin, target, *who)


_PHASES: dict[str, Callable[[Position, str], Iterator[Action]]] = {
    MOVEMENT: _movement_actions,
    HARVEST: _harvest_actions,
    TRADE: _trade_actions,
    BUILDING: _build_actions,
    FLIGHT: _flight_actions,
}
