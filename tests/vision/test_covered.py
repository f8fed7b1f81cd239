"""What lies on a site and hides it is told by how the picture's other empty sites look, also where it looks like no piece at all."""

import math

import numpy as np
import pytest

from vision.covered import covered
from vision.evidence import SiteEvidence
from vision.owners import more_foreign
from vision.stage import TILES, Stage


def cells(n=80, noise=0.05, seed=1):
    """Empty sites of a picture, as they differ from the empty board: each a little in its own way"""
    rng = np.random.default_rng(seed)
    return (rng.normal(0, 1, (n, 1, 1, 1)) + rng.normal(0, 1, (n, TILES, TILES, 3))).astype(np.float32) * np.float32(noise)


@pytest.mark.parametrize(("noise", "colour", "hidden"), [
    (0.05, (0.1, -0.4, 0.3), True), (0.05, (-0.3, 0, 0), False), (0.05, (0.0, 0.1, 0), False), (0.2, (0.0, 0.3, 0), False),
    (0.2, (0.5, -2.5, 1.8), True)])
def test_a_coin_hides_a_site_a_shadow_does_not(noise, colour, hidden):
    """In a picture whose empty sites all look otherwise more must lie there"""
    seen = cells(noise=noise)
    seen[7, 3:8, 3:8] += np.float32(colour)
    told = covered(seen, np.ones(len(seen), bool))
    assert bool(told[7] > 0.5) is hidden and (np.delete(told, 7) < 0.5).all()


def test_what_lies_beside_a_site_hides_nothing():
    seen = cells()
    seen[7, :, :3] += np.float32((0.5, 1, -1))
    assert covered(seen, np.ones(len(seen), bool))[7] < 0.1


def test_where_few_sites_are_empty_nothing_is_told():
    seen, empty = cells(), np.arange(80) < 8
    seen[7] += 2
    assert not covered(seen, empty).any()


def test_cells_are_what_a_stage_tells_of_them():
    rng = np.random.default_rng(2)
    empty, seen = rng.normal(0, 1, (3, 22, 22, 3)).astype(np.float32), rng.normal(0, 1, (2, 22, 22, 3)).astype(np.float32)
    told = Stage.cells(Stage.unlike(None, seen, empty, np.zeros((3, TILES ** 2), np.float32), np.array([2, 0])))
    assert np.allclose(told, (seen - empty[[2, 0]]).reshape(2, TILES, 2, TILES, 2, 3).mean((2, 4)), atol=1e-5)


def test_as_far_as_a_site_seems_empty_something_hides_it():
    e = more_foreign(SiteEvidence((((), math.log(0.7)), (("stone",), math.log(0.2))), math.log(0.1)), 0.9)
    assert e.foreign and np.allclose([math.exp(e.other), e.logp(("stone",)) > math.log(0.2)], [0.73, True])
