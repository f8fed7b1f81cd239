"""Which rules an action breaks: all of them, by number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine.deluge import actions as act
from engine.deluge.cell import Cell
from engine.deluge.position import BUILDING, FLIGHT, HARVEST, MOVEMENT, OVER, TRADE, Position
from engine.deluge.words import (
    COLOURS,
    GOODS,
    MINES,
    PRICE,
    SHIP_WOOD,
    SHIPS,
    SOLDIERS,
    colour_name,
    good_name,
    seat_name,
)
from engine.game import Action, Violation
from engine.text import Text, say

PHASE_NAMES = {
    MOVEMENT: say("movement"),
    HARVEST: say("harvest"),
    TRADE: say("trade"),
    BUILDING: say("building"),
    FLIGHT: say("flight from the water"),
    OVER: say("the end"),
}


class Faults(list):
    """Violations, each rule and sentence once."""

    def add(self, rule: str, template: str, **args: object) -> None:
        """Records a broken rule, with a sentence and its arguments."""
        fault = Violation(rule, Text(template, dict(args)))
        if fault not in self:
            self.append(fault)


def check_action(state: Position, action: Action) -> list[Violation]:
    """Every rule the action breaks, [] when legal."""
    out = Faults()
    sort = type(action)
    wanted, rules = _RULES[sort]
    if state.phase == OVER:
        out.add("D50", "the game is over")
    if action.seat not in state.seats:
        out.add("D1", "{seat} does not play in this game", seat=seat_name(action.seat))
        return out
    if wanted and wanted != state.phase:
        out.add("D8", "the current phase is {phase}", phase=PHASE_NAMES[state.phase])
    if sort is not act.Agree and action.seat != state.turn and state.phase != OVER:
        out.add("D9", "it is the turn of {seat}", seat=seat_name(str(state.turn)))
        if state.phase == BUILDING and sort is act.Build:
            out.add("D34", "players build in turn order")
    if wanted != state.phase:
        _not_now(state, sort, out)
    if isinstance(action, act.Crew) and action.fanatics:
        out.add("D15", "fanatics never move")
        out.add("D31", "fanatics never move")
    rules(state, action, out)
    return out


def _not_now(state: Position, sort: type[Action], out: Faults) -> None:
    """Records what a phase forbids by a rule of its own."""
    if state.phase == BUILDING and sort is act.Trade:
        out.add("D34", "there is no more trading during building")
    if state.phase == FLIGHT and sort in (act.Ferry, act.Sail):
        out.add("D48", "nobody flees by boat")


def _check_done(state: Position, a: act.Done, out: Faults) -> None:
    if state.phase == FLIGHT:
        out.add("D48", "everybody who can flee must flee")


# Movement


def _both_are_land(state: Position, a: act.Crew, out: Faults) -> bool:
    """Whether both ends are land that pawns may be on; records why not."""
    for name in (a.origin, a.target):
        if not state.is_land(name):
            out.add("D10", "{cell} is sea", cell=name)
            _check_flooded(state, name, out)
        elif state.cell(name).taken:
            out.add("D32", "{cell} is taken by fanatics", cell=name)
    if a.origin == a.target:
        out.add("D10", "they are on {cell} already", cell=a.origin)
    return state.is_land(a.origin) and state.is_land(a.target)


def _check_flooded(state: Position, name: str, out: Faults) -> None:
    if state.cell(name).flooded:
        out.add("D47", "{cell} is under water: it is a sea cell now", cell=name)


def _those_who_go(state: Position, a: act.Crew, out: Faults, fresh: bool) -> None:
    """Records what is missing: enough of each kind on the cell (fresh: that have not moved yet),
    and slaves only with a soldier that holds them."""
    i = state.colour(a.seat)
    cell = state.cell(a.origin)
    people, soldiers, _ = state.unmoved(a.origin, i)
    slaves = cell.slaves()
    if not fresh:
        people, soldiers = cell.people[i], cell.soldiers[i]
    if a.people and slaves[i]:
        out.add("D16", "slaves do not move on their own")
    if a.people > cell.people[i] or a.soldiers > cell.soldiers[i]:
        out.add("D10", "there are not that many on {cell}", cell=a.origin)
    elif a.people > people or a.soldiers > soldiers:
        out.add(
            "D10",
            "a pawn moves only one cell: not that many on {cell} can still move",
            cell=a.origin,
        )
    if not a.slaves:
        return
    if not a.soldiers:
        out.add("D16", "slaves move only with a soldier")
    for colour, n in a.slaves:
        c = COLOURS.index(colour)
        free = state.unmoved(a.origin, c)[0] if fresh else cell.people[c]
        if cell.ruler() != i or n > slaves[c]:
            out.add(
                "D16",
                "{seat} does not have that many {colour} slaves on {cell}",
                seat=seat_name(a.seat),
                cell=a.origin,
                colour=colour_name(colour),
            )
        elif n > free:
            out.add(
                "D10",
                "a pawn moves only one cell: not that many on {cell} can still move",
                cell=a.origin,
            )
    if state.ruler(a.target) != i:
        out.add("D16", "slaves move only to a cell that {seat} rules", seat=seat_name(a.seat))


def _check_entry(state: Position, a: act.Crew, out: Faults) -> None:
    i, ruler = state.colour(a.seat), state.ruler(a.target)
    if ruler is not None and ruler != i and a.people:
        out.add(
            "D13",
            "only soldiers may enter {cell}: {seat} rules it",
            cell=a.target,
            seat=seat_name(COLOURS[ruler]),
        )


def _check_move(state: Position, a: act.Move, out: Faults) -> None:
    if _both_are_land(state, a, out):
        if a.target not in state.world.touching[a.origin] and a.origin != a.target:
            out.add("D10", "{target} does not border {origin}", target=a.target, origin=a.origin)
        _check_entry(state, a, out)
        _those_who_go(state, a, out, True)
    elif a.target not in state.world.touching[a.origin]:
        out.add("D10", "{target} does not border {origin}", target=a.target, origin=a.origin)


def _check_ferry(state: Position, a: act.Ferry, out: Faults) -> None:
    if _both_are_land(state, a, out):
        _check_entry(state, a, out)
        _those_who_go(state, a, out, True)
    chain = (a.origin, *a.via, a.target)
    for one, other in zip(chain, chain[1:]):
        if other not in state.world.touching[one]:
            out.add("D11", "{target} does not border {origin}", target=other, origin=one)
    if len(set(a.via)) < len(a.via):
        out.add("D11", "a crossing uses each sea only once")
    i = state.colour(a.seat)
    for sea in dict.fromkeys(a.via):
        if not state.is_sea(sea):
            out.add("D11", "{cell} is not sea", cell=sea)
        elif not any(state.cell(sea).ships):
            out.add("D11", "no ship stands on {cell}", cell=sea)
        elif not ferries_colour(state, i, sea):
            if state.cell(sea).ships[i]:
                out.add("D12", "the ship on {cell} has moved already", cell=sea)
            else:
                out.add("D12", "the owner of the ship on {cell} has not agreed", cell=sea)
            out.add("D11", "no ship on {cell} is willing to ferry", cell=sea)
    if any(fault.rule == "D11" for fault in out) and a.target not in state.world.touching[a.origin]:
        out.add("D10", "{target} does not border {origin}", target=a.target, origin=a.origin)


def ferries_colour(state: Position, colour: int, sea: str) -> bool:
    """Whether a ship on that sea cell ferries this colour's pawns: its own ship if it has not
    moved, or another's that agreed."""
    if state.unmoved(sea, colour)[2] > 0:
        return True
    ships = state.cell(sea).ships
    return any(
        owner != colour and ships[owner] and (owner, colour, sea) in state.agreed
        for owner in range(4)
    )


