"""Which pieces lie below the others on a site."""

import pytest

from vision.geometry.footprints import lies_below
from vision.geometry.site_groups import block_members, block_places
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


def test_a_large_piece_covers_the_sites_that_it_reaches_and_fits_nowhere_over_a_rim():
    def square(column, row):
        x, y = 20 * column, 20 * row
        return {
            "id": f"{column}{row}",
            "reads": "pile",
            "outline": [[x, y], [x + 20, y], [x + 20, y + 20], [x, y + 20]],
        }

    sites = [square(*divmod(n, 3)) for n in range(9)]
    plan = parse_plan({"game": "blocks", "size": [60, 60], "site": sites})
    places = block_places(plan, (2, 2))
    assert places.ids == ("00", "01", "10", "11")
    for s in plan.site:
        covered = block_members(plan, s.id, (2, 2))
        fits = s.id in places.ids
        assert covered == (places.members[places.ids.index(s.id)] if fits else ())
    assert block_members(plan, "11", (2, 2)) == ("11", "21", "12", "22")
    assert block_members(plan, "nowhere", (2, 2)) == ()
