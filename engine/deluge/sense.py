"""What a sensible player would do: feed the people, send them where there is work, spend what one
has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from engine.deluge import actions as act
from engine.deluge.checks import check_action
from engine.deluge.legal import possible_payments, possible_refuges, ship_crossings
from engine.deluge.position import BUILDING, FLIGHT, HARVEST, MOVEMENT, TRADE, Position
from engine.deluge.words import COLOURS, GOODS, SHIP_WOOD
from engine.game import Action

# land -> lands one can go to in a round -> over which seas
Ways = Mapping[str, Mapping[str, tuple[str, ...]]]
NEVER = 10**6


def promising_actions(state: Position) -> list[Action]:
    """Legal actions worth choosing from, all equally good as far as can be told here; [] if the
    game is over."""
    if state.turn is None:
        return []
    seat = str(state.turn)
    make = {
        MOVEMENT: _sensible_moves,
        HARVEST: _sensible_harvests,
        TRADE: _sensible_trades,
        BUILDING: _sensible_builds,
        FLIGHT: _sensible_flights,
    }[state.phase]
    out = [a for a in make(state, seat) if not check_action(state, a)]
    return out or ([] if state.phase == FLIGHT else [act.Done(seat)])


def jobs_on(state: Position, cell: str) -> int:
    """How many pawns find work on a cell in one round."""
    return state.forests(cell) + (
        1 + 3 * state.cell(cell).mines if state.world.mineral[cell] else 0
    )


def spare_jobs(state: Position, cell: str) -> int:
    """Jobs beyond the people there; a negative number of people would turn fanatic."""
    return jobs_on(state, cell) - sum(state.cell(cell).people)


def to_clear(state: Position) -> set[str]:
    """Where trees are cut first: where the water will take them anyway; everywhere once it has come
    for the last time."""
    lands = [c for c in state.world.lands if state.is_land(c) and not state.cell(c).taken]
    doomed = [c for c in lands if state.world.rise[c] is not None]
    return {c for c in doomed or lands if state.forests(c)}


def _sensible_moves(state: Position, seat: str) -> Iterator[Action]:
    i = state.colour(seat)
    ways = {
        c: dict(_ways_from(state, i, c))
        for c in state.world.lands
        if state.is_land(c) and not state.cell(c).taken
    }
    yield from _sensible_walks(state, seat, i, ways)
    for origin in ways:  # soldiers take a cell if there are enough of them
        soldiers = state.unmoved(origin, i)[1]
        for target, via in ways[origin].items():
            there = state.cell(target)
            foes = sum(there.soldiers) - there.soldiers[i]
            if (
                state.ruler(target) not in (None, i)
                and soldiers > foes
                and there.fanatics < there.pawns + soldiers - 2 * foes
            ):
                yield _move_or_ferry(seat, origin, target, 0, soldiers, via)


def _sensible_walks(state: Position, seat: str, i: int, ways: Ways) -> Iterator[Action]:
    """People without work go where there is some, others towards trees that are to be cut; one
    stays behind to keep the cell."""
    trees = {
        c
        for c in to_clear(state)
        if _is_welcome(state, i, c) and sum(state.cell(c).people) < state.forests(c)
    }
    to_trees = _steps_to(trees, ways)
    to_work = _steps_to(
        {c for c in ways if _is_welcome(state, i, c) and spare_jobs(state, c) > 0}, ways
    )
    lonely = not any(c.people[i] > 1 for c in state.cells.values())
    for origin in ways:
        cell = state.cell(origin)
        people = (
            0 if cell.slaves()[i] else min(state.unmoved(origin, i)[0], cell.pawns - cell.fanatics)
        )
        for target, via in ways[origin].items():
            there = state.cell(target)
            n = 0
            if to_work.get(target, NEVER) < to_work.get(origin, 0):
                n = min(
                    people,
                    -spare_jobs(state, origin),
                    people if to_work[target] else spare_jobs(state, target),
                )
            if to_trees.get(target, NEVER) < to_trees.get(origin, 0):
                n = max(
                    n,
                    min(
                        people - (not lonely),
                        people if to_trees[target] else state.forests(target) - sum(there.people),
                    ),
                )
            # two have children, one alone does not
            if lonely and there.people[i] > there.slaves()[i]:
                n = people
            if n > 0 and _is_welcome(state, i, target) and there.fanatics < there.pawns + n:
                yield _move_or_ferry(seat, origin, target, n, 0, via)


def _is_welcome(state: Position, colour: int, cell: str) -> bool:
    """Whether a colour's people can go and stay there."""
    return state.ruler(cell) == colour or not state.cell(cell).pawns


