"""How the game continues automatically: tide, turns and rounds (N16 to N24, N37), and what a turned
card does (N46 to N59)."""

from __future__ import annotations

from engine.nile.board import Board, card_on, counted_markers, waves_on
from engine.nile.position import Draft, Position, Wait, next_tide
from engine.nile.scoring import score_round
from engine.nile.words import TIDE, kind_name, seat_name
from engine.text import Text, say

POINTS = 3


def begin_tide(d: Draft) -> None:
    """Phase 1: flood or ebb, as the stone shows. An ebb without any card to remove immediately
    becomes a flood (N21)."""
    d.phase, d.turn, d.laid, d.tried, d.points = "tide", d.starter, 0, False, 0
    d.mode = "flood" if d.tide == "flood" else "ebb"
    if d.mode == "ebb" and not any(waves_on(c) for c in d.lay.values()):
        move_stone(
            d, "flood", Text("no water card lies on the fields: the tide stone goes to flood")
        )
        d.mode, d.tried = "flood", True


def move_stone(d: Draft, tide: str, text: Text | None = None) -> None:
    """Moves the tide stone, with its step."""
    d.set_tide(tide)
    d.step(text or say("move the tide stone to {tide}", tide=TIDE[tide]))


def nothing_fits(d: Draft) -> None:
    """The starting player can lay no card, or no second one (N19, N23)."""
    if d.laid == 0 and (d.tried or not any(waves_on(c) for c in d.lay.values())):
        start_actions(d)  # neither flood nor ebb can do anything, so both are skipped
        return
    if d.tide == "flood":
        move_stone(d, "ebb1")
    if d.laid:
        start_actions(d)
    else:
        d.mode, d.tried = "ebb", True


def settle_events(d: Draft) -> None:
    """Continues after a tide card and everything that its event asked for, if phase 1 does go
    on."""
    if d.waiting or d.phase != "tide" or not d.laid:
        return
    if d.laid == 2 or (d.mode == "ebb" and d.tide == "flood"):
        start_actions(d)
    elif _only_one(d):
        move_stone(d, "flood", Text("only one card could be taken: the tide stone goes to flood"))
        start_actions(d)


def _only_one(d: Draft) -> bool:
    """One card was removed at ebb and none is left to remove (N21)."""
    return (
        d.mode == "ebb"
        and d.laid == 1
        and d.tide != "flood"
        and not any(waves_on(c) for c in d.lay.values())
    )


def start_actions(d: Draft) -> None:
    """Begins the phase of actions."""
    d.phase, d.turn, d.points, d.unsaid = "actions", d.starter, POINTS, ""


def end_turn(d: Draft) -> None:
    """Ends a turn and begins the next one, or the next phase."""
    if d.phase == "extra":
        d.phase, d.turn, d.points = "tide", d.starter, 0
        settle_events(d)
        return
    d.turn = (d.turn + 1) % len(d.seats)
    d.points = POINTS
    if d.turn == d.starter:
        d.starter = d.turn = (d.starter + 1) % len(d.seats)
        d.step(say("the pillar goes to {seat}", seat=seat_name(d.seats[d.starter])))
        end_round(d)


def end_round(d: Draft) -> None:
    """Phase 4 and the beginning of the next round."""
    d.points = 0
    score_round(d)
    if d.phase == "over":
        return
    d.round += 1
    d.start_round()
    begin_tide(d)


def apply_turned_card(d: Draft, turned_card: Wait, picture: str, arrow: bool) -> None:
    """The event of a card turned over by flood or ebb. If only its arrow is stated, the picture is
    still open."""
    if arrow and not turned_card.number:
        move_stone(
            d,
            next_tide(d.tide),
            say("the arrow: move the tide stone to {tide}", tide=TIDE[next_tide(d.tide)]),
        )
    if not picture:
        d.waiting.insert(0, Wait("event", turned_card.site, turned_card.cause, number=1))
    elif picture.startswith("spoil"):
        d.waiting.insert(0, Wait("spoil", number=int(picture[5:])))
    elif picture == "desert" and turned_card.cause == "ebb":
        _lay_desert(d, d.board.fields[turned_card.site].row)
    elif picture == "hippo" and "hippo" in d.options:
        d.fists = [-1] * len(d.seats)
        d.waiting.insert(0, Wait("fist"))


