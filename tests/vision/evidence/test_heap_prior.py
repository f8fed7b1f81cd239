"""Heaps of one kind, where the calibration photos show no others."""

from __future__ import annotations

import math

import pytest

from vision.evidence.heap_prior import HeapPrior
from vision.evidence.site_evidence import CountedEvidence, SiteEvidence
from vision.plan import parse_plan

CUBES = "white", "green"


@pytest.fixture(scope="module")
def heap_plan():
    pieces = [{"kind": k, "size": [9, 9], "height": 9} for k in CUBES] + [
        {"kind": "temple", "size": 15},
        {"kind": "tile", "size": [60, 60]},
    ]
    site = {"id": "a", "outline": [[0, 0], [70, 0], [70, 70], [0, 70]], "reads": "cluster"}
    return parse_plan({"game": "drawn", "size": [90, 90], "piece": pieces, "site": [site]})


def counted_evidence(*options):
    return CountedEvidence(tuple((c, math.log(p)) for c, p in options), math.log(0.02))


def heap_layouts(*heaps):
    return [{"a": ("tile", *heap)} for heap in heaps]


def test_a_mixed_heap_is_unlikely_where_none_was_shown(heap_plan):
    prior = HeapPrior.of(heap_plan, heap_layouts(*[("white", "white")] * 20))
    doubtful = ("white", "white", "green"), ("white", "white")
    read = prior.weigh_sites({"a": counted_evidence((doubtful[0], 0.68), (doubtful[1], 0.3))})["a"]
    assert read.best == doubtful[1]
    assert math.exp(read.options[0][1]) == pytest.approx(0.3 / (0.3 + 0.02 + 0.68 / 21), abs=0.01)
    sure = prior.weigh_sites({"a": counted_evidence((doubtful[0], 0.975), (doubtful[1], 0.005))})[
        "a"
    ]
    assert sure.best == doubtful[0]


def test_pieces_of_another_size_mix_with_any(heap_plan):
    prior = HeapPrior.of(heap_plan, heap_layouts(*[("white", "white")] * 20))
    found = {"a": counted_evidence((("temple", "white"), 0.6), (("white",), 0.38))}
    assert prior.weigh_sites(found) == found


@pytest.mark.parametrize("heaps", [[], [("white",)] * 20, [("white", "green")] * 3])
def test_nothing_is_told_where_heaps_are_mixed_or_none_was_shown(heap_plan, heaps):
    prior = HeapPrior.of(heap_plan, heap_layouts(*heaps))
    found = {"a": counted_evidence((("white", "green"), 0.6), (("white",), 0.38))}
    assert prior.weigh_sites(found) == found


def test_piles_stay_as_they_are(heap_plan):
    prior = HeapPrior.of(heap_plan, heap_layouts(*[("white", "white")] * 20))
    found = {"a": SiteEvidence(((("white", "green"), -0.1),))}
    assert prior.weigh_sites(found) == found
