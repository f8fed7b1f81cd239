"""Phase 1 of the Nile done whole between two looks: both cards, what they showed and what went bad,
in whatever order. Nobody is asked, nobody accused, nothing is left to do, and the next doing is
found."""

import random

import pytest

import engine
from companion.simulate.players import Players
from companion.table.table import Table
from tests.companion.support.season import changed, laid_out
from tests.companion.support.tired import Reader

NEXT = ("sow", "grow", "harvest")


def phase_one(state, rng):
    """(the doings of a made-up phase 1, the state after them); None where it came to a fist"""
    run = []
    while state.p.phase == "tide" or state.p.wait:
        if state.p.wait and state.p.wait.kind == "fist":
            return None
        legal = state.legal_actions()
        action = rng.choice(
            [a for a in legal if a.words() != "pass" and a.words().split()[0] not in NEXT] or legal
        )
        run.append(str(action))
        state = state.apply(action)
    return run, state


def faults(table, read, what, after):
    verdict = table.look(read(after.layout()))
    same = not changed(table.state, after) and table.state.scores() == after.scores()
    if (
        verdict.verdict not in ("moved", "same")
        or verdict.todo
        or not (same or table.state.readings)
    ):
        yield (
            f"{what}: {verdict.verdict} {[str(a) for a in verdict.actions]} {verdict.text} "
            f"{[str(t.text) for t in verdict.todo]}"
        )


@pytest.mark.parametrize("seats, seed", [(2, 4), (4, 5)])
def test_whatever_two_cards_showed(seats, seed):
    game, rng, players, found, looks = (
        engine.game("nile"),
        random.Random(seed),
        Players(seed),
        [],
        0,
    )
    state = laid_out(game.setup([s.id for s in game.seats[:seats]]), rng)
    read = Reader(state.plan, rng).read
    for _ in range(300):
        if state.outcome() is not None:
            break
        if state.p.phase == "tide" and not state.p.wait and not state.p.laid:
            for run, after in filter(None, (phase_one(state, rng) for _ in range(4))):
                table = Table(state)
                table.look(read(state.layout()))
                found += faults(table, read, run, after)
                doing = next(
                    (a for a in after.legal_actions() if a.words().split()[0] in NEXT), None
                )
                if doing is not None and not found:
                    found += faults(table, read, [*run, str(doing)], after.apply(doing))
                looks += 1
        state = state.apply(players.choose(state))
    assert found == []
    assert looks > 20
