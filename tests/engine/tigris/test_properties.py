"""What holds at every moment of any game."""

import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import IllegalAction, script
from engine.rules import load_rules
from engine.text import pack_text
from engine.tigris import actions as act
from engine.tigris.words import COLOURS, SEATS
from tests.engine.support.tigris_playing import GAME, random_game

RULES = load_rules("tigris")
MODES = ("table", "open", "partly")
games = settings(max_examples=8, deadline=None, derandomize=True)
each_game = given(seed=st.integers(0, 10**6), mode=st.sampled_from(MODES))


def on_board(p):
    return sum(t.bit_count() for t in p.tiles)


@games
@each_game
def test_nothing_is_lost_and_kingdoms_are_at_peace(seed, mode):
    """T1: 153 tiles; T2: pieces; T3; T7, T26: no two leaders of a colour in a kingdom outside
    conflicts; T8; T13, T14, T16."""
    for state, _ in random_game(seed, mode):
        p = state.pieces
        tiles = (
            on_board(p)
            + sum(state.spent)
            + state.lost
            + state.bag
            + sum(state.hand(i) for i in range(len(state.seats)))
        )
        assert tiles == 153
        if state.bag_known is not None:
            assert sum(state.bag_known) == state.bag
            for c in range(4):
                held = sum(k[c] for k in state.known)
                assert (
                    p.tiles[c].bit_count() + state.spent[c] + held + state.bag_known[c]
                    == p.board.totals[c]
                )
        assert p.treasures.bit_count() + sum(s["treasure"] for s in state.scores().values()) == 10
        assert p.treasures & ~(p.tiles[1] | p.flipped) == 0
        assert p.flipped.bit_count() == 4 * sum(m >= 0 for m in p.monuments)
        for cell in p.leaders:
            if cell >= 0:
                assert not p.board.river >> cell & 1
                assert p.board.near[cell] & p.tiles[1]
        sets = [*p.tiles, p.flipped, p.catastrophes, *(1 << c for c in p.leaders if c >= 0)]
        everything = 0
        for mask in sets:
            assert not everything & mask  # one thing a square
            everything |= mask
        assert not everything & ~p.board.all
        if state.phase in ("action", "build", "treasure", "draw", "over"):
            assert p.union < 0
            for leaders in [kingdom.leaders for kingdom in p.kingdoms()]:
                assert len({n % 4 for n in leaders}) == len(leaders)
        assert (
            p.tiles[2] & ~p.board.river == 0
            and (p.tiles[0] | p.tiles[1] | p.tiles[3]) & p.board.river == 0
        )


@games
@each_game
def test_text_and_json_forms_read_back(seed, mode):
    """At every moment, also inside a conflict; equal keys, equal hashes."""
    for state, action in random_game(seed, mode, 160):
        data = json.loads(json.dumps(state.to_json()))
        again = GAME.load(data)
        assert again == state and hash(again) == hash(state) and again.layout() == state.layout()
        assert script.parse_script(state.to_text()).start() == state
        if action is not None:
            assert str(action).startswith(action.seat + ": ")


def some_actions(rnd, state):
    """Actions that are typed at random, most of them illegal."""
    board, sites = state.board, list(state.board.index)
    for _ in range(12):
        seat, colour = rnd.choice(SEATS), rnd.choice(COLOURS)
        here, there = rnd.choice(sites), rnd.choice(sites)
        stands = state.pieces.leaders[rnd.randrange(len(state.pieces.leaders))]
        if stands >= 0 and rnd.random() < 0.7:
            here = board.ids[stands]
        yield rnd.choice(
            (
                act.Tile(seat, colour, here),
                act.Leader(seat, colour, here, there),
                act.Leader(seat, colour, here, None),
                act.Leader(seat, colour, None, there),
                act.Catastrophe(seat, there),
                act.Swap(seat, rnd.randrange(8)),
                act.Swap(seat, 1, (colour,)),
                act.Pass(seat),
                act.Commit(seat, rnd.randrange(8)),
                act.War(seat, colour),
                act.Build(seat, rnd.choice(board.monuments), there),
                act.Keep(seat),
                act.Treasure(seat, tuple(s for s in board.plan.sites if s in (here, there))),
                act.Draw("bag", seat, (colour,) * rnd.randrange(1, 7)),
            )
        )


