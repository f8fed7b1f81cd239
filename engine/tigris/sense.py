"""What a player of some sense would do: stand leaders where tiles will score, lay tiles where they
do, in the weakest colour first, and fight where more is to be won than lost."""

from __future__ import annotations

import math

from engine.game import Action
from engine.tigris import actions as act
from engine.tigris.effects import perform_action
from engine.tigris.moment import (
    SUPPORTERS,
    Fight,
    side_strength,
    supporters_lost,
    war_colours,
    war_fight,
)
from engine.tigris.pieces import Kingdom
from engine.tigris.position import Position
from engine.tigris.scoring import spread_jokers
from engine.tigris.words import BLACK, COLOURS, GREEN, HAND, RED

EVEN = 1.7  # of the root of a colour's points: the first is worth about one, the tenth a quarter
WEAKEST = 0.3  # more of a point in the weakest colour, which decides
STANDING = 0.8  # points that a leader on the board is worth: it will score
TEMPLE = 0.15  # a temple beside a leader, which keeps it there
SUPPORTER = 0.06  # a tile of a leader's colour in its kingdom
MONUMENT = 1.2  # a monument of a leader's colour in its kingdom
TREASURE = 0.4  # one treasure in a trader's kingdom: another may come to it
SQUARE = 0.12  # a tile of a square of one colour
ANSWER = 3.0  # tiles that a defender is thought to have in hand
GONE = 0.1  # tiles gone from the hand, squared: nobody knows what is drawn next
FOES = 0.25  # what the others have counts so much against it
ALIKE = 0.2  # doings so close to the best are as good as it


def promising_actions(state: Position) -> list[Action]:
    """The legal doings that lead to the best positions; [] where nothing gains, or the bag
    chooses."""
    if state.actor < 0:
        return []
    seat, legal = state.actor, state.legal_actions()
    before = seat_worth(state, seat) if state.phase == "action" else float("-inf")
    found = []
    for action in legal:
        if action.seat == state.seats[seat] and _is_worth_trying(state, seat, action):
            after = seat_worth(perform_action(state, action), seat)
            found.append((after + _square_bonus(state, action), action))
    best = max((n for n, _ in found), default=before)
    return [action for n, action in found if n > before and n >= best - ALIKE]


def _is_worth_trying(state: Position, seat: int, action: Action) -> bool:
    """Tiles in or beside kingdoms with an own leader, leaders that come to the board, and whatever
    else a moment asks for"""
    if state.phase != "action":
        return True
    if isinstance(action, act.Leader):
        return action.origin is None
    if not isinstance(action, act.Tile):
        return False
    bit = 1 << state.board.index[action.site]
    return any(k.near & bit and _is_leading(k, seat) for k in state.pieces.kingdoms())


def _is_leading(kingdom: Kingdom, seat: int) -> bool:
    return any(n // 4 == seat for n in kingdom.leaders)


def _square_bonus(state: Position, action: Action) -> float:
    """What a tile is worth towards a square of one colour, on which a monument can be built"""
    if not isinstance(action, act.Tile):
        return 0.0
    board, colour = state.board, COLOURS.index(action.colour)
    same = state.pieces.tiles[colour]
    return SQUARE * max(
        ((same & board.squares[q]).bit_count() for q in board.squares_of[board.index[action.site]]),
        default=0,
    )


def seat_worth(state: Position, seat: int) -> float:
    """What a position is worth to a seat, in points of its weakest colour."""
    stakes = fight_stakes(state)
    have = [held_worth(state, i) + stakes.get(i, 0.0) for i in range(len(state.seats))]
    foes = (sum(have) - have[seat]) / (len(have) - 1)
    return have[seat] - FOES * foes - GONE * (HAND - min(HAND, state.hand(seat))) ** 2


def held_worth(state: Position, seat: int) -> float:
    """What a seat has: its points, the weakest colours before all, and its leaders."""
    points = state.points[seat * 5 : seat * 5 + 5]
    return points_worth(points) + sum(
        _leader_worth(state, seat * 4 + colour, kingdom, points[colour])
        for kingdom in state.pieces.kingdoms()
        for colour in range(4)
        if seat * 4 + colour in kingdom.leaders
    )


def points_worth(points: tuple[int, ...]) -> float:
    """What points of the four colours and treasures are worth together: the fewer there are of a
    colour, the more one more is worth."""
    spread = spread_jokers(points[:4], points[4])
    return EVEN * sum(math.sqrt(n + 0.25) for n in spread) + WEAKEST * spread[0]


def _leader_worth(state: Position, leader: int, kingdom: Kingdom, points: int) -> float:
    """A leader where it stands: kings score for who is missing, the weakest colour needs one
    most"""
    pieces, board, colour = state.pieces, state.board, leader % 4
    temples = (board.near[pieces.leaders[leader]] & pieces.tiles[RED]).bit_count()
    supporters = (kingdom.mask & pieces.tiles[colour]).bit_count()
    worth = (
        STANDING + 0.4 / (1 + points) + TEMPLE * min(temples, 3) + SUPPORTER * min(supporters, 5)
    )
    if colour == BLACK:
        worth += 0.3
    if colour == GREEN and kingdom.mask & pieces.treasures:
        worth += TREASURE
    for number, cell in enumerate(pieces.monuments):
        if cell >= 0 and kingdom.mask >> cell & 1:
            worth += MONUMENT * (colour in board.monument_colours(board.monuments[number]))
    return worth


def fight_stakes(state: Position) -> dict[int, float]:
    """What the conflicts that wait may bring each side or cost it, as the strengths on the board
    promise."""
    out: dict[int, float] = {}
    for fight in _waiting_fights(state):
        pieces, sides = state.pieces, (fight.attacker, fight.defender)
        attack, defence = (side_strength(pieces, fight, n) for n in sides)
        edge = attack + max(fight.added, 0) - defence - ANSWER
        chance = max(0.05, min(0.95, 0.5 + 0.18 * edge))
        for side, other, wins in ((*sides, chance), (*sides[::-1], 1 - chance)):
            tiles = supporters_lost(pieces, fight, other) if fight.kind == SUPPORTERS else 0
            gain = _prize_worth(state, side // 4, fight, 1 + tiles.bit_count())
            loss = STANDING + 3 * TEMPLE
            out[side // 4] = out.get(side // 4, 0.0) + wins * gain - (1 - wins) * loss
    return out


def _prize_worth(state: Position, seat: int, fight: Fight, number: int) -> float:
    """What a conflict's points are worth to its winner: one over a leader gives red ones"""
    colour = fight.colour if fight.kind == SUPPORTERS else RED
    have = state.points[seat * 5 : seat * 5 + 5]
    more = tuple(n + number * (c == colour) for c, n in enumerate(have))
    return points_worth(more) - points_worth(have)


def _waiting_fights(state: Position) -> list[Fight]:
    if state.phase == "commit":
        return [state.conflict]
    if state.phase != "war":
        return []
    players = len(state.seats)
    return [war_fight(state.pieces, c, state.active, players) for c in war_colours(state.pieces)]
