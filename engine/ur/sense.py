"""What a player of some sense would do: what brings points and stones now, then the tile that
promises most for the next turn."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from engine.game import Action
from engine.ur import actions as a
from engine.ur.domains import culture_needs, harvest_losses, trade_sides, war_cost
from engine.ur.effects import apply_action
from engine.ur.position import LAY, NOBODY, OVER, TURN, Position
from engine.ur.words import DOMAINS, FIVE

STONE = 0.12  # points that a stone on the board is worth: it feeds what is to come
FULL = 0.8  # a tile that a ziggurat could be built on
HOPED = 0.05  # a stone that the hand tile could bring
FOES = 0.3  # what the others have counts so much against it
ALIKE = 0.2  # doings so close to the best are as good as it
MOST = 24  # doings of one sort that are thought through

Worth = Callable[[Position], float]


def promising_actions(state: Position) -> list[Action]:
    """The legal doings that lead to the best positions; while there is anything to gain, the swap
    that ends the turn waits. [] where only chance or nobody chooses."""
    if state.phase in (LAY, OVER):
        return []
    p, legal = state.mover, legal_doings(state)

    def worth_of(position: Position) -> float:
        return seat_worth(position, p)

    ending = [x for x in legal if isinstance(x, (a.Swap, a.Pass))]
    before = worth_of(state) if state.phase == TURN else float("-inf")
    others = worth_trying([x for x in legal if not isinstance(x, (a.Swap, a.Pass))])
    return best_of(state, others, worth_of, before) or best_of(state, ending, worth_of)


def legal_doings(state: Position) -> list[Action]:
    """What the seat whose turn it is may do: tiles that lie unseen are the box's to tell."""
    seat = state.seats[state.mover]
    return [x for x in state.legal_actions() if x.seat == seat]


def best_of(
    state: Position, tried: Sequence[Action], worth: Worth, more_than: float = float("-inf")
) -> list[Action]:
    """Those that lead to the worthiest positions, all of them worth more than that."""
    found = [(worth(apply_action(state, x)), x) for x in tried]
    best = max((n for n, _ in found), default=float("-inf"))
    return [x for n, x in found if n > more_than and n >= best - ALIKE]


def worth_trying(legal: Sequence[Action]) -> list[Action]:
    """Not more of one sort than can be thought through: of those that lay stones the fullest."""
    sorts: dict[type[Action], list[Action]] = {}
    for x in legal:
        sorts.setdefault(type(x), []).append(x)
    out: list[Action] = []
    for some in sorts.values():
        some.sort(key=stones_laid, reverse=True)
        out += some[:MOST] if stones_laid(some[0]) else some[:: -(-len(some) // MOST)]
    return out


def stones_laid(action: Action) -> int:
    """How many stones of the supply a domain's use lays."""
    if not isinstance(action, (a.Agriculture, a.Trade, a.Culture)):
        return 0
    return sum(n for _, n in action.stones)


def seat_worth(state: Position, p: int) -> float:
    """What a position is worth to a seat, in points."""
    have = [held_worth(state, q) for q in range(len(state.seats))]
    foes = (sum(have) - have[p]) / (len(have) - 1)
    return (
        have[p]
        - FOES * foes
        + HOPED * sum(_promised_stones(state, p, d) for d in _open_domains(state, p))
    )


def held_worth(state: Position, p: int) -> float:
    """What a seat has on the board: its sets, its stones, tiles full for a ziggurat."""
    own = state.own(p)
    stones = sum(state.count[i] for i in own)
    full = sum(state.count[i] >= FIVE for i in own) if _may_build(state) else 0
    return state.division(p)[0] + STONE * stones + FULL * min(full, 2)


def _may_build(state: Position) -> bool:
    return state.ziggurats < state.board.ziggurats


def _open_domains(state: Position, p: int) -> list[str]:
    """Domains of the hand tile that are still to be used"""
    used = state.used if state.phase == TURN and p == state.mover else ()
    return [d for d in DOMAINS if d in state.known(p) and d not in used]


def _promised_stones(state: Position, p: int, domain: str) -> float:
    """How many stones a domain would bring as the board lies; a tile taken counts as three"""
    own = state.own(p)
    if domain == "agriculture":
        room = sum(min(2, FIVE - state.count[i]) for i in own if state.face(i) == domain)
        return room - len(harvest_losses(state, p))
    if domain == "trade":
        return sum(
            min(trade_sides(state, i, p), FIVE - state.count[i])
            for i in own
            if state.face(i) == domain
        )
    if domain == "culture":
        needs = culture_needs(state, p)
        return sum(n if state.owner[i] == p else -n / 2 for i, n in needs.items())
    if domain == "war":
        return 3 * min(2, sum(_could_take(state, i, p) for i in own))
    return float(len(own) > 1)


def _could_take(state: Position, i: int, p: int) -> bool:
    """Whether the stones of a tile are enough to take one beside it"""
    return any(
        state.tiles[j] is not None
        and not state.zig[j]
        and state.owner[j] != p
        and (state.owner[j] != NOBODY or state.face(i) != state.face(j))
        and state.count[i] > war_cost(state, i, j)
        for j in state.board.near[i]
    )
