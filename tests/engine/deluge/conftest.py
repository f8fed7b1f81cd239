"""Positions written as script lines, played and asserted."""

import engine
from engine import script


def position(lines="", seats="yellow blue", clear=True):
    """The state after these set-up lines, actions and expectations."""
    text = f"game deluge\nseats {seats}\n" + ("layout clear\n" if clear else "") + lines
    result = script.run(text)
    assert not result.faults, "; ".join(map(str, result.faults))
    return result.state


def refused(state, action):
    """The numbers of the rules that forbid it; [] when it is legal."""
    return [v.rule for v in state.check(state.parse(action))]


def do(state, *actions):
    for a in actions:
        state = state.apply(state.parse(a))
    return state


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
