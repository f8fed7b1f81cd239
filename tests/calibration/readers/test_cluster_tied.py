"""Kinds that lie together wherever any of them lies are told apart by their relatives."""

from __future__ import annotations

from collections import Counter

import numpy as np

from calibration.readers.loose.locate_samples import Found, tied, told_apart
from vision.readers.loose.scene.polar_patches import Form

MARKER = Form((18.0, 18.0), 3.0, True)
SIGNS = ["flax", "grain", "grapes"]
HEAP = [f"ripe:green:{s}" for s in SIGNS]


def test_only_kinds_of_which_as_many_lie_in_every_heap_are_tied():
    contents = {
        0: Counter([*HEAP, "ripe:red:flax"]),
        1: Counter([*HEAP, "ripe:green:flax"]),
        2: Counter(["ripe:red:flax"]),
    }
    assert tied(contents) == [["ripe:green:grain", "ripe:green:grapes"]]


def test_tied_markers_take_the_names_of_the_signs_they_show():
    shown = [
        (0, "green", "flax"),
        (0, "green", "grain"),
        (0, "green", "grapes"),
        (1, "green", "grapes"),
        (1, "green", "flax"),
        (1, "green", "grain"),
        *((2, colour, s) for colour in ("blue", "white") for s in SIGNS),
    ]
    wrong = {"flax": "grain", "grain": "grapes", "grapes": "flax"}
    found = [
        Found(g, MARKER, np.zeros(2), 1.0, f"ripe:{c}:{wrong[s] if c == 'green' else s}")
        for g, c, s in shown
    ]

    unlike = [[1.0 * (a[1] != b[1]) + 0.3 * (a[2] != b[2]) for b in shown] for a in shown]
    told_apart(found, HEAP, np.array(unlike))
    assert [f.kind for f in found] == [f"ripe:{c}:{s}" for _, c, s in shown]


def test_without_relatives_tied_markers_stay_as_they_were():
    found = [Found(0, MARKER, np.zeros(2), 1.0, k) for k in HEAP]
    told_apart(found, HEAP, np.ones((3, 3)))
    assert [f.kind for f in found] == HEAP
