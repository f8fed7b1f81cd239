"""Made-up players play every game by its rules, with a table that is told what no camera sees and
without one."""

import random

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


def whole_game(name, seats, seed, sensible=None, most=1200):
    """(the last state, the kinds of action that were done); sensible: who plays with sense (all by
    default), the others do anything that is legal"""
    game = engine.game(name)
    state, players, rng = game.setup(seats), Players(seed), random.Random(seed)
    done = set()
    for _ in range(most):
        if state.outcome() is not None:
            break
        with_sense = sensible is None or state.actors[0] in sensible
        action = players.choose(state) if with_sense else rng.choice(state.legal_actions())
        done.add(type(action).__name__)
        state = state.apply(action)
    return state, done


@pytest.mark.parametrize(
    "name, seats, kinds, weakest",
    [
        ("tigris", "archer bull", "Tile Leader Commit Build", 3),
        ("tigris", "archer bull pot lion", "Tile Leader Commit Build", 3),
        ("ur", "black white green", "Swap War Extra Ziggurat", 20),
        ("ur", "black white green blue", "Swap War Extra Ziggurat", 20),
    ],
)
def test_games_of_players_of_sense_end_with_points(name, seats, kinds, weakest):
    state, done = whole_game(name, seats.split(), seed=2)
    assert state.outcome() is not None and set(kinds.split()) <= done
    assert max(state.standing().values()) >= weakest, "in Tigris of the weakest colour"


@pytest.mark.parametrize(
    "name, seats", [("tigris", ("archer", "bull", "pot")), ("ur", ("black", "white", "green"))]
)
def test_one_of_sense_beats_those_of_none(name, seats):
    state, _ = whole_game(name, seats, seed=1, sensible={seats[1]}, most=350)
    mine = state.standing().pop(seats[1])
    assert mine > 2 * max(n for seat, n in state.standing().items() if seat != seats[1])
