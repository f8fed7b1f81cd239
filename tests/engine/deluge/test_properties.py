"""What holds at every moment of any game."""

import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import IllegalAction, script
from engine.deluge import actions as act
from engine.deluge.legal import goes_on
from engine.deluge.words import GOODS
from engine.rules import load_rules
from engine.text import pack_text
from tests.engine.support.deluge_playing import GAME, SEATS, random_game

RULES = load_rules("deluge")
games = settings(max_examples=8, deadline=None, derandomize=True)
each_game = given(seed=st.integers(0, 10**6))


@games
@each_game
def test_the_box_the_counter_and_the_goods(seed):
    """D1: pawns never exceed the box; D2: five soldiers, lost ones too, and eight ships; D33: goods
    never below zero;
    D44: the counter never goes back and equals the cells deforested; D32: nobody on a cell taken by
    fanatics."""
    counter = 0
    for state, _ in random_game(seed):
        cells = state.cells.values()
        for i, colour in enumerate(SEATS):
            assert state.on_map("people", i) <= state.world.box[f"people:{colour}"]
            assert state.on_map("soldiers", i) + state.lost[i] <= 5
            assert state.on_map("ships", i) <= 8
            assert state.on_map("dolmens", i) <= state.world.box[f"dolmen:{colour}"]
            assert all(n >= 0 for n in state.stocks[i])
        assert sum(c.fanatics for c in cells) <= state.world.fanatics
        assert sum(c.mines for c in cells) <= state.world.box["mine"]
        assert state.counter >= counter
        counter = state.counter
        assert counter == sum(c.counted for c in cells)
        for name, cell in state.cells.items():
            assert min(*cell.people, *cell.soldiers, *cell.ships, cell.fanatics, cell.mines) >= 0
            assert (
                cell.mines <= 3
                and sum(cell.dolmens) <= 1
                and len(set(cell.bare)) == len(cell.bare) <= 3
            )
            if cell.taken:
                assert not cell.pawns
            else:
                assert cell.fanatics <= cell.pawns  # at any moment (D32)
            # D17, D22
            assert sum(n > 0 for n in cell.soldiers) <= 1 and sum(n > 0 for n in cell.ships) <= 1
            if not any(cell.soldiers):
                assert sum(n > 0 for n in cell.people) <= 1  # D20
            if state.is_sea(name):
                # D47, D48
                assert not cell.pawns and not cell.fanatics and not cell.mines and not cell.bare
            else:
                assert not any(cell.ships)


@games
@each_game
def test_text_and_json_forms_read_back(seed):
    """At every moment, also in a flight; equal keys, equal hashes."""
    for state, _ in random_game(seed, 200):
        data = json.loads(json.dumps(state.to_json()))
        again = GAME.load(data)
        assert again == state and hash(again) == hash(state) and again.layout() == state.layout()
        assert script.parse_script(state.to_text()).start() == state
        assert again.legal_actions() == state.legal_actions()


