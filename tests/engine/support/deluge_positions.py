"""Positions written as script lines, played and asserted."""

import engine
from tests.engine.support.positions import do, played, refused  # noqa: F401


def position(lines="", seats="yellow blue", clear=True):
    """The state after these set-up lines, actions and expectations."""
    return played(f"game deluge\nseats {seats}\n" + ("layout clear\n" if clear else "") + lines)


def all_done(state, rounds=1):
    """Everybody says done, so many phases long"""
    for _ in range(rounds * len(state.seats)):
        state = do(state, f"{state.turn}: done")
    return state


def at(state, site):
    """What lies on a site, in words, counted: "people:yellow 2 mine 1" """
    counts = {}
    for kind in state.layout().get(site, ()):
        counts[kind] = counts.get(kind, 0) + 1
    return " ".join(f"{k} {n}" for k, n in counts.items())


def bare(*cells):
    """A set-up line that covers all forests of these cells"""
    return "layout " + " ".join(f"{c}.forest{n} bare" for c in cells for n in (1, 2, 3)) + "\n"


GAME = engine.game("deluge")
