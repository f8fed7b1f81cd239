"""No more pieces than the box holds: evidence of single pieces and of counted ones, and what stays
doubtful."""

from __future__ import annotations

import math

import pytest

from vision.evidence.piece_counts import apply_piece_counts
from vision.evidence.site_evidence import FLOOR, CountedEvidence, SiteEvidence
from vision.plan import parse_plan


def squares(names):
    """Sites of a row"""
    return [
        {"id": s, "outline": [[30 * n, 0], [30 * n + 30, 0], [30 * n + 30, 30], [30 * n, 30]]}
        for n, s in enumerate(names)
    ]


@pytest.fixture(scope="module")
def plan():
    pieces = [
        {"kind": "moon", "size": 12, "height": 8, "count": 1},
        {"kind": "cube", "size": [9, 9], "height": 9, "count": 3},
        {"kind": "coin", "size": 9},
    ]
    return parse_plan({"game": "drawn", "size": [90, 30], "piece": pieces, "site": squares("abc")})


def seen(*options):
    return SiteEvidence(tuple((c, math.log(p)) for c, p in options))


def chance(e, contents):
    return math.exp(dict(e.options)[contents])


def test_a_single_piece_lies_where_it_is_surest(plan):
    read = apply_piece_counts(
        plan,
        {
            "a": seen((("moon",), 0.92), ((), 0.08)),
            "b": seen((("moon",), 0.999), ((), 0.001)),
            "c": seen(((), 1.0)),
        },
    )
    assert read["a"].best == () and read["b"].best == ("moon",)
    assert chance(read["b"], ("moon",)) > 0.95 > 0.1 > chance(read["a"], ("moon",))


def test_a_likely_piece_elsewhere_makes_a_doubtful_one_less_likely_by_bayes(plan):
    read = apply_piece_counts(
        plan, {"a": seen((("moon",), 0.5), ((), 0.5)), "b": seen((("moon",), 0.5), ((), 0.5))}
    )
    # a alone, b alone, neither
    assert chance(read["a"], ("moon",)) == pytest.approx(1 / 3, abs=0.002)
    assert chance(read["b"], ()) == pytest.approx(2 / 3, abs=0.002)


def test_nothing_changes_while_the_box_suffices_or_counts_nothing(plan):
    sites = {
        "a": seen((("moon", "coin"), 0.9), (("coin",), 0.1)),
        "b": seen((("coin", "coin"), 0.9), (("coin",), 0.1)),
        "c": seen((("cube", "cube", "cube"), 0.9), (("cube", "cube"), 0.1)),
    }
    assert apply_piece_counts(plan, sites) == sites


def test_counted_pieces_share_the_box_too(plan):
    counts = {"cube": (math.log(0.01), math.log(0.09), math.log(0.9))}
    two = CountedEvidence(
        ((("cube", "cube"), math.log(0.9)), (("cube",), math.log(0.09))), counts=counts
    )
    read = apply_piece_counts(
        plan, {"a": two, "b": seen((("cube", "cube"), 0.999), (("cube",), 0.001))}
    )
    assert read["a"].best == ("cube",) and read["b"].best == ("cube", "cube")
    assert math.exp(read["a"].counts["cube"][1]) > 0.75
    assert sum(math.exp(p) for p in read["a"].counts["cube"]) == pytest.approx(1, abs=1e-5)


def test_two_that_are_beyond_doubt_both_stay(plan):
    sure = seen((("moon",), 0.9999999), ((), 1e-7))
    read = apply_piece_counts(plan, {"a": sure, "b": sure})
    assert read["a"].best == read["b"].best == ("moon",)


def test_probabilities_add_up_and_something_foreign_stays_possible(plan):
    hand = SiteEvidence(((("moon",), math.log(0.3)),), math.log(0.6))
    read = apply_piece_counts(plan, {"a": hand, "b": seen((("moon",), 0.99), ((), 0.01))})
    assert read["a"].foreign and chance(read["a"], ("moon",)) < 0.02
    assert math.exp(read["a"].other) + sum(math.exp(p) for _, p in read["a"].options) <= 1 + 1e-9
    assert all(p >= FLOOR for e in read.values() for _, p in e.options)


def test_a_phone_over_pieces_that_the_box_cannot_hold_is_no_fault(plan):
    """What is left of such a site's options tells of no kind at all"""
    sure = {s: seen((("cube",) * 3, 0.99999), ((), 0.00001)) for s in ("a", "b")}
    phone = SiteEvidence(((("cube", "cube", "cube", "moon"), math.log(2e-5)),), math.log(0.9999))
    read = apply_piece_counts(plan, sure | {"c": phone, "d": seen((("moon",), 0.9999))})
    assert read["c"].foreign and read["d"].best == ("moon",)


def test_one_more_of_many_is_believed_sooner_than_a_second_of_one():
    sites = [f"s{n}" for n in range(21)]
    many = parse_plan(
        {
            "game": "drawn",
            "size": [630, 30],
            "piece": [
                {"kind": "cube", "size": 9, "count": 20},
                {"kind": "moon", "size": 9, "count": 1},
            ],
            "site": squares(sites),
        }
    )
    clear = {s: seen((("cube",), 0.9995), ((), 0.0005)) for s in sites}
    assert min(chance(e, ("cube",)) for e in apply_piece_counts(many, clear).values()) > 0.97
    two = {s: seen((("moon",), 0.9995), ((), 0.0005)) for s in sites[:2]}
    assert 0.75 < min(chance(e, ("moon",)) for e in apply_piece_counts(many, two).values()) < 0.95