def ready_to_sail(state: Position, colour: int, sea: str) -> int:
    """How many of a colour's ships there may still move; one that has ferried its owner's pawns may
    not (D12)."""
    return state.unmoved(sea, colour)[2] - ((colour, sea) in state.ferried)


def _check_sail(state: Position, a: act.Sail, out: Faults) -> None:
    i = state.colour(a.seat)
    for name in (a.origin, a.target):
        if not state.is_sea(name):
            out.add("D10", "{cell} is land", cell=name)
    if a.target not in state.world.touching[a.origin]:
        out.add("D10", "{target} does not border {origin}", target=a.target, origin=a.origin)
    ships = state.cell(a.origin).ships[i]
    left = state.unmoved(a.origin, i)[2]
    if a.ships < 1 or a.ships > ships:
        out.add("D10", "there are not that many on {cell}", cell=a.origin)
    elif a.ships > left:
        out.add(
            "D10",
            "a ship moves only one cell: not that many on {cell} can still move",
            cell=a.origin,
        )
    elif a.ships > ready_to_sail(state, i, a.origin):
        out.add("D12", "a ship that has ferried does not move")


def _check_agree(state: Position, a: act.Agree, out: Faults) -> None:
    if a.guest not in state.seats or a.guest == a.seat:
        out.add(
            "D12",
            "{seat} does not need permission from {other}",
            seat=seat_name(a.guest),
            other=seat_name(a.seat),
        )
    if not state.cell(a.sea).ships[state.colour(a.seat)]:
        out.add("D12", "{seat} has no ship on {cell}", seat=seat_name(a.seat), cell=a.sea)


