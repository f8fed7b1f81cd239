"""What holds at every moment of any game."""

import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import IllegalAction, script
from engine.nile import actions as act
from engine.nile.board import FRUITS, card_on, counted_markers, fruit_markers, waves_on
from engine.nile.position import next_tide
from engine.rules import load_rules
from engine.text import pack_text
from tests.engine.support.nile_playing import GAME, any_action, random_game

RULES = load_rules("nile")
games = settings(max_examples=20, deadline=None, derandomize=True)
each_game = given(seed=st.integers(0, 10**6), open_mode=st.booleans())


@games
@each_game
def test_nothing_is_lost(seed, open_mode):
    """N1: 75 markers over stock, fields, market, boat and box; 30 desert cards; 45 water cards."""
    for state, _ in random_game(seed, open_mode):
        p = state.p
        lying = sum((counted_markers(c) for c in p.lay.values()), start=counted_markers(()))
        for i, seat in enumerate(p.seats):
            assert sum(p.stock[i]) + sum(p.out[i]) + sum(lying[seat, f] for f in FRUITS) == 15
            assert 0 <= p.lost[i] <= p.owed[i] <= sum(p.stock[i])
        on_fields = sum(card_on(c) == "desert" for c in p.lay.values())
        flooded = 30 - on_fields - sum(p.jokers) - p.deserts - p.discard
        assert flooded == 0
        assert all(j >= 0 for j in p.jokers) and p.deserts >= 0


@games
@each_game
def test_fields_and_waves(seed, open_mode):
    """N12: at most two markers a field, never two of one colour, none on a card. N13: waves meet
    equal along every row. N31, N32: never two of a kind side by side on the market."""
    for state, _ in random_game(seed, open_mode):
        b, lay = state.board, state.p.lay
        for site in b.fields:
            here = lay.get(site, ())
            colours = [c for _, c, _ in fruit_markers(here)]
            assert len(colours) <= 2 and len(set(colours)) == len(colours)
            assert not (card_on(here) and colours)
        for row in b.rows.values():
            w = [waves_on(lay.get(s, ())) for s in row]
            assert w[0] is None or w[0][0] == str(b.fields[row[0]].river)
            assert all(x is None or y is None or x[1] == y[0] != "0" for x, y in zip(w, w[1:]))
        for places in b.market.values():
            fruit = [fruit_markers(lay[s])[0][2] for s in places if lay.get(s)]
            assert [bool(lay.get(s)) for s in places] == [True] * len(fruit) + [False] * (
                len(places) - len(fruit)
            )
            assert all(f not in fruit[max(0, i - 2) : i] for i, f in enumerate(fruit))


@games
@each_game
def test_the_tide_moves_only_by_its_rules(seed, open_mode):
    """N16 to N22 and N46: an arrow, a start player who cannot lay, an ebb with nothing left to
    take."""
    states = random_game(seed, open_mode)
    for (before, _), (after, action) in zip(states, states[1:]):
        if before.p.tide == after.p.tide:
            continue
        arrow = getattr(action, "arrow", False)
        dry = (
            not after.p.water_sites()
            or not before.p.water_sites()
            or (isinstance(action, act.Ebb) and len(before.p.water_sites()) == 1)
        )
        could_not = isinstance(action, act.Pass) and after.p.tide == "ebb1"
        floods_again = after.p.tide == "flood" and dry
        assert (arrow and after.p.tide == next_tide(before.p.tide)) or could_not or floods_again


@games
@each_game
def test_points_and_obelisk(seed, open_mode):
    """N41: the obelisk moves by one for a colour at most. N43: figures never go back. N44: the game
    ends when they met."""
    states = random_game(seed, open_mode)
    for (before, _), (after, _) in zip(states, states[1:]):
        assert all(a >= b for a, b in zip(after.p.scores, before.p.scores))
        assert 0 <= before.p.obelisk - after.p.obelisk <= len(after.seats)
        met = max(after.p.scores) + 1 >= after.p.obelisk
        assert (after.outcome() is not None) == met == (after.turn is None)


@games
@each_game
def test_steps_lead_from_layout_to_layout(seed, open_mode):
    states = random_game(seed, open_mode)
    for (before, _), (after, _) in zip(states, states[1:]):
        at = before.layout()
        for step in after.steps:
            at = {**at, **step.changes}
            str(step.text)
        assert {s: c for s, c in at.items() if c} == after.layout()


@games
@each_game
def test_every_form_reads_back(seed, open_mode):
    for state, action in random_game(seed, open_mode, 60):
        assert GAME.load(json.loads(json.dumps(state.to_json()))) == state
        again = script.parse_script(state.to_text()).start()
        assert (
            again.p == state.p and again.layout() == state.layout() and again.actors == state.actors
        )
        if action is not None:
            assert state.parse(str(action)) == action


@games
@each_game
def test_legal_is_what_check_finds_nothing_wrong_with(seed, open_mode):
    """In both directions; whoever is refused hears a rule of the ledger."""
    r = random.Random(seed)
    for state, _ in random_game(seed, open_mode, 60)[::3]:
        legal = state.legal_actions()
        assert len(set(legal)) == len(legal)
        assert legal or state.outcome()
        assert {a.seat for a in legal} <= set(state.actors)
        for a in r.sample(legal, min(12, len(legal))):
            assert state.check(a) == []
        for _ in range(25):
            a = any_action(state, r)
            broken = state.check(a)
            assert (broken == []) == (a in set(legal)), (str(a), broken)
            assert {v.rule for v in broken} <= set(RULES)
            if broken:
                with pytest.raises(IllegalAction):
                    state.apply(a)


@games
@each_game
def test_chance_is_a_distribution_over_what_may_come(seed, open_mode):
    for state, _ in random_game(seed, open_mode, 80):
        drawn = state.chance()
        assert bool(drawn) == (
            open_mode
            and bool(state.p.wait)
            and state.p.wait.kind in ("event", "top", "desert", "die")
        )
        if drawn:
            assert sum(p for _, p in drawn) == pytest.approx(1)
            assert all(state.check(a) == [] for a, _ in drawn)
            assert {a.seat for a, _ in drawn} <= {act.CARDS, act.DIE}
        elif not open_mode:
            assert state.skip_chance() is state


@games
@each_game
def test_views_and_decisions_are_plain(seed, open_mode):
    for state, _ in random_game(seed, open_mode, 80):
        json.dumps(pack_text(state.view()))
        decision = state.decision()
        if decision:
            assert decision.seat in state.actors
            for choice in decision.choices:
                assert state.check(state.parse(choice.action)) == []
        for todo in state.todo():
            str(todo.text)


def test_games_end():
    """Open games played at random come to their end by the obelisk."""
    ends = [random_game(seed, True, 1500)[-1][0] for seed in range(3)]
    assert all(s.outcome() and s.outcome().winners for s in ends)
    assert all(s.legal_actions() == [] and s.actors == () for s in ends)
