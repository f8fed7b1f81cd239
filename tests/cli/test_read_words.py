"""What `nilometer read` prints for people."""

from __future__ import annotations

from cli.commands.read import _text_table


def test_a_site_with_something_foreign_on_it_is_not_left_without_words():
    said = _text_table(
        {
            "photo": "1.jpg",
            "layout": {},
            "registration": {"by": "print", "error_px": 0.4},
            "ms": 40.0,
            "unsure": {"g4": [], "g1": [([], 0.1)], "f2": [(["white"], 0.59), ([], 0.38)]},
        }
    )
    assert said.splitlines()[1:] == [
        "  unsure g4: anything else 100 %",
        "  unsure g1: anything else 90 %, empty 10 %",
        "  unsure f2: white 59 %, empty 38 %",
    ]
