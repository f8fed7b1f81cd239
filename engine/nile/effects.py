"""What a legal action does: first what people do themselves, then everything that follows
automatically."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from engine.game import Action, Step
from engine.nile import actions as act
from engine.nile import flow
from engine.nile.board import Board, fruit_marker, fruit_markers
from engine.nile.position import SETUP, UNKNOWN, Draft, Position, Wait
from engine.nile.words import FRUIT, event_name, fruit_name, kind_name, seat_name
from engine.text import Text, say


def effect_of(p: Position, board: Board, a: Action) -> tuple[Position, tuple[Step, ...]]:
    """The position after a legal action, and its steps."""
    d = Draft(p, board)
    if not isinstance(a, (act.Cover, act.Desert, act.Top)):
        d.fresh = False
    d.asif = False
    _EFFECTS[type(a)](d, a)
    return d.freeze(), tuple(d.steps)


def _lay_card(d: Draft, site: str, pair: str, seat: int) -> None:
    """A card from one of the seat's piles comes to lie on a field; in open mode the next one then
    shows."""
    d.put(site, (f"water:{pair}", *(k for k in d.lay.get(site, ()) if fruit_marker(k))))
    piles = d.piles[seat]
    which = max(
        (i for i in (0, 1) if piles[i][1] and piles[i][0] in (act.card_face(pair), "?")),
        key=lambda i: (piles[i][0] != "?", piles[i][1]),
    )
    _, n = piles[which]
    left = n if n == UNKNOWN else n - 1
    piles[which] = ("?" if left else "", left)
    if d.open and left:
        d.waiting.append(Wait("top", seat=seat, number=which))


def _laid_piece(seat: str, kind: str, site: str) -> Text:
    return say(
        "{seat} lays {piece} on {site}", seat=seat_name(seat), piece=kind_name(kind), site=site
    )


def _fruit_of(kind: str) -> Text:
    """The fruit of a marker: "flax" of seed:red:flax."""
    return FRUIT[kind.rpartition(":")[2]]


def _do_flood(d: Draft, a: act.Flood) -> None:
    desert = "desert" in d.lay.get(a.site, ())
    d.laid += 1
    if desert:
        d.waiting.append(Wait("event", site=a.site, cause="flood"))
        d.jokers[d.starter] += 1
    _lay_card(d, a.site, a.waves, d.starter)
    d.step(_laid_piece(a.seat, f"water:{a.waves}", a.site), by_hand=True)
    flow.to_boat(d, a.site)
    if desert and act.tells_event(a):
        _turn_card(d, a.picture, a.arrow)
    flow.settle_events(d)


def _do_ebb(d: Draft, a: act.Ebb) -> None:
    if d.waiting:  # stated once more, this time with what the card shows
        if a.site == d.unsaid:  # so that was the second one
            d.unsaid, d.waiting[0] = (
                d.waiting[0].site,
                msgspec.structs.replace(d.waiting[0], site=a.site),
            )
        _do_event(d, act.Event(a.seat, a.picture, a.arrow))
        return
    d.laid += 1
    d.put(a.site, [k for k in d.lay[a.site] if fruit_marker(k)])
    d.waiting.append(Wait("event", site=a.site, cause="ebb"))
    d.step(
        say("{seat} takes the water card off {site}", seat=seat_name(a.seat), site=a.site),
        by_hand=True,
    )
    if act.tells_event(a):
        _turn_card(d, a.picture, a.arrow)
    flow.settle_events(d)


def _turn_card(d: Draft, picture: str, arrow: bool) -> None:
    d.step(say("the card shows {event}", event=event_name(picture, arrow)), by_hand=True)
    flow.apply_turned_card(d, d.waiting.pop(0), picture, arrow)


def _do_event(d: Draft, a: act.Event) -> None:
    _turn_card(d, a.picture, a.arrow)
    flow.settle_events(d)


def _do_spoil(d: Draft, a: act.Spoil) -> None:
    d.waiting.pop(0)
    text = say("nothing in row M{row} goes bad", row=a.row)
    for i in a.places:
        site = d.board.market[a.row][i - 1]
        *below, top = d.lay[site]
        side, colour, fruit = top.split(":")
        d.put(site, (*below, f"{'seed' if side == 'ripe' else 'rotten'}:{colour}:{fruit}"))
        one = (
            say(
                "turn the {what} on {site} over: it is bad now",
                what=fruit_name(colour, fruit),
                site=site,
            )
            if side == "ripe"
            else say(
                "turn the {what} on {site} by 45 degrees: it is rotten now",
                what=fruit_name(colour, fruit),
                site=site,
            )
        )
        text = one if i == a.places[0] else say("{one}; {other}", one=text, other=one)
    d.step(text, by_hand=True)
    flow.settle_events(d)


def _do_sow(d: Draft, a: act.Sow) -> None:
    d.points -= 2 if fruit_markers(d.lay.get(a.site, ())) else 1
    d.add(a.site, f"seed:{a.seat}:{a.fruit}")
    d.take_stock(d.seats.index(a.seat), a.fruit)
    d.active.add(f"{a.site} {a.seat}")
    d.step(
        say(
            "{seat} sows {fruit} on {site}",
            seat=seat_name(a.seat),
            fruit=FRUIT[a.fruit],
            site=a.site,
        ),
        by_hand=True,
    )


def _put_own_marker(d: Draft, site: str, seat: str, side: str) -> str:
    return next(k for k in d.lay[site] if k.startswith(f"{side}:{seat}:"))


def _do_grow(d: Draft, a: act.Grow) -> None:
    here = d.lay[a.site]
    d.points -= 2 if len(fruit_markers(here)) > 1 else 1
    seed = _put_own_marker(d, a.site, a.seat, "seed")
    d.remove(a.site, seed)
    d.add(a.site, "ripe" + seed[4:])
    d.active.add(f"{a.site} {a.seat}")
    d.step(
        say(
            "{seat} turns the {fruit} on {site} over, ripe now",
            seat=seat_name(a.seat),
            fruit=_fruit_of(seed),
            site=a.site,
        ),
        by_hand=True,
    )


def _do_harvest(d: Draft, a: act.Harvest) -> None:
    d.points -= 2 if len(fruit_markers(d.lay[a.site])) > 1 else 1
    ripe = _put_own_marker(d, a.site, a.seat, "ripe")
    place = str(free_place(d, a.row, d.board))
    d.remove(a.site, ripe)
    d.put(place, (ripe,))
    d.step(
        say(
            "{seat} takes the {fruit} from {site} to {place}",
            seat=seat_name(a.seat),
            fruit=_fruit_of(ripe),
            site=a.site,
            place=place,
        ),
        by_hand=True,
    )


def free_place(p: Position | Draft, row: int, board: Board) -> str | None:
    """The free place of a market row nearest the house wall (N30); None when it is full."""
    return next((s for s in board.market[row] if not p.lay.get(s)), None)


def _do_buy(d: Draft, a: act.Buy) -> None:
    d.points -= 1 if a.colour == a.seat else 2
    owner = d.seats.index(a.colour)
    kind = next(
        (
            k
            for side in ("seed", "ripe")
            if (k := f"{side}:{a.colour}:{a.fruit}") in d.lay.get("boat", ())
        ),
        None,
    )
    if kind:
        d.remove("boat", kind)
        d.give_stock(owner, a.fruit)
    else:
        d.owed[owner] -= 1
    what = FRUIT[a.fruit] if a.colour == a.seat else fruit_name(a.colour, a.fruit)
    d.step(
        say("{seat} takes {what} out of the boat", seat=seat_name(a.seat), what=what), by_hand=True
    )


def _do_joker(d: Draft, a: act.Joker) -> None:
    d.points -= 1
    seat = d.seats.index(a.seat)
    d.bought.add(seat)
    d.jokers[seat] += 1
    d.take_desert()
    d.step(say("{seat} takes the top desert card", seat=seat_name(a.seat)), by_hand=True)


def _give_joker(d: Draft, seat: str) -> None:
    d.jokers[d.seats.index(seat)] -= 1
    d.discard += 1


def _do_spend(d: Draft, a: act.Spend) -> None:
    _give_joker(d, a.seat)
    d.points += 1
    d.step(say("{seat} gives a joker up", seat=seat_name(a.seat)), by_hand=True)


def _do_freshen(d: Draft, a: act.Freshen) -> None:
    _give_joker(d, a.seat)
    *below, bad = d.lay[a.site]
    d.put(a.site, (*below, "ripe" + bad[4:]))
    _, colour, fruit = bad.split(":")
    d.step(
        say(
            "{seat} turns the {what} on {site} over, fresh again",
            seat=seat_name(a.seat),
            what=fruit_name(colour, fruit),
            site=a.site,
        ),
        by_hand=True,
    )


def _do_fist(d: Draft, a: act.Fist) -> None:
    d.fists[d.seats.index(a.seat)] = a.count
    d.step(say("{seat} holds {n} markers", seat=seat_name(a.seat), n=a.count), by_hand=True)
    if -1 not in d.fists:
        flow.fists_open(d)


def _put_in_boat(d: Draft, a: act.Boat) -> None:
    for f in a.fruits:
        d.take_stock(d.seats.index(a.seat), f)
    d.into_boat((a.seat, f) for f in a.fruits)
    what: Text = FRUIT[a.fruits[0]]
    for f in a.fruits[1:]:
        what = say("{some}, {more}", some=what, more=FRUIT[f])
    d.step(say("{seat} puts {what} into the boat", seat=seat_name(a.seat), what=what), by_hand=True)


def _do_boat(d: Draft, a: act.Boat) -> None:
    seat = d.seats.index(a.seat)
    due = next((w for w in d.waiting if w.kind == "boat" and w.seat == seat), None)
    _put_in_boat(d, a)
    if due:
        d.waiting.remove(due)
    else:
        next_in_setup(d)


def next_in_setup(d: Draft) -> None:
    """Moves on to the next player of this stage of the first round, the next stage, or the first
    tide."""
    d.turn = (d.turn + 1) % len(d.seats)
    if d.turn != d.starter:
        return
    i = SETUP.index(d.phase) + 1
    if i < len(SETUP):
        d.phase = SETUP[i]
    else:
        flow.begin_tide(d)


def _do_water(d: Draft, a: act.Water) -> None:
    _lay_card(d, a.site, a.waves, d.seats.index(a.seat))
    d.step(_laid_piece(a.seat, f"water:{a.waves}", a.site), by_hand=True)
    next_in_setup(d)


def _do_plant(d: Draft, a: act.Plant) -> None:
    kind = f"{a.side}:{a.seat}:{a.fruit}"
    d.add(a.site, kind)
    d.take_stock(d.seats.index(a.seat), a.fruit)
    d.step(_laid_piece(a.seat, kind, a.site), by_hand=True)
    if d.planted:
        d.planted = ()
        next_in_setup(d)
    else:
        d.planted = (a.side,)


def _next_wait(d: Draft, kind: str) -> None:
    if d.waiting and d.waiting[0].kind == kind:
        d.waiting.pop(0)


def _do_cover(d: Draft, a: act.Cover) -> None:
    for s in d.board.rows[a.row]:
        d.put(s, ("cover",))
    d.step(say("cover row {row} with its strip", row=a.row), by_hand=True)
    _next_wait(d, "cover")


def _do_desert(d: Draft, a: act.Desert) -> None:
    d.take_desert()
    d.put(a.site, ("desert",))
    d.step(say("a desert card lies on {site}", site=a.site), by_hand=True)
    _next_wait(d, "desert")


def _do_top(d: Draft, a: act.Top) -> None:
    w = d.waiting.pop(0)
    d.piles[w.seat][w.number] = (a.waves, d.piles[w.seat][w.number][1])
    d.step(say("a card with waves {waves} comes up", waves=a.waves), by_hand=True)
    flow.settle_events(d)


def _do_start(d: Draft, a: act.Start) -> None:
    d.waiting.pop(0)
    flow.start_with(d, d.seats.index(a.who))


def _do_pass(d: Draft, a: act.Pass) -> None:
    d.step(say("{seat} passes", seat=seat_name(a.seat)), by_hand=True)
    if d.phase == "tide":
        flow.nothing_fits(d)
    elif d.phase in SETUP:
        d.planted = ()
        next_in_setup(d)
    else:
        flow.end_turn(d)


def skip_owed(d: Draft) -> None:
    """Moves on although nobody said which markers went from the fists into the boat."""
    for w in [w for w in d.waiting if w.kind == "boat"]:
        d.owed[w.seat] += w.number
        d.waiting.remove(w)


_EFFECTS: dict[type, Callable[[Draft, Any], None]] = {
    act.Flood: _do_flood,
    act.Ebb: _do_ebb,
    act.Event: _do_event,
    act.Spoil: _do_spoil,
    act.Sow: _do_sow,
    act.Grow: _do_grow,
    act.Harvest: _do_harvest,
    act.Buy: _do_buy,
    act.Joker: _do_joker,
    act.Spend: _do_spend,
    act.Freshen: _do_freshen,
    act.Fist: _do_fist,
    act.Boat: _do_boat,
    act.Water: _do_water,
    act.Plant: _do_plant,
    act.Cover: _do_cover,
    act.Desert: _do_desert,
    act.Top: _do_top,
    act.Start: _do_start,
    act.Pass: _do_pass,
}
