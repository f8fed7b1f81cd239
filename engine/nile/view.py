"""What a page shows beyond the layout: the tide and who decides, the market, the boat, points and
jokers, the next scoring."""

from __future__ import annotations

from collections import Counter
from typing import Any

from engine.nile.asking import spoiling_question
from engine.nile.board import FRUITS, TIDES, Board, counted_markers, fruit_markers, waves_on
from engine.nile.effects import free_place
from engine.nile.fit import open_fields
from engine.nile.flow import desert_field
from engine.nile.position import SETUP, Position
from engine.nile.scoring import boat_colours, full_rows, out_count, row_gains, row_kinds
from engine.nile.words import FRUIT, PHASES, SHADES, TIDE, seat_name
from engine.text import Text, say

ROUND = (
    PHASES["tide"],
    PHASES["actions"],
    Text("3 The pillar goes to the left"),
    Text("4 Scoring of full market rows"),
)
VARIANTS = {
    "hippo": Text("hippo action"),
    "bidding": Text("bidding for the first start"),
    "buy-others": Text("buying others' markers"),
    "freshen": Text("jokers freshen bad fruit"),
}


def page_view(p: Position, board: Board) -> dict[str, Any]:
    """What a page shows beyond the layout (docs/reference/engine.md)."""
    return {
        "phase": PHASES[p.phase],
        "round": None if p.phase in SETUP else p.round,
        "left": _actions_left(p),
        "tracks": _page_tracks(p, board),
        "seats": [{"id": s, "facts": _seat_facts(p, board, i)} for i, s in enumerate(p.seats)],
        "coming": _coming_events(p, board),
        "tables": [_market_table(p, board), _boat_table(p), _stocks_table(p)],
        "highlight": _highlighted_sites(p, board),
        "notes": _page_notes(p),
    }


def _actions_left(p: Position) -> Text | None:
    if p.phase in ("actions", "extra"):
        jokers = p.jokers[p.turn]
        points = (
            say("1 action point left")
            if p.points == 1
            else say("{n} action points left", n=p.points)
        )
        return say("{points}, {jokers} jokers", points=points, jokers=jokers) if jokers else points
    if p.phase == "tide" and (left := _cards_left(p)):
        if p.mode == "flood":
            return say("1 card to lay") if left == 1 else say("{n} cards to lay", n=left)
        return say("1 card to take") if left == 1 else say("{n} cards to take", n=left)
    return None


def _cards_left(p: Position) -> int:
    """Cards that the starting player still lays or removes; an arrow that brought flood has ended
    an ebb (N22)."""
    over = p.mode == "ebb" and (p.tide == "flood" or not p.water_sites())
    return 0 if over else max(0, 2 - p.laid)


def _page_tracks(p: Position, board: Board) -> list[dict[str, Any]]:
    tide = {
        "id": "tide",
        "label": Text("Tide"),
        "value": TIDES.index(p.tide),
        "max": 2,
        "large": True,
        "steps": [TIDE[t] for t in TIDES],
        "marks": [],
        "means": _tide_meaning(p),
    }
    phases = ["tide", "actions", "", ""]
    now = (
        phases.index("tide" if p.phase == "extra" else p.phase)
        if p.phase in ("tide", "actions", "extra")
        else None
    )
    first = max(p.scores) + 1
    return [
        tide,
        {
            "id": "phases",
            "label": Text("The round"),
            "value": now,
            "max": 3,
            "steps": list(ROUND),
            "marks": [],
        },
        {
            "id": "obelisk",
            "label": Text("Obelisk"),
            "value": p.obelisk,
            "max": board.last_square,
            "steps": None,
            "marks": sorted({n + 1 for n in p.scores}),
            "secret": "marks",
        },
        {
            "id": "distance",
            "label": Text("From the first figure to the obelisk"),
            "value": max(0, p.obelisk - first),
            "max": board.last_square - 1,
            "steps": None,
            "marks": [0],
            "secret": True,
        },
        {
            "id": "deserts",
            "label": Text("Desert cards in stock"),
            "value": p.deserts,
            "max": board.deserts,
            "steps": None,
            "marks": [0],
        },
    ]