def desert_field(d: Draft | Position, row: str, board: Board) -> str | None:
    """Where the next desert card of a row goes; None if nothing can be laid (N50)."""
    for site in reversed(board.rows[row]):
        lying = card_on(d.lay.get(site, ()))
        if lying != "desert":
            return site if lying is None else None
    return None


def _lay_desert(d: Draft, row: str) -> None:
    site = desert_field(d, row, d.board)
    if site is None or d.deserts <= 0:
        return
    on_field = d.lay.get(site, ())
    d.take_desert()
    d.put(site, ("desert", *on_field))
    d.step(say("the desert grows: lay a desert card on {site}", site=site))
    to_boat(d, site)


def to_boat(d: Draft, site: str) -> None:
    """Markers under a card that was just laid go to the boat (N15, N50)."""
    kinds = d.lay.get(site, ())
    loose = [k for k in kinds if k.count(":") == 2]
    if not loose:
        return
    d.put(site, [k for k in kinds if k not in loose])
    d.into_boat(counted_markers(tuple(loose)).elements())
    d.active = {a for a in d.active if not a.startswith(f"{site} ")}
    what = kind_name(loose[0])
    for k in loose[1:]:
        what = say("{some} and {more}", some=what, more=kind_name(k))
    d.step(say("put {what} from {site} into the boat", what=what, site=site))


def fists_open(d: Draft) -> None:
    """Everybody has said what is in their fist: decides who gets the extra turn, or who starts."""
    d.waiting.pop(0)
    if d.phase == "bid":
        _bids_open(d)
        return
    boat = counted_markers(d.lay.get("boat", ()))
    own = [
        sum(n for (c, _), n in boat.items() if c == s) + d.owed[i] - d.lost[i]
        for i, s in enumerate(d.seats)
    ]
    ranked = [(own[i] + d.fists[i], d.fists[i]) for i in range(len(d.seats))]
    first = [i for i, r in enumerate(ranked) if r == max(ranked)]
    if len(first) > 1:
        d.fists = []
        d.step(Text("the fists are equal: nobody gets the extra turn"))
        settle_events(d)
        return
    winner = first[0]
    d.step(say("{seat} gets the extra turn", seat=seat_name(d.seats[winner])))
    d.phase, d.turn, d.points = "extra", winner, POINTS
    if d.fists[winner]:
        d.waiting.insert(0, Wait("boat", seat=winner, number=d.fists[winner]))
    d.fists = []


def _bids_open(d: Draft) -> None:
    most = max(d.fists)
    first = [i for i, n in enumerate(d.fists) if n == most]
    d.bids = [b + max(f, 0) for b, f in zip(d.bids, d.fists)]
    if len(first) == 1:
        start_with(d, first[0])
        return
    d.rebids += 1
    d.fists = [-1 if i in first else -2 for i in range(len(d.seats))]  # -2: no longer in it
    d.waiting.insert(0, Wait("fist" if d.rebids == 1 else "die"))


def start_with(d: Draft, seat: int) -> None:
    """The first starting player is known; all bids go to the boat (N60)."""
    d.starter = d.turn = seat
    d.step(say("{seat} starts and gets the pillar", seat=seat_name(d.seats[seat])))
    for i in range(len(d.seats)):
        who = (seat + i) % len(d.seats)
        if d.bids[who]:
            d.waiting.append(Wait("boat", seat=who, number=d.bids[who]))
    d.fists, d.bids, d.phase = [], [0] * len(d.seats), "water"
