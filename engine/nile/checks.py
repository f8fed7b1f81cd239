"""Why an action is not legal: every rule it breaks, by its number in rules.md."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine.game import Action
from engine.nile import actions as act
from engine.nile import first
from engine.nile.blame import (
    STAGE_RULE,
    Faults,
    from_tops,
    ground_faults,
    markers_in_stock,
    on_field,
    one_violation,
    waiting_fault,
)
from engine.nile.board import FRUITS, Board, card_on, fruit_marker, fruit_markers, waves_on
from engine.nile.fit import fits_anywhere, none_may_fit
from engine.nile.position import SETUP, Position
from engine.nile.words import FRUIT, TIDE, fruit_name, seat_name


def action_faults(p: Position, board: Board, a: Action) -> Faults:
    """Every rule that `a` breaks in exactly this position, [] if it is legal."""
    if p.phase == "over":
        return [one_violation("N44", "the game is over")]
    if a.seat not in p.seats and not isinstance(a, (act.Event, act.Top, act.Start, act.Desert)):
        return [one_violation("N24", "{seat} does not play in this game", seat=seat_name(a.seat))]
    return _CHECKS[type(a)](p, board, a)


def _phase1_faults(p: Position, a: Action, rule: str) -> Faults:
    """Why the seat may not flood or ebb now."""
    out: Faults = []
    if p.phase in SETUP:
        out.append(one_violation(STAGE_RULE[p.phase], "the first round is still being laid out"))
    elif p.phase == "extra":
        out.append(one_violation("N59", "the hippo's extra turn comes first"))
    elif p.phase == "actions":
        out.append(one_violation(rule, "phase 1 is over, two cards at most"))
    if p.seat(a.seat) != p.starter:
        out.append(one_violation(rule, "phase 1 belongs to the start player alone"))
    if p.wait and p.phase not in SETUP:
        out.append(waiting_fault(p.wait, p))
    return out


def _phase2_faults(p: Position, a: Action) -> Faults:
    """Why the seat may not take an action now."""
    out: Faults = []
    if p.phase in SETUP:
        out.append(one_violation(STAGE_RULE[p.phase], "the first round is still being laid out"))
    elif p.phase == "tide":
        out.append(one_violation("N24", "actions come in phase 2"))
        out.append(
            one_violation("N16", "the start player lays two water cards first")
            if p.mode == "flood"
            else one_violation("N20", "the start player takes two water cards first")
        )
    elif p.seat(a.seat) != p.turn:
        out.append(
            one_violation(
                "N59" if p.phase == "extra" else "N24",
                "it is the turn of {seat}",
                seat=seat_name(p.seats[p.turn]),
            )
        )
        if p.phase == "extra":
            out.append(
                one_violation("N24", "it is the turn of {seat}", seat=seat_name(p.seats[p.turn]))
            )
    if p.wait:
        out.append(waiting_fault(p.wait, p))
    return out


def _point_faults(p: Position, a: Action, cost: int, rule: str) -> Faults:
    """N24, and the rule that makes the action cost two points if the seat lacks just those."""
    if p.phase not in ("actions", "extra") or p.seat(a.seat) != p.turn or p.points >= cost:
        return []
    out = [
        one_violation(
            "N24", "it takes {cost} action points, {points} are left", cost=cost, points=p.points
        )
    ]
    if p.points:
        out.append(one_violation(rule, "it takes two points here"))
    return out


def _check_flood(p: Position, board: Board, a: act.Flood) -> Faults:
    out = _phase1_faults(p, a, "N16")
    if p.phase in ("tide", "actions") and p.mode == "ebb":
        out += [
            one_violation(r, "the tide is at {tide}: cards are taken, not laid", tide=TIDE[p.tide])
            for r in ("N16", "N22")
        ]
    here = p.lay.get(a.site, ())
    out += on_field(p, board, a.site, a.waves)
    out += from_tops(p, p.seat(a.seat), a.waves, "N16")
    if act.tells_event(a) and card_on(here) != "desert":
        out.append(one_violation("N18", "no desert card lies on {site}", site=a.site))
    elif act.tells_event(a) and p.open:
        out.append(one_violation("N18", "the card itself shows its event"))
    return out


def _check_ebb(p: Position, board: Board, a: act.Ebb) -> Faults:
    if _answers_ebb(p, a):
        return _turned_by(p, a)
    out = _phase1_faults(p, a, "N20")
    if p.phase in ("tide", "actions") and p.mode == "flood":
        out += [
            one_violation(r, "the tide is at flood: cards are laid, not taken")
            for r in ("N20", "N22")
        ]
    elif p.phase == "actions" and p.laid < 2:
        out += [
            one_violation(r, "the ebb is over after the first card: the stone lies on flood")
            for r in ("N21", "N22")
        ]
    if not waves_on(p.lay.get(a.site, ())):
        out.append(one_violation("N20", "no water card lies on {site}", site=a.site))
    if act.tells_event(a) and p.open:
        out.append(one_violation("N20", "the card itself shows its event"))
    return out


def _answers_ebb(p: Position, a: act.Ebb | act.Flood) -> bool:
    """The ebb stated once more, this time with what the card shows."""
    w = p.wait
    return bool(
        w
        and w.kind == "event"
        and w.cause == "ebb"
        and a.site in (w.site, p.unsaid)
        and act.tells_event(a)
        and not p.open
    )


def _turned_by(p: Position, a: act.Event | act.Ebb) -> Faults:
    if p.wait and p.wait.number and not a.picture:
        return [one_violation("N46", "the arrow has been followed")]
    if p.open:
        return (
            []
            if a.seat == act.CARDS and a.picture
            else [one_violation("N20", "the card itself shows its event")]
        )
    return (
        []
        if a.seat == p.seats[p.starter]
        else [one_violation("N20", "the start player turns the card")]
    )


def _check_event(p: Position, board: Board, a: act.Event) -> Faults:
    if not (p.wait and p.wait.kind == "event"):
        return [one_violation("N20", "no card has been turned over")]
    return _turned_by(p, a)


def _check_spoil(p: Position, board: Board, a: act.Spoil) -> Faults:
    out: Faults = []
    w = p.wait
    if p.seat(a.seat) != p.starter:
        out.append(one_violation("N47", "the start player chooses what goes bad"))
    if not (w and w.kind == "spoil"):
        return [*out, one_violation("N47", "no card with palms has been turned over")]
    if a.row not in board.open_rows(w.number):
        out.append(
            one_violation("N47", "{palms} palms do not reach row M{row}", palms=w.number, row=a.row)
        )
    kinds = [p.lay.get(s, ()) for s in board.market[a.row]]
    here = {i + 1: fruit_marker(k[-1]) for i, k in enumerate(kinds) if k}
    can = [i for i, m in here.items() if m and m[0] != "rotten"]
    if len(set(a.places)) < len(a.places):
        out.append(one_violation("N47", "two different fruits go bad"))
    for i in a.places:
        if i not in here:
            out.append(one_violation("N47", "nothing lies on M{row}.{place}", row=a.row, place=i))
        elif i not in can:
            out.append(
                one_violation(
                    "N48",
                    "the fruit on M{row}.{place} is rotten and goes no further",
                    row=a.row,
                    place=i,
                )
            )
    if len(a.places) != min(2, len(can)):
        out.append(
            one_violation(
                "N49" if len(can) < 2 else "N47",
                "{n} fruits of row M{row} go bad",
                n=min(2, len(can)),
                row=a.row,
            )
        )
    return out


def _check_sow(p: Position, board: Board, a: act.Sow) -> Faults:
    out = _phase2_faults(p, a) + ground_faults(p, a)
    if not markers_in_stock(p, p.seat(a.seat), a.fruit):
        out.append(
            one_violation(
                "N26",
                "{seat} has no {fruit} left to sow",
                seat=seat_name(a.seat),
                fruit=FRUIT[a.fruit],
            )
        )
    return out + _point_faults(p, a, 2 if fruit_markers(p.lay.get(a.site, ())) else 1, "N26")


def _check_grow(p: Position, board: Board, a: act.Grow) -> Faults:
    out = _phase2_faults(p, a)
    on = fruit_markers(p.lay.get(a.site, ()))
    own = [m for m in on if m[1] == a.seat]
    if not own:
        out.append(
            one_violation(
                "N27", "no seed of {seat} lies on {site}", seat=seat_name(a.seat), site=a.site
            )
        )
    elif all(side != "seed" for side, _, _ in own):
        out.append(one_violation("N27", "the fruit on {site} is ripe already", site=a.site))
    if own and f"{a.site} {a.seat}" in p.active:
        out.append(
            one_violation("N25", "the marker on {site} has been active this round", site=a.site)
        )
    return out + _point_faults(p, a, 2 if len(on) > 1 else 1, "N27")


def _check_harvest(p: Position, board: Board, a: act.Harvest) -> Faults:
    out = _phase2_faults(p, a)
    on = fruit_markers(p.lay.get(a.site, ()))
    own = [m for m in on if m[1] == a.seat]
    ripe = [m for m in own if m[0] == "ripe"]
    if not ripe:
        out.append(
            one_violation(
                "N28", "no ripe fruit of {seat} lies on {site}", seat=seat_name(a.seat), site=a.site
            )
        )
    if own and f"{a.site} {a.seat}" in p.active:
        out.append(
            one_violation("N25", "the marker on {site} has been active this round", site=a.site)
        )
    out += row_faults(p, board, a.site, a.row, (ripe or own)[0][2] if own else None)
    return out + _point_faults(p, a, 2 if len(on) > 1 else 1, "N28")


def row_faults(p: Position, board: Board, site: str, row: int, fruit: str | None) -> Faults:
    """Why fruit from that field cannot go to that market row."""
    out: Faults = []
    palms = board.fields[site].palms
    if row not in board.open_rows(palms):
        out.append(
            one_violation(
                "N29",
                "{palms} palms on {site} do not reach row M{row}",
                palms=palms,
                site=site,
                row=row,
            )
        )
    places = board.market[row]
    lying = [fruit_marker(p.lay[s][-1]) for s in places if p.lay.get(s)]
    if len(lying) == len(places):
        out.append(one_violation("N32", "row M{row} is full until it is scored", row=row))
    if fruit and any(m and m[2] == fruit for m in lying[-2:]):
        out.append(
            one_violation(
                "N31",
                "{fruit} is among the two laid last in row M{row}",
                fruit=FRUIT[fruit],
                row=row,
            )
        )
    return out


def _check_buy(p: Position, board: Board, a: act.Buy) -> Faults:
    out = _phase2_faults(p, a)
    rule = "N34" if a.colour == a.seat else "N63"
    if a.colour != a.seat and "buy-others" not in p.options:
        out += [
            one_violation(r, "only one's own markers are bought (the variant is off)")
            for r in ("N34", "N63")
        ]
    if a.colour not in p.seats:
        out.append(one_violation("N63", "nobody plays {colour}", colour=seat_name(a.colour)))
    elif not _in_boat(p, a.colour, a.fruit):
        out.append(
            one_violation(rule, "the boat holds no {what}", what=fruit_name(a.colour, a.fruit))
        )
    return out + _point_faults(p, a, 1 if a.colour == a.seat else 2, rule)


def _in_boat(p: Position, colour: str, fruit: str) -> bool:
    if any(
        k in (f"seed:{colour}:{fruit}", f"ripe:{colour}:{fruit}") for k in p.lay.get("boat", ())
    ):
        return True
    seat = p.seat(colour)  # put there out of a fist, without anybody saying which kinds
    return p.owed[seat] > p.lost[seat] and p.stock[seat][FRUITS.index(fruit)] > 0


def _check_joker(p: Position, board: Board, a: act.Joker) -> Faults:
    out = _phase2_faults(p, a)
    if p.seat(a.seat) in p.bought:
        out.append(
            one_violation("N35", "{seat} has bought a joker this round", seat=seat_name(a.seat))
        )
    if p.deserts <= 0:
        out.append(one_violation("N35", "the stock of desert cards is empty"))
    return out + _point_faults(p, a, 1, "N35")


def _check_spend(p: Position, board: Board, a: act.Spend) -> Faults:
    return _phase2_faults(p, a) + _no_joker(p, a, "N36")


def _no_joker(p: Position, a: Action, *rules: str) -> Faults:
    if p.jokers[p.seat(a.seat)] > 0:
        return []
    return [one_violation(r, "{seat} has no joker", seat=seat_name(a.seat)) for r in rules]


def _check_freshen(p: Position, board: Board, a: act.Freshen) -> Faults:
    out = _phase2_faults(p, a)
    if "freshen" not in p.options:
        out.append(one_violation("N64", "jokers do not freshen fruit (the variant is off)"))
    here = p.lay.get(a.site, ())
    m = fruit_marker(here[-1]) if here else None
    if m is None or m[0] != "seed":
        out.append(
            one_violation("N64", "rotten stays rotten")
            if m and m[0] == "rotten"
            else one_violation("N64", "no bad fruit lies on {site}", site=a.site)
        )
    return out + _no_joker(p, a, "N36", "N64")


def _check_pass(p: Position, board: Board, a: act.Pass) -> Faults:
    if p.phase in ("actions", "extra"):
        return _phase2_faults(p, a)
    if p.phase == "tide":
        out = _phase1_faults(p, a, "N16" if p.mode == "flood" else "N20")
        if p.mode == "ebb":
            out.append(one_violation("N20", "a water card can be taken, so it must be"))
        elif fit := fits_anywhere(p, board, p.starter):
            out.append(one_violation("N17", "a card fits on {site}, so it must be laid", site=fit))
        return out
    if p.phase == "plant":
        out = first.stage_faults(p, a, "plant", "N11")
        return out + (
            [one_violation("N11", "a marker is left to plant")]
            if p.in_stock(p.seat(a.seat)) > 0
            else []
        )
    out = first.stage_faults(p, a, "water", "N10")
    if p.phase == "water" and not none_may_fit(p, board, p.seat(a.seat)):
        out.append(one_violation("N10", "a card fits, so one is laid"))
    return out


_CHECKS: dict[type, Callable[[Position, Board, Any], Faults]] = {
    act.Flood: _check_flood,
    act.Ebb: _check_ebb,
    act.Event: _check_event,
    act.Spoil: _check_spoil,
    act.Sow: _check_sow,
    act.Grow: _check_grow,
    act.Harvest: _check_harvest,
    act.Buy: _check_buy,
    act.Joker: _check_joker,
    act.Spend: _check_spend,
    act.Freshen: _check_freshen,
    act.Pass: _check_pass,
    act.Fist: first.bid_faults,
    act.Boat: first.boat_faults,
    act.Water: first.water_faults,
    act.Plant: first.plant_faults,
    act.Cover: first.cover_faults,
    act.Desert: first.desert_faults,
    act.Top: first.top_card_faults,
    act.Start: first.start_faults,
}