def _check_flee(state: Position, a: act.Flee, out: Faults) -> None:
    if a.origin not in state.sinking:
        out.add("D48", "{cell} is not being flooded", cell=a.origin)
    if a.target in state.sinking:
        out.add("D48", "{cell} is being flooded too", cell=a.target)
    if a.target not in state.world.touching[a.origin] or not state.is_land(a.target):
        out.add("D48", "pawns flee to neighbouring land, which {cell} is not", cell=a.target)
        return
    if state.cell(a.target).taken:
        out.add("D32", "{cell} is taken by fanatics", cell=a.target)
    _those_who_go(state, a, out, False)
    i, target = state.colour(a.seat), state.cell(a.target)
    if a.people and state.ruler(a.target) != i and (target.pawns or target.fanatics):
        out.add("D48", "people flee only to cells of their own or to empty land")
        _check_entry(state, a, out)


# Harvest, trade, building


def _check_harvest(state: Position, a: act.Harvest, out: Faults) -> None:
    if not state.is_land(a.cell):
        out.add("D23", "{cell} is sea", cell=a.cell)
        _check_flooded(state, a.cell, out)
        return
    if state.cell(a.cell).taken:
        out.add("D32", "{cell} is taken by fanatics", cell=a.cell)
    i = state.colour(a.seat)
    if state.ruler(a.cell) != i:
        out.add("D23", "{seat} does not rule {cell}", seat=seat_name(a.seat), cell=a.cell)
        if (
            state.ruler(a.cell) is None
            and state.cell(a.cell).pawns
            and not state.cell(a.cell).taken
        ):
            out.add("D28", "nobody rules {cell}, so nobody works there", cell=a.cell)
    goods = dict(a.goods)
    pawns, forests, mineral = state.work(a.cell)
    if not goods:
        out.add("D23", "nothing is harvested")
    if sum(goods.values()) > pawns:
        out.add(
            "D23",
            "each pawn harvests at most one thing: {n} can work on {cell}",
            n=max(pawns, 0),
            cell=a.cell,
        )
        if state.cell(a.cell).fanatics:
            out.add("D31", "fanatics harvest nothing")
    if goods.get("wood", 0) > forests:
        out.add("D24", "there are {n} forests left on {cell}", n=forests, cell=a.cell)
    if a.spots and (
        len(set(a.spots)) != goods.get("wood", 0) or set(a.spots) & set(state.cell(a.cell).bare)
    ):
        out.add("D24", "one forest is covered for each wood")
    yields = state.world.mineral[a.cell]
    for good, n in goods.items():
        if good != "wood" and good != yields:
            out.add("D25", "{cell} yields no {good}", cell=a.cell, good=good_name(good))
            if yields:
                out.add("D3", "{cell} yields {good}", cell=a.cell, good=good_name(yields))
        elif good != "wood" and n > mineral:
            out.add("D25", "the mines of {cell} employ {n} more", cell=a.cell, n=max(mineral, 0))
            if not state.cell(a.cell).mines:
                out.add("D6", "the natural mine of {cell} employs one pawn", cell=a.cell)


def _check_trade(state: Position, a: act.Trade, out: Faults) -> None:
    if a.seat not in (a.giver, a.taker) or a.giver == a.taker:
        out.add("D33", "a trade is declared by one of those who trade")
    if not a.gives or not a.takes:
        out.add("D33", "goods are traded for goods")
    for seat in (a.giver, a.taker):
        if seat not in state.seats:
            out.add("D1", "{seat} does not play in this game", seat=seat_name(seat))
            out.add("D33", "{seat} has no goods", seat=seat_name(seat))
    if not {a.giver, a.taker} <= set(state.seats):
        return
    for seat, goods in ((a.giver, a.gives), (a.taker, a.takes)):
        stock = state.stocks[state.colour(seat)]
        for good, n in goods:
            have = stock[GOODS.index(good)]
            if n > have:
                out.add(
                    "D33",
                    "{seat} has only {n} {good}",
                    seat=seat_name(seat),
                    n=have,
                    good=good_name(good),
                )


