"""Groups of sites: how far beside its site a piece is still nobody else's."""

import pytest

from vision.geometry.footprints import lies_below
from vision.geometry.site_groups import group_by_size, spare_reach
from vision.learned.groups import base_contents
from vision.plan import parse_plan


def row_of_squares(pitch, side=12, of="cell"):
    sites = [
        {
            "id": f"S{n}",
            "reads": "pile",
            "of": of,
            "outline": [
                [n * pitch, 0],
                [n * pitch + side, 0],
                [n * pitch + side, side],
                [n * pitch, side],
            ],
        }
        for n in range(4)
    ]
    sites.append(
        {"id": "cell", "reads": "cluster", "outline": [[0, 0], [300, 0], [300, 100], [0, 100]]}
    )
    return parse_plan(
        {
            "game": "none",
            "size": [300, 100],
            "piece": [{"kind": "card", "count": 4, "size": side, "height": 1}],
            "site": sites,
        },
        "test",
    )


@pytest.mark.parametrize(
    "pitch, largest, wanted",
    [
        (12, 12, 0),  # they border: what sticks out may be the neighbour's
        (15, 12, 3),  # cards as large as their spots, which lie apart
        (15, 8, 1),  # a smaller one has half of that room inside
        (40, 12, 4),  # nobody lays a card halfway to the next spot
        (15, 4, 0),
    ],
)
def test_how_far_beside_its_site_a_piece_is_nobody_else_s(pitch, largest, wanted):
    plan = row_of_squares(pitch)
    assert spare_reach(plan, group_by_size(plan)[0], largest) == pytest.approx(wanted)


def test_on_a_site_with_a_border_of_its_own_people_keep_to_that():
    plan = row_of_squares(15, of=None)
    assert spare_reach(plan, group_by_size(plan)[0], 12) == 0


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
