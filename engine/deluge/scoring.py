"""Victory points (D51, D52)."""

from __future__ import annotations

from engine.deluge.position import Position
from engine.deluge.words import COLOURS

DOLMEN, BONUS = 2, 3
BONUSES = ("trees", "ships", "soldiers", "mines")  # ecology, explorer, war, mining


def holdings_of(state: Position) -> dict[str, dict[str, int]]:
    """bonus -> seat -> how many (D52: trees and mines on cells that it rules)."""
    out = {b: dict.fromkeys(state.seats, 0) for b in BONUSES}
    for seat in state.seats:
        i = COLOURS.index(seat)
        out["ships"][seat] = state.on_map("ships", i)
        out["soldiers"][seat] = state.on_map("soldiers", i)
    for name in state.world.lands:
        ruler = state.ruler(name) if state.is_land(name) else None
        if ruler is not None and COLOURS[ruler] in out["trees"]:
            out["trees"][COLOURS[ruler]] += state.forests(name)
            out["mines"][COLOURS[ruler]] += state.cell(name).mines
    return out


def bonus_holders(state: Position) -> dict[str, str | None]:
    """bonus -> the seat that has most, None if nobody or several have."""
    out: dict[str, str | None] = {}
    for bonus, have in holdings_of(state).items():
        most = max(have.values())
        best = [s for s, n in have.items() if n == most]
        out[bonus] = best[0] if most > 0 and len(best) == 1 else None
    return out


def dolmen_points(state: Position) -> dict[str, int]:
    """Seat -> points its dolmens are worth."""
    return {s: DOLMEN * state.on_map("dolmens", COLOURS.index(s)) for s in state.seats}


def standing_scores(state: Position) -> dict[str, int]:
    """Dolmens, and the bonuses as they stand now."""
    out = dolmen_points(state)
    for seat in bonus_holders(state).values():
        if seat is not None:
            out[seat] += BONUS
    return out


def current_scores(state: Position) -> dict[str, int]:
    """Dolmens so far; at the end also the bonuses."""
    return standing_scores(state) if state.phase == "over" else dolmen_points(state)
