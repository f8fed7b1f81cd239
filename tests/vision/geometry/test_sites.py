"""Which pieces lie below the others on a site."""

import pytest

from vision.geometry.footprints import lies_below
from vision.learned.groups import base_contents
from vision.plan import parse_plan


@pytest.mark.parametrize(
    ("size", "below"), [((29, 29), False), ((26, 26), False), ((27, 140), True), ((140, 27), True)]
)
def test_only_what_fills_a_site_lies_below_the_others(size, below):
    """A man is nearly as wide as a point of a backgammon board"""
    outline = [(0, 0), (30, 0), (30, 155), (0, 155)]
    point = {"id": "P1", "outline": outline, "reads": "cluster"}
    plan = parse_plan(
        {
            "game": "points",
            "size": [60, 200],
            "site": [point],
            "piece": [{"kind": "man", "size": size, "height": 8}],
        }
    )
    assert lies_below(plan, plan.site[0], "man") == below
    assert base_contents(plan, plan.site[0], ("man", "man")) == (("man",) if below else ())
    assert not lies_below(plan, plan.site[0], "unknown")
