"""Made-up players play every game by its rules, with a table that is told what no camera sees and
without one."""

import pytest

import engine
from companion.simulate.players import Players


@pytest.mark.parametrize("name", sorted(engine.games()))
def test_what_was_said_and_done_leads_to_what_lies_there(name):
    game = engine.game(name)
    state, players = game.setup([s.id for s in game.seats[:3]]), Players(5)
    for _ in range(25):
        before, doing = state, players.next(state)
        for act in doing.said:
            assert not state.check(act)
            state = state.apply(act)
        assert (
            doing.action is not None
            and not state.check(doing.action)
            and state.layout() == before.layout()
        )
        state = state.apply(doing.action)
        assert state.layout() == doing.layout != before.layout()
    states = [game.setup([s.id for s in game.seats[:3]])]

    def say(act):
        states.append(states[-1].apply(act))
        return states[-1]

    doing = Players(5).next(states[0], say)
    assert len(states) == 1 + len(doing.said)