def _tide_meaning(p: Position) -> Text:
    """The tide in one sentence: what it asks for this round, and of whom."""
    who = seat_name(p.seats[p.starter])
    if p.phase in SETUP:
        return Text("the first round is being laid out")
    if p.phase == "over":
        return Text("the game is over")
    if p.phase in ("tide", "extra") and (left := _cards_left(p)):
        if p.mode == "flood":
            return (
                say("{seat} lays two water cards from the tops of two piles", seat=who)
                if left == 2
                else say("{seat} lays one more water card", seat=who)
            )
        return (
            say("{seat} takes two water cards off the fields and turns them over", seat=who)
            if left == 2
            else say("{seat} takes one more water card off the fields and turns it over", seat=who)
        )
    nxt = seat_name(p.seats[(p.starter + 1) % len(p.seats)])
    if p.tide == "flood":
        return say("the next round floods: {seat} will lay two water cards", seat=nxt)
    return say("the next round dries up: {seat} will take two water cards", seat=nxt)


def _seat_facts(p: Position, board: Board, i: int) -> list[dict[str, Any]]:
    seat = p.seats[i]

    def fact(
        label: Text, value: Any, kind: str | None = None, secret: bool = False
    ) -> dict[str, Any]:
        return {
            "label": label,
            "value": value,
            "colour": SHADES[seat],
            "kind": kind,
            "secret": secret,
        }

    out = [
        fact(Text("points"), p.scores[i], f"figure:{seat}", secret=True),
        fact(Text("jokers"), p.jokers[i], "desert"),
    ]
    if i == p.turn and p.phase in ("actions", "extra"):
        out.append(fact(Text("action points left"), p.points))
    if i == p.starter:
        out.append(fact(Text("pillar"), Text("starts this round")))
    out.append(fact(Text("markers in hand"), p.in_stock(i)))
    left = p.water_left(i)
    tops = [top for top, n in p.piles[i] if n and top != "?"]
    if left >= 0:
        out.append(fact(Text("water cards"), left))
    if tops:
        out.append(fact(Text("top cards"), ", ".join(f"{t[0]}-{t[1]}" for t in tops)))
    out.append(fact(Text("markers out of the game"), out_count(p, i)))
    return out


def _coming_events(p: Position, board: Board) -> list[Text]:
    """What is about to spoil, and the next scoring with the present market."""
    if p.phase == "over":
        return []
    out = [spoiling_question(board, p.wait.number)] if p.wait and p.wait.kind == "spoil" else []
    for n in full_rows(p.lay, board):
        out.append(
            say(
                "row M{row} is full: {gains}",
                row=n,
                gains=_gains_text(p, row_gains(row_kinds(p.lay, board, n))),
            )
        )
    if full_rows(p.lay, board):
        colours = boat_colours(p)
        out.append(
            say("then the boat is emptied and the obelisk moves {n} squares", n=len(colours))
        )
    else:
        out.append(Text("no market row is full: nothing is scored after this round"))
    return out


def _gains_text(p: Position, gains: dict[str, int]) -> Text:
    some = sorted(
        ((n, s) for s, n in gains.items() if n and s in p.seats),
        key=lambda g: (-g[0], p.seats.index(g[1])),
    )
    if not some:
        return Text("no points")
    text = say("{seat} {n}", seat=seat_name(some[0][1]), n=some[0][0])
    for n, s in some[1:]:
        text = say("{some}, {more}", some=text, more=say("{seat} {n}", seat=seat_name(s), n=n))
    return text


def _market_table(p: Position, board: Board) -> dict[str, Any]:
    rows = []
    for n, sites in board.market.items():
        lying = row_kinds(p.lay, board, n)
        free = free_place(p, n, board)
        refused = sorted({f for _, _, f in fruit_markers(tuple(lying[-2:]))}, key=FRUITS.index)
        sure = row_gains(lying)
        bad = Counter(k.split(":")[0] for k in lying)
        rows.append(
            [
                f"M{n}",
                say("{n} of {all}", n=len(lying), all=len(sites)),
                free or Text("full"),
                _listed_fruits(refused) if free else Text("everything"),
                bad["seed"],
                bad["rotten"],
                _gains_text(p, sure) if lying else "",
            ]
        )
    columns = [
        Text("row"),
        Text("fruit"),
        Text("next free place"),
        Text("refuses"),
        Text("bad"),
        Text("rotten"),
        Text("would give now"),
    ]
    return {"title": Text("Market"), "columns": columns, "rows": rows}


