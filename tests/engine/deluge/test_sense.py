"""Players of some sense: their games come to an end, and all they think of is legal."""

import random

import pytest

from engine.deluge import actions as act
from tests.engine.support.deluge_playing import SEATS, random_game
from tests.engine.support.deluge_positions import GAME, bare, position


@pytest.mark.parametrize("seats, seed", [(SEATS[:2], 1), (SEATS[:3], 2), (SEATS, 3)])
def test_a_sensible_game_comes_to_fourteen_bare_cells(seats, seed):
    """D50: on the way the water has come three times."""
    rng, state = random.Random(seed), GAME.new(seats)
    for _ in range(600):
        if state.turn is None:
            break
        state = state.apply(rng.choice(state.promising()))  # IllegalAction, were it none
    assert state.outcome() is not None and state.counter >= 14
    assert all(state.cell(c).flooded for c in state.world.lands if state.world.rise[c])
    assert not state.promising()


@pytest.mark.parametrize("seed", range(4))
def test_what_is_promising_is_legal_and_there_is_always_something(seed):
    for state, _ in random_game(seed, 150):
        wanted = state.promising()
        assert wanted or state.turn is None
        assert not [str(a) for a in wanted if state.check(a)]


def test_nobody_is_left_without_work_who_could_have_some():
    """D28: three of four on a cell without trees and mines go where there is work; everybody at
    work is put to work."""
    state = position(
        bare("eurasia-5")
        + "layout eurasia-5 people:yellow people:yellow people:yellow people:yellow"
    )
    assert all(isinstance(a, act.Move) and a.people == 3 for a in state.promising())
    fed = position(
        "layout eurasia-5 people:yellow people:yellow people:yellow people:yellow "
        "mine\nphase harvest"
    )
    assert [sum(n for _, n in a.goods) for a in fed.promising()] == [4]


def test_the_water_takes_no_trees_that_could_have_been_cut():
    """D46: on a cell that will be flooded the trees go first, on one that stays dry the mine
    does."""
    doomed = position("layout eurasia-6 people:yellow\nphase harvest").promising()
    dry = position("layout eurasia-5 people:yellow\nphase harvest").promising()
    assert [a.goods for a in doomed] == [(("wood", 1),)] and [a.goods for a in dry] == [
        (("gold", 1),)
    ]
