"""Open mode: what cards and the die may bring, with probabilities from the editable
`events.toml`."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources

from engine.game import Action
from engine.nile import actions as act
from engine.nile.board import Board
from engine.nile.fit import desert_sites_left
from engine.nile.legal import FACES
from engine.nile.position import Position


class BadEvents(ValueError):
    """An `events.toml` that cannot be used; the message names the table and the fault."""


@cache
def chance_table() -> dict[str, dict[str, float]]:
    """The checked contents of the file that comes with the game."""
    return read_events(
        resources.files("engine.nile").joinpath("events.toml").read_text(encoding="utf-8")
    )


def read_events(text: str) -> dict[str, dict[str, float]]:
    """The checked contents of an `events.toml`. Raises BadEvents."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as e:
        raise BadEvents(f"events.toml: {e}") from None
    known = {
        "water": act.PICTURES,
        "desert": act.PICTURES,
        "arrow": ("water", "desert"),
        "waves": None,
    }
    for name, keys in known.items():
        part = data.get(name)
        if not isinstance(part, dict) or not part:
            raise BadEvents(f"events.toml: no table [{name}]")
        for key, n in part.items():
            if keys and key not in keys:
                raise BadEvents(
                    f"events.toml: [{name}] {key}: no such entry (there are: {', '.join(keys)})"
                )
            if isinstance(n, bool) or not isinstance(n, (int, float)) or n < 0:
                raise BadEvents(f"events.toml: [{name}] {key}: not a number from 0 on")
        if name != "arrow" and not sum(part.values()):
            raise BadEvents(f"events.toml: [{name}]: all are 0")
    if any(n > 100 for n in data["arrow"].values()):
        raise BadEvents("events.toml: [arrow]: more than 100 in a hundred")
    return data


def chance_outcomes(p: Position, board: Board) -> list[tuple[Action, float]]:
    """What may come next and how likely it is; [] if nothing is left to chance now."""
    w = p.wait
    if not p.open or w is None:
        return []
    if w.kind == "event":
        return [
            (act.Event(act.CARDS, picture, arrow), n)
            for picture, arrow, n in _face_chances(w.cause)
        ]
    if w.kind == "top":
        return [(act.Top(act.CARDS, p.seats[w.seat], f), n) for f, n in _back_shares(board)]
    if w.kind == "desert":
        sites = desert_sites_left(p, board)
        return [(act.Desert(act.CARDS, s), 1 / len(sites)) for s in sites]
    if w.kind == "die":
        tied = [p.seats[i] for i, n in enumerate(p.fists) if n == -1]
        return [(act.Start(act.DIE, s), 1 / len(tied)) for s in tied]
    return []


def _face_chances(cause: str) -> list[tuple[str, bool, float]]:
    deck = "desert" if cause == "flood" else "water"
    weights = chance_table()[deck]
    arrow = chance_table()["arrow"].get(deck, 0) / 100
    total = sum(weights.values())
    out = [(pic, a, weights.get(pic, 0) / total * (arrow if a else 1 - arrow)) for pic, a in FACES]
    return [o for o in out if o[2] > 0]


def _back_shares(board: Board) -> list[tuple[str, float]]:
    """The waves of card backs, either way round, with their shares: the plan's counts if it has
    any, otherwise those of the file."""
    weights: dict[str, float] = {}
    for pair, n in (board.wave_counts or chance_table()["waves"]).items():
        if pair in board.waves or pair[::-1] in board.waves:
            weights[act.card_face(pair)] = weights.get(act.card_face(pair), 0) + n
    weights = {f: n for f, n in weights.items() if n} or dict.fromkeys(
        {act.card_face(w) for w in board.waves}, 1
    )
    total = sum(weights.values())
    return [(f, weights[f] / total) for f in sorted(weights)]
