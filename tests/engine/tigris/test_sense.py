"""Players of some sense: what they think of is legal, scores, and starts no war to be lost."""

import pytest

import engine
from tests.engine.support.tigris_playing import random_game
from tests.engine.support.tigris_positions import position

GAME = engine.game("tigris")
SEATS = ("archer", "bull", "pot", "lion")


def words(state):
    return {str(action) for action in state.promising()}


@pytest.mark.parametrize("seed", range(3))
def test_what_is_promising_is_legal_and_the_actors(seed):
    for state, _ in random_game(seed, most=150):
        wanted = state.promising()
        assert not [str(a) for a in wanted if state.check(a) or a.seat not in state.actors]


def test_a_tile_goes_where_it_scores_in_the_weakest_colour():
    """T20: green and black would score alike; there is no black point yet."""
    state = position(
        "layout D4 temple D5 leader:bull:black C4 leader:bull:red D3 leader:bull:blue "
        "E4 leader:bull:green\nscore bull red 6\nscore bull blue 6\nscore bull green 6\n"
    )
    tiles = {w.split()[2] for w in words(state)}
    assert "black" in tiles and "green" not in tiles


def test_the_first_leader_stands_beside_a_temple():
    assert all("leader" in w for w in words(GAME.setup(SEATS[:2])))


def test_nobody_attacks_where_more_would_be_lost():
    """T47: joining the kingdoms is a war of one farm against four."""
    state = position(
        "layout E4 temple E3 leader:bull:blue D3 farm\n"
        "layout G4 temple G3 leader:lion:blue H3 farm I3 farm J3 farm K3 farm\n"
    )
    assert not any(" F3" in w or " F4" in w for w in words(state))


def test_a_defender_adds_what_is_needed_and_no_more():
    """T39: two temples beside the attacker, one beside the defender; a tie is the defender's."""
    state = position(
        "layout C4 temple C6 temple B5 temple D6 temple E6 leader:lion:black\n"
        "bull: leader black C5\nbull: commit 0\n"
    )
    assert state.phase == "commit" and words(state) == {"lion: commit 2"}
