"""What several checks share: a single violation, what has to come first, where cards and markers
may lie."""

from __future__ import annotations

from typing import Any

from engine.game import Violation
from engine.nile import actions as act
from engine.nile.board import FRUITS, Board, card_on, fruit_markers, waves_on
from engine.nile.fit import joint_faults
from engine.nile.position import Position, Wait
from engine.nile.words import seat_name
from engine.text import Text, say

STAGE_RULE = {"bid": "N60", "boat": "N9", "water": "N10", "plant": "N11"}
Faults = list[Violation]


def one_violation(rule: str, template: str, **args: Any) -> Violation:
    """One violation: a rule, a sentence and its arguments."""
    return Violation(rule, say(template, **args))


def waiting_fault(w: Wait, p: Position) -> Violation:
    """What has to be done first."""
    if w.kind == "event":
        return one_violation(
            "N18" if w.cause == "flood" else "N20",
            "the card from {site} is turned over first: what does it show?",
            site=w.site,
        )
    if w.kind == "spoil":
        return one_violation(
            "N49", "first the start player chooses a market row where fruit goes bad"
        )
    if w.kind in ("fist", "die"):
        return one_violation(
            "N60" if p.phase == "bid" else "N57",
            "first everybody says how many markers the fist holds",
        )
    if w.kind == "boat":
        return one_violation(
            "N59" if p.phase == "extra" else "N60",
            "first {seat} puts the markers of the fist into the boat",
            seat=seat_name(p.seats[w.seat]),
        )
    rule, what = {
        "cover": ("N4", Text("the cover strip")),
        "desert": ("N6", Text("the desert cards")),
        "top": ("N7", Text("the top cards")),
    }[w.kind]
    return one_violation(rule, "first come {what}", what=what)


def on_field(p: Position, board: Board, site: str, pair: str) -> Faults:
    """Why a water card may not lie on a field; [] if it may."""
    out: Faults = []
    here = p.lay.get(site, ())
    if p.covered(site):
        out += [one_violation(r, "{site} is covered by a strip", site=site) for r in ("N14", "N4")]
    elif waves_on(here):
        out.append(one_violation("N14", "a water card lies on {site} already", site=site))
    return out + joint_faults(p.lay, board, site, pair)


def from_tops(p: Position, seat: int, pair: str, rule: str) -> Faults:
    """Why a seat cannot have that water card on top of a pile; [] if it can."""
    tops = [top for top, n in p.piles[seat] if n]
    if not tops:
        return [
            one_violation("N23", "the piles of {seat} are used up", seat=seat_name(p.seats[seat]))
        ]
    if "?" not in tops and act.card_face(pair) not in tops:
        return [
            one_violation(
                rule, "no such card lies on top of a pile of {seat}", seat=seat_name(p.seats[seat])
            )
        ]
    return []


def ground_faults(p: Position, a: act.Sow | act.Plant) -> Faults:
    """N12: where no marker may be put."""
    out: Faults = []
    here = p.lay.get(a.site, ())
    on = fruit_markers(here)
    if card_on(here):
        out.append(one_violation("N12", "a card or strip covers {site}", site=a.site))
    if p.covered(a.site):
        out.append(one_violation("N4", "{site} is covered by a strip", site=a.site))
    if len(on) >= 2:
        out.append(one_violation("N12", "two markers lie on {site} already", site=a.site))
    if any(c == a.seat for _, c, _ in on):
        out.append(
            one_violation(
                "N12", "{seat} has a marker on {site} already", seat=seat_name(a.seat), site=a.site
            )
        )
    return out


def markers_in_stock(p: Position, seat: int, fruit: str) -> int:
    """How many markers of a fruit a seat has in stock."""
    return p.stock[seat][FRUITS.index(fruit)] if p.in_stock(seat) > 0 else 0
