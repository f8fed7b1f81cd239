"""Which sites share a classifier, and what it tells there."""

import pytest

from vision.learned.groups import EMPTY, FOREIGN, group_sites, sites_called_alike
from vision.plan import parse_plan

# id: (how it is read, what the plan calls it, mm wide and deep)
SITES = {
    "north": ("pile", "market", 30),
    "south": ("pile", "market", 60),
    "yard": ("cluster", "market", 30),
    "barn": ("pile", "store", 90),
    "shed": ("pile", None, 130),
    "hut": ("pile", None, 200),
}
PLAN = parse_plan(
    {
        "game": "market",
        "size": [1000, 300],
        "site": [
            {
                "id": name,
                "reads": reads,
                "outline": [[x, 10], [x + side, 10], [x + side, 10 + side], [x, 10 + side]],
            }
            | ({"group": group} if group else {})
            for x, (name, (reads, group, side)) in zip(range(10, 1000, 150), SITES.items())
        ],
        "piece": [
            {"kind": kind, "size": [24, 24], "height": 1} for kind in ("fig", "rye", "hay", "oat")
        ],
    },
    "market",
)


def classes_told(*layouts):
    """site -> what its classifier tells besides nothing and what is foreign"""
    groups = group_sites(PLAN, layouts)
    assert {g.classes[EMPTY] for g in groups} == {()}
    assert {g.classes[FOREIGN] for g in groups} == {("foreign",)}
    return {i: set(g.classes[2:]) for g in groups for i in g.ids}


def test_sites_called_alike_tell_what_their_fellows_of_another_size_show():
    told = classes_told({"north": ["fig"]}, {"south": ["rye"]})
    assert told["north"] == told["south"] == {("fig",), ("rye",)}


def test_sites_of_another_group_or_of_none_tell_what_is_shown_on_them_alone():
    told = classes_told({"north": ["fig"], "barn": ["rye"], "shed": ["hay"], "hut": ["oat"]})
    assert told["barn"] == {("rye",)}
    assert told["shed"] == {("hay",)} and told["hut"] == {("oat",)}
    assert told["north"] == told["south"] == {("fig",)}


def test_sites_called_alike_that_are_read_otherwise_tell_what_is_shown_on_them_alone():
    told = classes_told({"north": ["fig"], "yard": ["rye"]})
    assert told["north"] == told["south"] == {("fig",)}
    assert told["yard"] == {("rye",)}


@pytest.mark.parametrize(
    "ids, others",
    [
        (["north"], ["south"]),
        (["south"], ["north"]),
        (["north", "south"], []),
        (["yard"], []),
        (["shed"], []),
        (["barn", "south"], ["north"]),
    ],
)
def test_fellows_are_the_other_sites_of_a_group_that_are_read_alike(ids, others):
    assert sites_called_alike(PLAN, ids) == others
