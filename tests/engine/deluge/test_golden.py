"""A whole game, written down action by action: whatever changes the rules by accident shows up as a
line that differs.

`python -m tests.engine.deluge.test_golden` writes the file anew.
"""

import random
from pathlib import Path

from tests.engine.support import golden
from tests.engine.support.deluge_playing import choose, rich

FILE = Path(__file__).with_name("golden.txt")
# a game with battles, slaves, fanatics, floods with flights, buildings of all kinds
SEED, LENGTH = 4, 420


def played(seed=SEED):
    """One line an action: the action, how many were legal, round and phase, counter, all points so
    far."""
    rnd = random.Random(seed)
    state = rich(["yellow", "blue", "green", "white"])
    lines = []
    while state.outcome() is None and len(lines) < LENGTH:
        legal = len(state.legal_actions())
        action = choose(rnd, state)
        state = state.apply(action)
        points = "/".join(str(n) for n in state.scores().values())
        lines.append(
            f"{action} | {legal} | {state.round} {state.phase} | {state.counter} | {points}"
        )
    return lines, state


def test_golden_game():
    golden.compare(FILE, *played())


if __name__ == "__main__":
    golden.write(FILE, *played())
