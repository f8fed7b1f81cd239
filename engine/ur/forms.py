"""States as set-up lines and as JSON; `setup` reads both back."""

from __future__ import annotations

from typing import Any

from engine.ur.position import Position


def to_json(state: Position) -> dict[str, Any]:
    """The whole state, as JSON types."""
    sites = state.board.sites
    return {
        "game": state.game,
        "seats": list(state.seats),
        "bonus": state.option,
        "starter": state.starter,
        "mover": state.mover,
        "phase": state.phase,
        "puts": state.puts,
        "drawn": state.drawn,
        "end": state.end,
        "tiles": {s: t for s, t in zip(sites, state.tiles) if t},
        "stones": {
            s: [state.seats[p], n]
            for s, p, n, z in zip(sites, state.owner, state.count, state.zig)
            if n and not z
        },
        "ziggurats": {
            s: state.seats[p] if p >= 0 else None
            for s, p, z in zip(sites, state.owner, state.zig)
            if z
        },
        "hands": {s: t for s, t in zip(state.seats, state.hands) if t},
        "spare": state.spare,
        "used": list(state.used),
        "built": state.built,
        "returned": state.returned,
        "extra": [state.bonus[0], sites[state.bonus[1]], state.bonus[2]] if state.bonus else None,
    }


def to_text(state: Position) -> str:
    """Lines that `engine.script` reads back as an equal state."""
    lines = [f"game {state.game}", "seats " + " ".join(state.seats), f"option bonus {state.option}"]
    if state.drawn:
        lines.append("box shuffled")
    lines.append("layout clear")
    lines += [
        f"layout {s} {' '.join(c)}"
        for i, s in enumerate(state.board.sites)
        if (c := state.contents(i))
    ]
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
