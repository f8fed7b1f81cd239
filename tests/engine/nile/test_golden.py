"""A game played once and written down: whatever changes in it has to be wanted (see golden.py)."""

from tests.engine.support.nile_golden import FILE, actions_of, lines


def test_the_golden_game_goes_as_it_went():
    text = FILE.read_text(encoding="utf-8")
    actions = actions_of(text)
    assert len(actions) > 200
    assert list(lines(actions)) == text.splitlines()
    assert (
        "winners " in text
        and "follows: row M" in text
        and "extra turn" in text
        and "the desert grows" in text
    )
