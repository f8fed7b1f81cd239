"""Conflicts: over a leader (temples) and between joined kingdoms (supporters)."""

from __future__ import annotations

from engine.tigris.board import cells_of
from engine.tigris.moment import (
    SUPPORTERS,
    TEMPLES,
    Fight,
    side_strength,
    supporters_lost,
    war_colours,
    war_fight,
)
from engine.tigris.position import Position
from engine.tigris.words import COLOURS, POINTS, RED, TILES, leader_kind


def over_leader(s: Position, attacker: int, defender: int) -> None:
    """Begins the conflict when a leader joins another of its colour (T37); the attacker adds
    first."""
    s.fight, s.phase = Fight(TEMPLES, attacker % 4, attacker, defender), "commit"


def next_war(s: Position) -> None:
    """Looks for conflicts again (T50). A single one begins; if there are several, the active player
    chooses (T44). Phase "action" if none is left."""
    colours = war_colours(s.pieces)
    if len(colours) == 1:
        begin_war(s, colours[0])
    else:
        s.phase = "war" if colours else "action"


def begin_war(s: Position, colour: int) -> None:
    """Begins the conflict of a colour."""
    s.fight, s.phase = war_fight(s.pieces, colour, s.active, len(s.seats)), "commit"


def add_tiles(s: Position, number: int) -> bool:
    """A side adds tiles from its hand, which leave the game. True once both sides have and the
    conflict is decided."""
    fight, leader = s.conflict, s.conflict.adder
    seat = leader // 4
    colour = RED if fight.kind == TEMPLES else fight.colour
    take_from_hand(s, seat, colour, number)
    spend_tiles(s, colour, number)
    s.tell(
        "{seat} adds {number} ({colour})",
        by_hand=True,
        seat=s.seats[seat],
        number=number,
        colour=COLOURS[colour],
    )
    if fight.added < 0:
        s.fight = Fight(fight.kind, fight.colour, fight.attacker, fight.defender, number)
        return False
    attack = side_strength(s.pieces, fight, fight.attacker) + fight.added
    defence = side_strength(s.pieces, fight, fight.defender) + number
    s.fight = None
    if attack > defence:
        _decide_conflict(s, fight, fight.attacker, fight.defender)
    else:
        _decide_conflict(s, fight, fight.defender, fight.attacker)
    return True


def _decide_conflict(s: Position, fight: Fight, winner: int, loser: int) -> None:
    lost = supporters_lost(s.pieces, fight, loser) if fight.kind == SUPPORTERS else 0
    temples = s.pieces.tiles[RED]
    take_home(s, loser)
    for cell in cells_of(lost):
        s.tell(
            "take {piece} off {site}",
            s.pieces.without(1 << cell),
            piece=TILES[fight.colour],
            site=s.board.ids[cell],
        )
    for n in s.pieces.orphans(temples):  # T51; there are none, since T49 spares their temples
        take_home(s, n)
    if fight.kind == TEMPLES:
        score_points(s, winner // 4, RED, 1)
    else:
        spend_tiles(s, fight.colour, lost.bit_count())
        score_points(s, winner // 4, fight.colour, 1 + lost.bit_count())


def take_home(s: Position, leader: int) -> None:
    """Takes a leader off the board."""
    seat, colour = divmod(leader, 4)
    cell = s.pieces.leaders[leader]
    s.tell(
        "take {piece} off {site}",
        s.pieces.stand(leader, -1),
        piece=leader_kind(s.seats[seat], COLOURS[colour]),
        site=s.board.ids[cell],
    )


def score_points(
    s: Position, seat: int, colour: int, number: int, monument: str | None = None
) -> None:
    """Adds points of a colour, or treasures (4), with the step that announces them."""
    points = list(s.points)
    points[seat * 5 + colour] += number
    s.points = tuple(points)
    if monument is not None:
        s.tell(
            "{seat} scores {number} {colour} for {piece}",
            seat=s.seats[seat],
            number=number,
            colour=COLOURS[colour],
            piece="monument:" + monument,
        )
    elif colour < 4:
        s.tell(
            "{seat} scores {number} {colour}",
            seat=s.seats[seat],
            number=number,
            colour=POINTS[colour],
        )


def take_from_hand(s: Position, seat: int, colour: int, number: int) -> None:
    """Removes tiles from a hand, known ones first."""
    known = list(s.known[seat])
    from_known = min(number, known[colour])
    known[colour] -= from_known
    set_hand(s, seat, tuple(known), s.unknown[seat] - (number - from_known))


def set_hand(s: Position, seat: int, known: tuple[int, ...], unknown: int) -> None:
    """Sets what is known about a hand: tiles of each colour, and how many unknown ones."""
    if known != s.known[seat]:
        s.known = (*s.known[:seat], known, *s.known[seat + 1 :])
    s.unknown = (*s.unknown[:seat], unknown, *s.unknown[seat + 1 :])


def spend_tiles(s: Position, colour: int, number: int) -> None:
    """Counts tiles of a colour as out of the game or face-down from now on."""
    spent = list(s.spent)
    spent[colour] += number
    s.spent = tuple(spent)
