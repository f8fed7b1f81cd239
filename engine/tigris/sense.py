"""What a sensible player would do: place leaders where tiles will score, lay tiles where they
score, in the weakest colour first, and fight if there is more to win than to lose."""

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

EVEN = 1.7  # times the root of a colour's points: the first is worth about one, the tenth a quarter
WEAKEST = 0.3  # extra worth of a point in the weakest colour, which decides
STANDING = 0.8  # points for a leader on the board: it will score
TEMPLE = 0.15  # a temple next to a leader, which keeps it on the board
SUPPORTER = 0.06  # a tile of a leader's colour in its kingdom
MONUMENT = 1.2  # a monument of a leader's colour in its kingdom
TREASURE = 0.4  # one treasure in a trader's kingdom: another may come to it
SQUARE = 0.12  # a tile towards a square of one colour
ANSWER = 3.0  # tiles that a defender is assumed to hold
GONE = 0.1  # per square of the number of tiles spent from the hand: the next ones are unknown
FOES = 0.25  # weight of what the other players have, which counts against a position
ALIKE = 0.2  # actions this close to the best count as equally good


def promising_actions(state: Position) -> list[Action]:
    """The legal actions that lead to the best positions; [] if none is a gain, or the bag
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
    """Whether it is a tile in or next to a kingdom with an own leader, a leader entering the board,
    or something else that the moment requires"""
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
    """The worth of what a seat has: its points, above all in the weakest colours, and its
    leaders."""
    points = state.points[seat * 5 : seat * 5 + 5]
    return points_worth(points) + sum(
        _leader_worth(state, seat * 4 + colour, kingdom, points[colour])
        for kingdom in state.pieces.kingdoms()
        for colour in range(4)
        if seat * 4 + colour in kingdom.leaders
    )


def points_worth(points: tuple[int, ...]) -> float:
    """The worth of points of the four colours and treasures together: the fewer there are of a
    colour, the more another one is worth."""
    spread = spread_jokers(points[:4], points[4])
    return EVEN * sum(math.sqrt(n + 0.25) for n in spread) + WEAKEST * spread[0]


def _leader_worth(state: Position, leader: int, kingdom: Kingdom, points: int) -> float:
    """The worth of a leader in its place: kings score for missing leaders, and the weakest colour
    needs one most"""
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
    """What the pending conflicts may gain or cost each side, judging by the strengths on the
    board."""
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
    """The worth of a conflict's points to its winner: a conflict over a leader gives red points"""
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
