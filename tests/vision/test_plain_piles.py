"""Which sites the matchers are asked for beside a network."""

import math

import pytest
from vision.readers.pile.reader import PileReader

from tests.conftest import PHOTOS
from vision.evidence.site_evidence import SiteEvidence
from vision.reader import Reader, load_photo

DOUBTED = "C4"


class SureNetwork:
    """A voice that is sure of what a layout shows, but for one site"""

    def __init__(self, evidence, taught):
        self.mastered = frozenset(evidence)
        self.cards_alone = self.upright_sites = self.tall_sites = frozenset()
        self.trust = dict.fromkeys(evidence, 1.0)
        self.taught = dict.fromkeys(evidence, taught)
        self.taught_kinds = {}
        self.told = {
            s: SiteEvidence(((e.best, math.log(0.9 if s == DOUBTED else 0.99)),), math.log(0.001))
            for s, e in evidence.items()
        }

    def read(self, picture, pose, sites=None, cache=None):
        return {s: e for s, e in self.told.items() if sites is None or s in sites}


@pytest.fixture
def asked_sites(monkeypatch):
    """Of which sites the matchers were asked, look by look"""
    out, read = [], PileReader.read

    def write_down(self, picture, pose, sites=None, cache=None):
        out.append(None if sites is None else set(sites))
        return read(self, picture, pose, sites, cache)

    monkeypatch.setattr(PileReader, "read", write_down)
    return out


@pytest.fixture
def read_table(copy):
    reader = Reader.load(copy / "model.npz")
    image = load_photo(sorted((PHOTOS / "test").glob("*.jpg"))[0])
    pose = reader.locate(image)
    return reader, image, pose, reader.read_sites(image, pose)


def test_matchers_are_asked_only_for_piles_in_doubt(read_table, asked_sites):
    reader, image, pose, alone = read_table
    asked_sites.clear()
    known = frozenset().union(*reader.piles.known_contents.values())
    reader.learned = SureNetwork(alone, known | {()})
    found = reader.read_sites(image, pose)
    assert asked_sites == [{DOUBTED}]
    assert {s: e.best for s, e in found.items()} == {s: e.best for s, e in alone.items()}
    assert found[DOUBTED].options != reader.learned.told[DOUBTED].options, "both voices"
    assert reader.read_sites(image, pose, {"D5"}) == {"D5": reader.learned.told["D5"]}
    assert asked_sites == [{DOUBTED}], "nothing in doubt there"


def test_matchers_are_asked_wherever_they_know_more_than_the_network_was_taught(
    read_table, asked_sites
):
    reader, image, pose, alone = read_table
    asked_sites.clear()
    reader.learned = SureNetwork(alone, frozenset({()}))
    reader.read_sites(image, pose)
    assert asked_sites == [None]


def test_matchers_count_for_little_where_all_that_lies_loose_stands(read_table):
    reader, image, pose, alone = read_table
    site = max((s for s, e in alone.items() if e.best), key=lambda s: alone[s].best_logp)
    other = next(e.best for e in alone.values() if e.best not in ((), alone[site].best))
    reader.learned = network = SureNetwork({site: alone[site]}, None)
    network.mastered = frozenset()
    network.told[site] = SiteEvidence(((other, math.log(0.85)), (alone[site].best, math.log(0.15))))
    assert reader.read_sites(image, pose)[site].best == alone[site].best
    network.upright_sites = frozenset({site})
    assert reader.read_sites(image, pose)[site].best == other
