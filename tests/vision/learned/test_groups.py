"""Which sites share a classifier, and what it tells there."""

import pytest

from vision.learned.groups import (
    EMPTY,
    FOREIGN,
    add_blocks,
    block_middle,
    group_sites,
    sites_called_alike,
)
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


SQUARES = parse_plan(
    {
        "game": "squares",
        "size": [100, 100],
        "site": [
            {"id": f"{c}{r}", "outline": [[x, y], [x + 30, y], [x + 30, y + 30], [x, y + 30]]}
            for c, x in (("a", 10), ("b", 40))
            for r, y in ((1, 10), (2, 40))
        ],
        "piece": [
            {"kind": "tile", "size": 28, "height": 2},
            {"kind": "tower", "size": [56, 56], "height": 20, "spans": [2, 2], "over": "tile"},
            {"kind": "temple", "size": [56, 56], "height": 20, "spans": [2, 2], "over": "tile"},
        ],
    },
    "squares",
)


def test_pieces_that_cover_several_sites_are_told_apart_by_all_that_they_cover():
    kinds = ("?", "temple"), ("?", "tower")
    layouts = [{"a1": ["tile", "tower"]}, {"a1": ["tile", "temple"]}, {"a1": ["tile"]}]
    groups = add_blocks(SQUARES, group_sites(SQUARES, layouts))
    assert [g.reads for g in groups] == ["pile", "block"]
    block = groups[1]
    assert block.ids == () and block.box == (60, 60) and block.spans == (2, 2)
    assert block.classes == ((), ("foreign",), *kinds)
    assert tuple(block_middle(SQUARES.sites["a1"], block.spans)) == (40, 40)


def test_one_piece_that_covers_several_sites_needs_no_telling_apart():
    groups = group_sites(SQUARES, [{"a1": ["tile", "tower"]}, {"a1": ["tile"]}])
    assert add_blocks(SQUARES, groups) == groups
