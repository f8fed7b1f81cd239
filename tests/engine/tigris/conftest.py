"""Positions written as script lines, played and asserted."""

import pytest

import engine
from engine import script

FAR = "layout P2 temple treasure O9 temple treasure K11 temple treasure\n"     # enough treasures for the game to go on


def position(lines="", seats="bull lion", clear=True):
    """The state after these set-up lines, actions and expectations; on a bare board but for three far treasures."""
    text = f"game tigris\nseats {seats}\n" + ("layout clear\n" + FAR if clear else "") + lines
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


@pytest.fixture
def game():
    return engine.game("tigris")
