"""Random games of Ur, and positions from a few set-up lines."""

import random

import engine
from engine import script
from engine.ur import actions as a

GAME = engine.game("ur")
SEATS = ("black", "white", "green", "blue")


def position(*lines, seats="black white green"):
    """The state after set-up lines; `layout clear` is understood."""
    return script.parse_script(
        "\n".join(["game ur", f"seats {seats}", "layout clear", *lines])
    ).start()


def run(state, *lines):
    for line in lines:
        state = state.apply(state.parse(line))
    return state


def broken(state, line):
    return [v.rule for v in state.check(state.parse(line))]


def some_action(state, rng):
    """A legal action: first its kind, then one of that kind, so that politics does not drown the
    others."""
    drawn = state.chance()
    if drawn:
        return rng.choices([x for x, _ in drawn], [w for _, w in drawn])[0]
    kinds = {}
    for x in state.legal_actions():
        kinds.setdefault(type(x), []).append(x)
    begun = state.used or state.built or state.returned
    weights = [
        0.3 if k is a.Swap and len(kinds) > 1 and not begun else 2 if k is a.War else 1
        for k in kinds
    ]
    return rng.choice(kinds[rng.choices(list(kinds), weights)[0]])


def opened(seed, players=None, bonus="as-written"):
    """A shuffled game after its set-up."""
    rng = random.Random(seed)
    state = GAME.new(SEATS[: players or rng.choice((3, 4))], {"bonus": bonus})
    while state.phase != "turn":
        state = state.apply(some_action(state, rng))
    return state, rng


def turn(state, rng):
    """(the state after a whole turn, its actions)"""
    done = []
    while state.outcome() is None:
        x = some_action(state, rng)
        done.append(x)
        state = state.apply(x)
        if isinstance(x, (a.Swap, a.Pass)):
            break
    return state, done
