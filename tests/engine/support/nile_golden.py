"""The golden game: `python -m tests.engine.support.nile_golden` writes it anew after a wanted
change of the rules; look at the diff."""

from pathlib import Path

from tests.engine.support.nile_playing import GAME, random_game

FILE = Path(__file__).parents[1] / "nile" / "golden.txt"
SEATS, OPTIONS, SEED = (
    ("red", "blue", "yellow"),
    {"hippo": "on", "buy-others": "on", "freshen": "on"},
    52,
)


def lines(actions):
    """Each action with what it leads to."""
    state = GAME.new(SEATS, OPTIONS)
    yield f"0 {_moment(state)}"
    for n, text in enumerate(actions, 1):
        action = state.parse(text)
        state = state.apply(action)
        yield f"{n} {action}"
        for step in state.steps:
            changes = "; ".join(f"{s}: {' '.join(c) or '-'}" for s, c in step.changes.items())
            yield (
                f"    {'by hand' if step.by_hand else 'follows'}: "
                f"{step.text}{' | ' if changes else ''}{changes}"
            )
        yield f"    = {_moment(state)} legal {len(state.legal_actions())}"
    outcome = state.outcome()
    yield f"winners {' '.join(outcome.winners)}: {outcome.reason}" if outcome else "not over"


def actions_of(text):
    return [
        line.split(" ", 1)[1]
        for line in text.splitlines()
        if line[:1].isdigit() and not line.startswith("0 ")
    ]


def _moment(state):
    p = state.p
    scores = " ".join(f"{s} {n}" for s, n in state.scores().items())
    return (
        f"{p.phase} turn {state.turn} tide {p.tide} obelisk {p.obelisk} points {p.points} "
        f"scores {scores}"
    )


if __name__ == "__main__":
    played = [str(a) for _, a in random_game(SEED, True, 900, SEATS, OPTIONS) if a]
    FILE.write_text("\n".join(lines(played)) + "\n", encoding="utf-8")
