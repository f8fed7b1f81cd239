"""A table in the midst of a real game, and its host."""

import random

import engine
from companion.table.table import Table

HERE = {"Origin": "http://localhost", "Sec-Fetch-Site": "same-origin"}


def table_of(game, actions=0, seed=1):
    """A table in the midst of a game of known hands."""
    found = engine.game(game)
    table = Table(found.new([s.id for s in found.seats[: found.players[0]]]))
    choose = random.Random(seed)
    for _ in range(actions):
        state = table.state
        possible = [a for a, _ in state.chance()] or state.legal_actions()
        if not possible:
            break
        table.declare(str(choose.choice(possible)))
    return table


def host_of(app):
    client = app.test_client()
    assert client.post("/api/host", json={"pin": "12345678"}, headers=HERE).status_code == 200
    return client