@games
@each_game
def test_legal_means_that_nothing_is_broken(seed, mode):
    """legal_actions() are those that check() finds nothing wrong with, and no others; all read back
    from their text."""
    rnd = random.Random(seed)
    for state, _ in random_game(seed, mode, 120):
        legal = state.legal_actions()
        listed = set(legal)
        assert len(listed) == len(legal)
        for action in rnd.sample(legal, min(len(legal), 25)):
            assert state.check(action) == []
            assert state.parse(str(action)) == action
            assert action.seat in state.actors
        for action in some_actions(rnd, state):
            broken = state.check(action)
            assert (broken == []) == (action in listed), str(action)
            assert all(v.rule in RULES and str(v.text) for v in broken)
            if broken:
                with pytest.raises(IllegalAction) as e:
                    state.apply(action)
                assert e.value.violations == tuple(broken)
            before = (
                state.parse(str(action))
                if not (isinstance(action, act.Leader) and action.origin is None)
                else action
            )
            assert before == action


@games
@each_game
def test_steps_lead_from_one_layout_to_the_next(seed, mode):
    """The people's own doing first; the last contents of every site are the new layout's; to-dos
    name what is to be done."""
    played = random_game(seed, mode, 200)
    for (before, _), (after, _) in zip(played, played[1:]):
        at = before.layout()
        by_hand = [s.by_hand for s in after.steps]
        assert by_hand == sorted(by_hand, reverse=True)
        for step in after.steps:
            assert str(step.text)
            for site, contents in step.changes.items():
                assert at.get(site, ()) != contents
                at[site] = contents
        assert {s: c for s, c in at.items() if c} == after.layout()
        for step in after.steps:
            if step.changes and not step.by_hand:
                assert any(t.sites == step.sites for t in after.todo())


@games
@each_game
def test_replay(seed, mode):
    """The written actions lead from the beginning to the same states."""
    played = random_game(seed, mode, 80)
    again = played[0][0]
    for state, action in played[1:]:
        again = again.apply(again.parse(str(action)))
        assert again == state


@games
@each_game
def test_whole_games_end(seed, mode):
    """T63, T64: every game ends, with a winner, and nobody may do anything after it."""
    state = random_game(seed, mode, 10_000)[-1][0]
    assert state.outcome().winners and str(state.outcome().reason)
    assert state.turn is None and state.actors == () and state.legal_actions() == []
    assert state.view()["tables"]


@games
@each_game
def test_views_and_decisions_are_plain(seed, mode):
    for state, _ in random_game(seed, mode, 120):
        packed = json.loads(json.dumps(pack_text(state.view())))
        assert [s["id"] for s in packed["seats"]] == list(state.seats)
        assert set(packed["highlight"]) <= set(state.board.index)
        d = state.decision()
        assert (d is not None) == (state.phase in ("commit", "war", "build", "treasure"))
        if d is not None:
            assert d.seat in state.actors and not d.ask
            assert all(state.check(state.parse(c.action)) == [] for c in d.choices)
            assert {c.action for c in d.choices} == {
                str(a) for a in state.legal_actions() if a.seat == d.seat
            }


@given(seed=st.integers(0, 10**6))
@settings(max_examples=4, deadline=None, derandomize=True)
def test_chances_sum_to_one(seed):
    """At every draw the outcomes are the legal ones and their probabilities sum to 1; a draw nobody
    told stays unknown."""
    for state, _ in random_game(seed, "open", 40):
        outcomes = state.chance()
        assert (outcomes != []) == (state.phase == "draw")
        if outcomes:
            assert abs(sum(p for _, p in outcomes) - 1) < 1e-9
            assert {a for a, _ in outcomes} == set(state.legal_actions())
            unknown = state.skip_chance()
            assert unknown.phase == "action" and unknown.bag_known is None and not unknown.chance()
            assert sum(unknown.unknown) == sum(n for _, n in state.draws)
        else:
            assert state.skip_chance() == state
