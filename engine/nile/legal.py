"""All legal actions in exactly this position."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import combinations, combinations_with_replacement

from engine.game import Action
from engine.nile import actions as act
from engine.nile.board import (
    FRUITS,
    Board,
    card_on,
    counted_markers,
    fruit_marker,
    fruit_markers,
    waves_on,
)
from engine.nile.checks import action_faults, row_faults
from engine.nile.fit import card_fits, desert_sites_left, fits_anywhere, none_may_fit, open_fields
from engine.nile.position import Position, Wait

FACES = tuple((p, arrow) for p in act.PICTURES for arrow in (False, True))
# what people may say about a card; also the arrow alone, with its picture to follow
SAID = *FACES, ("", True)


def legal_actions(p: Position, board: Board) -> list[Action]:
    """Every legal action."""
    if p.phase == "over":
        return []
    seat = p.seats[p.turn]
    out: list[Action] = []
    if p.fresh:
        out += [
            a
            for row in board.rows
            for a in [act.Cover(seat, row)]
            if not action_faults(p, board, a)
        ]
        who = act.CARDS if p.open else seat
        out += [
            a
            for s in desert_sites_left(p, board)
            for a in [act.Desert(who, s)]
            if not action_faults(p, board, a)
        ]
    if p.wait:
        answers = _WAITING.get(p.wait.kind)  # none to a strip or a desert card: those are `fresh`
        return out + (list(answers(p, board, p.wait)) if answers else [])
    if p.phase == "tide":
        return out + list(_flood_actions(p, board) if p.mode == "flood" else _ebb_actions(p))
    if p.phase in ("actions", "extra"):
        return out + list(_turn_actions(p, board, seat))
    return out + list(_first_round(p, board, seat))


def _event_actions(p: Position, board: Board, w: Wait) -> Iterator[Action]:
    starter = p.seats[p.starter]
    for picture, arrow in FACES if p.open or w.number else SAID:
        yield act.Event(act.CARDS if p.open else starter, picture, arrow)
        if not p.open and w.cause == "ebb":
            yield from (act.Ebb(starter, s, picture, arrow) for s in (w.site, p.unsaid) if s)


def _spoil_actions(p: Position, board: Board, w: Wait) -> Iterator[Action]:
    for row in board.open_rows(w.number):
        kinds = [p.lay.get(s, ()) for s in board.market[row]]
        can = [
            i + 1
            for i, k in enumerate(kinds)
            if k and (m := fruit_marker(k[-1])) and m[0] != "rotten"
        ]
        for places in combinations(can, min(2, len(can))):
            yield act.Spoil(p.seats[p.starter], row, places)


def _fist_actions(p: Position, board: Board, w: Wait) -> Iterator[Action]:
    for i, seat in enumerate(p.seats):
        if p.fists[i] == -1:
            yield from (act.Fist(seat, n) for n in range(p.in_stock(i) - p.bids[i] + 1))


def _boat_actions(p: Position, board: Board, w: Wait) -> Iterator[Action]:
    for due in p.waiting:
        if due.kind == "boat":
            yield from _boat_loads(p, due.seat, due.number)


def _die_actions(p: Position, board: Board, w: Wait) -> Iterator[Action]:
    who_rolls = (act.DIE,) if p.open else (act.DIE, *p.seats)
    for who in (p.seats[i] for i, n in enumerate(p.fists) if n == -1):
        yield from (act.Start(s, who) for s in who_rolls)


def _top_actions(p: Position, board: Board, w: Wait) -> Iterator[Action]:
    faces = sorted({act.card_face(pair) for pair in board.waves})
    yield from (act.Top(act.CARDS, p.seats[w.seat], f) for f in faces)


_WAITING: dict[str, Callable[[Position, Board, Wait], Iterator[Action]]] = {
    "event": _event_actions,
    "spoil": _spoil_actions,
    "fist": _fist_actions,
    "boat": _boat_actions,
    "die": _die_actions,
    "top": _top_actions,
}


def _boat_loads(p: Position, seat: int, number: int) -> Iterator[Action]:
    name, stock = p.seats[seat], p.stock[seat]
    if p.in_stock(seat) < number:
        return
    for fruits in combinations_with_replacement(FRUITS, number):
        if all(fruits.count(f) <= stock[FRUITS.index(f)] for f in set(fruits)):
            yield act.Boat(name, fruits)


def _wave_pairs(p: Position, board: Board, seat: int) -> list[str]:
    """The waves, river side first, that the seat could lay now."""
    tops = {top for top, n in p.piles[seat] if n}
    return sorted(pair for pair in board.waves if "?" in tops or act.card_face(pair) in tops)


def _flood_actions(p: Position, board: Board) -> Iterator[Action]:
    seat = p.seats[p.starter]
    pairs = _wave_pairs(p, board, p.starter)
    for site in open_fields(p, board):
        desert = card_on(p.lay.get(site, ())) == "desert"
        for pair in pairs:
            if card_fits(p.lay, board, site, pair):
                yield act.Flood(seat, site, pair)
                if desert and not p.open:
                    yield from (act.Flood(seat, site, pair, *face) for face in SAID)
    if not fits_anywhere(p, board, p.starter):
        yield act.Pass(seat)


def _ebb_actions(p: Position) -> Iterator[Action]:
    seat = p.seats[p.starter]
    for site, contents in p.lay.items():
        if waves_on(contents):
            yield act.Ebb(seat, site)
            if not p.open:
                yield from (act.Ebb(seat, site, *face) for face in SAID)


def _turn_actions(p: Position, board: Board, seat: str) -> Iterator[Action]:
    yield act.Pass(seat)
    if p.points:
        yield from _on_fields(p, board, seat)
        yield from _out_of_boat(p, board, seat)
        if p.turn not in p.bought and p.deserts > 0:
            yield act.Joker(seat)
    if p.jokers[p.turn]:
        yield act.Spend(seat)
        if "freshen" in p.options:
            for site in board.places:
                here = p.lay.get(site)
                if here and here[-1].startswith("seed:"):
                    yield act.Freshen(seat, site)


def _on_fields(p: Position, board: Board, seat: str) -> Iterator[Action]:
    stock = (
        [f for i, f in enumerate(FRUITS) if p.stock[p.turn][i]] if p.in_stock(p.turn) > 0 else []
    )
    for site in board.fields:
        here = p.lay.get(site, ())
        if not here:
            yield from (act.Sow(seat, site, f) for f in stock)
            continue
        on = fruit_markers(here)
        own = [m for m in on if m[1] == seat]
        if not own:
            if len(on) == 1 and p.points >= 2 and not card_on(here):
                yield from (act.Sow(seat, site, f) for f in stock)
            continue
        if p.points < (2 if len(on) > 1 else 1) or f"{site} {seat}" in p.active:
            continue
        if any(m[0] == "seed" for m in own):
            yield act.Grow(seat, site)
        if ripe := [m for m in own if m[0] == "ripe"]:
            for row in board.market:
                if not row_faults(p, board, site, row, ripe[0][2]):
                    yield act.Harvest(seat, site, row)


def _out_of_boat(p: Position, board: Board, seat: str) -> Iterator[Action]:
    there = set(counted_markers(p.lay.get("boat", ())))
    for i, colour in enumerate(p.seats):
        if p.owed[i] > p.lost[i]:
            there |= {(colour, f) for k, f in enumerate(FRUITS) if p.stock[i][k]}
    for colour, fruit in sorted(there):
        if colour == seat or ("buy-others" in p.options and colour in p.seats and p.points >= 2):
            yield act.Buy(seat, colour, fruit)


def _first_round(p: Position, board: Board, seat: str) -> Iterable[Action]:
    if p.phase == "boat":
        return _boat_loads(p, p.turn, 2)
    if p.phase == "water":
        return _first_water(p, board, seat)
    return _plant_actions(p, board, seat)


def _first_water(p: Position, board: Board, seat: str) -> Iterator[Action]:
    pairs = _wave_pairs(p, board, p.turn)
    for site in open_fields(p, board):
        if not p.lay.get(site):
            yield from (
                act.Water(seat, site, pair) for pair in pairs if card_fits(p.lay, board, site, pair)
            )
    if none_may_fit(p, board, p.turn):
        yield act.Pass(seat)


def _plant_actions(p: Position, board: Board, seat: str) -> Iterator[Action]:
    if p.in_stock(p.turn) <= 0:
        yield act.Pass(seat)
    for site in board.fields:
        here = p.lay.get(site, ())
        on = fruit_markers(here)
        if card_on(here) or len(on) >= 2 or any(m[1] == seat for m in on):
            continue
        for i, fruit in enumerate(FRUITS):
            if p.stock[p.turn][i] and p.in_stock(p.turn) > 0:
                yield from (
                    act.Plant(seat, site, side, fruit)
                    for side in ("seed", "ripe")
                    if side not in p.planted
                )
