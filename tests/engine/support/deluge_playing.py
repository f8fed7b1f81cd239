"""Random games for the property tests: players who mostly work, breed, spread and fight, so that
the water rises."""

import random

import engine
from engine import script

GAME = engine.game("deluge")
SEATS = ("yellow", "blue", "green", "white")
DONE = {"movement": 0.25, "harvest": 0.02, "trade": 0.6, "building": 0.15}


def choose(rnd, state):
    """A legal action: a sort first, then few small ones; harvests as large as they go."""
    legal = state.legal_actions()
    if len(legal) == 1 or rnd.random() < DONE.get(state.phase, 0):
        return legal[-1]
    sorts = {}
    for a in legal:
        sorts.setdefault(type(a).__name__, []).append(a)
    if len(sorts) > 1:
        sorts.pop("Done", None)
    if "Agree" in sorts and len(sorts) > 1 and rnd.random() < 0.7:
        sorts.pop("Agree")
    if "Harvest" in sorts:
        most = rnd.sample(sorts["Harvest"], min(4, len(sorts["Harvest"])))
        return max(most, key=lambda a: sum(n for _, n in a.goods) + rnd.random())
    return rnd.choice(sorts[rnd.choice(list(sorts))])


def rich(seats):
    """A beginning in which things happen sooner: soldiers, ships and goods for everybody"""
    lines = ["game deluge", "seats " + " ".join(seats)]
    sea = {
        "yellow": "mediterranean",
        "blue": "south-atlantic",
        "green": "tasman",
        "white": "mid-atlantic",
    }
    home = {"yellow": "eurasia-2", "blue": "africa-1", "green": "australia-4", "white": "america-2"}
    for s in seats:
        lines.append(
            f"layout {sea[s]} ship:{s} ship:{s} {home[s]} soldier:{s} soldier:{s} "
            f"people:{s} people:{s}"
        )
        lines.append(f"stock {s} wood 9 gold 3 bronze 3 marble 3 granite 3")
    return script.parse_script("\n".join(lines)).start()


def random_game(seed, most=400):
    """[(state, the action that led to it)], the beginning first."""
    rnd = random.Random(seed)
    seats = rnd.sample(SEATS, rnd.randint(2, 4))
    state = rich(seats) if rnd.random() < 0.7 else GAME.new(seats)
    out = [(state, None)]
    while state.outcome() is None and len(out) < most:
        action = choose(rnd, state)
        state = state.apply(action)
        out.append((state, action))
    return out


def diff(a, b):
    """site -> (contents, contents) where the layouts differ"""
    return {
        s: (a.get(s, ()), b.get(s, ())) for s in set(a) | set(b) if a.get(s, ()) != b.get(s, ())
    }


def difference(state, layout):
    return diff(state.layout(), layout)
