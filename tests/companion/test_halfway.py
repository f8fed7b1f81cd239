"""What hands have taken up and not yet put down breaks no rule, however long they take (issue 28)."""

from collections import Counter

import pytest

import engine
from companion.players import Players
from companion.simulate import plan_of
from companion.simulate.copies import Conditions
from companion.table import Table
from tests.companion.conftest import sees

MOVING = {"ur": ("swap", "politics"), "deluge": ("move",), "tigris": ("leader",), "nile": ("harvest",)}


def moving(state):
    """A legal action of each sort that takes something up and puts it down elsewhere, with the board in between"""
    for verb in MOVING[state.game]:
        for action in state.legal_actions():
            lay, after = state.layout(), state.apply(action).layout()
            if action.words().split()[0] != verb or len(sites := differing(lay, after)) != 2:
                continue
            between = {s: tuple((Counter(lay.get(s, ())) & Counter(after.get(s, ()))).elements()) for s in sites}
            if any(between[s] != lay.get(s, ()) for s in sites):
                yield action, {**lay, **between}, after
                break


def differing(a, b):
    return {s for s in {*a, *b} if a.get(s, ()) != b.get(s, ())}


@pytest.mark.parametrize("name", sorted(MOVING))
def test_what_was_taken_up_is_no_wrong_doing_and_is_found_when_it_lies_again(name):
    game, players, tried = engine.game(name), Players(1), 0
    state = game.setup([s.id for s in game.seats[:3]], (), None)
    for _ in range(160):
        if tried >= 6 or (action := players.choose(state)) is None:
            break
        for moved, between, after in moving(state) if state.turn else ():
            table = Table(state)
            table.look(sees(state.layout(), table.plan))
            for _ in range(3):
                v = table.look(sees(between, table.plan))
                assert v.verdict in ("unfinished", "moved", "same"), (str(moved), v.verdict, str(v.text))
            if v.verdict == "unfinished" and not v.actions:
                assert all(set(t.sites) <= differing(between, state.layout()) for t in v.todo) and v.todo
            v = table.look(sees(after, table.plan))
            assert v.verdict in ("moved", "same", "unfinished"), (str(moved), v.verdict, str(v.text))
            assert not differing(table.state.layout(), after), str(moved)
            tried += 1
        state = state.apply(action)
    assert tried >= 4


def test_a_piece_that_goes_back_where_it_was_is_nothing(player):
    p = player("game ur\nseats white black green\nlayout clear\nlayout B3 tile:agriculture/culture white white\nlayout B4 tile:war/trade\n"
               "hand white politics/agriculture\nhand black war/trade\nhand green war/agriculture\n")
    assert p.look(B3="tile:agriculture/culture white").verdict == "unfinished"
    assert p.look(B3="tile:agriculture/culture white white").verdict == "same"


def test_simulated_hands_take_a_tile_up_before_it_lies_elsewhere():
    plan, _ = plan_of("ur", None)
    top = Conditions().table(plan)
    top.lay({"C3": ("tile:war/trade", "white"), "hand1": ("tile:politics/culture",)})
    seen = []
    for _ in top.towards({"C3": ("tile:culture/politics", "white"), "hand1": ("tile:trade/war",)}):
        lying = [min(k, plan.pieces[k].back or k) for c in top._lying.values() for k, _ in c]
        seen.append(lying)
        assert max(Counter(lying).values()) == 1
    assert seen[0] != seen[-1] or len(seen) > 1
