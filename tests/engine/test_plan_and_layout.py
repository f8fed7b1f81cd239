"""Plans as the rules see them, and layouts."""

import pytest

import engine
from engine import BadPlan, Plan
from engine.layout import canonical_contents, lies_first, same_contents

PLAN = """
game = "toy"
size = [100, 50]
[[piece]]
kind = "stone"
count = 3
[[site]]
id = "A"
tags = ["palms3", "wet"]
outline = [[0, 0], [10, 0], [10, 10]]
borders = ["B"]
[[site]]
id = "B"
reads = "cluster"
[[site]]
id = "B.1"
of = "B"
optional = true
"""


def test_plan():
    plan = Plan.parse(PLAN)
    assert (
        plan.game == "toy" and list(plan.sites) == ["A", "B", "B.1"] and plan.counts == {"stone": 3}
    )
    a, b, spot = plan.sites.values()
    assert (
        (a.reads, b.reads) == ("pile", "cluster")
        and a.borders == ("B",)
        and a.outline[1] == (10, 0)
    )
    assert a.number("palms") == 3 and a.number("wet") is None and b.number("palms") is None
    assert (
        plan.tagged("wet") == [a]
        and plan.spots == {"B": ["B.1"]}
        and spot.optional
        and not a.optional
    )


@pytest.mark.parametrize(
    "change, words",
    [
        (('game = "toy"', ""), "game"),
        (('id = "A"', ""), "id"),
        (('id = "A"', 'id = "B"'), "twice"),
        (('["B"]', '["C"]'), "borders C"),
        (('of = "B"', 'of = "C"'), "of C"),
        (('kind = "stone"', ""), "kind"),
        (("count = 3", 'count = "many"'), "many"),
        (("[[site]]", "[[site"), "plan"),
    ],
)
def test_plans_that_cannot_be_used(change, words):
    with pytest.raises(BadPlan, match=words):
        Plan.parse(PLAN.replace(*change))


KEYS = """
game = "toy"
[[piece]]
kind = "card:sun/moon"
base = true
artwork = ["sun", "moon"]
[[piece]]
kind = "stone"
[[site]]
id = "A"
group = "hill"
[[site]]
id = "B"
"""


def test_what_a_plan_says_of_cards_of_print_and_of_sites_that_are_alike():
    plan = Plan.parse(KEYS)
    assert plan.base == {"card:sun/moon"} and plan.artwork == {"card:sun/moon": ("sun", "moon")}
    assert [s.group for s in plan.sites.values()] == ["hill", None]


@pytest.mark.parametrize(
    "change, words",
    [
        (("base = true", 'base = "yes"'), "base"),
        (("base = true", "base = 1"), "base"),
        (('["sun", "moon"]', '"sun"'), "artwork"),
        (('["sun", "moon"]', "[1]"), "artwork"),
        (('group = "hill"', "group = 3"), "group"),
    ],
)
def test_such_words_of_another_sort_are_refused(change, words):
    with pytest.raises(BadPlan, match=words):
        Plan.parse(KEYS.replace(*change))


@pytest.mark.parametrize("game", engine.games().values(), ids=engine.games())
def test_the_plans_agree_with_what_the_rules_take_for_a_card(game):
    plan = game.plan()
    assert plan.base == {kind for kind in plan.counts if lies_first(kind)}
    assert all(site.group for site in plan.sites.values())


def test_plan_without_sites():
    with pytest.raises(BadPlan):
        Plan.parse('game = "toy"')


@pytest.mark.parametrize(
    "a, b, reads, same",
    [
        ("temple treasure", "temple treasure", "pile", True),
        ("temple treasure", "treasure temple", "pile", False),
        ("? union", "market union", "pile", True),
        ("market ?", "market union", "pile", False),
        ("", "?", "pile", False),
        ("", "", "pile", True),
        ("a b", "b a", "cluster", True),
        ("a a b", "a b b", "cluster", False),
        ("tile:war a b", "tile:war b a", "cluster", True),
        ("tile:war a", "a tile:war", "cluster", False),
        ("desert x", "desert x", "cluster", True),
        ("cover", "desert", "cluster", False),
    ],
)
def test_same_contents(a, b, reads, same):
    assert same_contents(a.split(), b.split(), reads) is same
    assert same_contents(b.split(), a.split(), reads) is same


def test_canonical():
    assert canonical_contents(["b", "a"], "cluster") == ("a", "b") and canonical_contents(
        ["b", "a"]
    ) == ("b", "a")
    assert canonical_contents(["tile:war", "b", "a"], "cluster") == ("tile:war", "a", "b")
    assert lies_first("tile:war") and lies_first("desert") and not lies_first("seed")
