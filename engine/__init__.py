"""The rules of the games. Pure Python; imports none of the other rooms.

    import engine
    state = engine.game("tigris").new(["bull", "lion"])
    state = state.apply(state.legal_actions()[0])
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from engine.game import (
    Action,
    BadText,
    Choice,
    Decision,
    Game,
    IllegalAction,
    Option,
    Outcome,
    Proposal,
    Seat,
    State,
    Statement,
    Step,
    Todo,
    Violation,
)
from engine.plan import BadPlan, Plan
from engine.text import Text, say

__all__ = [
    "Action", "BadPlan", "BadText", "Choice", "Decision", "Game", "IllegalAction", "Option", "Outcome", "Plan", "Proposal",
    "Seat", "State", "Statement", "Step", "Text", "Todo", "UnknownGame", "Violation", "game", "games", "say",
]


class UnknownGame(ValueError):
    """No engine for a game of that name."""


@cache
def games() -> dict[str, Game]:
    """name -> Game: every folder in here whose package has a GAME."""
    out: dict[str, Game] = {}
    for info in pkgutil.iter_modules(__path__):
        if info.ispkg:
            found = getattr(importlib.import_module(f"{__name__}.{info.name}"), "GAME", None)
            if found is not None:
                out[found.name] = found
    return out


def game(name: str) -> Game:
    """The game of that name. Raises UnknownGame, which names those there are."""
    try:
        return games()[name]
    except KeyError:
        raise UnknownGame(f"no engine for a game called {name!r} (there are: {', '.join(sorted(games()))})") from None