def _check_build(state: Position, a: act.Build, out: Faults) -> None:
    i = state.colour(a.seat)
    stock = state.stock(i)
    if a.what == "ship":
        _check_ship(state, a, i, out)
        return
    cell = state.cell(a.cell)
    if not state.is_land(a.cell):
        out.add("D34", "{cell} is sea", cell=a.cell)
        _check_flooded(state, a.cell, out)
    elif cell.taken:
        out.add("D32", "{cell} is taken by fanatics", cell=a.cell)
    if state.is_land(a.cell) and state.ruler(a.cell) != i:
        out.add("D34", "{seat} does not rule {cell}", seat=seat_name(a.seat), cell=a.cell)
        if a.what == "soldier":
            out.add("D39", "soldiers are built only on cells that one rules")
    price = PRICE.get(len(a.pay))
    if price is None or any(n != price for _, n in a.pay):
        out.add(
            "D36", "the price is 10 of one kind, 4 each of two, 2 each of three or 1 each of four"
        )
    for good, n in a.pay:
        if n > stock[good]:
            out.add(
                "D36",
                "{seat} has only {n} {good}",
                seat=seat_name(a.seat),
                n=stock[good],
                good=good_name(good),
            )
    _PIECES[a.what](state, a, cell, out)


def _check_mine(state: Position, a: act.Build, cell: Cell, out: Faults) -> None:
    if cell.mines >= MINES:
        out.add("D37", "at most three mines on a cell")
    if sum(c.mines for c in state.cells.values()) >= state.world.box.get("mine", 10**6):
        out.add("D1", "no mine is left in the box")


def _check_dolmen(state: Position, a: act.Build, cell: Cell, out: Faults) -> None:
    if any(cell.dolmens):
        out.add("D38", "at most one dolmen on a cell")
    if state.on_map("dolmens", state.colour(a.seat)) >= state.world.box.get(
        f"dolmen:{a.seat}", 10**6
    ):
        out.add("D1", "no dolmen is left in the box")


def _check_soldier(state: Position, a: act.Build, cell: Cell, out: Faults) -> None:
    i = state.colour(a.seat)
    if state.soldiers_left(i) < 1:
        out.add("D39", "never a sixth soldier")
        out.add("D2", "a player has at most {n} soldiers", n=SOLDIERS)
    elif state.on_map("soldiers", i) >= state.world.box.get(f"soldier:{a.seat}", SOLDIERS):
        out.add("D1", "no soldier is left in the box")


_PIECES = {"mine": _check_mine, "dolmen": _check_dolmen, "soldier": _check_soldier}


def _check_ship(state: Position, a: act.Build, i: int, out: Faults) -> None:
    if not state.is_sea(a.cell):
        out.add("D34", "{cell} is land", cell=a.cell)
    elif not any(state.ruler(c) == i and state.is_land(c) for c in state.world.borders[a.cell]):
        out.add(
            "D34", "{cell} borders no land that {seat} rules", cell=a.cell, seat=seat_name(a.seat)
        )
    if a.pay and a.pay != (("wood", SHIP_WOOD),):
        out.add("D35", "a ship costs {n} wood", n=SHIP_WOOD)
    wood = state.stocks[i][GOODS.index("wood")]
    if wood < SHIP_WOOD:
        out.add(
            "D35",
            "a ship costs {n} wood, {seat} has {have}",
            n=SHIP_WOOD,
            seat=seat_name(a.seat),
            have=wood,
        )
    if state.on_map("ships", i) >= SHIPS:
        out.add("D2", "a player has at most {n} ships", n=SHIPS)
    elif state.on_map("ships", i) >= state.world.box.get(f"ship:{a.seat}", SHIPS):
        out.add("D1", "no ship is left in the box")


_RULES: dict[type[Action], tuple[str, Callable[[Position, Any, Faults], None]]] = {
    act.Move: (MOVEMENT, _check_move),
    act.Ferry: (MOVEMENT, _check_ferry),
    act.Sail: (MOVEMENT, _check_sail),
    act.Agree: (MOVEMENT, _check_agree),
    act.Harvest: (HARVEST, _check_harvest),
    act.Trade: (TRADE, _check_trade),
    act.Build: (BUILDING, _check_build),
    act.Flee: (FLIGHT, _check_flee),
    act.Done: ("", _check_done),
}
