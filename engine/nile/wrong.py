"""Changes on the board that no action can have made: which rule forbids them, and where things
belong."""

from __future__ import annotations

from collections.abc import Iterator

from engine.game import Proposal, Violation
from engine.nile.board import Board, fruit_marker
from engine.nile.clues import Clues
from engine.nile.position import SETUP, Position
from engine.nile.words import TIDE, kind_name, seat_name
from engine.text import Text, say

COST = 1.0  # less likely than an action that breaks a rule
# a piece gone altogether, or one where none like it may lie: a single site shows it, and no
# reader errs less than once in some hundred sites
GONE = 0.0
# ... one that may be on its way to a legal place, or lay in a heap, where readers often err
MISSING = 2.0


def wrong_guesses(p: Position, board: Board, c: Clues) -> Iterator[Proposal]:
    """Guesses at what was done against the rules."""
    yield from _wrong_tide(p, c)
    yield from _wrong_track(p, board, c)
    yield from _astray_pieces(c)
    yield from _wrong_cards(p, c)
    yield from _wrong_fields(p, c)
    yield from _wrong_market(c)
    yield from _wrong_boat(p, c)
    yield from _wrong_stock(p, c)


def _wrong_proposals(
    c: Clues, sites: list[str], violations: list[tuple[str, Text]], cost: float = COST
) -> Iterator[Proposal]:
    changes = c.seen(*sites)
    if changes:
        yield Proposal((), changes, tuple(Violation(r, t) for r, t in violations), cost)


def _wrong_tide(p: Position, c: Clues) -> Iterator[Proposal]:
    text = say("the tide stone belongs on {tide}", tide=TIDE[p.tide])
    if c.tide is None:
        if "tide" in c.stood:
            yield from _gone_or_at(c, p.tide, c.stood["tide"], ("N46", text))
        return
    rules = ["N19"] if p.tide == "flood" else ["N21"]
    if {p.tide, c.tide} == {"ebb1", "ebb2"}:
        rules.append("N23")
    if p.phase in SETUP:
        rules = ["N5"]
    yield from _wrong_proposals(c, [p.tide, c.tide], [(r, text) for r in [*rules, "N46"]])


def _wrong_track(p: Position, board: Board, c: Clues) -> Iterator[Proposal]:
    """Figures and obelisk; also all of them together, since a scoring gone wrong seldom moves just
    one."""
    sites: list[str] = []
    faults: list[tuple[str, Text]] = []
    for kind, at in c.stood.items():
        found = _out_of_place(p, board, kind, at)
        if found is None:
            continue
        home, fault = found
        sites, faults = [*sites, home, at or home], [*faults, fault]
        yield from _gone_or_at(c, home, at, fault)
    if len(faults) > 1:
        yield from _wrong_proposals(c, sites, faults)


def _gone_or_at(c: Clues, home: str, at: str | None, fault: tuple[str, Text]) -> Iterator[Proposal]:
    """A unique piece is not in its place, but there or nowhere; then whatever lies where nothing
    can have come from may be it, mistaken for something else."""
    if at:
        yield from _wrong_proposals(c, [home, at], [fault])
        return
    yield from _wrong_proposals(c, [home], [fault], GONE)
    strange = (
        [site for site, _ in c.astray]
        + [site for kind, site in c.stood.items() if site]
        + list(c.stalled)
    )
    for site in strange:
        yield from _wrong_proposals(c, [home, site], [fault])


def _out_of_place(
    p: Position, board: Board, kind: str, at: str | None
) -> tuple[str, tuple[str, Text]] | None:
    """(where it belongs, the rule and its sentence) for a figure or the obelisk; None for anything
    else."""
    if kind == "obelisk":
        home = board.track[p.obelisk - 1]
        return home, ("N41", say("the obelisk belongs on {site}", site=home))
    seat = kind.removeprefix("figure:")
    if seat in p.seats:
        home = board.track[min(p.scores[p.seat(seat)], len(board.track) - 1)]
        return home, (
            "N43",
            say("the figure of {seat} belongs on {site}", seat=seat_name(seat), site=home),
        )
    if kind != seat and at:
        return at, ("N5", say("nobody plays {seat}", seat=seat_name(seat)))
    return None


def _astray_pieces(c: Clues) -> Iterator[Proposal]:
    """Markers and cards where none belong."""
    for site, kind in c.astray:
        if fruit_marker(kind):
            fault = (
                "N28",
                say("{what} on {site} comes from no field", what=kind_name(kind), site=site),
            )
        else:
            rule = {"desert": "N50", "cover": "N4"}.get(kind, "N13")
            fault = (rule, say("no card is laid on {site}", site=site))
        yield from _wrong_proposals(c, [site], [fault], GONE)


