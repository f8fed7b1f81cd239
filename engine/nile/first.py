"""Why an action of the first round, a fist, or a chance outcome is not legal (N4 to N11, N57 to
N61)."""

from __future__ import annotations

from collections import Counter

from engine.game import Action
from engine.nile import actions as act
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
from engine.nile.board import Board, card_on, fruit_markers
from engine.nile.fit import covers_left, desert_sites_left
from engine.nile.position import SETUP, Position
from engine.nile.words import FRUIT, seat_name


def bid_faults(p: Position, board: Board, a: act.Fist) -> Faults:
    """Why a bid may not be made."""
    rule = "N60" if p.phase == "bid" else "N57"
    seat = p.seat(a.seat)
    out: Faults = []
    if not (p.wait and p.wait.kind == "fist"):
        out.append(one_violation(rule, "nobody has to show a fist now"))
        if p.phase not in SETUP and "hippo" not in p.options:
            out.append(one_violation("N51", "the hippo does nothing (the variant is off)"))
        if p.phase in SETUP and "bidding" not in p.options:
            out.append(one_violation("N60", "nobody bids for the first start (the variant is off)"))
    elif p.fists[seat] >= 0:
        out.append(
            one_violation(rule, "{seat} has opened the fist already", seat=seat_name(a.seat))
        )
    elif p.fists[seat] < -1:
        out.append(one_violation("N60", "only those who tied bid again"))
    if a.count > p.in_stock(seat) - p.bids[seat]:
        out.append(
            one_violation(rule, "{seat} does not have that many markers", seat=seat_name(a.seat))
        )
        if p.rebids:
            out.append(one_violation("N61", "a second bid takes new markers"))
    return out


def boat_faults(p: Position, board: Board, a: act.Boat) -> Faults:
    """Why a boat may not be loaded this way."""
    seat = p.seat(a.seat)
    out: Faults = []
    due = next((w for w in p.waiting if w.kind == "boat" and w.seat == seat), None)
    if due and p.wait and p.wait.kind == "boat":
        rule = "N59" if p.phase == "extra" else "N60"
        if len(a.fruits) != due.number:
            out.append(one_violation(rule, "the fist held {n} markers", n=due.number))
    else:
        rule = "N9"
        if p.phase != "boat":
            out.append(
                one_violation(
                    "N60" if "bidding" in p.options and p.phase in SETUP else "N9",
                    "nobody puts markers into the boat now",
                )
            )
            if p.phase not in SETUP:
                out.append(one_violation("N24", "it is not an action of phase 2"))
        elif seat != p.turn:
            out.append(
                one_violation("N9", "it is the turn of {seat}", seat=seat_name(p.seats[p.turn]))
            )
        if p.wait:
            out.append(waiting_fault(p.wait, p))
        if len(a.fruits) != 2:
            out.append(one_violation("N9", "two markers go into the boat"))
    for fruit, n in Counter(a.fruits).items():
        if markers_in_stock(p, seat, fruit) < n:
            out.append(
                one_violation(
                    rule,
                    "{seat} does not have that much {fruit}",
                    seat=seat_name(a.seat),
                    fruit=FRUIT[fruit],
                )
            )
    return out


def stage_faults(p: Position, a: Action, phase: str, rule: str) -> Faults:
    """Why it is not the time for this action."""
    out: Faults = []
    if p.phase in SETUP and p.phase != phase:
        out.append(
            one_violation(STAGE_RULE[p.phase], "something else of the first round comes first")
        )
    if p.phase != phase:
        out.append(one_violation(rule, "that is done in the first round only, in its turn"))
    elif p.seat(a.seat) != p.turn:
        out.append(one_violation(rule, "it is the turn of {seat}", seat=seat_name(p.seats[p.turn])))
    if p.wait:
        out.append(waiting_fault(p.wait, p))
    return out


