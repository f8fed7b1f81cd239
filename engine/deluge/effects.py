"""What an action does, and what follows by itself on the cells it touches; the round's end is in `cycle`."""

from __future__ import annotations

from collections.abc import Iterable

from engine.deluge import actions as act
from engine.deluge import cycle
from engine.deluge.cell import NONE, Four, add, fight
from engine.deluge.state import DelugeState
from engine.deluge.words import COLOURS, GOODS, SHIP_WOOD, goods_text, kind_name, listed, seat_name, several
from engine.game import Action
from engine.text import Text, say


def perform(state: DelugeState, action: Action) -> DelugeState:
    """The state after a legal action."""
    new = state.copy()
    new._before = state.layout()
    if isinstance(action, act.Done):
        cycle.done(new)
    elif isinstance(action, act.Agree):
        owner, guest = new.colour(action.seat), new.colour(action.guest)
        new.agreed = new.agreed | {(owner, guest, action.sea)}
        new.tell(say("{seat} lets {other} cross {cell}", seat=seat_name(action.seat), other=seat_name(action.guest),
                     cell=action.sea), by_hand=True)
    elif isinstance(action, act.Crew):
        go(new, action)
    elif isinstance(action, act.Sail):
        sail(new, action)
    elif isinstance(action, act.Harvest):
        harvest(new, action)
    elif isinstance(action, act.Trade):
        trade(new, action)
    elif isinstance(action, act.Build):
        build(new, action)
    return new


def go(new: DelugeState, a: act.Crew) -> None:
    """A move, a ferry or a flight, with its conflicts."""
    i, fleeing = new.colour(a.seat), isinstance(a, act.Flee)
    origin, target = new.cell(a.origin), new.cell(a.target)
    leaving, arriving = origin.people, target.people
    came = list(new.arrived.get(a.target, (NONE, NONE, NONE)))
    for colour, n in ((i, a.people), *((COLOURS.index(c), n) for c, n in a.slaves)):
        leaving, arriving, came[0] = add(leaving, colour, -n), add(arriving, colour, n), add(came[0], colour, n)
    came[1] = add(came[1], i, a.soldiers)
    new.put(a.origin, people=leaving, soldiers=add(origin.soldiers, i, -a.soldiers))
    new.put(a.target, people=arriving, soldiers=add(target.soldiers, i, a.soldiers))
    if not fleeing:
        new.arrived[a.target] = (came[0], came[1], came[2])
    if isinstance(a, act.Ferry):
        new.ferried = new.ferried | {(i, sea) for sea in a.via if new.unmoved(sea, i)[2] > 0}
    who = pieces([(f"people:{a.seat}", a.people), (f"soldier:{a.seat}", a.soldiers), *((f"people:{c}", n) for c, n in a.slaves)])
    new.tell(say("{pieces} from {origin} to {target}", pieces=who, origin=a.origin, target=a.target), (a.origin, a.target), True)
    settle(new, (a.origin, a.target))
    if fleeing:
        cycle.go_on_fleeing(new)


def sail(new: DelugeState, a: act.Sail) -> None:
    i = new.colour(a.seat)
    new.put(a.origin, ships=add(new.cell(a.origin).ships, i, -a.ships))
    new.put(a.target, ships=add(new.cell(a.target).ships, i, a.ships))
    people, soldiers, ships = new.arrived.get(a.target, (NONE, NONE, NONE))
    new.arrived[a.target] = (people, soldiers, add(ships, i, a.ships))
    new.tell(say("{pieces} from {origin} to {target}", pieces=pieces([(f"ship:{a.seat}", a.ships)]), origin=a.origin,
                 target=a.target), (a.origin, a.target), True)
    settle(new, (a.origin, a.target))


def settle(new: DelugeState, names: Iterable[str]) -> None:
    """Conflicts (D17 to D22) and takeovers (D32) on these cells, until nothing more happens there."""
    for name in names:
        cell = new.cell(name)
        if new.is_sea(name):
            if sum(1 for n in cell.ships if n) > 1:
                _clash(new, name, "ships", cell.ships, "ship")
            continue
        if cell.taken:
            continue
        if sum(1 for n in cell.soldiers if n) > 1:
            _clash(new, name, "soldiers", cell.soldiers, "soldier")
        cell = new.cell(name)
        if not any(cell.soldiers) and sum(1 for n in cell.people if n) > 1:
            _clash(new, name, "people", cell.people, "people")
        take_over(new, name)


_CLASH = {
    "ships": say("ships fight on {cell}: take off {loss}"),
    "soldiers": say("soldiers fight on {cell}: take off {loss}"),
    "people": say("civil war on {cell}: take off {loss}"),
}


