"""Every reason why a doing is refused, and no other: positions and doings in tests/engine/reasons,
all rules named exactly."""

import re
from pathlib import Path

import pytest

from engine import script

FOLDER = Path(__file__).parent / "reasons"


def positions():
    out = []
    for path in sorted(FOLDER.glob("*.txt")):
        text = "\n".join(
            line
            for line in path.read_text(encoding="utf-8").splitlines()
            if not line.startswith("#")
        )
        for part in text.split("\n== ")[1:]:
            head, doings = part.split("\n--\n")
            name, *lines = head.splitlines()
            out.append(
                pytest.param(
                    path.stem,
                    lines,
                    doings.strip().splitlines(),
                    id=f"{path.stem}-{name.replace(' ', '-')}",
                )
            )
    return out


@pytest.mark.parametrize("game, lines, doings", positions())
def test_all_reasons_and_no_others(game, lines, doings):
    seats = [line for line in lines if line.startswith("seats")]
    start = script.run_script(
        "\n".join(
            [f"game {game}", *seats, "layout clear", *(line for line in lines if line not in seats)]
        )
    )
    assert not start.faults, start.faults
    wrong = []
    for doing in doings:
        text, rules = re.split(r" {2,}", doing)
        found = {v.rule for v in start.state.check(start.state.parse(text))}
        if found != set(rules.split()) - {"legal"}:
            wrong.append(f"{text}: {' '.join(sorted(found)) or 'legal'}, not {rules}")
    assert not wrong, "\n".join(wrong)
