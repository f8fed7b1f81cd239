"""What was harvested and built, judging by the cards, the red pawns and the buildings that are
seen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from engine.deluge import actions as act
from engine.deluge.cell import NONE
from engine.deluge.going import Change
from engine.deluge.legal import possible_payments
from engine.deluge.position import BUILDING, HARVEST, MOVEMENT, TRADE, Position
from engine.deluge.words import COLOURS, GOODS, PRICE
from engine.game import Action, Difference, Proposal


def by_cell(state: Position, bare: Iterable[str]) -> dict[str, list[str]]:
    """cell -> those of the spots that are on it."""
    out: dict[str, list[str]] = {}
    for spot in bare:
        out.setdefault(state.world.cell_of[spot], []).append(spot)
    return out


def ruling_seat(state: Position, cell: str) -> str | None:
    """The seat that rules a land cell, None if no seat in the game does."""
    ruler = state.ruler(cell) if state.is_land(cell) else None
    return COLOURS[ruler] if ruler is not None and COLOURS[ruler] in state.seats else None


def harvest_covering(
    state: Position, seat: str, cell: str, spots: Sequence[str], ore: int = 0
) -> act.Harvest:
    """The harvest that covers these spots; they are named only if the first free ones would be
    others."""
    free = [s for s in state.world.spots[cell] if s not in state.cell(cell).bare]
    ordered = tuple(s for s in state.world.spots[cell] if s in spots)
    have = {"wood": len(spots), state.world.mineral[cell]: ore}
    goods = tuple((g, have[g]) for g in GOODS if have.get(g))
    return act.Harvest(seat, cell, goods, () if tuple(free[: len(spots)]) == ordered else ordered)


def whole_harvest(state: Position, cells: Change, bare: list[str]) -> tuple[list[Action], Position]:
    """The rest of the harvest phase, if red pawns show who was idle: the others worked, in the
    forests that are covered or else in the mines (D25, D28). Returns the actions and the state
    after them."""
    covered = by_cell(state, bare)
    actions: list[Action] = []
    while state.phase == HARVEST:
        seat = str(state.turn)
        for cell in state.world.lands:
            if ruling_seat(state, cell) != seat:
                continue
            pawns, _, mineral = state.work(cell)
            spots = covered.get(cell, [])
            idle = max(0, cells[cell]["fanatic"]) if cell in cells else 0
            ore = max(
                0, min(pawns - idle - len(spots), mineral if state.world.mineral[cell] else 0)
            )
            if spots or ore:
                action = harvest_covering(state, seat, cell, spots, ore)
                if not state.check(action):
                    actions.append(action)
                    state = state.apply(action)
        actions.append(act.Done(seat))
        state = state.apply(actions[-1])
    return actions, state


def did_nothing(state: Position) -> bool:
    """Whether the seat whose part it is has moved nothing, or harvested nothing, although it
    could."""
    i, cells = state.colour(str(state.turn)), state.world.cells
    if state.phase == MOVEMENT:
        return not any(four[i] for came in state.arrived.values() for four in came)
    mine = [c for c in cells if state.is_land(c) and state.ruler(c) == i]
    return (
        state.phase == HARVEST
        and not any(c in state.worked for c in mine)
        and any(pawns and (wood or mineral) for pawns, wood, mineral in map(state.work, mine))
    )


def forgotten_harvests(state: Position, cells: Change, bare: Iterable[str]) -> list[Proposal]:
    """What was harvested but is only seen now: pawns that should be fanatics by now but are not
    were working in a mine, which nobody mentioned; or the card of a forest was laid after its owner
    was assumed to be done (D24, D25, D28)."""
    late: list[Action] = []
    out = _not_mined(state, cells) + _late_cards(state, bare)
    if state.phase == TRADE and not state.at:
        return out  # the red pawns may simply not have been put down yet
    for name, idle in state.idle.items():
        if name not in cells or cells[name]["fanatic"] >= 0:
            continue
        n = min(
            -cells[name]["fanatic"],
            sum(idle),
            1 + 3 * state.cell(name).mines - state.worked.get(name, (0, 0))[1],
        )
        owner = _harvest_owner(state, name, idle)
        yields = state.world.mineral[name]
        if n > 0 and yields and owner in state.seats:
            late.append(act.Harvest(owner, name, ((yields, n),)))
    if late:
        out.append(Proposal(tuple(late), belated=True, certain=False))
    return out + (
        [Proposal((a,), belated=True, certain=False) for a in late[:8]] if len(late) > 1 else []
    )


def _not_mined(state: Position, cells: Change) -> list[Proposal]:
    """Red pawns laid one after another: those assumed at the first look to be in a mine were idle
    after all (D25, D28)."""
    idle = {
        n: c["fanatic"]
        for n, c in cells.items()
        if 0 < c["fanatic"] <= state.worked.get(n, (0, 0))[1]
    }
    if state.phase not in (TRADE, BUILDING) or not idle:
        return []
    less = tuple(
        act.Harvest(
            _harvest_owner(state, name, state.idle.get(name, NONE)),
            name,
            ((str(state.world.mineral[name]), n),),
        )
        for name, n in idle.items()
    )
    wanted: list[tuple[act.Harvest, ...]]
    wanted = [less] if len(less) == 1 else [less, *((h,) for h in less)]
    return [Proposal(belated=True, withdrawn=w, certain=False) for w in wanted]


def _late_cards(state: Position, bare: Iterable[str]) -> list[Proposal]:
    """Forests covered on cells whose harvest is over, by pawns assumed to be in a mine or idle
    (D24)."""
    out: list[Proposal] = []
    for name, spots in by_cell(state, bare).items():
        owner = _harvest_owner(state, name, state.idle.get(name, NONE))
        seats = [state.seats[k] for k in state.order]
        over = (
            state.phase in (TRADE, BUILDING)
            or state.phase == HARVEST
            and owner in seats[: state.at]
        )
        if not over or owner not in state.seats:
            continue
        wood = act.Harvest(
            owner,
            name,
            (("wood", len(spots)),),
            tuple(s for s in state.world.spots[name] if s in spots),
        )
        mined = min(len(spots), state.worked.get(name, (0, 0))[1])
        less = (
            ((act.Harvest(owner, name, ((str(state.world.mineral[name]), mined),)),),)
            if mined
            else ()
        )
        out += [Proposal((wood,), belated=True, withdrawn=w, certain=False) for w in (*less, ())]
    return out


def _harvest_owner(state: Position, name: str, idle: Sequence[int]) -> str:
    """Whose harvest it was: that of the soldiers, else of those who turned fanatic, else of the
    colour whose people are there."""
    cell = state.cell(name)
    for four in (cell.soldiers, idle, cell.people):
        here = [i for i in range(4) if four[i]]
        if here:
            return COLOURS[here[0]]
    return COLOURS[0]


def possible_builders(state: Position, name: str, kind: str) -> list[str]:
    """The seats that may have put this kind on a cell."""
    colour = kind.partition(":")[2]
    if colour:
        return [colour] if colour in state.seats else []
    return [ruling_seat(state, name) or str(state.turn)]


def possible_rammers(state: Position, cells: Change) -> list[tuple[str, str]]:
    """(seat, sea) where a ship is gone that one built by another seat, and gone too, may have sunk
    (D35)."""
    out = []
    for name, change in cells.items():
        sunk = [k for k, n in change.items() if n < 0 and k.startswith("ship:")]
        if len(sunk) == 1 and state.is_sea(name):
            out += [
                (s, name)
                for s in state.seats
                if f"ship:{s}" != sunk[0]
                and any(ruling_seat(state, c) == s for c in state.world.borders[name])
            ]
    return out


def possible_bills(state: Position, seat: str) -> list[tuple[tuple[str, int], ...]]:
    """How it may have been paid for, cheapest first; if there are not enough goods the dearest, so
    that the rule is named."""
    ways = sorted(
        possible_payments(state, state.colour(seat)), key=lambda pay: sum(n for _, n in pay)
    )
    return ways[:4] or [(("wood", PRICE[1]),)]


def seen_after(difference: Difference, name: str) -> dict[str, tuple[str, ...]]:
    """How one site looks after the difference, in the form of `Proposal.changes`; {} if it does not
    differ."""
    return {name: difference[name][1]} if name in difference else {}
