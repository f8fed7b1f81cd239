"""A state as JSON types and as set-up lines; `setup` reads both."""

from __future__ import annotations

from typing import Any

from engine.tigris.chance import named_tiles
from engine.tigris.position import Position
from engine.tigris.words import COLOURS, POINTS


def to_json(s: Position) -> dict[str, Any]:
    """The whole state, as JSON types."""
    ids, fight = s.board.ids, s.fight
    return {
        "seats": list(s.seats),
        "layout": {site: list(c) for site, c in s.layout().items()},
        "turn": s.seats[s.active],
        "left": s.left,
        "phase": s.phase,
        "over": s.over,
        "points": s.scores(),
        "catastrophes": dict(zip(s.seats, s.catastrophes)),
        "hands": {
            seat: {
                "known": list(named_tiles(s.known[i])),
                "unknown": s.unknown[i],
                "open": s.open[i],
            }
            for i, seat in enumerate(s.seats)
        },
        "bag": s.bag,
        "bag_known": None if s.bag_known is None else dict(zip(COLOURS, s.bag_known)),
        "draws": [[s.seats[seat], n] for seat, n in s.draws],
        "spent": dict(zip(COLOURS, s.spent)),
        "lost": s.lost,
        "laid": ids[s.laid] if s.laid >= 0 else None,
        "fight": None
        if fight is None
        else {
            "kind": fight.kind,
            "colour": COLOURS[fight.colour],
            "attacker": s.seats[fight.attacker // 4],
            "defender": s.seats[fight.defender // 4],
            "added": None if fight.added < 0 else fight.added,
        },
    }


def to_text(s: Position) -> str:
    """Set-up lines that read back as this position."""
    ids, fight = s.board.ids, s.fight
    lines = ["game tigris", "seats " + " ".join(s.seats), "layout clear"]
    lines += [f"layout {site} {' '.join(contents)}" for site, contents in s.layout().items()]
    for i, seat in enumerate(s.seats):
        points = [f"{p} {n}" for p, n in zip(POINTS, s.points[i * 5 : i * 5 + 5]) if n]
        if points:
            lines.append(f"score {seat} {' '.join(points)}")
        if s.catastrophes[i] != 2:
            lines.append(f"catastrophes {seat} {s.catastrophes[i]}")
        if s.open[i] or any(s.known[i]):
            lines.append(" ".join(("hand", seat, *named_tiles(s.known[i]))))
        if s.unknown[i] != (0 if s.open[i] else 6) or (any(s.known[i]) and not s.open[i]):
            lines.append(f"hidden {seat} {s.unknown[i]}")
    if s.bag_known is None:
        lines.append(f"bag {s.bag}")
    else:
        lines.append("bag " + " ".join(f"{c} {n}" for c, n in zip(COLOURS, s.bag_known)))
    lines.append(
        "spent " + " ".join(f"{c} {n}" for c, n in zip(COLOURS, s.spent)) + f" unknown {s.lost}"
    )
    lines.append(f"turn {s.seats[s.active]} {s.left}")
    if s.laid >= 0:
        lines.append(f"laid {ids[s.laid]}")
    if fight is not None:
        added = "" if fight.added < 0 else f" {fight.added}"
        lines.append(
            f"conflict {fight.kind} {COLOURS[fight.colour]} {s.seats[fight.attacker // 4]} "
            f"{s.seats[fight.defender // 4]}{added}"
        )
    lines += [f"draws {s.seats[seat]} {n}" for seat, n in s.draws]
    if s.over:
        lines.append(f"over {s.over}")
    lines.append(f"phase {s.phase}")
    return "\n".join(lines) + "\n"
