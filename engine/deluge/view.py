"""What a page shows beyond the layout (docs/architecture.md)."""

from __future__ import annotations

from typing import Any

from engine.deluge import scoring
from engine.deluge.checks import PHASE_NAMES
from engine.deluge.cycle import can_flee
from engine.deluge.state import FLIGHT, HARVEST, OVER, DelugeState
from engine.deluge.words import COLOURS, END, GOODS, PRICE, RISES, SHIP_WOOD, SHIPS, SOLDIERS, good_name, kind_name, seat_name
from engine.text import Text, say

_HEX = {"wood": "#7a5230", "gold": "#d9a400", "bronze": "#3f8f4f", "marble": "#b9b9b9", "granite": "#4f5a78"}
_BONUS = {"trees": say("ecology: most trees"), "ships": say("explorer: most ships"),
          "soldiers": say("war: most soldiers"), "mines": say("mining: most mines")}


def view(state: DelugeState) -> dict[str, Any]:
    return {
        "phase": PHASE_NAMES[state.phase], "round": state.round,
        "left": None if state.phase == OVER else say("until {seat} is done", seat=seat_name(str(state.turn))),
        "tracks": [{"id": "counter", "label": say("deforested cells"), "value": state.counter, "max": END, "steps": None,
                    "marks": sorted([*RISES, END])}],
        "seats": [{"id": seat, "facts": _facts(state, seat)} for seat in state.seats],
        "coming": _coming(state), "tables": [_rulers(state), _bonuses(state)], "highlight": _highlight(state),
        "notes": _notes(state),
    }


def _facts(state: DelugeState, seat: str) -> list[dict[str, Any]]:
    i = state.colour(seat)

    def fact(label: Text, value: object, colour: str | None = None, kind: str | None = None) -> dict[str, Any]:
        return {"label": label, "value": value, "colour": colour, "kind": kind, "secret": False}

    out = [fact(good_name(g), n, _HEX[g]) for g, n in zip(GOODS, state.stocks[i])]
    out += [
        fact(say("people"), state.on_map("people", i), kind=f"people:{seat}"),
        fact(say("soldiers"), say("{n} of {most}", n=state.on_map("soldiers", i), most=SOLDIERS - state.lost[i]),
             kind=f"soldier:{seat}"),
        fact(say("ships"), say("{n} of {most}", n=state.on_map("ships", i), most=SHIPS), kind=f"ship:{seat}"),
        fact(say("dolmens"), state.on_map("dolmens", i), kind=f"dolmen:{seat}"),
        fact(say("can afford"), _affords(state, i)),
    ]
    return out


def _affords(state: DelugeState, colour: int) -> Text:
    """What the stock buys: ships, and at which of the four prices anything else (D35, D36)"""
    stock = state.stocks[colour]
    ships = stock[0] // SHIP_WOOD
    ways = [f"{kinds} × {price}" for kinds, price in PRICE.items() if sum(n >= price for n in stock) >= kinds]
    if not ships and not ways:
        return say("nothing")
    if not ways:
        return say("{n} ships", n=ships)
    return say("{n} ships; a mine, soldier or dolmen for {ways}", n=ships, ways=", ".join(ways))


def _coming(state: DelugeState) -> list[Text]:
    out: list[Text] = []
    barren = [c for c in state.world.lands if state.is_land(c) and not state.cell(c).counted
              and state.world.spots[c] and not state.forests(c)]
    if barren:
        out.append(say("bare at the end of this round: {cells}", cells=", ".join(barren)))
    rise = next(((mark, r) for mark, r in sorted(RISES.items()) if state.counter + len(barren) < mark or
                 any(state.world.rise[c] == r and state.is_land(c) for c in state.world.lands)), None)
    if rise and state.phase != OVER:
        mark, number = rise
        cells = [c for c in state.world.lands if state.world.rise[c] == number and state.is_land(c)]
        out.append(say("at {mark} the water takes {cells}", mark=mark, cells=", ".join(cells) or say("nothing")))
        for c in cells:
            if state.cell(c).pawns:
                dry = [t for t in state.world.borders[c] if state.is_land(t) and t not in cells and not state.cell(t).taken]
                out.append(say("{n} pawns stand on {cell}; they could flee to {cells}", n=state.cell(c).pawns, cell=c,
                               cells=", ".join(dry) or say("nowhere")))
    births = [c for c in state.world.lands if state.is_land(c) and not state.cell(c).taken
              and any(n >= 2 for n in (*state.cell(c).people, state.cell(c).fanatics))]
    if births:
        out.append(say("births to come on {cells}", cells=", ".join(births)))
    return out


def _rulers(state: DelugeState) -> dict[str, Any]:
    rows = []
    for c in state.world.lands:
        ruler = state.ruler(c) if state.is_land(c) else None
        if ruler is not None:
            rows.append([seat_name(COLOURS[ruler]), c, state.forests(c), state.cell(c).mines])
    return {"title": say("who rules where"), "columns": [say("ruler"), say("cell"), say("forests"), say("mines")], "rows": rows}


def _bonuses(state: DelugeState) -> dict[str, Any]:
    best = scoring.bonuses(state)
    have = scoring.holdings(state)
    rows = [[_BONUS[b], seat_name(best[b]) if best[b] else say("nobody"), *(have[b][s] for s in state.seats)]
            for b in scoring.BONUSES]
    return {"title": say("the four bonuses as they stand"), "columns": [say("bonus"), say("goes to"), *map(seat_name, state.seats)],
            "rows": rows}


def _highlight(state: DelugeState) -> dict[str, Text]:
    out = {c: say("taken by fanatics") for c, cell in state.cells.items() if cell.taken}
    out.update({c: say("the water comes") for c in state.sinking})
    return out


def _notes(state: DelugeState) -> list[Text]:
    if state.phase == FLIGHT:
        return [say("{seat} can still flee", seat=seat_name(s)) for s in state.seats if can_flee(state, s)]
    if state.phase != HARVEST:
        return []
    out = []
    for c in state.world.lands:
        pawns, forests, mineral = state.work(c) if state.is_land(c) else (0, 0, 0)
        if pawns > 0 and state.ruler(c) is not None and not state.cell(c).taken:
            left = min(pawns, forests + max(mineral, 0))
            out.append(say("{cell}: {n} without work yet, work for {left}; {piece} else", cell=c, n=pawns, left=left,
                           piece=kind_name("fanatic")))
    return out
