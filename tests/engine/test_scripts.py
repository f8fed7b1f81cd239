"""Every rule script of every game plays without a fault, and every action it prints and the state
it ends in read back as the same."""

from pathlib import Path

import pytest

from engine import script

FOLDER = Path(__file__).resolve().parent.parent / "scripts"
SCRIPTS = sorted(FOLDER.glob("*/*.play"))
FEWEST = {"tigris": 60, "ur": 45, "nile": 45, "deluge": 50}


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda p: f"{p.parent.name}/{p.stem}")
def test_script_holds(path):
    before = [None]
    printed = []

    def on_action(action, state):
        text = str(action)
        printed.append(text)
        assert before[0].parse(text) == action or before[0].skip_chance().parse(text) == action
        assert str(action) == text
        before[0] = state

    text = path.read_text(encoding="utf-8")
    before[0] = script.parse_script(text).start()
    result = script.run_script(text, on_action=on_action)
    assert not result.faults, f"{path}: " + "; ".join(map(str, result.faults))
    assert result.actions == printed
    assert result.actions or result.expectations
    again = script.parse_script(result.state.to_text()).start()
    assert again.to_json() == result.state.to_json(), "its end is written down and read back"


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda p: f"{p.parent.name}/{p.stem}")
def test_script_says_what_it_shows(path):
    assert "#" in path.read_text(encoding="utf-8"), f"{path} has no comment"


@pytest.mark.parametrize("game", sorted(FEWEST))
def test_enough_scripts(game):
    there = [p for p in SCRIPTS if p.parent.name == game]
    if not there:
        pytest.skip(f"no scripts of {game} yet")
    assert len(there) >= FEWEST[game]