def some_actions(rnd, state):
    """Actions that are typed at random, many of them nearly right, most of them illegal."""
    cells = state.world.cells
    full = [c for c in cells if state.contents(c)] or list(cells)
    for _ in range(14):
        seat = rnd.choice((*SEATS, state.turn, state.turn, state.turn))
        here = rnd.choice((rnd.choice(cells), rnd.choice(full), rnd.choice(full)))
        near = rnd.choice(state.world.borders[here])
        there = rnd.choice((near, near, near, rnd.choice(cells)))
        far = rnd.choice(state.world.borders[near])
        slaves = tuple((c, 1) for c in SEATS if rnd.random() < 0.1)
        crew = (
            rnd.choice((0, 1, 1, 2)),
            rnd.choice((0, 0, 1, 2)),
            slaves,
            int(rnd.random() < 0.05),
        )
        if not any(crew):
            continue
        goods = tuple((g, rnd.randint(1, 2)) for g in GOODS if rnd.random() < 0.3)
        price = rnd.choice((1, 2, 4, 10))
        pay = tuple((g, price) for g in GOODS if rnd.random() < 0.5)
        free = state.world.spots.get(here, ())
        spots = tuple(s for s in free if rnd.random() < 0.4)
        yield rnd.choice(
            (
                act.Move(seat, here, there, *crew),
                act.Flee(seat, here, there, *crew),
                act.Ferry(seat, here, far, *crew, via=(near,)),
                act.Sail(seat, here, there, rnd.randint(1, 2)),
                act.Agree(seat, rnd.choice(SEATS), here),
                act.Done(seat),
                act.Harvest(seat, here, goods, spots),
                act.Harvest(seat, here, goods),
                act.Harvest(seat, here, (("wood", 1),)),
                act.Trade(seat, seat, goods[:1], rnd.choice(SEATS), goods[1:2]),
                act.Build(seat, "ship", here),
                act.Build(seat, rnd.choice(("mine", "soldier", "dolmen")), here, pay),
            )
        )


def listed_or_endless(state, action, listed):
    """Trades of more than one for one, and crossings that go round, are legal without being
    listed."""
    if isinstance(action, act.Trade):
        return action in listed or len(action.gives) == len(action.takes) == 1
    if isinstance(action, act.Ferry):
        return action in listed or not all(
            goes_on(state, action.via[:n], sea) for n, sea in enumerate(action.via)
        )
    return action in listed


@games
@each_game
def test_legal_means_that_nothing_is_broken(seed):
    """legal_actions() are those that check() finds nothing wrong with, and no others; all read back
    from their text."""
    rnd = random.Random(seed)
    for state, _ in random_game(seed, 300):
        legal = state.legal_actions()
        listed = set(legal)
        assert len(listed) == len(legal)
        for action in rnd.sample(legal, min(len(legal), 25)):
            assert state.check(action) == [], str(action)
            assert state.parse(str(action)) == action
            assert action.seat in state.actors
        for action in some_actions(rnd, state):
            broken = state.check(action)
            if broken:
                assert action not in listed
                assert all(v.rule in RULES and str(v.text) for v in broken)
                with pytest.raises(IllegalAction) as e:
                    state.apply(action)
                assert e.value.violations == tuple(broken)
            else:
                assert listed_or_endless(state, action, listed), str(action)
            if action.seat in state.seats and not (
                isinstance(action, act.Trade) and not action.takes
            ):
                assert state.parse(str(action)) == action


@games
@each_game
def test_steps_lead_from_one_layout_to_the_next(seed):
    """The people's own doing first; the last contents of every site are the new layout's; to-dos
    name what is to be done."""
    played = random_game(seed, 300)
    for (before, _), (after, action) in zip(played, played[1:]):
        at = before.layout()
        by_hand = [s.by_hand for s in after.steps]
        assert by_hand == sorted(by_hand, reverse=True)
        for step in after.steps:
            assert str(step.text) and "{" not in str(step.text)
            for site, contents in step.changes.items():
                assert at.get(site, ()) != contents
                at[site] = contents
        assert {s: c for s, c in at.items() if c} == after.layout(), str(action)
        for step in after.steps:
            if step.changes and not step.by_hand:
                assert any(t.sites == step.sites for t in after.todo())


@games
@each_game
def test_replay(seed):
    """The written actions lead from the beginning to the same states."""
    played = random_game(seed, 80)
    again = played[0][0]
    for state, action in played[1:]:
        again = again.apply(again.parse(str(action)))
        assert again == state


@games
@each_game
def test_views_are_plain(seed):
    for state, _ in random_game(seed, 120):
        packed = json.loads(json.dumps(pack_text(state.view())))
        assert [s["id"] for s in packed["seats"]] == list(state.seats)
        assert set(packed["highlight"]) <= set(state.world.cells)
        assert packed["tracks"][0]["value"] == state.counter
        assert state.turn in state.actors and state.decision() is None
