"""What a game begins with: its own beginning, or the state at the end of a script."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import engine
from companion.fault import Fault
from engine import BadPlan, BadText, State, Statement, script

# playing a script needs no reader, which takes longer to load than a script to run
if TYPE_CHECKING:
    from companion.runtime.copies import Specimen


def read_text(path: str | Path) -> str:
    """The contents of a text file. Raises Fault, naming the file."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError as e:
        raise Fault(f"{path}: {e.strerror}") from None
    except UnicodeDecodeError:
        raise Fault(f"{path}: not a text file") from None


def scripted_state(path: str | Path, specimen: Specimen) -> State:
    """The state that a `.play` file leads to. Raises Fault, naming file and line, also if an
    expectation does not hold."""
    game, text = engine.game(specimen.game), read_text(path)
    try:
        wanted = script.parse_script(text).game
        if wanted != game.name:
            raise Fault(f"{path}: a script of {wanted}, but the copy is of {game.name}")
        result = script.run_script(text, specimen.rules_plan)
    except (script.BadScript, BadPlan) as e:
        raise Fault(f"{path}: {e}") from None
    if result.faults:
        raise Fault(f"{path}: {result.faults[0]}")
    return result.state


def beginning_state(
    specimen: Specimen, seats: Sequence[str] = (), options: Mapping[str, str] | None = None
) -> State:
    """The game's own beginning; no seats: as many as can play. Raises BadText."""
    game, options = engine.game(specimen.game), options or {}
    for name in options:
        if name not in {o.name for o in game.options}:
            raise BadText(
                f"options: {game.title} has none called {name!r}"
                + (
                    f" (there are: {', '.join(o.name for o in game.options)})"
                    if game.options
                    else ""
                )
            )
    said = [Statement(0, ("option", name, value)) for name, value in options.items()]
    try:
        return game.setup(
            seats or [s.id for s in game.seats[: game.players[1]]], said, specimen.rules_plan
        )
    except BadText as e:
        raise BadText(str(e).removeprefix("line 0: ")) from None
