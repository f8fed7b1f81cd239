"""What a page shows beyond the layout (docs/reference/engine.md)."""

from __future__ import annotations

from typing import Any

from engine.deluge import scoring
from engine.deluge.checks import PHASE_NAMES
from engine.deluge.coming import coming_births, coming_events, who_may_flee
from engine.deluge.position import FLIGHT, HARVEST, OVER, TRADE, Position
from engine.deluge.words import (
    COLOURS,
    END,
    GOODS,
    PRICE,
    RISES,
    SHIP_WOOD,
    SHIPS,
    SOLDIERS,
    good_name,
    listed_parts,
    seat_name,
)
from engine.text import Text, say

_HEX = {
    "wood": "#7a5230",
    "gold": "#d9a400",
    "bronze": "#3f8f4f",
    "marble": "#b9b9b9",
    "granite": "#4f5a78",
}
_BONUS = {
    "trees": say("ecology: most trees"),
    "ships": say("explorer: most ships"),
    "soldiers": say("war: most soldiers"),
    "mines": say("mining: most mines"),
}
_PRICES = {
    1: say("{n} of one kind of goods"),
    2: say("{n} each of two kinds"),
    3: say("{n} each of three kinds"),
    4: say("{n} each of four kinds"),
}


def page_view(state: Position) -> dict[str, Any]:
    """What a page shows beyond the layout (docs/reference/engine.md)."""
    return {
        "phase": PHASE_NAMES[state.phase],
        "round": state.round,
        "left": _time_left(state),
        "tracks": [
            {
                "id": "counter",
                "label": say("deforested cells"),
                "value": state.counter,
                "max": END,
                "steps": None,
                "marks": sorted([*RISES, END]),
            }
        ],
        "seats": [{"id": seat, "facts": _seat_facts(state, seat)} for seat in state.seats],
        "coming": coming_events(state),
        "tables": [
            *_idle_table(state),
            _rulers_table(state),
            *_births_table(state),
            _bonuses_table(state),
        ],
        "highlight": _highlighted_sites(state),
        "notes": _page_notes(state),
        "bargain": {
            "text": "trade {giver} {gives} for {taker} {takes}",
            "seats": list(state.seats),
            "goods": [{"id": g, "name": good_name(g), "colour": _HEX[g]} for g in GOODS],
        }
        if state.phase == TRADE
        else None,
    }


def _time_left(state: Position) -> Text | None:
    """How long the seat whose turn it is goes on."""
    if state.phase == OVER:
        return None
    return (
        say("until nobody can flee")
        if state.phase == FLIGHT
        else say("until {seat} is done", seat=seat_name(str(state.turn)))
    )


def _seat_facts(state: Position, seat: str) -> list[dict[str, Any]]:
    i = state.colour(seat)

    def fact(
        label: Text,
        value: object,
        colour: str | None = None,
        kind: str | None = None,
        secret: bool = False,
    ) -> dict[str, Any]:
        return {"label": label, "value": value, "colour": colour, "kind": kind, "secret": secret}

    out = [fact(good_name(g), n, _HEX[g]) for g, n in zip(GOODS, state.stocks[i])]
    out += [
        fact(say("people"), state.on_map("people", i), kind=f"people:{seat}"),
        fact(
            say("soldiers"),
            say("{n} of {most}", n=state.on_map("soldiers", i), most=SOLDIERS - state.lost[i]),
            kind=f"soldier:{seat}",
        ),
        fact(
            say("ships"),
            say("{n} of {most}", n=state.on_map("ships", i), most=SHIPS),
            kind=f"ship:{seat}",
        ),
        fact(say("dolmens"), state.on_map("dolmens", i), kind=f"dolmen:{seat}"),
        fact(say("can afford"), _what_stock_buys(state, i)),
        fact(
            say("points with the bonuses as they stand"),
            scoring.standing_scores(state)[seat],
            secret=True,
        ),
    ]
    return out


def _what_stock_buys(state: Position, colour: int) -> Text:
    """What the stock buys: ships, and at which of the four prices anything else (D35, D36)."""
    stock = state.stocks[colour]
    ships = stock[0] // SHIP_WOOD
    ways = [
        Text(_PRICES[kinds].template, {"n": price})
        for kinds, price in PRICE.items()
        if sum(n >= price for n in stock) >= kinds
    ]
    parts = [say("a ship") if ships == 1 else say("{n} ships", n=ships)] * bool(ships)
    parts += [
        say("a mine, soldier or dolmen for {ways}", ways=listed_parts(ways, "{first}, or {next}"))
    ] * bool(ways)
    return listed_parts(parts, "{first}; {next}")


def _rulers_table(state: Position) -> dict[str, Any]:
    rows = []
    for c in state.world.lands:
        ruler = state.ruler(c) if state.is_land(c) else None
        if ruler is not None:
            rows.append([seat_name(COLOURS[ruler]), c, state.forests(c), state.cell(c).mines])
    return {
        "title": say("who rules where"),
        "columns": [say("ruler"), say("cell"), say("forests"), say("mines")],
        "rows": rows,
    }


def _births_table(state: Position) -> list[dict[str, Any]]:
    """A table, as long as this round's births are still to come."""
    if state.phase in (FLIGHT, OVER):
        return []
    return [
        {
            "title": say("births at the end of the round, as pawns stand now"),
            "columns": [say("cell"), say("born")],
            "rows": [list(row) for row in coming_births(state)],
        }
    ]


def _bonuses_table(state: Position) -> dict[str, Any]:
    best = scoring.bonus_holders(state)
    have = scoring.holdings_of(state)
    rows = [
        [
            _BONUS[b],
            seat_name(seat) if (seat := best[b]) else say("nobody"),
            *(have[b][s] for s in state.seats),
        ]
        for b in scoring.BONUSES
    ]
    return {
        "title": say("the four bonuses as they stand"),
        "columns": [say("bonus"), say("goes to"), *map(seat_name, state.seats)],
        "rows": rows,
    }


def _highlighted_sites(state: Position) -> dict[str, Text]:
    out = {c: say("taken by fanatics") for c, cell in state.cells.items() if cell.taken}
    out.update({c: say("the water comes") for c in state.sinking})
    return out


def _page_notes(state: Position) -> list[Text]:
    if state.phase == FLIGHT:
        return who_may_flee(state)
    return [say("whoever does not work becomes a fanatic (D28)")] if _idle_table(state) else []


def _idle_table(state: Position) -> list[dict[str, Any]]:
    """A table of who still has no work, while there is some to be given."""
    rows: list[list[Any]] = []
    for c in state.world.lands if state.phase == HARVEST else ():
        pawns, forests, mineral = state.work(c) if state.is_land(c) else (0, 0, 0)
        if pawns > 0 and state.ruler(c) is not None and not state.cell(c).taken:
            rows.append([c, pawns, min(pawns, forests + max(mineral, 0))])
    columns = [say("cell"), say("pawns"), say("work for")]
    return [{"title": say("still without work"), "columns": columns, "rows": rows}] if rows else []
