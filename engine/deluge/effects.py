"""What an action does, and what follows automatically on the cells it touches; `cycle` has the end
of the round."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from engine.deluge import actions as act
from engine.deluge import cycle
from engine.deluge.cell import NONE, add_pawns
from engine.deluge.conflict import settle_conflicts
from engine.deluge.position import Position
from engine.deluge.words import (
    COLOURS,
    GOODS,
    SHIP_WOOD,
    goods_text,
    kind_name,
    pieces_words,
    seat_name,
)
from engine.game import Action
from engine.text import say

P = TypeVar("P", bound=Position)


def perform_action(state: P, action: Action) -> P:
    """The state after a legal action."""
    new = state.copy()
    _DOES[type(action)](new, action)
    return new


def end_part_of(new: Position, a: act.Done) -> None:
    """Ends a player's part of the phase, and with the last one the phase."""
    cycle.end_part(new)


def agree_to_pass(new: Position, a: act.Agree) -> None:
    """Lets another player's pieces cross by a ship."""
    new.agreed = new.agreed | {(new.colour(a.seat), new.colour(a.guest), a.sea)}
    new.tell(
        say(
            "{seat} lets {other} cross {cell}",
            seat=seat_name(a.seat),
            other=seat_name(a.guest),
            cell=a.sea,
        ),
        by_hand=True,
    )


def move_pawns(new: Position, a: act.Crew) -> None:
    """A move, a ferry or a flight, with its conflicts."""
    i, fleeing = new.colour(a.seat), isinstance(a, act.Flee)
    origin, target = new.cell(a.origin), new.cell(a.target)
    leaving, arriving = origin.people, target.people
    came = list(new.arrived.get(a.target, (NONE, NONE, NONE)))
    for colour, n in ((i, a.people), *((COLOURS.index(c), n) for c, n in a.slaves)):
        leaving, arriving, came[0] = (
            add_pawns(leaving, colour, -n),
            add_pawns(arriving, colour, n),
            add_pawns(came[0], colour, n),
        )
    came[1] = add_pawns(came[1], i, a.soldiers)
    new.put(a.origin, people=leaving, soldiers=add_pawns(origin.soldiers, i, -a.soldiers))
    new.put(a.target, people=arriving, soldiers=add_pawns(target.soldiers, i, a.soldiers))
    if not fleeing:
        new.arrived[a.target] = (came[0], came[1], came[2])
    if isinstance(a, act.Ferry):
        new.ferried = new.ferried | {(i, sea) for sea in a.via if new.unmoved(sea, i)[2] > 0}
    who = pieces_words(
        [
            (f"people:{a.seat}", a.people),
            (f"soldier:{a.seat}", a.soldiers),
            *((f"people:{c}", n) for c, n in a.slaves),
        ]
    )
    new.tell(
        say("{pieces} from {origin} to {target}", pieces=who, origin=a.origin, target=a.target),
        (a.origin, a.target),
        True,
    )
    settle_conflicts(new, (a.origin, a.target))
    if fleeing:
        cycle.go_on_fleeing(new)


def sail_ship(new: Position, a: act.Sail) -> None:
    """Moves a ship."""
    i = new.colour(a.seat)
    new.put(a.origin, ships=add_pawns(new.cell(a.origin).ships, i, -a.ships))
    new.put(a.target, ships=add_pawns(new.cell(a.target).ships, i, a.ships))
    people, soldiers, ships = new.arrived.get(a.target, (NONE, NONE, NONE))
    new.arrived[a.target] = (people, soldiers, add_pawns(ships, i, a.ships))
    new.tell(
        say(
            "{pieces} from {origin} to {target}",
            pieces=pieces_words([(f"ship:{a.seat}", a.ships)]),
            origin=a.origin,
            target=a.target,
        ),
        (a.origin, a.target),
        True,
    )
    settle_conflicts(new, (a.origin, a.target))


def harvest_goods(new: Position, a: act.Harvest) -> None:
    """Takes goods from a cell into its owner's stock."""
    i, goods = new.colour(a.seat), dict(a.goods)
    cell, wood = new.cell(a.cell), goods.get("wood", 0)
    free = [s for s in new.world.spots[a.cell] if s not in cell.bare]
    chosen = set(a.spots or free[:wood])
    new.put(a.cell, bare=tuple(s for s in new.world.spots[a.cell] if s in cell.bare or s in chosen))
    before = new.worked.get(a.cell, (0, 0))
    new.worked[a.cell] = (before[0] + wood, before[1] + sum(goods.values()) - wood)
    pay_goods(new, i, goods, 1)
    new.tell(
        say(
            "{seat} harvests on {cell}: {goods}",
            seat=seat_name(a.seat),
            cell=a.cell,
            goods=goods_text(a.goods),
        ),
        (a.cell,),
        True,
    )


def trade_goods(new: Position, a: act.Trade) -> None:
    """Exchanges goods between two stocks."""
    giver, taker = new.colour(a.giver), new.colour(a.taker)
    for goods, source, sink in ((a.gives, giver, taker), (a.takes, taker, giver)):
        pay_goods(new, source, dict(goods), -1)
        pay_goods(new, sink, dict(goods), 1)
    new.tell(
        say(
            "{seat} gives {goods} to {other} for {back}",
            seat=seat_name(a.giver),
            other=seat_name(a.taker),
            goods=goods_text(a.gives),
            back=goods_text(a.takes),
        ),
        by_hand=True,
    )


def pay_goods(new: Position, colour: int, goods: dict[str, int], sign: int) -> None:
    """Adds goods to a stock (sign 1) or removes them (-1)."""
    stock = list(new.stocks[colour])
    for good, n in goods.items():
        stock[GOODS.index(good)] += sign * n
    new.stocks = (*new.stocks[:colour], tuple(stock), *new.stocks[colour + 1 :])


def build_piece(new: Position, a: act.Build) -> None:
    """Puts a ship, mine, soldier or dolmen on the board and pays for it."""
    i, cell = new.colour(a.seat), new.cell(a.cell)
    if a.what == "ship":
        pay_goods(new, i, {"wood": SHIP_WOOD}, -1)
        new.put(a.cell, ships=add_pawns(cell.ships, i, 1))
    else:
        pay_goods(new, i, dict(a.pay), -1)
        if a.what == "mine":
            new.put(a.cell, mines=cell.mines + 1)
        elif a.what == "dolmen":
            new.put(a.cell, dolmens=add_pawns(cell.dolmens, i, 1))
        else:
            new.put(a.cell, soldiers=add_pawns(cell.soldiers, i, 1))
    kind = "mine" if a.what == "mine" else f"{a.what}:{a.seat}"
    words = {"seat": seat_name(a.seat), "piece": kind_name(kind), "cell": a.cell}
    sentence = (
        say("{seat} builds {piece} on {cell} for {goods}", **words, goods=goods_text(a.pay))
        if a.pay
        else say("{seat} builds {piece} on {cell}", **words)
    )
    new.tell(sentence, (a.cell,), True)
    settle_conflicts(new, (a.cell,))


_DOES: dict[type[Action], Callable[[Any, Any], None]] = {
    act.Move: move_pawns,
    act.Ferry: move_pawns,
    act.Flee: move_pawns,
    act.Sail: sail_ship,
    act.Harvest: harvest_goods,
    act.Trade: trade_goods,
    act.Build: build_piece,
    act.Agree: agree_to_pass,
    act.Done: end_part_of,
}
