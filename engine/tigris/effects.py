"""What an action does, and what follows from it automatically. Works on a fresh copy of a state
that nobody else has seen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from engine.game import Action
from engine.tigris import actions as act
from engine.tigris import conflict
from engine.tigris.board import cells_of
from engine.tigris.moment import treasure_claims, war_colours
from engine.tigris.position import Position
from engine.tigris.scoring import monument_points, point_scorer
from engine.tigris.words import ACTIONS, COLOURS, HAND, RED, TILES, leader_kind

P = TypeVar("P", bound=Position)


def perform_action(state: P, a: Action) -> P:
    """The state after a legal action."""
    if state.draws and not isinstance(a, act.Draw):
        state = state.skip_chance()
    s = state.copy()
    _DOES[type(a)](s, a)
    if s.draws and s.bag_known is not None and s.phase == "action":
        s.phase = "draw"
    return s


def _do_tile(s: Position, a: act.Tile) -> None:
    cell, colour = s.board.index[a.site], COLOURS.index(a.colour)
    joined = s.pieces.touching(1 << cell)
    conflict.take_from_hand(s, s.active, colour, 1)
    s.tell(
        "{seat} lays {piece} on {site}",
        s.pieces.add(colour, cell),
        True,
        seat=a.seat,
        piece=TILES[colour],
        site=a.site,
    )
    s.laid = cell
    if len(joined) == 2:
        pieces = s.pieces.change(union=cell)
        if war_colours(pieces):
            s.tell("put the union tile on {site}", pieces, site=a.site)
            conflict.next_war(s)
            if s.phase != "action":
                return
    elif joined:
        leader = point_scorer(joined[0], colour)
        if leader >= 0:
            conflict.score_points(s, leader // 4, colour, 1)
    after_conflicts(s)


def _do_leader(s: Position, a: act.Leader) -> None:
    own = s.active * 4 + COLOURS.index(a.colour)
    kind = leader_kind(a.seat, a.colour)
    if a.target is None:
        s.tell(
            "{seat} takes {piece} off {site}",
            s.pieces.stand(own, -1),
            True,
            seat=a.seat,
            piece=kind,
            site=a.origin,
        )
        return end_action(s)
    cell = s.board.index[a.target]
    pieces = s.pieces.stand(own, cell)
    if a.origin is None:
        s.tell(
            "{seat} puts {piece} on {site}", pieces, True, seat=a.seat, piece=kind, site=a.target
        )
    else:
        s.tell(
            "{seat} moves {piece} from {origin} to {site}",
            pieces,
            True,
            seat=a.seat,
            piece=kind,
            origin=a.origin,
            site=a.target,
        )
    kingdom = pieces.kingdom_at(cell)
    rivals = [n for n in kingdom.leaders if n % 4 == own % 4 and n != own] if kingdom else []
    if rivals:
        conflict.over_leader(s, own, min(rivals, key=lambda n: (n // 4 - s.active) % len(s.seats)))
    else:
        end_action(s)


def _do_catastrophe(s: Position, a: act.Catastrophe) -> None:
    cell = s.board.index[a.site]
    left = list(s.catastrophes)
    left[s.active] -= 1
    s.catastrophes = tuple(left)
    p = s.pieces
    covered, temples = p.tile_at(cell), p.tiles[RED]
    if covered >= 0:
        conflict.spend_tiles(s, covered, 1)
        p = p.without(1 << cell)
    s.tell(
        "{seat} lays {piece} on {site}",
        p.change(catastrophes=p.catastrophes | 1 << cell),
        True,
        seat=a.seat,
        piece="catastrophe",
        site=a.site,
    )
    send_home(s, temples)
    end_action(s)


def _do_swap(s: Position, a: act.Swap) -> None:
    seat = s.active
    known, unknown = list(s.known[seat]), s.unknown[seat]
    if a.colours:
        for c in a.colours:
            known[COLOURS.index(c)] -= 1
            conflict.spend_tiles(s, COLOURS.index(c), 1)
    else:
        # nobody said which ones, so nothing is known about the rest
        unknown += sum(known) - a.number
        known = [0, 0, 0, 0]
        s.lost += a.number
    conflict.set_hand(s, seat, tuple(known), unknown)
    s.tell(
        "{seat} swaps one tile" if a.number == 1 else "{seat} swaps {number} tiles",
        by_hand=True,
        seat=a.seat,
        number=a.number,
    )
    if refill_hands(s, seat, a.number):
        end_action(s)


def _do_pass(s: Position, a: act.Pass) -> None:
    s.tell("{seat} passes", by_hand=True, seat=a.seat)
    end_turn(s)


def _do_commit(s: Position, a: act.Commit) -> None:
    if conflict.add_tiles(s, a.number):
        if s.pieces.union >= 0:
            conflict.next_war(s)
            if s.phase != "action":
                return
            after_conflicts(s)
        else:
            end_action(s)


def _do_war(s: Position, a: act.War) -> None:
    s.tell("next is the conflict in {colour}", by_hand=True, colour=a.colour)
    conflict.begin_war(s, COLOURS.index(a.colour))


def _do_build(s: Position, a: act.Build) -> None:
    p, corner = s.pieces, s.board.index[a.site]
    square = s.board.squares[corner]
    temples = p.tiles[RED]
    conflict.spend_tiles(s, p.tile_at(corner), 4)
    monuments = list(p.monuments)
    monuments[s.board.monuments.index(a.monument)] = corner
    p = p.without(square)
    s.tell(
        "{seat} turns four tiles over and builds {piece} on {site}",
        p.change(flipped=p.flipped | square, monuments=tuple(monuments)),
        True,
        seat=a.seat,
        piece="monument:" + a.monument,
        site=a.site,
    )
    send_home(s, temples)
    end_building(s)


def _do_keep(s: Position, a: act.Keep) -> None:
    s.tell("{seat} builds nothing", by_hand=True, seat=a.seat)
    end_building(s)


def _do_treasure(s: Position, a: act.Treasure) -> None:
    owner = s.actor
    taken = sum(1 << s.board.index[t] for t in a.sites)
    s.tell(
        "{seat} takes the treasures off {sites}",
        s.pieces.change(treasures=s.pieces.treasures & ~taken),
        True,
        seat=a.seat,
        sites=", ".join(a.sites),
    )
    conflict.score_points(s, owner, 4, len(a.sites))
    end_action(s)


def _do_draw(s: Position, a: act.Draw) -> None:
    seat = s.seats.index(a.drawer)
    counts = tuple(a.colours.count(c) for c in COLOURS)
    first = next(i for i, d in enumerate(s.draws) if d[0] == seat)
    if len(a.colours) == s.drawing(seat):
        s.draws = tuple(d for d in s.draws if d[0] != seat)
    else:
        s.draws = s.draws[:first] + s.draws[first + 1 :]
    s.bag -= len(a.colours)
    if s.bag_known is not None:
        s.bag_known = tuple(have - n for have, n in zip(s.bag_known, counts))
    conflict.set_hand(s, seat, tuple(k + n for k, n in zip(s.known[seat], counts)), s.unknown[seat])
    s.tell("{seat} draws {number} tiles", seat=a.drawer, number=len(a.colours))
    if s.phase == "draw":
        s.phase = "action"


_DOES: dict[type[Action], Callable[[Position, Any], None]] = {
    act.Tile: _do_tile,
    act.Leader: _do_leader,
    act.Catastrophe: _do_catastrophe,
    act.Swap: _do_swap,
    act.Pass: _do_pass,
    act.Commit: _do_commit,
    act.War: _do_war,
    act.Build: _do_build,
    act.Keep: _do_keep,
    act.Treasure: _do_treasure,
    act.Draw: _do_draw,
}


def after_conflicts(s: Position) -> None:
    """The union tile is removed (T52), leaders without temples go home (T51), and the tile may have
    completed a square (T55)."""
    if s.pieces.union >= 0:
        site = s.board.ids[s.pieces.union]
        s.tell("take the union tile off {site}", s.pieces.change(union=-1), site=site)
    if buildable_monuments(s):
        s.phase = "build"
    else:
        end_action(s)


def buildable_monuments(s: Position) -> list[tuple[int, int]]:
    """(upper left cell, monument) for everything that may be built thanks to the tile just laid
    (T53, T54)."""
    if s.laid < 0:
        return []
    squares = s.pieces.full_squares(s.laid)
    if not squares:
        return []
    colour = s.pieces.tile_at(s.laid)
    return [
        (q, m)
        for q in squares
        for m, name in enumerate(s.board.monuments)
        if s.pieces.monuments[m] < 0 and colour in s.board.monument_colours(name)
    ]


def end_building(s: Position) -> None:
    """A square uses up its tiles, including the one just laid, so nothing else can be built
    (T58)."""
    s.phase = "action"
    end_action(s)


def send_home(s: Position, temples_before: int) -> None:
    """Returns leaders that have lost their last temple to their owners (T16)."""
    for n in s.pieces.orphans(temples_before):
        conflict.take_home(s, n)


def end_action(s: Position) -> None:
    """Treasures are taken (T59 to T61), then one action is over, and after the second one the
    turn."""
    s.phase, s.laid = "action", -1
    for owner, treasures, may_stay in treasure_claims(s.pieces, s.active, len(s.seats)):
        if may_stay & (may_stay - 1):
            s.phase = "treasure"
            continue
        taken = treasures & ~may_stay
        for cell in cells_of(taken):
            s.tell(
                "take {piece} off {site}: it goes to {seat}",
                s.pieces.change(treasures=s.pieces.treasures & ~(1 << cell)),
                piece="treasure",
                site=s.board.ids[cell],
                seat=s.seats[owner],
            )
        conflict.score_points(s, owner, 4, taken.bit_count())
    if s.phase == "treasure":
        return
    s.left -= 1
    if s.left <= 0:
        end_turn(s)


def end_turn(s: Position) -> None:
    """Monument points, refilled hands, the end of the game, and the next player (T34 to T36, T63,
    T64)."""
    for colour, monument in monument_points(s, s.active):
        conflict.score_points(s, s.active, colour, 1, monument=s.board.monuments[monument])
    players = len(s.seats)
    for i in range(players):
        seat = (s.active + i) % players
        missing = HAND - s.hand(seat) - s.drawing(seat)
        if missing > 0 and not refill_hands(s, seat, missing):
            return
    if s.pieces.treasures.bit_count() <= 2:
        s.over, s.phase, s.draws = "T64", "over", ()
        return
    s.active, s.left, s.phase = (s.active + 1) % players, ACTIONS, "action"


def refill_hands(s: Position, seat: int, number: int) -> bool:
    """Draws from the bag; False if it does not hold enough tiles, which ends the game (T63)."""
    there = s.bag - sum([n for _, n in s.draws])
    if number > there:
        if s.bag_known is not None and not s.draws:
            conflict.set_hand(
                s, seat, tuple(k + n for k, n in zip(s.known[seat], s.bag_known)), s.unknown[seat]
            )
            s.bag_known = (0, 0, 0, 0)
        else:
            s.bag_known = None
            conflict.set_hand(s, seat, s.known[seat], s.unknown[seat] + there)
        s.bag -= there
        s.over, s.phase, s.draws = "T63", "over", ()
        return False
    if s.open[seat]:
        # one draw covers both, so that nobody has to choose between them
        if s.bag_known is not None:
            s.draws, number = tuple(d for d in s.draws if d[0] != seat), s.drawing(seat) + number
        s.draws = (*s.draws, (seat, number))
    else:
        s.bag -= number
        s.bag_known = None
        conflict.set_hand(s, seat, s.known[seat], s.unknown[seat] + number)
    return True
