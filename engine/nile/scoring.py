"""Phases 3 and 4: the full market rows are scored, the boat is emptied, the figures and the obelisk
move (N37 to N45)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from engine.game import Outcome
from engine.layout import Contents
from engine.nile.board import COLOURS, FRUITS, Board, counted_markers, fruit_marker
from engine.nile.position import Draft, Position
from engine.nile.words import seat_name
from engine.text import Text, say

SHARES = {0: (), 1: (6,), 2: (4, 2), 3: (3, 2, 1)}


def row_gains(kinds: Sequence[str]) -> dict[str, int]:
    """colour -> points of one row, with its markers given from the house wall outwards (N38, N39);
    colours without points too."""
    fresh: Counter[str] = Counter()
    latest: dict[str, int] = {}
    rotten: Counter[str] = Counter()
    for i, kind in enumerate(kinds):
        m = fruit_marker(kind)
        if m is None:
            continue
        if m[0] == "rotten":
            rotten[m[1]] += 1
        else:
            fresh[m[1]] += 1
            latest[m[1]] = i
    ranking = sorted(fresh, key=lambda c: (fresh[c], latest[c]), reverse=True)
    gains = dict(zip(ranking, SHARES[min(len(ranking), 3)]))
    return {c: max(0, gains.get(c, 0) - rotten[c]) for c in {*ranking, *rotten}}


def full_rows(lay: dict[str, Contents], board: Board) -> list[int]:
    """The market rows in which every place is taken."""
    return [n for n, row in board.market.items() if row and all(lay.get(s) for s in row)]


def row_kinds(lay: dict[str, Contents], board: Board, row: int) -> list[str]:
    """The kinds that lie in a market row."""
    return [k for s in board.market[row] for k in lay.get(s, ())]


def boat_colours(p: Position | Draft) -> list[str]:
    """The colours with markers in the boat; removing these moves the obelisk (N41)."""
    seen = {c for c, _ in counted_markers(p.lay.get("boat", ()))}
    seen |= {s for i, s in enumerate(p.seats) if p.owed[i] > p.lost[i]}
    return [c for c in COLOURS if c in seen]


def score_round(d: Draft) -> None:
    """All of phase 4, on the draft; the game may be over after it (N44)."""
    rows = full_rows(d.lay, d.board)
    if not rows:
        return
    _empty_boat(d)
    total: Counter[str] = Counter()
    for i, n in enumerate(rows):
        gains = row_gains(row_kinds(d.lay, d.board, n))
        for s in d.seats:
            if gains.get(s):
                d.advance(d.seats.index(s), gains[s])
        total.update(gains)
        d.step(_rows_text(rows[: i + 1], [(s, total[s]) for s in d.seats if total[s]]))
    markers = [
        pair
        for n in rows
        for pair in counted_markers(tuple(row_kinds(d.lay, d.board, n))).elements()
    ]
    for n in rows:
        for site in d.board.market[n]:
            d.put(site, ())
    d.into_boat(markers)
    d.step(
        say(
            "put the fruit of {rows} into the boat, seed side up",
            rows=", ".join(f"M{n}" for n in rows),
        )
    )
    if max(d.scores) + 1 >= d.obelisk:
        d.phase = "over"


def _empty_boat(d: Draft) -> None:
    colours = boat_colours(d)
    if not colours:
        return
    for (colour, fruit), n in counted_markers(d.lay.get("boat", ())).items():
        if colour in d.seats:
            d.out[d.seats.index(colour)][FRUITS.index(fruit)] += n
    d.lost = list(d.owed)
    d.put("boat", ())
    d.step(Text("take all markers out of the boat: they leave the game"))
    d.move_obelisk(len(colours))
    d.step(
        say(
            "move the obelisk {n} squares toward the figures, to {site}",
            n=len(colours),
            site=d.board.track[d.obelisk - 1],
        )
    )


def _rows_text(rows: list[int], moving: list[tuple[str, int]]) -> Text:
    """What these rows score together, so that whoever moves the figures need only look at the last
    sentence."""
    if not moving:
        return say("row M{row} is scored: no points", row=rows[-1])
    gains = [say("{seat} {n}", seat=seat_name(s), n=n) for s, n in moving]
    text = gains[0]
    for g in gains[1:]:
        text = say("{some}, {more}", some=text, more=g)
    if len(rows) == 1:
        return say(
            "row M{row} is scored: {gains}: move the figures forward", row=rows[0], gains=text
        )
    return say(
        "rows {rows} are scored: {gains} in all: move the figures forward",
        rows=", ".join(f"M{n}" for n in rows),
        gains=text,
    )


def out_count(p: Position, seat: int) -> int:
    """How many of a seat's markers have left the game."""
    return sum(p.out[seat]) + p.lost[seat]


def game_outcome(p: Position) -> Outcome | None:
    """The figure that is farthest ahead wins; on a tie, the player who lost the fewest markers;
    otherwise they share the win (N45)."""
    if p.phase != "over":
        return None
    best = max(p.scores)
    ahead = [i for i, s in enumerate(p.scores) if s == best]
    fewest = min(out_count(p, i) for i in ahead)
    winners = tuple(p.seats[i] for i in ahead if out_count(p, i) == fewest)
    met = max(p.scores) + 1 == p.obelisk
    return Outcome(
        winners,
        Text("the obelisk and a figure have met")
        if met
        else Text("the obelisk and a figure have passed each other"),
    )
