"""The rules of the games. Pure Python; imports none of the other rooms.

import engine
state = engine.game("tigris").new(["bull", "lion"])
state = state.apply(state.legal_actions()[0])
"""

from __future__ import annotations

import difflib
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
    "Action",
    "BadPlan",
    "BadText",
    "Choice",
    "Decision",
    "Game",
    "IllegalAction",
    "Option",
    "Outcome",
    "Plan",
    "Proposal",
    "Seat",
    "State",
    "Statement",
    "Step",
    "Text",
    "Todo",
    "UnknownGame",
    "Violation",
    "game",
    "games",
    "say",
]


class UnknownGame(ValueError):
    """No engine for a game of that name."""


def _in_folder(name: str) -> Game | None:
    return getattr(importlib.import_module(f"{__name__}.{name}"), "GAME", None)


@cache
def games() -> dict[str, Game]:
    """name -> Game, for every folder here whose package has a GAME."""
    found = (_in_folder(info.name) for info in pkgutil.iter_modules(__path__) if info.ispkg)
    return {g.name: g for g in found if g is not None}


@cache
def game(name: str) -> Game:
    """The game of that name; the others are not loaded. Raises UnknownGame, which lists the names
    there are."""
    found = (
        _in_folder(name)
        if name in {info.name for info in pkgutil.iter_modules(__path__) if info.ispkg}
        else None
    )
    if found is not None and found.name == name:
        return found
    try:
        return games()[name]
    except KeyError:
        close = difflib.get_close_matches(name.casefold(), games(), 1, 0.6)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        raise UnknownGame(
            f"no engine for a game called {name!r}{hint} (there are: {', '.join(sorted(games()))})"
        ) from None
