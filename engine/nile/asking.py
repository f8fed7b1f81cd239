"""What somebody has to say because no camera can see it."""

from __future__ import annotations

from engine.game import Choice, Decision
from engine.nile.actions import PICTURES, event_words
from engine.nile.board import Board, fruit_marker
from engine.nile.position import Position, Wait
from engine.nile.scoring import row_kinds
from engine.nile.words import face_name, seat_name
from engine.text import Text, say


def decision_needed(p: Position, board: Board) -> Decision | None:
    """What somebody has to say before the game can continue; None if the board tells."""
    w = p.wait
    if w is None or p.phase == "over" or (p.open and w.kind in ("event", "top", "desert", "die")):
        return None
    if w.kind == "event":
        return _event_question(p, w)
    if w.kind == "spoil":
        return _spoil_question(p, board, w.number)
    if w.kind == "fist":
        return _fist_question(p)
    if w.kind == "die":
        tied = [s for i, s in enumerate(p.seats) if p.fists[i] == -1]
        return Decision(
            tied[0],
            Text("Whom does the die choose as the first start player?"),
            tuple(Choice(seat_name(s), f"die: start {s}") for s in tied),
        )
    if w.kind == "boat":
        seat = p.seats[w.seat]
        return Decision(
            seat,
            say("Put the {n} markers of your fist into the boat", n=w.number),
            (),
            ("boat",),
            ask=False,
        )
    if w.kind == "cover":
        return Decision(p.seats[p.turn], Text("Which row does the strip cover?"), (), (), ask=False)
    return None


def _event_question(p: Position, w: Wait) -> Decision:
    """Every picture, without and with the arrow; the arrow is no longer asked about once it has
    been followed."""
    seat = p.seats[p.starter]
    choices = tuple(
        Choice(
            face_name(picture, arrow),
            f"{seat}: event {event_words(picture, arrow)}",
            f"event:{picture}" + ("-arrow" if arrow else ""),
        )
        for picture in PICTURES
        for arrow in ((False,) if w.number else (False, True))
    )
    return Decision(
        seat, say("What does the card from {site} show?", site=w.site), choices, (w.site,)
    )


def _spoil_question(p: Position, board: Board, palms: int) -> Decision:
    """The fruit turned over tells the row; an empty row has to be stated."""
    seat, rows = p.seats[p.starter], board.open_rows(palms)
    sites = tuple(s for n in rows for s in board.market[n] if p.lay.get(s))
    empty = [
        n
        for n in rows
        if all(m[0] == "rotten" for k in row_kinds(p.lay, board, n) if (m := fruit_marker(k)))
    ]
    choices = tuple(
        Choice(say("row M{row}: nothing goes bad", row=n), f"{seat}: spoil M{n}") for n in empty
    )
    return Decision(
        seat, spoiling_question(board, palms), choices, sites, ask=bool(empty) and not sites
    )


def spoiling_question(board: Board, palms: int) -> Text:
    """The question which two fruits spoil."""
    return say(
        "Two fruits of one of these rows go bad: {rows}",
        rows=", ".join(f"M{n}" for n in board.open_rows(palms)),
    )


def _fist_question(p: Position) -> Decision:
    order = [(p.starter + i) % len(p.seats) for i in range(len(p.seats))]
    i = next(i for i in order if p.fists[i] == -1)
    seat, most = p.seats[i], p.in_stock(i) - p.bids[i]
    choices = tuple(Choice(say("{n} markers", n=n), f"{seat}: fist {n}") for n in range(most + 1))
    text = (
        Text("How many markers do you bid for starting first?")
        if p.phase == "bid"
        else Text("A hippo: how many markers does your fist hold?")
    )
    return Decision(seat, text, choices)
