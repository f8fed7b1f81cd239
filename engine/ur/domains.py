"""What the rules count on the tiles: sides, losses, gains, costs. Used by checks, effects, legal
actions and explain."""

from __future__ import annotations

from engine.ur.board import both_domains
from engine.ur.position import Position
from engine.ur.words import FIVE

AS_WRITTEN = "as-written"


def extra_allowance(state: Position, used: int) -> int:
    """Extra stones for having used this many domains (U12, U13); 2 also allows a free tile to be
    settled."""
    return (0, 1, 2)[used] if state.option == AS_WRITTEN else (2, 1, 0)[used]


def round_of(state: Position) -> int:
    """0 for the first round of stones, 1 and 2 for the next (U6, U7)."""
    return state.puts // len(state.seats)


def remaining_tiles(state: Position) -> dict[frozenset[str], int]:
    """Tiles that have not been laid yet, per pair (U1)."""
    left = dict(state.board.pairs)
    for tile in (*state.tiles, *state.hands, state.spare):
        if tile and both_domains(tile) in left:
            left[both_domains(tile)] -= 1
    return left


def harvest_losses(state: Position, p: int) -> list[int]:
    """Places that lose a stone to agriculture (U29)."""
    own = state.own(p)
    fields = {i for i in own if state.face(i) == "agriculture"}
    return [i for i in own if i not in fields and not any(j in fields for j in state.board.near[i])]


def trade_sides(state: Position, i: int, p: int) -> int:
    """The number of sides of a tile that touch a foreign tile or the border (U31, U19)."""
    return state.board.border[i] + sum(
        1 for j in state.board.near[i] if state.owner[j] >= 0 and state.owner[j] != p
    )


def culture_beside(state: Position, p: int) -> dict[int, int]:
    """place with stones -> number of the seat's culture tiles that share an edge with it (U32)."""
    beside: dict[int, int] = {}
    for i in state.own(p):
        if state.face(i) == "culture":
            for j in state.board.near[i]:
                if state.owner[j] >= 0 and not state.zig[j]:
                    beside[j] = beside.get(j, 0) + 1
    return beside


def culture_needs(state: Position, p: int) -> dict[int, int]:
    """place -> stones that its owner puts there (U32), as if every owner had enough."""
    needs = {j: min(n, FIVE - state.count[j]) for j, n in sorted(culture_beside(state, p).items())}
    return {j: n for j, n in needs.items() if n > 0}


def short_of(state: Position, needs: dict[int, int]) -> dict[int, int]:
    """owner -> stones left, for owners whose supply is too small (U15)."""
    wanted: dict[int, int] = {}
    for i, n in needs.items():
        wanted[state.owner[i]] = wanted.get(state.owner[i], 0) + n
    return {q: state.supplies[q] for q, n in wanted.items() if n > state.supplies[q]}


def war_cost(state: Position, i: int, j: int) -> int:
    """Stones that an attack takes off the attacker: as many as lie on the target, plus one if the
    faces differ (U35)."""
    return state.count[j] + (state.face(i) != state.face(j))
