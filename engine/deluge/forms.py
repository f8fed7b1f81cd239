"""JSON and text forms of a state; `setup` reads both."""

from __future__ import annotations

from typing import Any

import msgspec

from engine.deluge.cell import Cell
from engine.deluge.position import Position
from engine.deluge.words import COLOURS, GOODS

NUMBERS = ("counter", "phase", "round", "starter", "at")
LISTS = ("sinking", "rising")


def to_json(state: Position) -> dict[str, Any]:
    """The whole state, as JSON types."""
    return {
        "game": state.game,
        "seats": list(state.seats),
        "cells": {
            n: _cell_json(c)
            for n in state.world.cells
            if (c := state.cells.get(n)) is not None and c != Cell()
        },
        "stocks": {c: dict(zip(GOODS, s)) for c, s in zip(COLOURS, state.stocks)},
        **{k: getattr(state, k) for k in NUMBERS},
        **{k: list(getattr(state, k)) for k in LISTS},
        "arrived": {
            n: [list(x) for x in v] for n, v in sorted(state.arrived.items()) if any(map(any, v))
        },
        "ferried": sorted([COLOURS[i], s] for i, s in state.ferried),
        "agreed": sorted([COLOURS[i], COLOURS[j], s] for i, j, s in state.agreed),
        "worked": {n: list(v) for n, v in sorted(state.worked.items())},
        "idle": {n: list(v) for n, v in sorted(state.idle.items())},
        "lost": list(state.lost),
    }


def _cell_json(cell: Cell) -> dict[str, Any]:
    blank = Cell()
    return {
        f: msgspec.to_builtins(getattr(cell, f))
        for f in Cell.__struct_fields__
        if getattr(cell, f) != getattr(blank, f)
    }


def to_text(state: Position) -> str:
    """Set-up lines, with a `moment` line for what a position alone does not tell."""
    lines = [f"game {state.game}", "seats " + " ".join(state.seats), "layout clear"]
    lines += [f"layout {site} {' '.join(c)}" for site, c in state.layout().items()]
    for colour, stock in zip(COLOURS, state.stocks):
        if any(stock):
            lines.append(
                f"stock {colour} " + " ".join(f"{g} {n}" for g, n in zip(GOODS, stock) if n)
            )
    data = to_json(state)
    rest = {k: data[k] for k in data if k not in ("game", "seats", "stocks")}
    lines.append("moment " + msgspec.json.encode(rest).decode().replace(" ", ""))
    return "\n".join(lines) + "\n"