def _clash(new: DelugeState, name: str, field: str, before: Four, piece: str) -> None:
    after = fight(before)
    new.put(name, **{field: after})
    _clamp(new, name)
    loss = pieces([(f"{piece}:{c}", b - a) for c, b, a in zip(COLOURS, before, after)])
    new.tell(Text(_CLASH[field].template, {"cell": name, "loss": loss}), (name,))


def pieces(counts: Iterable[tuple[str, int]]) -> Text:
    """"2 white soldiers, a blue soldier" """
    return listed(several(kind, n) for kind, n in counts if n > 0)


def _clamp(new: DelugeState, name: str) -> None:
    """No more pawns that have moved than there are pawns."""
    if name in new.arrived:
        cell = new.cell(name)
        new.arrived[name] = tuple(  # type: ignore
            tuple(min(a, b) for a, b in zip(came, have))
            for came, have in zip(new.arrived[name], (cell.people, cell.soldiers, cell.ships)))


def take_over(new: DelugeState, name: str) -> None:
    """More fanatics than other pawns: the cell is theirs for good, and who stands there is lost (D32)."""
    cell = new.cell(name)
    if cell.taken or not new.is_land(name) or cell.fanatics <= cell.pawns:
        return
    gone = [(f"people:{c}", n) for c, n in zip(COLOURS, cell.people)]
    gone += [(f"soldier:{c}", n) for c, n in zip(COLOURS, cell.soldiers)]
    new.lost = tuple(a + b for a, b in zip(new.lost, cell.soldiers))  # type: ignore
    new.put(name, people=NONE, soldiers=NONE, taken=True)
    new.arrived.pop(name, None)
    if cell.pawns:
        new.tell(say("fanatics take {cell}: take off {loss}", cell=name, loss=pieces(gone)), (name,))
    else:
        new.tell(say("fanatics take {cell}", cell=name), (name,))


def harvest(new: DelugeState, a: act.Harvest) -> None:
    i, goods = new.colour(a.seat), dict(a.goods)
    cell, wood = new.cell(a.cell), goods.get("wood", 0)
    free = [s for s in new.world.spots[a.cell] if s not in cell.bare]
    chosen = set(a.spots or free[:wood])
    new.put(a.cell, bare=tuple(s for s in new.world.spots[a.cell] if s in cell.bare or s in chosen))
    before = new.worked.get(a.cell, (0, 0))
    new.worked[a.cell] = (before[0] + wood, before[1] + sum(goods.values()) - wood)
    pay(new, i, goods, 1)
    new.tell(say("{seat} harvests on {cell}: {goods}", seat=seat_name(a.seat), cell=a.cell, goods=goods_text(a.goods)),
             (a.cell,), True)


def trade(new: DelugeState, a: act.Trade) -> None:
    giver, taker = new.colour(a.giver), new.colour(a.taker)
    for goods, source, sink in ((a.gives, giver, taker), (a.takes, taker, giver)):
        pay(new, source, dict(goods), -1)
        pay(new, sink, dict(goods), 1)
    new.tell(say("{seat} gives {goods} to {other} for {back}", seat=seat_name(a.giver), other=seat_name(a.taker),
                 goods=goods_text(a.gives), back=goods_text(a.takes)), by_hand=True)


def pay(new: DelugeState, colour: int, goods: dict[str, int], sign: int) -> None:
    """Adds goods to a stock (sign 1) or takes them off (-1)."""
    stocks = [list(s) for s in new.stocks]
    for good, n in goods.items():
        stocks[colour][GOODS.index(good)] += sign * n
    new.stocks = tuple(tuple(s) for s in stocks)


def build(new: DelugeState, a: act.Build) -> None:
    i, cell = new.colour(a.seat), new.cell(a.cell)
    if a.what == "ship":
        pay(new, i, {"wood": SHIP_WOOD}, -1)
        new.put(a.cell, ships=add(cell.ships, i, 1))
    else:
        pay(new, i, dict(a.pay), -1)
        if a.what == "mine":
            new.put(a.cell, mines=cell.mines + 1)
        elif a.what == "dolmen":
            new.put(a.cell, dolmens=add(cell.dolmens, i, 1))
        else:
            new.put(a.cell, soldiers=add(cell.soldiers, i, 1))
    kind = "mine" if a.what == "mine" else f"{a.what}:{a.seat}"
    new.tell(say("{seat} builds {piece} on {cell}", seat=seat_name(a.seat), piece=kind_name(kind), cell=a.cell), (a.cell,), True)
    settle(new, (a.cell,))

