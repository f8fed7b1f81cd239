"""States as text (set-up lines that `setup` reads back) and as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from engine.game import BadText
from engine.ur.board import Board, is_tile

if TYPE_CHECKING:
    from engine.ur.state import UrState

PHASES = ("lay", "put", "swap", "turn", "over")


def to_json(state: UrState) -> dict[str, Any]:
    sites = state.board.sites
    return {
        "game": state.game, "seats": list(state.seats), "bonus": state.option, "starter": state.starter, "mover": state.mover,
        "phase": state.phase, "puts": state.puts, "drawn": state.drawn, "end": state.end,
        "tiles": {s: t for s, t in zip(sites, state.tiles) if t},
        "stones": {s: [state.seats[p], n] for s, p, n, z in zip(sites, state.owner, state.count, state.zig) if n and not z},
        "ziggurats": {s: state.seats[p] if p >= 0 else None for s, p, z in zip(sites, state.owner, state.zig) if z},
        "hands": {s: t for s, t in zip(state.seats, state.hands) if t}, "spare": state.spare,
        "used": list(state.used), "built": state.built, "returned": state.returned,
        "extra": [state.bonus[0], sites[state.bonus[1]], state.bonus[2]] if state.bonus else None,
    }


def from_json(data: Mapping[str, Any], board: Board) -> UrState:
    """The state of `to_json`. Raises BadText."""
    from engine.ur.state import UrState

    try:
        state = UrState(board, data["seats"], data["bonus"])
        seat = {s: p for p, s in enumerate(state.seats)}
        tiles: list[str | None] = list(state.tiles)
        owner, count, zig = list(state.owner), list(state.count), list(state.zig)
        for s, t in data["tiles"].items():
            tiles[board.index[s]] = _tile(t)
        for s, (who, n) in data["stones"].items():
            owner[board.index[s]], count[board.index[s]] = seat[who], int(n)
        for s, who in data["ziggurats"].items():
            i = board.index[s]
            zig[i], owner[i], count[i] = True, (-1 if who is None else seat[who]), int(who is not None)
        if data["phase"] not in PHASES:
            raise BadText(f"no phase called {data['phase']!r}")
        extra = data["extra"]
        return state.changed(
            tiles=tuple(tiles), owner=tuple(owner), count=tuple(count), zig=tuple(zig),
            hands=tuple(_tile(data["hands"][s]) if s in data["hands"] else None for s in state.seats),
            spare=_tile(data["spare"]) if data["spare"] else None, phase=data["phase"], puts=int(data["puts"]),
            starter=int(data["starter"]), mover=int(data["mover"]), drawn=bool(data["drawn"]), end=data["end"],
            used=tuple(data["used"]), built=int(data["built"]), returned=bool(data["returned"]),
            bonus=(extra[0], board.index[extra[1]], int(extra[2])) if extra else None)
    except (KeyError, TypeError, ValueError, IndexError) as e:
        raise BadText(f"no state of ur: {type(e).__name__} {e}") from None


def _tile(text: str) -> str:
    if not is_tile(text) and not text.endswith("/?"):
        raise BadText(f"{text!r} is no tile")
    return text


def to_text(state: UrState) -> str:
    """Lines that `engine.script` reads back to an equal state."""
    lines = [f"game {state.game}", "seats " + " ".join(state.seats), f"option bonus {state.option}"]
    if state.drawn:
        lines.append("box shuffled")
    lines.append("layout clear")
    lines += [f"layout {s} {' '.join(c)}" for i, s in enumerate(state.board.sites) if (c := state.contents(i))]
    lines += [f"hand {s} {t}" for s, t in zip(state.seats, state.hands) if t]
    if state.spare:
        lines.append(f"spare {state.spare}")
    if state.starter:
        lines.append(f"starter {state.seats[state.starter]}")
    lines += [f"turn {state.seats[state.mover]}", f"phase {state.phase}"]
    if state.puts:
        lines.append(f"done puts {state.puts}")
    if state.used:
        lines.append("done " + " ".join(state.used))
    if state.bonus:
        kind, i, n = state.bonus
        lines.append(f"done {kind} {state.board.sites[i]} {n}")
    if state.built:
        lines.append(f"done ziggurat {state.built}")
    if state.returned:
        lines.append("done return")
    if state.end:
        lines.append(f"done game {state.end}")
    return "\n".join(lines) + "\n"
