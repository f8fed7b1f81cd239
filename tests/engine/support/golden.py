"""Whole games written down move by move: whatever changes the rules by accident shows up as a line
that differs."""

import sys

from engine import script


def compare(file, lines, last):
    """The lines of a game played again, and its last state's text, are those of the file; the text
    leads back to the state."""
    moves, final = file.read_text(encoding="utf-8").split("\n\n")
    assert lines == moves.splitlines()
    assert last.to_text() == final
    assert script.parse_script(final).start() == last


def write(file, lines, last):
    file.write_text("\n".join(lines) + "\n\n" + last.to_text(), encoding="utf-8")
    sys.stdout.write(f"{file}: {len(lines)} lines\n")