def water_faults(p: Position, board: Board, a: act.Water) -> Faults:
    """Why a water card may not be laid there at the beginning."""
    out = stage_faults(p, a, "water", "N10")
    here = p.lay.get(a.site, ())
    if card_on(here) == "desert" or fruit_markers(here):
        out.append(one_violation("N10", "{site} is not free", site=a.site))
    wrong = on_field(p, board, a.site, a.waves)
    if wrong:
        out.append(one_violation("N10", "the card is laid on a free field where its waves fit"))
    return out + wrong + from_tops(p, p.seat(a.seat), a.waves, "N10")


def plant_faults(p: Position, board: Board, a: act.Plant) -> Faults:
    """Why a marker may not be planted there at the beginning."""
    out = stage_faults(p, a, "plant", "N11")
    if p.phase == "plant" and a.side in p.planted and p.seat(a.seat) == p.turn:
        out.append(one_violation("N11", "one marker is planted as seed and one as ripe fruit"))
    out += ground_faults(p, a)
    if not markers_in_stock(p, p.seat(a.seat), a.fruit):
        out.append(
            one_violation(
                "N11", "{seat} has no {fruit} left", seat=seat_name(a.seat), fruit=FRUIT[a.fruit]
            )
        )
    return out


def cover_faults(p: Position, board: Board, a: act.Cover) -> Faults:
    """Why a cover may not be laid there."""
    out: Faults = []
    if not p.fresh:
        out.append(one_violation("N4", "the strips are laid before the game"))
    if p.seat(a.seat) != p.turn:
        out.append(one_violation("N4", "{seat} lays the strips", seat=seat_name(p.seats[p.turn])))
    if p.open and p.wait and p.wait.kind != "cover":
        out.append(waiting_fault(p.wait, p))
    if any(p.lay.get(s) for s in board.rows[a.row]):
        out.append(one_violation("N4", "something lies on row {row}", row=a.row))
    if len(board.rows[a.row]) not in covers_left(p, board):
        out.append(
            one_violation(
                "N4",
                "no strip for a row of {n} is left for {players} players",
                n=len(board.rows[a.row]),
                players=len(p.seats),
            )
        )
    return out


def desert_faults(p: Position, board: Board, a: act.Desert) -> Faults:
    """Why a desert card may not be laid there."""
    out: Faults = []
    if not p.fresh or p.phase not in SETUP:
        out.append(one_violation("N6", "the three desert cards are laid before the game"))
    if a.seat != (act.CARDS if p.open else p.seats[p.turn]):
        out.append(
            one_violation("N6", "chance lays them" if p.open else "the start player lays them")
        )
    if p.open and p.wait and p.wait.kind != "desert":
        out.append(waiting_fault(p.wait, p))
    if a.site not in desert_sites_left(p, board):
        out.append(
            one_violation("N6", "three desert-side fields with one or two palms get a card each")
        )
    return out


def top_card_faults(p: Position, board: Board, a: act.Top) -> Faults:
    """Why a pile's top card cannot be that one."""
    w = p.wait
    if not (p.open and w and w.kind == "top"):
        return [one_violation("N7", "no card comes up now")]
    if a.seat != act.CARDS or a.who != p.seats[w.seat] or a.waves != act.card_face(a.waves):
        return [
            one_violation("N7", "the top card of {seat} comes up", seat=seat_name(p.seats[w.seat]))
        ]
    return []


def start_faults(p: Position, board: Board, a: act.Start) -> Faults:
    """Why the die may not choose that player."""
    if not (p.wait and p.wait.kind == "die"):
        return [one_violation("N60", "the die is not rolled now")]
    if p.fists[p.seat(a.who)] != -1:
        return [
            one_violation("N60", "{seat} is not among those who tied twice", seat=seat_name(a.who))
        ]
    if a.seat != act.DIE and (p.open or a.seat not in p.seats):
        return [one_violation("N60", "the die decides")]
    return []
