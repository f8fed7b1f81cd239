"""Where the network and the matcher both tell of a site."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from tests.support.networks import StandIn
from tests.vision.registration.test_lines import camera, chess
from vision.evidence.site_evidence import SiteEvidence
from vision.frame_cache import FrameCache, StaleCache
from vision.learned.merge import merge_evidence
from vision.reader import Reader

IMAGE = np.full((120, 160, 3), 128, np.uint8)
PLAN, POSE = chess(), camera()
HERE, THERE, ELSEWHERE = (s.id for s in PLAN.site[:3])


def sure_of(kind, chance=0.99, other=0.001):
    return SiteEvidence((((kind,), math.log(chance)),), math.log(other))


def reader(learned, matched):
    """learned, matched: site -> evidence"""
    matcher = SimpleNamespace(read=lambda picture, pose, sites, cache: matched)
    return Reader(PLAN, None, StandIn(lambda pose: learned), matcher)


def test_each_is_asked_and_where_both_tell_their_voices_are_merged():
    network = {HERE: sure_of("queen"), THERE: sure_of("king")}
    matched = {THERE: sure_of("rook"), ELSEWHERE: sure_of("pawn")}
    found = reader(network, matched).read_sites(IMAGE, POSE)
    assert found[HERE] == network[HERE] and found[ELSEWHERE] == matched[ELSEWHERE]
    assert found[THERE] == merge_evidence(matched[THERE], network[THERE], "pile")


def test_without_a_matcher_the_network_tells_alone():
    network = {HERE: sure_of("queen"), THERE: sure_of("king")}
    alone = Reader(PLAN, None, StandIn(lambda pose: network))
    assert alone.read_sites(IMAGE, POSE) == network
    assert alone.read_sites(IMAGE, POSE, {THERE}) == {THERE: network[THERE]}


@pytest.mark.parametrize("first", ["upright_sites", "cards_alone"])
def test_the_matcher_counts_for_little_where_pieces_stand_or_a_card_alone_is_told(first):
    network = {
        HERE: SiteEvidence(((("queen",), math.log(0.85)), (("rook",), math.log(0.15)))),
    }
    one = reader(network, {HERE: sure_of("rook", 0.9995)})
    assert one.read_sites(IMAGE, POSE)[HERE].best == ("rook",)
    setattr(one.learned, first, frozenset({HERE}))
    assert one.read_sites(IMAGE, POSE)[HERE].best == ("queen",)
    one.learned.taught[HERE] = frozenset({("queen",)})
    assert one.read_sites(IMAGE, POSE)[HERE].best == ("rook",), "what it was never taught"


def test_something_foreign_is_the_matchers_to_tell_on_such_sites_too():
    one = reader({HERE: sure_of("queen", 0.6, 0.3)}, {HERE: sure_of("queen", 0.001, 0.998)})
    one.learned.upright_sites = frozenset({HERE})
    assert one.read_sites(IMAGE, POSE)[HERE].foreign


def test_in_another_light_everything_is_read_anew():
    asked = []

    def read(picture, pose, sites, cache):
        asked.append(sites)
        if sites is not None:
            raise StaleCache
        return {s: sure_of("pawn") for s in PLAN.sites}

    one = reader({}, {})
    one.matcher.read = read
    cache = FrameCache()
    cache.begin(one, POSE)
    cache.sites = {s: sure_of("pawn") for s in PLAN.sites}
    assert one.read_sites(IMAGE, POSE, {HERE}, cache).keys() == PLAN.sites.keys()
    assert asked == [{HERE}, None]
