"""The visible results of a card turned over: the desert grown, fruit spoilt, the stone moved on."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from engine.game import Action
from engine.nile import actions as act
from engine.nile.board import Board, fruit_marker
from engine.nile.clues import Clues
from engine.nile.position import Position, next_tide


def possible_events(
    c: Clues, tide: str, p: Position, board: Board, site: str, cause: str
) -> Iterator[tuple[str, bool, tuple[Action, ...]]]:
    """(picture, arrow, what is done then) for each event that the card from `site`, turned over at
    `p`, may have had. tide: where the stone was before, if it is not seen elsewhere."""
    starter = p.seats[p.starter]
    to = c.tide or tide
    moved = to == next_tide(p.tide) or (
        len(c.lifted) + len(c.laid) > 1 and to == next_tide(next_tide(p.tide))
    )
    # its arrow has already been followed
    moved = moved and not (p.wait and p.wait.site == site and p.wait.number)
    pictures: list[tuple[str, tuple[Action, ...]]] = []
    for row, places in c.worse.items():
        palms = list(board.market).index(row) + 1
        for chosen in completed_places(c, p, board, row, places):
            pictures.append((f"spoil{min(palms, 4)}", (act.Spoil(starter, row, chosen),)))
    if cause == "ebb" and any(board.fields[s].row == board.fields[site].row for s in c.desert_new):
        pictures.append(("desert", ()))
    for picture, then in pictures:
        yield picture, False, then
        if moved:
            yield picture, True, then
    if moved:
        yield "", True, ()
    elif c.tide == "flood" and cause == "ebb" and not set(p.water_sites()) - {site}:
        yield "none", False, ()


def completed_places(
    c: Clues, p: Position, board: Board, row: int, places: list[int]
) -> Iterator[tuple[int, ...]]:
    """The places seen to have spoilt; if one of two is seen, each pair it can become; if there are
    more, each two whose remainder another card can have spoilt."""
    sites = board.market[row]
    can = [
        i + 1
        for i, s in enumerate(sites)
        if (k := p.lay.get(s)) and (m := fruit_marker(k[-1])) and m[0] != "rotten"
    ]
    if len(places) == 1 < len(can):
        yield from (tuple(sorted((places[0], i))) for i in can if i != places[0])
    elif len(places) > 2:
        yield from (
            two
            for two in combinations(sorted(places), 2)
            if c.twice.intersection(sites) <= {sites[i - 1] for i in two}
        )
    else:
        yield tuple(sorted(places))


def back_again(
    c: Clues, tide: str, p: Position, first: act.Flood | act.Ebb
) -> Iterator[tuple[Action, ...]]:
    """The card with the second of two arrows, which moved the stone back to where it still seems to
    be; nothing else shows it."""
    if (
        first.arrow
        and c.tide is None
        and tide == next_tide(next_tide(p.tide))
        and isinstance(first, act.Ebb)
    ):
        yield from (
            (act.Ebb(first.seat, other, "", True),) for other in c.lifted if other != first.site
        )
