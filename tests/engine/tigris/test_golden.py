"""A whole open game, written down move by move: whatever changes the rules by accident shows up as
a line that differs.

`python -m tests.engine.tigris.test_golden` writes the file anew.
"""

import random
from pathlib import Path

import engine
from tests.engine.support import golden
from tests.engine.support.tigris_playing import choose

FILE = Path(__file__).with_name("golden.txt")
# a game in which everything happens: wars to choose from, monuments built and not, treasures chosen
SEED = 19


def played(seed=SEED):
    """One line a move: the action, how many were legal, who acts next in which phase, and all
    points so far."""
    rnd = random.Random(seed)
    state = engine.game("tigris").new(["archer", "bull", "pot"])
    lines = []
    while state.outcome() is None:
        legal = sorted(state.legal_actions(), key=str)
        action = choose(rnd, legal)
        state = state.apply(action)
        points = " ".join("/".join(str(n) for n in s.values()) for s in state.scores().values())
        lines.append(
            f"{action} | {len(legal)} | {' '.join(state.actors)} {state.phase} | "
            f"{points} | {state.bag}"
        )
    lines.append("winner " + " ".join(state.outcome().winners))
    return lines, state


def test_golden_game():
    golden.compare(FILE, *played())


if __name__ == "__main__":
    golden.write(FILE, *played())
