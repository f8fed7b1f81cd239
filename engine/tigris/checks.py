"""Every rule that an action breaks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine.game import Action, Violation
from engine.text import Text, say
from engine.tigris import actions as act
from engine.tigris.chance import could_draw
from engine.tigris.moment import TEMPLES, treasure_choice, war_colours
from engine.tigris.pieces import Pieces
from engine.tigris.position import Position
from engine.tigris.words import (
    COLOURS,
    HAND,
    RED,
    TILES,
    colour_name,
    kind_name,
    leader_kind,
    seat_name,
)

Faults = list[Violation]


def check_action(s: Position, a: Action) -> Faults:
    """Every rule that the action breaks; [] if it is legal."""
    if isinstance(a, act.Draw):
        return _check_draw(s, a)
    if s.draws and s.phase == "action":
        s = s.skip_chance()  # nobody said what was drawn, and the game has moved on
    if s.over:
        return [Violation(s.over, say("the game is over"))]
    if a.seat not in s.seats:
        return [Violation("T4", say("{seat} does not play in this game", seat=seat_name(a.seat)))]
    return _FAULTS[type(a)](s, a, s.seats.index(a.seat))


def _add_fault(faults: Faults, rule: str, text: Text) -> None:
    faults.append(Violation(rule, text))


def _turn_faults(s: Position, seat: int) -> Faults:
    """Why this seat may not take an action now."""
    faults: Faults = []
    if s.phase != "action":
        faults.append(_waiting_fault(s))
    if seat != s.active:
        now = seat_name(s.seats[s.active])
        _add_fault(faults, "T36", say("it is the turn of {seat}", seat=now))
        _add_fault(
            faults,
            "T9",
            say("only the active player acts, up to two actions a turn; that is {seat}", seat=now),
        )
    return faults


def _waiting_fault(s: Position) -> Violation:
    """What has to be done first."""
    if s.phase == "commit":
        seat = seat_name(s.seats[s.actor])
        if s.conflict.kind == TEMPLES:
            return Violation(
                "T39",
                say(
                    "a conflict over a leader is waiting for the temples that {seat} adds",
                    seat=seat,
                ),
            )
        return Violation("T47", say("a war is waiting for the tiles that {seat} adds", seat=seat))
    if s.phase == "war":
        return Violation(
            "T44",
            say("first {seat} says which conflict comes next", seat=seat_name(s.seats[s.active])),
        )
    if s.phase == "build":
        return Violation(
            "T53",
            say(
                "first {seat} builds a monument or keeps the tiles",
                seat=seat_name(s.seats[s.active]),
            ),
        )
    if s.phase == "treasure":
        return Violation(
            "T59", say("first {seat} takes treasures", seat=seat_name(s.seats[s.actor]))
        )
    return Violation("T34", say("tiles are being drawn"))


def _add_catastrophe_fault(faults: Faults, p: Pieces, bit: int, site: str) -> None:
    if p.catastrophes & bit:
        _add_fault(
            faults,
            "T32",
            say("{site} lies under a catastrophe for the rest of the game", site=site),
        )


def _check_tile(s: Position, a: act.Tile, seat: int) -> Faults:
    faults = _turn_faults(s, seat)
    p, board = s.pieces, s.board
    cell, colour = board.index[a.site], COLOURS.index(a.colour)
    bit = 1 << cell
    if not p.free & bit:
        _add_fault(faults, "T19", say("{site} is not free", site=a.site))
        _add_catastrophe_fault(faults, p, bit, a.site)
    if (board.river & bit != 0) != (a.colour == "blue"):
        text = (
            say("farms lie only on the river, and {site} is land", site=a.site)
            if a.colour == "blue"
            else say("only farms lie on the river, and {site} is river", site=a.site)
        )
        _add_fault(faults, "T19", text)
    if not p.occupied & bit and len(p.touching(bit)) > 2:
        _add_fault(faults, "T24", say("a tile on {site} would connect three kingdoms", site=a.site))
    if not s.known[seat][colour] and not s.has(seat, colour):
        if s.unknown[seat]:
            _add_fault(
                faults,
                "T1",
                say("all tiles of this kind are in sight: {piece}", piece=kind_name(TILES[colour])),
            )
        else:
            _add_fault(
                faults,
                "T4",
                say(
                    "{seat} does not hold {piece}",
                    seat=seat_name(a.seat),
                    piece=kind_name(TILES[colour]),
                ),
            )
    return faults


def _check_leader(s: Position, a: act.Leader, seat: int) -> Faults:
    faults = _turn_faults(s, seat)
    if s.phase in ("commit", "war"):
        _add_fault(faults, "T37", say("leaders cannot withdraw from a conflict"))
    p, board = s.pieces, s.board
    own = seat * 4 + COLOURS.index(a.colour)
    lifted = own
    if a.origin is None:
        if p.leaders[own] >= 0:
            _add_fault(
                faults,
                "T12",
                say(
                    "{piece} stands on the board already",
                    piece=kind_name(leader_kind(a.seat, a.colour)),
                ),
            )
    else:
        lifted = p.leader_at(board.index[a.origin])
        if lifted >= 0 and lifted // 4 != seat:
            _add_fault(
                faults,
                "T11",
                say(
                    "the leader on {site} belongs to {seat}",
                    site=a.origin,
                    seat=seat_name(s.seats[lifted // 4]),
                ),
            )
        elif lifted != own:
            _add_fault(
                faults,
                "T12",
                say(
                    "{piece} does not stand on {site}",
                    site=a.origin,
                    piece=kind_name(leader_kind(a.seat, a.colour)),
                ),
            )
    if a.target is None:
        if a.origin is None:
            _add_fault(
                faults,
                "T12",
                say("{piece} is not on the board", piece=kind_name(leader_kind(a.seat, a.colour))),
            )
        return faults
    cell = board.index[a.target]
    bit = 1 << cell
    if a.target == a.origin:
        _add_fault(faults, "T12", say("a leader moves to another square than its own"))
    if board.river & bit:
        _add_fault(faults, "T14", say("{site} is river: leaders do not swim", site=a.target))
    if not p.free & bit:
        _add_fault(faults, "T18", say("{site} is not free", site=a.target))
        _add_catastrophe_fault(faults, p, bit, a.target)
    if not board.near[cell] & p.tiles[RED]:
        _add_fault(faults, "T13", say("{site} touches no temple", site=a.target))
    others = p.kingdoms() if lifted < 0 else p.kingdoms_without(lifted)
    if not p.occupied & bit and len(p.touching(bit, others)) > 1:
        _add_fault(
            faults, "T15", say("a leader on {site} would connect two kingdoms", site=a.target)
        )
    return faults


def _check_catastrophe(s: Position, a: act.Catastrophe, seat: int) -> Faults:
    faults = _turn_faults(s, seat)
    p, cell = s.pieces, s.board.index[a.site]
    bit = 1 << cell
    if not s.catastrophes[seat]:
        _add_fault(
            faults, "T27", say("{seat} has no catastrophe tile left", seat=seat_name(a.seat))
        )
    if p.treasures & bit:
        _add_fault(faults, "T29", say("a treasure lies on {site}", site=a.site))
    if p.flipped & bit:
        for rule in ("T29", "T56"):
            _add_fault(faults, rule, say("a monument stands on {site}", site=a.site))
    if cell in p.leaders:
        _add_fault(faults, "T29", say("a leader stands on {site}", site=a.site))
    if p.catastrophes & bit:
        _add_fault(faults, "T29", say("a catastrophe lies on {site} already", site=a.site))
    return faults


def _check_swap(s: Position, a: act.Swap, seat: int) -> Faults:
    faults = _turn_faults(s, seat)
    if not 1 <= a.number <= min(HAND, s.hand(seat)):
        _add_fault(
            faults,
            "T33",
            say(
                "{seat} can swap 1 to {most} tiles",
                seat=seat_name(a.seat),
                most=min(HAND, s.hand(seat)),
            ),
        )
    if not a.colours:
        if not s.unknown[seat]:
            _add_fault(
                faults,
                "T33",
                say("the hand of {seat} is known: say which tiles", seat=seat_name(a.seat)),
            )
    elif any(a.colours.count(c) > s.known[seat][i] for i, c in enumerate(COLOURS)):
        if s.unknown[seat] and not sum(s.known[seat]):
            _add_fault(
                faults,
                "T33",
                say("the hand of {seat} is hidden: say only how many", seat=seat_name(a.seat)),
            )
        else:
            _add_fault(
                faults, "T33", say("{seat} does not hold these tiles", seat=seat_name(a.seat))
            )
    return faults


def _check_pass(s: Position, a: act.Pass, seat: int) -> Faults:
    faults = _turn_faults(s, seat)
    if s.phase in ("commit", "war"):
        _add_fault(faults, "T37", say("a conflict is fought out before the turn ends"))
    return faults


def _check_commit(s: Position, a: act.Commit, seat: int) -> Faults:
    if s.phase != "commit":
        idle = [Violation(r, say("no conflict is waiting for tiles")) for r in ("T39", "T47")]
        return [_waiting_fault(s), *idle] if s.phase == "war" else idle
    fight = s.conflict
    rule = "T39" if fight.kind == TEMPLES else "T47"
    faults: Faults = []
    if seat != s.actor:
        now = seat_name(s.seats[s.actor])
        _add_fault(
            faults, rule, say("first the attacker, then the defender: now {seat} adds", seat=now)
        )
        if fight.kind != TEMPLES and fight.added < 0:
            _add_fault(faults, "T45", say("{seat} attacks", seat=now))
    colour = RED if fight.kind == TEMPLES else fight.colour
    most = s.has(seat, colour)
    if a.number > most:
        _add_fault(
            faults,
            rule,
            say(
                "{seat} can add at most {most} ({colour})",
                seat=seat_name(a.seat),
                most=most,
                colour=colour_name(COLOURS[colour]),
            ),
        )
    return faults


def _check_war(s: Position, a: act.War, seat: int) -> Faults:
    if s.phase != "war":
        return [Violation("T44", say("there is no choice between conflicts"))]
    faults: Faults = []
    if seat != s.active:
        _add_fault(
            faults,
            "T44",
            say(
                "the active player says which conflict is next; that is {seat}",
                seat=seat_name(s.seats[s.active]),
            ),
        )
    if COLOURS.index(a.colour) not in war_colours(s.pieces):
        _add_fault(
            faults, "T44", say("there is no conflict in {colour}", colour=colour_name(a.colour))
        )
    return faults


def _check_build(s: Position, a: act.Build, seat: int) -> Faults:
    faults: Faults = []
    p, board, cell = s.pieces, s.board, s.board.index[a.site]
    square = board.squares.get(cell, 0)
    piece = kind_name("monument:" + a.monument)
    if s.phase in ("commit", "war"):
        _add_fault(faults, "T55", say("the conflict comes first, then the monument"))
    if s.phase != "build":
        _add_fault(
            faults,
            "T53",
            say("a monument can be built only if the tile just placed completes a square"),
        )
    elif seat != s.active:
        _add_fault(
            faults,
            "T53",
            say("only {seat}, who placed the tile, may build", seat=seat_name(s.seats[s.active])),
        )
    if square & p.flipped:
        _add_fault(faults, "T58", say("no tile is used for two monuments"))
    colour = p.tile_at(cell)
    if not square or colour < 0 or p.tiles[colour] & square != square:
        _add_fault(
            faults,
            "T53",
            say("{site} is not the upper left of four tiles of one colour", site=a.site),
        )
        if square & p.free:
            _add_fault(faults, "T55", say("not all four tiles are there"))
    else:
        if s.phase == "build" and cell not in p.full_squares(s.laid):
            _add_fault(
                faults,
                "T53",
                say("the tile just placed is not in the square at {site}", site=a.site),
            )
        if colour not in board.monument_colours(a.monument):
            _add_fault(
                faults,
                "T53",
                say("{piece} does not have the colour of the tiles", piece=piece),
            )
        if not any(
            at < 0 and colour in board.monument_colours(m)
            for m, at in zip(board.monuments, p.monuments)
        ):
            _add_fault(faults, "T54", say("no monument with the colour of the tiles is left"))
    if p.monuments[board.monuments.index(a.monument)] >= 0:
        for rule in ("T54", "T2"):
            _add_fault(faults, rule, say("{piece} stands on the board already", piece=piece))
    return faults


def _check_keep(s: Position, a: act.Keep, seat: int) -> Faults:
    if s.phase in ("commit", "war"):
        return [Violation("T55", say("the conflict comes first, then the monument"))]
    if s.phase != "build":
        return [Violation("T53", say("there is nothing to build on"))]
    if seat != s.active:
        return [
            Violation(
                "T53",
                say("only {seat}, who placed the tile, decides", seat=seat_name(s.seats[s.active])),
            )
        ]
    return []


def _check_treasure(s: Position, a: act.Treasure, seat: int) -> Faults:
    if s.phase != "treasure":
        return [Violation("T59", say("there are no treasures to choose from"))]
    faults: Faults = []
    owner, treasures, may_stay = treasure_choice(s.pieces, s.active, len(s.seats))
    if seat != owner:
        _add_fault(
            faults,
            "T59",
            say(
                "the treasures go to the owner of the trader there: {seat}",
                seat=seat_name(s.seats[owner]),
            ),
        )
    taken = sum(1 << s.board.index[t] for t in a.sites)
    stays = treasures & ~taken
    if taken & ~treasures or stays.bit_count() != 1:
        sites = ", ".join(s.board.sites(treasures))
        _add_fault(
            faults, "T59", say("all but one of the treasures on {sites} are taken", sites=sites)
        )
    if stays & ~may_stay and may_stay & taken:
        _add_fault(faults, "T60", say("treasures of the corner squares are taken before others"))
    return faults


def _check_draw(s: Position, a: act.Draw) -> Faults:
    if a.drawer not in s.seats:
        return [Violation("T4", say("{seat} does not play in this game", seat=seat_name(a.drawer)))]
    seat = s.seats.index(a.drawer)
    n = s.drawing(seat)
    if s.phase == "draw" and s.draws[0][0] != seat:
        return [Violation("T35", say("first {seat} draws", seat=seat_name(s.seats[s.draws[0][0]])))]
    if len(a.colours) not in s.may_draw(seat):
        return [
            Violation("T34", say("{seat} draws {number} tiles", seat=seat_name(a.drawer), number=n))
        ]
    if not could_draw(s, tuple(a.colours.count(c) for c in COLOURS)):
        return [Violation("T1", say("there are not that many of these tiles left"))]
    return []


_FAULTS: dict[type[Action], Callable[[Position, Any, int], Faults]] = {
    act.Tile: _check_tile,
    act.Leader: _check_leader,
    act.Catastrophe: _check_catastrophe,
    act.Swap: _check_swap,
    act.Pass: _check_pass,
    act.Commit: _check_commit,
    act.War: _check_war,
    act.Build: _check_build,
    act.Keep: _check_keep,
    act.Treasure: _check_treasure,
}
