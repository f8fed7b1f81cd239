"""Two readers' evidence of a site made one."""

import math

import pytest

from vision.evidence.site_evidence import CountedEvidence, SiteEvidence
from vision.learned.merge import CARD_WEIGHTS, merge_choices, merge_evidence, merge_tables


def told(*options, other=0.001):
    return SiteEvidence(tuple((c, math.log(p)) for c, p in options), math.log(other))


def chances(e):
    return {c: math.exp(p) for c, p in e.options}


def test_voices_that_agree_are_surer_together():
    both = merge_evidence(
        told((("temple",), 0.9), ((), 0.09)), told((("temple",), 0.9), ((), 0.09)), "pile"
    )
    assert both.best == ("temple",) and chances(both)[("temple",)] > 0.95


def test_the_surer_of_two_that_differ_is_believed():
    both = merge_evidence(
        told((("farm",), 0.6), (("temple",), 0.39)),
        told((("temple",), 0.98), (("farm",), 0.01)),
        "pile",
    )
    assert both.best == ("temple",)


def test_two_sure_voices_that_differ_leave_a_doubt():
    both = merge_evidence(
        told((("farm",), 0.995), (("temple",), 0.004)),
        told((("temple",), 0.995), (("farm",), 0.004)),
        "pile",
    )
    assert both.best == ("temple",)  # the matcher is the likelier to err however sure it is
    assert chances(both)["temple",] < 0.95


def test_a_network_that_tells_a_card_alone_comes_before_the_matcher():
    both = merge_evidence(
        told((("farm",), 0.9995), (("temple",), 0.0004)),
        told((("temple",), 0.98), (("farm",), 0.01)),
        "cluster",
        whole=CARD_WEIGHTS,
    )
    assert both.best == ("temple",)


def test_probabilities_add_up_to_one():
    both = merge_evidence(
        told((("farm",), 0.5), ((), 0.3), other=0.2),
        told(((), 0.7), (("farm",), 0.1), other=0.2),
        "pile",
    )
    assert sum(chances(both).values()) + math.exp(both.other) == pytest.approx(1, abs=1e-6)


def test_contents_never_taught_are_left_to_the_other_voice():
    first = told((("union",), 0.97), ((), 0.02))
    second = told(((), 0.6), (("farm",), 0.39))
    assert merge_evidence(first, second, "pile", frozenset({(), ("farm",)})).best == ("union",)


def test_a_kind_never_taught_on_a_cluster_is_left_to_the_other_voice():
    """A forest laid on a sea: the network, which knows ships there, sees an empty sea"""
    forest, sea = told((("forest",), 0.999)), told(((), 0.995))
    assert merge_evidence(forest, sea, "cluster").best == ()
    assert merge_evidence(forest, sea, "cluster", kinds={"ship"}).best == ("forest",)
    ship = told((("ship",), 0.999))
    assert merge_evidence(ship, sea, "cluster", kinds={"ship"}).best == ()


def test_something_else_seen_by_one_voice_alone_gives_way_to_a_sure_other():
    both = merge_evidence(told(((), 0.01), other=0.98), told(((), 0.999), other=0.0005), "pile")
    assert not both.foreign and both.best == ()


def test_counts_and_cards_of_clusters_are_merged_too():
    def counted(card, table):
        return CountedEvidence(
            (((card, "cube"), math.log(0.8)),),
            math.log(0.01),
            {card: math.log(0.9), "": math.log(0.1)},
            {"cube": tuple(math.log(v) for v in table)},
            (),
        )

    both = merge_evidence(
        counted("desert", (0.2, 0.8)), counted("desert", (0.1, 0.8, 0.1)), "cluster"
    )
    assert isinstance(both, CountedEvidence) and both.best == ("desert", "cube")
    assert math.exp(both.first["desert"]) > 0.95
    assert math.exp(both.counts["cube"][1]) > 0.9


def test_a_table_of_one_voice_alone_stands():
    assert merge_tables((-0.1, -2.0), None) == (-0.1, -2.0)
    assert merge_choices({}, {"desert": -0.1}) == {"desert": -0.1}


def test_a_voice_of_cards_alone_leaves_the_pieces_to_the_other():
    first = CountedEvidence(
        ((("cover", "disc"), math.log(0.7)), (("disc",), math.log(0.2))),
        math.log(0.05),
        {"": math.log(0.25), "cover": math.log(0.75)},
        {"disc": (math.log(0.05), math.log(0.95))},
        (math.log(0.05), math.log(0.95)),
    )
    second = CountedEvidence((), math.log(0.01), {"": math.log(0.95), "cover": math.log(0.05)})
    both = merge_evidence(first, second, "cluster")
    assert both.best == ("disc",)
    assert both.counts == first.counts and both.pieces == first.pieces


def test_pieces_seen_on_a_card_that_is_none_lie_there_without_it():
    """The first voice lists nothing but the disc on a cover"""
    first = CountedEvidence(
        ((("cover", "disc"), math.log(0.98)), (("cover",), math.log(0.01))),
        math.log(0.001),
        {"": math.log(0.02), "cover": math.log(0.98)},
        {"disc": (math.log(0.02), math.log(0.98))},
    )
    second = CountedEvidence((), math.log(0.001), {"": math.log(0.95), "cover": math.log(0.05)})
    both = merge_evidence(first, second, "cluster", whole=CARD_WEIGHTS)
    assert both.best == ("disc",)
    assert 0.85 < chances(both)[("disc",)] < 0.95
    assert sum(chances(both).values()) < 1.0


def test_a_voice_without_trust_changes_nothing():
    first = told((("farm",), 0.9), (("temple",), 0.09))
    both = merge_evidence(first, told((("temple",), 0.99), (("farm",), 0.005)), "pile", trust=0.0)
    assert chances(both)[("farm",)] == pytest.approx(0.9 / 0.991, abs=0.01)
