"""A plan that cannot be used is refused in one line that says what and where."""

from __future__ import annotations

import copy

import pytest

from vision.plan import BadPlan, load_plan, parse_plan

GOOD = {
    "game": "own",
    "size": [100, 100],
    "piece": [{"kind": "weißer König", "size": [10, 10]}, {"kind": "Ü", "size": 9}],
    "site": [
        {"id": "a 1", "outline": [[0, 0], [10, 0], [10, 10], [0, 10]]},
        {"id": "b 1", "outline": [[10, 0], [20, 0], [20, 10], [10, 10]]},
    ],
}


def test_the_least_plan_with_spaces_and_umlauts_is_good():
    assert list(parse_plan(GOOD).pieces) == ["weißer König", "Ü"]


def test_a_board_for_the_pocket_is_one():
    assert parse_plan(GOOD | {"size": [40, 20]}).size == (40, 20)


def test_what_is_said_of_cards_of_print_and_of_sites_that_are_alike():
    plan = parse_plan(
        GOOD
        | {
            "piece": [
                {"kind": "card", "size": 9, "base": True, "artwork": ["sun", "moon"]},
                {"kind": "man", "size": 3},
                {"kind": "askew", "size": 9, "looks": "card", "turned": 45},
            ],
            "site": [GOOD["site"][0] | {"group": "hill"}, GOOD["site"][1]],
        }
    )
    assert plan.base == {"card"} and plan.groups == {"hill": ("a 1",)}
    assert plan.artwork == {"card": ("sun", "moon"), "askew": ("sun", "moon")}


def test_what_other_programs_write_into_a_plan_is_left_alone():
    assert parse_plan(GOOD | {"author": "me", "publisher": {"year": 1950}}).size == (100, 100)


@pytest.mark.parametrize(
    ("where", "change", "words"),
    [
        ((), {"sizes": [1, 2]}, "'sizes' is not read; 'size' is meant"),
        (
            ("piece", 0),
            {"art_work": ["sun"]},
            "piece 1: 'art_work' is not read; 'artwork' is meant",
        ),
        (("piece", 0), {"base": "yes"}, "weißer König: base is"),
        (("site", 0), {"group": 3}, "site a 1: group is a number, not a text"),
        (("piece", 0), {"hight": 4}, "piece 1: 'hight' is not read; 'height' is meant"),
        (("piece", 1), {"size": None}, "piece Ü: size is missing"),
        (("site", 1), {"id": None}, "site 2: id is missing"),
        (("site", 0), {"outline": [[0, 0], [10, 10]]}, "site a 1: an outline needs three points"),
        (
            ("site", 0),
            {"outline": [[30, 0], [40, 10], [40, 0], [30, 10]]},
            "site a 1: its outline encloses nothing, or crosses itself",
        ),
        (
            ("site", 1),
            {"outline": [[3, 0], [13, 0], [13, 10], [3, 10]]},
            "sites a 1 and b 1 overlap",
        ),
        (
            ("site", 1),
            {"outline": [[300, 0], [310, 0], [310, 10], [300, 10]]},
            "site b 1 lies far off the board of 100 x 100 mm",
        ),
        ((), {"size": [12, 100]}, "beyond the board of 12 x 100 mm: width and height exchanged?"),
        (("piece", 1), {"on": ["hill"]}, "piece Ü lies on 'hill', a tag that no site has"),
        (("site", 1), {"reads": "stack"}, "site b 1: reads is 'stack'"),
        (("site", 1), {"id": "a 1"}, "site a 1 stands twice"),
        (("piece", 0), {"kind": "?"}, "a piece has no name"),
        (("piece", 0), {"height": -1}, "weißer König: height, count and spans cannot be negative"),
        (("piece", 0), {"size": [300, 10]}, "larger than the board"),
        ((), {"size": [100, float("inf")]}, "not a width and a height in mm"),
        ((), {"size": "big"}, "size is a text, not a list"),
        ((), {"site": []}, "no sites"),
        ((), {"site": {"id": "a"}}, "each site begins with [[site]]"),
        (("piece", 0), {"size": [10, 5, 10]}, "weißer König: size has 3 values, not 2"),
        (("piece", 0), {"count": 2.5}, "weißer König: count is not a whole number"),
        (
            (),
            {"size": [34.0, 34.0], "piece": [{"kind": "king", "size": 3.2}]},
            "a board of 34 x 34 mm is none; sizes are millimetres",
        ),
    ],
)
def test_a_fault_is_named_in_one_line(where, change, words):
    data = copy.deepcopy(GOOD)
    at = data
    for key in where:
        at = at[key]
    at.update(change)
    for key in [k for k, v in change.items() if v is None]:
        del at[key]
    with pytest.raises(BadPlan) as said:
        parse_plan(data, "plan.toml")
    assert (
        str(said.value).startswith("plan.toml: ")
        and words in str(said.value)
        and "\n" not in str(said.value)
    )


TEXT = """game = "own"
size = [100, 100]
[[piece]]
kind = "Ü"
size = 9
[[site]]
id = "a"
outline = [[0, 0], [10, 0], [10, 10]]
"""


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_a_plan_may_begin_with_the_mark_that_some_editors_write(tmp_path, encoding):
    (tmp_path / "plan.toml").write_bytes(TEXT.replace("\n", "\r\n").encode(encoding))
    assert list(load_plan(tmp_path / "plan.toml").pieces) == ["Ü"]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (TEXT.encode("latin-1"), "plan.toml: line 4: not UTF-8; save the file with that encoding"),
        (b"game = " + b"[" * 3000, "plan.toml: brackets within brackets without end"),
    ],
)
def test_a_plan_in_another_encoding_or_without_end_is_named(tmp_path, data, words):
    (tmp_path / "plan.toml").write_bytes(data)
    with pytest.raises(BadPlan) as e:
        load_plan(tmp_path / "plan.toml")
    assert words in str(e.value) and "codec" not in str(e.value)