def _listed_fruits(fruits: list[str]) -> Text | str:
    text: Text | str = FRUIT[fruits[0]] if fruits else ""
    for f in fruits[1:]:
        text = say("{some}, {more}", some=text, more=FRUIT[f])
    return text


def _boat_table(p: Position) -> dict[str, Any]:
    held = counted_markers(p.lay.get("boat", ()))
    rows = [
        [
            seat_name(s),
            *(held[s, f] for f in FRUITS),
            sum(held[s, f] for f in FRUITS) + p.owed[i] - p.lost[i],
        ]
        for i, s in enumerate(p.seats)
    ]
    return {
        "title": Text("Boat"),
        "columns": [Text("colour"), *(FRUIT[f] for f in FRUITS), Text("all")],
        "rows": rows,
    }


def _stocks_table(p: Position) -> dict[str, Any]:
    rows = [[seat_name(s), *p.stock[i]] for i, s in enumerate(p.seats)]
    return {
        "title": Text("Seed in hand"),
        "columns": [Text("colour"), *(FRUIT[f] for f in FRUITS)],
        "rows": rows,
    }


def _highlighted_sites(p: Position, board: Board) -> dict[str, Text]:
    """What may spoil, where the tide can go on, where fruit goes to market, where the desert grows
    next."""
    if p.wait and p.wait.kind == "spoil":
        return {
            s: Text("this fruit may go bad")
            for n in board.open_rows(p.wait.number)
            for s in board.market[n]
            if any(m[0] != "rotten" for m in fruit_markers(p.lay.get(s, ())))
        }
    if p.phase == "tide":
        tide, deserts = _tide_sites(p, board), _deserts_growing(p, board)
        return tide | {s: text for s, text in deserts.items() if s not in tide}
    return _action_sites(p, board) if p.phase in ("actions", "extra") else {}


def _tide_sites(p: Position, board: Board) -> dict[str, Text]:
    """Where the tide can go on, unless something else is waited for."""
    if p.wait is not None:
        return {}
    if p.mode == "flood":
        return {s: Text("a water card may fit here") for s in open_fields(p, board)}
    return {s: Text("this water card may be taken") for s, c in p.lay.items() if waves_on(c)}


def _action_sites(p: Position, board: Board) -> dict[str, Text]:
    """What the seat whose turn it is has used already, and where fruit goes to market."""
    used = [a.split() for a in p.active]
    own = [words[0] for words in used if words[1] == p.seats[p.turn]]
    out = {s: Text("active this round already") for s in own}
    free = [s for n in board.market if (s := free_place(p, n, board))]
    return out | {s: Text("the next fruit of this row goes here") for s in free}


def _deserts_growing(p: Position, board: Board) -> dict[str, Text]:
    """Where the desert grows next: in the row of the card just turned, otherwise in all rows with
    water."""
    if p.mode != "ebb" or p.deserts <= 0:
        return {}
    if p.wait and p.wait.kind == "event":
        rows = [board.fields[p.wait.site].row]
    else:
        rows = [r for r, row in board.rows.items() if any(waves_on(p.lay.get(s, ())) for s in row)]
    grown = [site for row in rows if (site := desert_field(p, row, board))]
    return {site: Text("the desert would grow here") for site in grown}


def _page_notes(p: Position) -> list[Text]:
    out: list[Text] = [say("variant: {name}", name=VARIANTS[o]) for o in p.options] or [
        Text("no variants")
    ]
    if p.wait and p.wait.kind == "event":
        out.append(say("the card from {site} is turned over", site=p.wait.site))
    if p.wait and p.wait.kind == "spoil":
        out.append(say("{n} palms: fruit goes bad", n=p.wait.number))
    return out
