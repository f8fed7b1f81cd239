"""Players of some sense: what they think of is legal, and the turn ends when nothing more gains."""

import pytest

from engine.ur import actions as act
from tests.engine.support.ur_positions import opened, turn


@pytest.mark.parametrize("seed", range(3))
def test_what_is_promising_is_legal_and_there_is_always_something(seed):
    state, rng = opened(seed)
    for _ in range(25):
        if state.outcome() is not None:
            break
        wanted = state.promising()
        assert wanted and not [str(a) for a in wanted if state.check(a)]
        state, _ = turn(state, rng)


def test_the_swap_waits_while_there_is_something_to_gain():
    """U12: a stone may still be laid; U20 ends the turn."""
    for seed in range(8):
        state, _ = opened(seed)
        tried = state.promising()
        sorts = {isinstance(a, act.Swap) for a in tried}
        assert len(sorts) == 1, "either something is done first or the turn ends"
