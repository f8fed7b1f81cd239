"""What all games' states have in common."""

import pickle
import random

import pytest

import engine


@pytest.mark.parametrize("name", engine.games())
def test_a_state_that_forgets_is_the_same_and_takes_no_more_room_than_a_fresh_one(name):
    game, rng = engine.game(name), random.Random(1)
    state = game.new([s.id for s in game.seats[: max(2, game.players[0])]])
    for _ in range(12):
        drawn = [action for action, _ in state.chance()]
        state = state.apply(rng.choice(drawn or state.legal_actions()))
    fresh = game.load(state.to_json())

    def asked():
        return fresh.key(), fresh.layout(), fresh.legal_actions(), fresh.scores(), fresh.actors

    before, said = len(pickle.dumps(fresh)), asked()
    fresh.forget()
    assert len(pickle.dumps(fresh)) <= before
    assert asked() == said