def _steps_to(wanted: set[str], ways: Ways) -> dict[str, int]:
    """How many rounds each land with a way is from the nearest of these."""
    far = dict.fromkeys(wanted, 0)
    queue = list(far)
    for cell in queue:
        for other in ways:
            if other not in far and cell in ways[other]:
                far[other] = far[cell] + 1
                queue.append(other)
    return far


def _ways_from(state: Position, colour: int, origin: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """(land that can be reached, over which seas)."""
    near = [t for t in state.world.borders[origin] if state.is_land(t) and not state.cell(t).taken]
    yield from ((t, ()) for t in near)
    known = set(near)
    for via, target in ship_crossings(state, colour, origin):
        if target not in known and not state.cell(target).taken:
            known.add(target)
            yield target, via


def _move_or_ferry(
    seat: str, origin: str, target: str, people: int, soldiers: int, via: tuple[str, ...]
) -> Action:
    if via:
        return act.Ferry(seat, origin, target, people, soldiers, via=via)
    return act.Move(seat, origin, target, people, soldiers)


def _sensible_harvests(state: Position, seat: str) -> Iterator[Action]:
    """Work for everybody: first in the mines; where trees are to be cut, in the woods."""
    i, cut = state.colour(seat), to_clear(state)
    for cell in state.world.lands:
        if not state.is_land(cell) or state.ruler(cell) != i:
            continue
        pawns, forests, places = state.work(cell)
        ores = max(0, places) if state.world.mineral[cell] else 0
        wood = min(pawns if cell in cut else max(pawns - ores, 0), forests)
        have = {"wood": wood, state.world.mineral[cell]: min(pawns - wood, ores)}
        goods = tuple((g, have[g]) for g in GOODS if have.get(g, 0) > 0)
        if goods:
            yield act.Harvest(seat, cell, goods)


def _sensible_trades(state: Position, seat: str) -> Iterator[Action]:
    """One good for one if both have too much of what they give: every further kind of good makes
    building cheaper (D36)."""
    mine = state.stock(state.colour(seat))
    for other in state.seats:
        theirs = state.stock(state.colour(other))
        for give in GOODS:
            for take in GOODS:
                if (
                    other != seat
                    and mine[give] > mine[take] + 1
                    and theirs[take] > theirs[give] + 1
                ):
                    yield act.Trade(seat, seat, ((give, 1),), other, ((take, 1),))


def _sensible_builds(state: Position, seat: str) -> Iterator[Action]:
    """A mine where people are out of work, otherwise whatever the goods suffice for, paid for as
    cheaply as possible."""
    i = state.colour(seat)
    lands = [c for c in state.world.lands if state.is_land(c) and state.ruler(c) == i]
    bills = sorted(possible_payments(state, i), key=lambda pay: sum(n for _, n in pay))[:1]
    mines = [
        act.Build(seat, "mine", c, pay) for pay in bills for c in lands if state.world.mineral[c]
    ]
    urgent = [
        a
        for a in mines
        if spare_jobs(state, a.cell) < state.cell(a.cell).people[i] // 2
        and not check_action(state, a)
    ]
    if urgent:
        yield from urgent
        return
    yield from (
        act.Build(seat, what, c, pay)
        for pay in bills
        for c in lands
        for what in ("mine", "dolmen", "soldier")
    )
    if state.stock(i)["wood"] >= SHIP_WOOD:
        yield from (act.Build(seat, "ship", s) for s in _useful_seas(state, lands))


def _useful_seas(state: Position, lands: list[str]) -> list[str]:
    """The seas off these lands without a ship from which most empty forests can be reached."""
    cut, borders = to_clear(state), state.world.borders
    seas = dict.fromkeys(s for c in lands for s in borders[c] if state.is_sea(s))
    free = [s for s in seas if not any(state.cell(s).ships)]
    shores = {s: sum(not state.cell(c).pawns and c in cut for c in borders[s]) for s in free}
    return [s for s in free if shores[s] == max(shores.values())]


def _sensible_flights(state: Position, seat: str) -> Iterator[Action]:
    """Everybody on a cell at once, to whichever land takes them."""
    i = state.colour(seat)
    for origin in state.sinking:
        cell = state.cell(origin)
        free = cell.people[i] - cell.slaves()[i]
        held = (
            tuple((c, n) for c, n in zip(COLOURS, cell.slaves()) if n)
            if cell.soldiers[i] and cell.ruler() == i
            else ()
        )
        for target, people in possible_refuges(state, i, origin).items():
            slaves = held if state.ruler(target) == i else ()
            if (people and free) or cell.soldiers[i]:
                yield act.Flee(
                    seat, origin, target, free if people else 0, cell.soldiers[i], slaves
                )
