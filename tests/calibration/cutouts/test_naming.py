"""Kinds that lie together wherever any of them lies are told apart by their relatives."""

from __future__ import annotations

from collections import Counter

import numpy as np

from calibration.cutouts.naming import name_pieces, settle_ties, telling_artwork, tied_kinds

SIGNS = ["flax", "grain", "grapes"]
HEAP = [f"ripe:green:{s}" for s in SIGNS]
COLOURS = ("green", "red", "blue", "white")
ARTWORK = {f"ripe:{c}:{s}": ("ripe", c, s) for c in COLOURS for s in SIGNS}


def test_only_kinds_of_which_as_many_lie_in_every_heap_are_tied():
    contents = {
        0: Counter([*HEAP, "ripe:red:flax"]),
        1: Counter([*HEAP, "ripe:green:flax"]),
        2: Counter(["ripe:red:flax"]),
    }
    assert tied_kinds(contents) == [["ripe:green:grain", "ripe:green:grapes"]]


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
    names = [f"ripe:{c}:{wrong[s] if c == 'green' else s}" for _, c, s in shown]
    settled = settle_ties(names, HEAP, unlike_of(shown), ARTWORK)
    assert settled == [f"ripe:{c}:{s}" for _, c, s in shown]


def test_tied_markers_are_told_by_those_that_share_most_with_them():
    """Of the many that share one part most look like neither"""
    tied = ["ripe:red:grapes", "seed:blue:onion"]
    others = ["ripe:red:flax", "seed:blue:flax"]
    signs = ("flax", "grain", "onion")
    others += [f"{state}:green:{s}" for state in ("ripe", "seed") for s in signs]
    kinds = tied + others
    artwork = {k: tuple(k.split(":")) for k in kinds}
    tones = np.array([{"red": 0.0, "green": 3.0, "blue": 2.0}[artwork[k][1]] for k in kinds])
    apart = np.abs(tones[:, None] - tones)
    exchanged = [tied[1], tied[0], *others]
    assert settle_ties(exchanged, tied, apart, artwork) == kinds


def test_without_relatives_tied_markers_stay_as_they_were():
    assert settle_ties(HEAP, HEAP, np.ones((3, 3)), ARTWORK) == HEAP


def unlike_of(shown):
    """As colours and signs differ"""
    return np.array([[1.0 * (a[1] != b[1]) + 0.3 * (a[2] != b[2]) for b in shown] for a in shown])


def test_pieces_get_what_lies_in_their_heap_so_that_those_of_a_kind_look_alike():
    shown = [
        (0, "red", "flax"),
        (1, "blue", "flax"),
        (1, "red", "flax"),
        (2, "green", "grain"),
        (2, "blue", "flax"),
        (2, "red", "flax"),
    ]
    contents = {h: Counter(f"ripe:{c}:{s}" for g, c, s in shown if g == h) for h in (0, 1, 2)}
    names = name_pieces(
        [h for h, _, _ in shown], contents, unlike_of(shown), telling_artwork(ARTWORK, ARTWORK)
    )
    assert names == [f"ripe:{c}:{s}" for _, c, s in shown]


def test_what_fits_by_its_outline_decides_between_kinds_that_look_alike():
    contents = {0: Counter(["square", "disc"])}
    fits = {(0, "disc"): 3.0, (0, "square"): 1.0, (1, "disc"): 2.5, (1, "square"): 2.4}
    assert name_pieces([0, 0], contents, np.zeros((2, 2)), {}, fits) == ["disc", "square"]


def test_what_all_kinds_have_printed_on_them_tells_nothing():
    words = telling_artwork(ARTWORK, [*HEAP, "ripe:red:flax"])
    assert words["ripe:green:grain"] == ("green", "grain") and words.keys() == {
        *HEAP,
        "ripe:red:flax",
    }
    assert telling_artwork(ARTWORK, HEAP)["ripe:green:grain"] == ("grain",)


def test_a_print_that_relatives_share_tells_where_light_misleads():
    """Of two blue discs in one field the wrong one lies in the light of another field's flax"""
    artwork = {f"{c}:{s}": (c, s) for c in ("blue", "red") for s in ("flax", "grain")}
    kinds = [["blue:flax", "blue:grain"], ["blue:flax"], ["red:grain"] * 2, ["red:flax"]]
    contents = {h: Counter(some) for h, some in enumerate(kinds)}
    unlike = np.full((6, 6), 1.0) - np.eye(6)
    unlike[0, 2] = unlike[2, 0] = 0.5
    unlike[1, 2] = unlike[2, 1] = 0.44
    printed = np.full((6, 6), 0.6) - 0.6 * np.eye(6)
    for i, j in ((0, 2), (0, 5), (2, 5), (1, 3), (1, 4)):
        printed[i, j] = printed[j, i] = 0.3
    by_looks = name_pieces([0, 0, 1, 2, 2, 3], contents, unlike, artwork)
    assert by_looks[:2] == ["blue:grain", "blue:flax"]
    names = name_pieces([0, 0, 1, 2, 2, 3], contents, unlike, artwork, printed=printed)
    assert names[:2] == ["blue:flax", "blue:grain"]
