"""Random games for the property tests."""

import random

import engine
from engine import script

GAME = engine.game("tigris")
SEATS = ("archer", "bull", "pot", "lion")
WEIGHTS = {
    "Tile": 10,
    "Leader": 6,
    "Catastrophe": 1,
    "Swap": 0.5,
    "Pass": 0.5,
    "Commit": 1,
    "War": 1,
    "Build": 3,
    "Keep": 1,
    "Treasure": 1,
    "Draw": 1,
}


def choose(rnd, actions):
    """A sort of action first, so that the many placings do not drown the rest; small commitments,
    leaders that stay."""
    sorts = {}
    for a in actions:
        sorts.setdefault(type(a).__name__, []).append(a)
    sort = rnd.choices(list(sorts), [WEIGHTS[s] for s in sorts])[0]
    if sort == "Commit":
        return rnd.choice(sorts[sort][:3])
    if sort == "Leader" and rnd.random() < 0.9:
        return rnd.choice([a for a in sorts[sort] if a.target] or sorts[sort])
    return rnd.choice(sorts[sort])


def beginning(rnd, mode):
    seats = rnd.sample(SEATS, rnd.randint(2, 4))
    if mode == "open":
        return GAME.new(seats)
    lines = [f"game tigris\nseats {' '.join(seats)}"]
    if mode == "partly":  # some hands open, the bag unknown: draws may be told or not
        lines += [
            f"hand {s} " + " ".join(rnd.choices(("black", "red", "blue", "green"), k=6))
            for s in seats[:-1]
        ]
    return script.parse_script("\n".join(lines)).start()


def random_game(seed, mode="table", most=400):
    """[(state, the action that led to it)], the beginning first."""
    rnd = random.Random(seed)
    state = beginning(rnd, mode)
    out = [(state, None)]
    while state.outcome() is None and len(out) < most:
        action = choose(rnd, state.legal_actions())
        state = state.apply(action)
        out.append((state, action))
    return out


def diff(a, b):
    """site -> (contents, contents), the union tile left out: real tables forget it."""
    a, b = (
        {s: tuple(k for k in c if k != "union") for s, c in layout.items()} for layout in (a, b)
    )
    return {
        s: (a.get(s, ()), b.get(s, ())) for s in set(a) | set(b) if a.get(s, ()) != b.get(s, ())
    }


def difference(state, layout):
    return diff(state.layout(), layout)
