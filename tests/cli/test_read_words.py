"""What `nilometer read` prints for people."""

from __future__ import annotations

from cli.commands.read import _text_table, places_outside
from companion.simulate import Conditions, plan_of


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


def test_places_that_the_picture_does_not_show_are_named():
    plan, _ = plan_of("tigris", None)
    pose = Conditions(resolution=(820, 616)).look(plan)
    view = type("Half", (), {"to_px": staticmethod(pose.to_px), "size": (410, 616)})
    outside = places_outside(plan, view)
    assert 40 < len(outside) < 130 and not {"P1", "A1"} <= set(outside)
    said = _text_table(
        {
            "photo": "half.jpg",
            "layout": {},
            "registration": {"by": "markers", "error_px": 0.4},
            "ms": 40.0,
            "outside": outside,
            "unsure": {},
        }
    )
    assert f"outside the picture: {len(outside)} sites" in said
