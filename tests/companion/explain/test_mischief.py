"""What hands do against the rules is seen as such, its rule named: every sort of wrong doing, all
through made-up games, the acts made without asking the engine for explanations."""

import random

import pytest

import engine
from companion.explain.reconcile import Context, Reconciliation
from companion.simulate.players import Players
from companion.table.table import Table
from tests.companion.support.made_evidence import sees
from tests.companion.support.mischief import differing, wrongs
from tests.companion.support.season import changed, laid_out

DOINGS, EACH = 24, 3


def tried(name, seed):
    """(state, wrong doing, verdict) after each doing of a game"""
    game, rng, players = engine.game(name), random.Random(seed), Players(seed)
    table = Table(laid_out(game.setup([s.id for s in game.seats[:3]], (), None), rng))
    for _ in range(DOINGS):
        state = table.state
        action = players.choose(state)
        if not changed(state, state.apply(action)):
            table.declare(str(action))
            continue
        table.look(sees(state.apply(action).layout(), table.plan))
        context = Context(
            game=game,
            past=[(line.state, line.action) for line in reversed(table.lines)],
            reads=table.reads,
            optional=table.optional,
        )
        lately = {
            s for a, b in zip(table.lines[-5:], table.lines[-4:]) for s in changed(a.state, b.state)
        }
        for w in wrongs(table.state, rng, EACH, lately):
            seen = sees(w.board, table.plan)
            yield table.state, w, Reconciliation(context, seen).verdict()


@pytest.mark.parametrize("name", ["tigris", "ur", "nile", "deluge"])
def test_every_sort_of_wrong_doing_is_seen_and_its_rule_named(name):
    found, asked, allowed, halves = 0, [], 0, 0
    for state, w, v in tried(name, 0):
        if v.verdict == "illegal":
            assert w.rules & {x.rule for x in v.violations}, (w, [x.rule for x in v.violations])
            assert v.back and v.state == state
            found += 1
        elif v.verdict == "unclear":
            asked.append(w)  # half a legal doing, or one after several players passed
        elif v.verdict == "unfinished" and not v.actions:
            [todo] = v.todo  # taken up, and a legal doing would put it down again
            assert set(todo.sites) <= differing(state, w.board) and v.state == state
            halves += 1
        else:
            # other people's legal doing looks the same
            assert not differing(v.state, w.board) or v.todo, (w, v.verdict)
            allowed += 1
    assert (
        found >= 20
        and len(asked) <= found / 20 + 2
        and allowed <= found / 5
        and halves <= found / 3
    ), (found, asked, allowed, halves)
