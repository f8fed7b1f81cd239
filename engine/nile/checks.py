"""Why an action is not legal: every rule it breaks, by its number in rules.md."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from engine.game import Action, Violation
from engine.nile import actions as act
from engine.nile.board import FRUITS, Board, card, marker, markers, waves
from engine.nile.fit import covers_left, desert_sites_left, fits_anywhere, joint_faults, none_may_fit
from engine.nile.names import FRUIT, TIDE, fruit_name, seat_name
from engine.nile.position import SETUP, Position, Wait
from engine.text import say

STAGE_RULE = {"bid": "N60", "boat": "N9", "water": "N10", "plant": "N11"}
Faults = list[Violation]


def no(rule: str, template: str, **args: Any) -> Violation:
    return Violation(rule, say(template, **args))


def faults(p: Position, board: Board, a: Action) -> Faults:
    """Every rule `a` breaks in exactly this position, [] when legal."""
    if p.phase == "over":
        return [no("N44", "the game is over")]
    if a.seat not in p.seats and not isinstance(a, (act.Event, act.Top, act.Start, act.Desert)):
        return [no("N24", "{seat} does not play", seat=a.seat)]
    return _CHECKS[type(a)](p, board, a)


def waiting_fault(w: Wait, p: Position) -> Violation:
    """What has to be done first."""
    if w.kind == "event":
        return no("N18" if w.cause == "flood" else "N20", "the card from {site} is turned over first: what does it show?",
                  site=w.site)
    if w.kind == "spoil":
        return no("N49", "first the start player chooses a market row where fruit goes bad")
    if w.kind in ("fist", "die"):
        return no("N60" if p.phase == "bid" else "N57", "first everybody says how many markers the fist holds")
    if w.kind == "boat":
        return no("N59" if p.phase == "extra" else "N60", "first {seat} puts the markers of the fist into the boat",
                  seat=seat_name(p.seats[w.seat]))
    rule, what = {"cover": ("N4", "the cover strips"), "desert": ("N6", "the desert cards"),
                  "top": ("N7", "the top cards")}[w.kind]
    return no(rule, "first come {what}", what=what)


def _phase1(p: Position, a: Action, rule: str) -> Faults:
    """Why this is not the moment, or not the player, to flood or ebb."""
    out: Faults = []
    if p.phase in SETUP:
        out.append(no(STAGE_RULE[p.phase], "the first round is still being laid out"))
    elif p.phase == "extra":
        out.append(no("N59", "the hippo's extra turn comes first"))
    elif p.phase == "actions":
        out.append(no(rule, "phase 1 is over, two cards at most"))
    if p.seat(a.seat) != p.starter:
        out.append(no(rule, "phase 1 is the start player's alone"))
    if p.wait and p.phase not in SETUP:
        out.append(waiting_fault(p.wait, p))
    return out


def _phase2(p: Position, a: Action) -> Faults:
    """Why this is not the moment, or not the player, for an action."""
    out: Faults = []
    if p.phase in SETUP:
        out.append(no(STAGE_RULE[p.phase], "the first round is still being laid out"))
    elif p.phase == "tide":
        out.append(no("N24", "actions come in phase 2"))
        out.append(no("N16", "the start player lays two water cards first") if p.mode == "flood"
                   else no("N20", "the start player takes two water cards first"))
    elif p.seat(a.seat) != p.turn:
        out.append(no("N59" if p.phase == "extra" else "N24", "it is the turn of {seat}", seat=seat_name(p.seats[p.turn])))
        if p.phase == "extra":
            out.append(no("N24", "it is the turn of {seat}", seat=seat_name(p.seats[p.turn])))
    if p.wait:
        out.append(waiting_fault(p.wait, p))
    return out


def _points(p: Position, a: Action, cost: int, rule: str) -> Faults:
    """N24, and the rule that makes it two points when those are what is lacking."""
    if p.phase not in ("actions", "extra") or p.seat(a.seat) != p.turn or p.points >= cost:
        return []
    out = [no("N24", "it takes {cost} action points, {points} are left", cost=cost, points=p.points)]
    if p.points:
        out.append(no(rule, "it takes two points here"))
    return out


def _flood(p: Position, board: Board, a: act.Flood) -> Faults:
    out = _phase1(p, a, "N16")
    if p.phase in ("tide", "actions") and p.mode == "ebb":
        out += [no(r, "the tide is at {tide}: cards are taken, not laid", tide=TIDE[p.tide]) for r in ("N16", "N22")]
    here = p.lay.get(a.site, ())
    out += _on_field(p, board, a.site, a.waves)
    out += _from_tops(p, p.seat(a.seat), a.waves, "N16")
    if act.tells(a) and card(here) != "desert":
        out.append(no("N18", "no desert card lies on {site}", site=a.site))
    elif act.tells(a) and p.open:
        out.append(no("N18", "the card itself tells its event"))
    return out


def _on_field(p: Position, board: Board, site: str, pair: str) -> Faults:
    out: Faults = []
    here = p.lay.get(site, ())
    if p.covered(site):
        out.append(no("N14", "{site} is covered by a strip", site=site))
    elif waves(here):
        out.append(no("N14", "a water card lies on {site} already", site=site))
    return out + joint_faults(p.lay, board, site, pair)


def _from_tops(p: Position, seat: int, pair: str, rule: str) -> Faults:
    tops = [top for top, n in p.piles[seat] if n]
    if not tops:
        return [no("N23", "the piles of {seat} are used up", seat=seat_name(p.seats[seat]))]
    if "?" not in tops and act.face(pair) not in tops:
        return [no(rule, "no such card lies on top of a pile of {seat}", seat=seat_name(p.seats[seat]))]
    return []


def _ebb(p: Position, board: Board, a: act.Ebb) -> Faults:
    if _answers(p, a):
        return _turned_by(p, a)
    out = _phase1(p, a, "N20")
    if p.phase in ("tide", "actions") and p.mode == "flood":
        out += [no(r, "the tide is at flood: cards are laid, not taken") for r in ("N20", "N22")]
    if not waves(p.lay.get(a.site, ())):
        out.append(no("N20", "no water card lies on {site}", site=a.site))
    if act.tells(a) and p.open:
        out.append(no("N20", "the card itself tells its event"))
    return out


def _answers(p: Position, a: act.Ebb | act.Flood) -> bool:
    """The ebb said once more, now with what the card shows."""
    w = p.wait
    return bool(w and w.kind == "event" and w.cause == "ebb" and w.site == a.site and act.tells(a) and not p.open)


def _turned_by(p: Position, a: act.Event | act.Ebb) -> Faults:
    if p.wait.number and not a.picture:
        return [no("N46", "the arrow has been followed")]
    if p.open:
        return [] if a.seat == act.CARDS and a.picture else [no("N20", "the card itself tells its event")]
    return [] if a.seat == p.seats[p.starter] else [no("N20", "the start player turns the card")]


def _event(p: Position, board: Board, a: act.Event) -> Faults:
    if not (p.wait and p.wait.kind == "event"):
        return [no("N20", "no card has been turned over")]
    return _turned_by(p, a)


def _spoil(p: Position, board: Board, a: act.Spoil) -> Faults:
    out: Faults = []
    w = p.wait
    if p.seat(a.seat) != p.starter:
        out.append(no("N47", "the start player chooses what goes bad"))
    if not (w and w.kind == "spoil"):
        return [*out, no("N47", "no card with palms has been turned over")]
    if a.row not in board.open_rows(w.number):
        out.append(no("N47", "{palms} palms do not reach row M{row}", palms=w.number, row=a.row))
    kinds = [p.lay.get(s, ()) for s in board.market[a.row]]
    here = {i + 1: marker(k[-1]) for i, k in enumerate(kinds) if k}
    can = [i for i, m in here.items() if m and m[0] != "rotten"]
    if len(set(a.places)) < len(a.places):
        out.append(no("N47", "two different fruits go bad"))
    for i in a.places:
        if i not in here:
            out.append(no("N47", "nothing lies on M{row}.{place}", row=a.row, place=i))
        elif i not in can:
            out.append(no("N48", "the fruit on M{row}.{place} is rotten and goes no further", row=a.row, place=i))
    if len(a.places) != min(2, len(can)):
        out.append(no("N49" if len(can) < 2 else "N47", "{n} fruits of row M{row} go bad", n=min(2, len(can)), row=a.row))
    return out


def _ground(p: Position, a: act.Sow | act.Plant) -> Faults:
    """N12: where no marker may be put."""
    out: Faults = []
    here = p.lay.get(a.site, ())
    on = markers(here)
    if card(here):
        out.append(no("N12", "a card or strip covers {site}", site=a.site))
    if len(on) >= 2:
        out.append(no("N12", "two markers lie on {site} already", site=a.site))
    if any(c == a.seat for _, c, _ in on):
        out.append(no("N12", "{seat} has a marker on {site} already", seat=seat_name(a.seat), site=a.site))
    return out


def _has(p: Position, seat: int, fruit: str) -> int:
    return p.stock[seat][FRUITS.index(fruit)] if p.in_stock(seat) > 0 else 0


def _sow(p: Position, board: Board, a: act.Sow) -> Faults:
    out = _phase2(p, a) + _ground(p, a)
    if not _has(p, p.seat(a.seat), a.fruit):
        out.append(no("N26", "{seat} has no {fruit} left to sow", seat=seat_name(a.seat), fruit=FRUIT[a.fruit]))
    return out + _points(p, a, 2 if markers(p.lay.get(a.site, ())) else 1, "N26")


def _grow(p: Position, board: Board, a: act.Grow) -> Faults:
    out = _phase2(p, a)
    on = markers(p.lay.get(a.site, ()))
    own = [m for m in on if m[1] == a.seat]
    if not own:
        out.append(no("N27", "no seed of {seat} lies on {site}", seat=seat_name(a.seat), site=a.site))
    elif all(side != "seed" for side, _, _ in own):
        out.append(no("N27", "the fruit on {site} is ripe already", site=a.site))
    if own and f"{a.site} {a.seat}" in p.active:
        out.append(no("N25", "the marker on {site} has been active this round", site=a.site))
    return out + _points(p, a, 2 if len(on) > 1 else 1, "N27")


def _harvest(p: Position, board: Board, a: act.Harvest) -> Faults:
    out = _phase2(p, a)
    on = markers(p.lay.get(a.site, ()))
    own = [m for m in on if m[1] == a.seat]
    ripe = [m for m in own if m[0] == "ripe"]
    if not ripe:
        out.append(no("N28", "no ripe fruit of {seat} lies on {site}", seat=seat_name(a.seat), site=a.site))
    if own and f"{a.site} {a.seat}" in p.active:
        out.append(no("N25", "the marker on {site} has been active this round", site=a.site))
    out += row_faults(p, board, a.site, a.row, (ripe or own)[0][2] if own else None)
    return out + _points(p, a, 2 if len(on) > 1 else 1, "N28")


def row_faults(p: Position, board: Board, site: str, row: int, fruit: str | None) -> Faults:
    """Why fruit from that field cannot go to that market row."""
    out: Faults = []
    palms = board.fields[site].palms
    if row not in board.open_rows(palms):
        out.append(no("N29", "{palms} palms on {site} do not reach row M{row}", palms=palms, site=site, row=row))
    places = board.market[row]
    lying = [marker(p.lay[s][-1]) for s in places if p.lay.get(s)]
    if len(lying) == len(places):
        out.append(no("N32", "row M{row} is full until it is scored", row=row))
    if fruit and any(m and m[2] == fruit for m in lying[-2:]):
        out.append(no("N31", "{fruit} is among the two laid last in row M{row}", fruit=FRUIT[fruit], row=row))
    return out


def _buy(p: Position, board: Board, a: act.Buy) -> Faults:
    out = _phase2(p, a)
    rule = "N34" if a.colour == a.seat else "N63"
    if a.colour != a.seat and "buy-others" not in p.options:
        out += [no(r, "only one's own markers are bought (the variant is off)") for r in ("N34", "N63")]
    if a.colour not in p.seats:
        out.append(no("N63", "nobody plays {colour}", colour=seat_name(a.colour)))
    elif not _in_boat(p, a.colour, a.fruit):
        out.append(no(rule, "the boat holds no {what}", what=fruit_name(a.colour, a.fruit)))
    return out + _points(p, a, 1 if a.colour == a.seat else 2, rule)


def _in_boat(p: Position, colour: str, fruit: str) -> bool:
    if any(k in (f"seed:{colour}:{fruit}", f"ripe:{colour}:{fruit}") for k in p.lay.get("boat", ())):
        return True
    seat = p.seat(colour)                       # put there out of a fist, and nobody said which kinds
    return p.owed[seat] > p.lost[seat] and p.stock[seat][FRUITS.index(fruit)] > 0


def _joker(p: Position, board: Board, a: act.Joker) -> Faults:
    out = _phase2(p, a)
    if p.seat(a.seat) in p.bought:
        out.append(no("N35", "{seat} has bought a joker this round", seat=seat_name(a.seat)))
    if p.deserts <= 0:
        out.append(no("N35", "the stock of desert cards is empty"))
    return out + _points(p, a, 1, "N35")


def _spend(p: Position, board: Board, a: act.Spend) -> Faults:
    return _phase2(p, a) + _no_joker(p, a, "N36")


def _no_joker(p: Position, a: Action, *rules: str) -> Faults:
    if p.jokers[p.seat(a.seat)] > 0:
        return []
    return [no(r, "{seat} has no joker", seat=seat_name(a.seat)) for r in rules]


def _freshen(p: Position, board: Board, a: act.Freshen) -> Faults:
    out = _phase2(p, a)
    if "freshen" not in p.options:
        out.append(no("N64", "jokers freshen no fruit (the variant is off)"))
    here = p.lay.get(a.site, ())
    m = marker(here[-1]) if here else None
    if m is None or m[0] != "seed":
        out.append(no("N64", "rotten stays rotten") if m and m[0] == "rotten"
                   else no("N64", "no bad fruit lies on {site}", site=a.site))
    return out + _no_joker(p, a, "N36", "N64")


def _fist(p: Position, board: Board, a: act.Fist) -> Faults:
    rule = "N60" if p.phase == "bid" else "N57"
    seat = p.seat(a.seat)
    out: Faults = []
    if not (p.wait and p.wait.kind == "fist"):
        out.append(no(rule, "no fists are asked for now"))
        if p.phase not in SETUP and "hippo" not in p.options:
            out.append(no("N51", "the hippo does nothing (the variant is off)"))
        if p.phase in SETUP and "bidding" not in p.options:
            out.append(no("N60", "the first start is not bid for (the variant is off)"))
    elif p.fists[seat] >= 0:
        out.append(no(rule, "{seat} has opened the fist already", seat=seat_name(a.seat)))
    elif p.fists[seat] < -1:
        out.append(no("N60", "only those who tied bid again"))
    if a.count > p.in_stock(seat) - p.bids[seat]:
        out.append(no(rule, "{seat} has not so many markers", seat=seat_name(a.seat)))
        if p.rebids:
            out.append(no("N61", "a second bid takes new markers"))
    return out


def _boat(p: Position, board: Board, a: act.Boat) -> Faults:
    seat = p.seat(a.seat)
    out: Faults = []
    due = next((w for w in p.waiting if w.kind == "boat" and w.seat == seat), None)
    if due and p.wait and p.wait.kind == "boat":
        rule = "N59" if p.phase == "extra" else "N60"
        if len(a.fruits) != due.number:
            out.append(no(rule, "the fist held {n} markers", n=due.number))
    else:
        rule = "N9"
        if p.phase != "boat":
            out.append(no("N60" if "bidding" in p.options and p.phase in SETUP else "N9",
                          "nobody puts markers into the boat now"))
            if p.phase not in SETUP:
                out.append(no("N24", "it is no action of phase 2"))
        elif seat != p.turn:
            out.append(no("N9", "it is the turn of {seat}", seat=seat_name(p.seats[p.turn])))
        if p.wait:
            out.append(waiting_fault(p.wait, p))
        if len(a.fruits) != 2:
            out.append(no("N9", "two markers go into the boat"))
    for fruit, n in Counter(a.fruits).items():
        if _has(p, seat, fruit) < n:
            out.append(no(rule, "{seat} has not so much {fruit}", seat=seat_name(a.seat), fruit=FRUIT[fruit]))
    return out


def _stage(p: Position, a: Action, phase: str, rule: str) -> Faults:
    out: Faults = []
    if p.phase in SETUP and p.phase != phase:
        out.append(no(STAGE_RULE[p.phase], "something else of the first round comes first"))
    if p.phase != phase:
        out.append(no(rule, "that is done in the first round only, in its turn"))
    elif p.seat(a.seat) != p.turn:
        out.append(no(rule, "it is the turn of {seat}", seat=seat_name(p.seats[p.turn])))
    if p.wait:
        out.append(waiting_fault(p.wait, p))
    return out


def _water(p: Position, board: Board, a: act.Water) -> Faults:
    out = _stage(p, a, "water", "N10")
    here = p.lay.get(a.site, ())
    if card(here) == "desert" or markers(here):
        out.append(no("N10", "{site} is not free", site=a.site))
    ground = _on_field(p, board, a.site, a.waves)
    if ground:
        out.append(no("N10", "the card is laid on a free field where its waves fit"))
    return out + ground + _from_tops(p, p.seat(a.seat), a.waves, "N10")


def _plant(p: Position, board: Board, a: act.Plant) -> Faults:
    out = _stage(p, a, "plant", "N11")
    if p.phase == "plant" and a.side in p.planted and p.seat(a.seat) == p.turn:
        out.append(no("N11", "one marker is planted as seed and one as ripe fruit"))
    out += _ground(p, a)
    if not _has(p, p.seat(a.seat), a.fruit):
        out.append(no("N11", "{seat} has no {fruit} left", seat=seat_name(a.seat), fruit=FRUIT[a.fruit]))
    return out


def _cover(p: Position, board: Board, a: act.Cover) -> Faults:
    out: Faults = []
    if not p.fresh:
        out.append(no("N4", "the strips are laid before the game"))
    if p.seat(a.seat) != p.turn:
        out.append(no("N4", "{seat} lays the strips", seat=seat_name(p.seats[p.turn])))
    if p.open and p.wait and p.wait.kind != "cover":
        out.append(waiting_fault(p.wait, p))
    if any(p.lay.get(s) for s in board.rows[a.row]):
        out.append(no("N4", "something lies on row {row}", row=a.row))
    if len(board.rows[a.row]) not in covers_left(p, board):
        out.append(no("N4", "no strip for a row of {n} is left for {players} players", n=len(board.rows[a.row]),
                      players=len(p.seats)))
    return out


def _desert(p: Position, board: Board, a: act.Desert) -> Faults:
    out: Faults = []
    if not p.fresh or p.phase not in SETUP:
        out.append(no("N6", "the three desert cards are laid before the game"))
    if a.seat != (act.CARDS if p.open else p.seats[p.turn]):
        out.append(no("N6", "chance lays them" if p.open else "the start player lays them"))
    if p.open and p.wait and p.wait.kind != "desert":
        out.append(waiting_fault(p.wait, p))
    if a.site not in desert_sites_left(p, board):
        out.append(no("N6", "three desert-side fields with one or two palms get a card each"))
    return out


def _top(p: Position, board: Board, a: act.Top) -> Faults:
    w = p.wait
    if not (p.open and w and w.kind == "top"):
        return [no("N7", "no card comes up now")]
    if a.seat != act.CARDS or a.who != p.seats[w.seat] or a.waves != act.face(a.waves):
        return [no("N7", "the top card of {seat} comes up", seat=seat_name(p.seats[w.seat]))]
    return []


def _start(p: Position, board: Board, a: act.Start) -> Faults:
    if not (p.wait and p.wait.kind == "die"):
        return [no("N60", "the die is not asked for")]
    if p.fists[p.seat(a.who)] != -1:
        return [no("N60", "{seat} is not among those who tied twice", seat=seat_name(a.who))]
    if a.seat != act.DIE and (p.open or a.seat not in p.seats):
        return [no("N60", "the die decides")]
    return []


def _pass(p: Position, board: Board, a: act.Pass) -> Faults:
    if p.phase in ("actions", "extra"):
        return _phase2(p, a)
    if p.phase == "tide":
        out = _phase1(p, a, "N16" if p.mode == "flood" else "N20")
        if p.mode == "ebb":
            out.append(no("N20", "a water card can be taken, so it must be"))
        elif fit := fits_anywhere(p, board, p.starter):
            out.append(no("N17", "a card fits on {site}, so it must be laid", site=fit))
        return out
    if p.phase == "plant":
        out = _stage(p, a, "plant", "N11")
        return out + ([no("N11", "a marker is left to plant")] if p.in_stock(p.seat(a.seat)) > 0 else [])
    out = _stage(p, a, "water", "N10")
    if p.phase == "water" and not none_may_fit(p, board, p.seat(a.seat)):
        out.append(no("N10", "a card fits, so one is laid"))
    return out


_CHECKS: dict[type, Callable[[Position, Board, Any], Faults]] = {
    act.Flood: _flood, act.Ebb: _ebb, act.Event: _event, act.Spoil: _spoil, act.Sow: _sow, act.Grow: _grow,
    act.Harvest: _harvest, act.Buy: _buy, act.Joker: _joker, act.Spend: _spend, act.Freshen: _freshen, act.Fist: _fist,
    act.Boat: _boat, act.Water: _water, act.Plant: _plant, act.Cover: _cover, act.Desert: _desert, act.Top: _top,
    act.Start: _start, act.Pass: _pass,
}