def _wrong_cards(p: Position, c: Clues) -> Iterator[Proposal]:
    for site in c.laid:
        have = c.diff[site][0]
        if have and have[0].startswith("water:"):
            yield from _wrong_proposals(
                c,
                [site],
                [
                    ("N14", say("the card on {site} stays as it was laid", site=site)),
                    ("N13", say("the card on {site} stays as it was laid", site=site)),
                ],
            )
    for site in c.desert_new:
        yield from _wrong_proposals(
            c, [site], [("N50", say("no event lays a desert card on {site}", site=site))]
        )
    for site in c.desert_gone:
        yield from _wrong_proposals(
            c,
            [site],
            [("N18", say("the desert card on {site} goes only under water", site=site))],
            GONE,
        )
    covers = c.cover_new + c.cover_gone
    if covers and (c.cover_gone or p.phase not in SETUP):
        yield from _wrong_proposals(
            c, covers, [("N4", Text("the cover strips stay where they were laid"))], GONE
        )


def _wrong_fields(p: Position, c: Clues) -> Iterator[Proposal]:
    for site, *_ in c.turned_down:
        yield from _wrong_proposals(
            c, [site], [("N27", say("ripe fruit on {site} is not turned back to seed", site=site))]
        )
    come = [(s, m) for s, ms in c.gained.items() for m in ms]
    for site, (side, colour, fruit) in come:
        what = kind_name(f"{side}:{colour}:{fruit}")
        froms = [s for s, ms in c.lost.items() if any(m[1:] == (colour, fruit) for m in ms)]
        for other in froms:
            yield from _wrong_proposals(
                c,
                [site, other],
                [
                    (
                        "N26",
                        say("{what} stays on {site} until it is harvested", what=what, site=other),
                    )
                ],
            )
        if side == "ripe" and p.phase not in SETUP:
            yield from _wrong_proposals(
                c,
                [site],
                [("N26", say("{what} on {site}: it is sown seed side up", what=what, site=site))],
            )
        if colour not in p.seats:
            yield from _wrong_proposals(
                c, [site], [("N26", say("nobody plays {seat}", seat=seat_name(colour)))]
            )
    for site, gone in c.lost.items():
        if site in c.laid:
            continue
        for side, colour, fruit in gone:
            what = kind_name(f"{side}:{colour}:{fruit}")
            boat = ["boat"] if c.sold[colour, fruit] else []
            yield from _wrong_proposals(
                c,
                [site, *boat],
                [("N28", say("{what} belongs on {site}", what=what, site=site))],
                MISSING if boat or side == "ripe" else GONE,
            )


def _wrong_market(c: Clues) -> Iterator[Proposal]:
    for row, places in c.worse.items():
        sites = [c.board.market[row][i - 1] for i in places]
        yield from _wrong_proposals(
            c, sites, [("N47", say("no card made fruit of row M{row} go bad", row=row))]
        )
    for site in c.fresher:
        yield from _wrong_proposals(
            c, [site], [("N48", say("the fruit on {site} is bad and stays so", site=site))]
        )
    for site in c.odd:
        have = c.diff[site][0]
        if have[-1].startswith("rotten:"):
            yield from _wrong_proposals(
                c, [site], [("N48", say("the fruit on {site} is rotten and stays so", site=site))]
            )
        else:
            yield from _wrong_proposals(
                c,
                [site],
                [
                    (
                        "N42",
                        say(
                            "{what} stays on {site} until its row is scored",
                            what=kind_name(have[-1]),
                            site=site,
                        ),
                    )
                ],
            )
    for site, m in c.fetched.items():
        moved = [s for s, other in c.stalled.items() if other[1:] == m[1:]]
        what = kind_name(":".join(m))
        yield from _wrong_proposals(
            c,
            [site, *moved],
            [("N42", say("{what} stays on {site} until its row is scored", what=what, site=site))],
            COST if moved else GONE,
        )
    for site, m in c.stalled.items():
        yield from _wrong_proposals(
            c,
            [site],
            [
                (
                    "N28",
                    say(
                        "{what} on {site} comes from no field",
                        what=kind_name(":".join(m)),
                        site=site,
                    ),
                )
            ],
        )


def _wrong_boat(p: Position, c: Clues) -> Iterator[Proposal]:
    if c.bought and sum(c.bought.values()) != sum(c.sold.values()):
        yield from _wrong_proposals(
            c,
            ["boat"],
            [("N34", Text("markers leave the boat when they are bought, or before a scoring"))],
            MISSING,
        )
    if c.sold:
        yield from _wrong_proposals(
            c, ["boat"], [("N15", Text("only flooded and sold fruit goes into the boat"))], MISSING
        )


def _wrong_stock(p: Position, c: Clues) -> Iterator[Proposal]:
    text = (
        say("the stock of desert cards lies on its place")
        if p.deserts > 0
        else say("the stock of desert cards is used up")
    )
    yield from _wrong_proposals(c, ["desert-stock"], [("N6", text), ("N35", text)], GONE)


def wrong_place(c: Clues, site: str, at: str, free: str | None) -> Proposal:
    """Harvested to the right row, but not to its free place next to the wall."""
    text = say("the fruit goes on {free}, nearest the house wall", free=free)
    return Proposal((), c.seen(site, at), (Violation("N30", text),))
