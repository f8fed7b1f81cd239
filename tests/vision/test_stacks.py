"""Stacks of men alike: learnt from the men, whom samplers show more often."""

from __future__ import annotations

import numpy as np

from vision.cutout import Exemplar
from vision.pile import with_higher
from vision.plan import parse_plan
from vision.synth import as_patch


def test_a_stack_is_also_learnt_from_the_man_alone_but_higher():
    men = [{"kind": k, "size": 30, "height": 8} for k in ("black", "white")]
    outline = [[0, 0], [40, 0], [40, 40], [0, 40]]
    plan = parse_plan({"game": "draughts", "size": [40, 40], "piece": men, "site": [{"id": "a1", "outline": outline}]})
    looks = [("?", "white"), ("black",), ("white",)]
    rng = np.random.default_rng(1)
    pieces = [Exemplar(c, (30.0, 30.0), True, rng.random((20, 20, 3)).astype(np.float32), 0.5, "a1", n)
              for n, c in enumerate([("white", "white"), ("black",), ("white",), ("white",)])]
    low = [(as_patch(p, 8.0), n) for n, p in enumerate(pieces)]
    plain = {0: [(as_patch(pieces[0], 16.0), 0)], 1: low[1:2], 2: low[2:]}
    more = with_higher(plain, looks, pieces, plan)
    assert [n for _, n in more[0]] == [0, 2, 3] and {p.height for p, _ in more[0]} == {16.0}
    assert np.array_equal(more[0][2][0].picture, pieces[3].picture) and more[1] == plain[1] and more[2] == plain[2]
