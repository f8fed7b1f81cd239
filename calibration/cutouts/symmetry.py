"""Lays loose pieces by the symmetry of what they bear: a sign in the middle, a line about it. On ground of
a piece's own colour its sides and its shadow show more than its top, and are taken for it. Its value:
`lies_by_symmetry`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from calibration.cutouts.seek import Samplers, outline_turns
from calibration.cutouts.specimens import Specimen, crop_window, turn_matrix

PIXELS_A_SIDE = 16  # of a piece, at which it is compared with itself, turned
# of a piece's width that it may lie off where its outline was found: a shadow beside it was taken for
# it, of cubes 0.7 of it aside
ASIDE_REACH = 0.8
# likeness to itself from which the prints of most of a kind are symmetric, and one of these is: plain black
# cubes reach 0.4
SYMMETRIC, ONE_SYMMETRIC = 0.7, 0.5
FAINT_PRINT = 0.003  # log units squared, below which a print says little
# pixels a side of a window in which edges are sought; of a piece's width, how much that shows, and from
# where its edges may lie; degrees between turns that are tried: 29 of 30 cubes are turned to 3 degrees
EDGE_PIXELS, WITH_RIM, RIM_FROM, EDGE_TURNS = 48, 1.2, 0.84, 3.0
WINDOW_TURNS = 3  # one in so many turns in which outlines are sought: quarters look alike in any
SAME_PLACE = 0.15  # of its width by which a piece is not moved: outlines tell as well


def lies_by_symmetry(
    samplers: Samplers, pieces: Sequence[Specimen]
) -> dict[int, tuple[np.ndarray, float]]:
    """piece -> ((2,) mm, degrees), of those that lie aside of where they were found: where its top's
    middle lies by the symmetry of its print, where that of most of its kind is symmetric, and how it is
    turned"""
    out: dict[int, tuple[np.ndarray, float]] = {}
    kinds: dict[str, list[int]] = defaultdict(list)
    for n, p in enumerate(pieces):
        size, _, _ = samplers.plan.pieces[p.kind].shape
        if size[0] == size[1]:
            kinds[p.kind].append(n)
    for kind, mine in kinds.items():
        found = [find_symmetry(samplers, pieces[n]) for n in mine]
        if 2 * sum(likeness > SYMMETRIC for likeness, _ in found) <= len(mine):
            continue
        width = samplers.plan.pieces[kind].footprint[0]
        for n, (likeness, top) in zip(mine, found):
            aside = float(np.hypot(*(top - pieces[n].top)))
            if likeness > ONE_SYMMETRIC and aside > SAME_PLACE * width:
                out[n] = top, straighten_edges(samplers, pieces[n], top)
    return out


def find_symmetry(samplers: Samplers, p: Specimen) -> tuple[float, np.ndarray]:
    """(likeness, (2,) mm) of the place near to where a piece was found at which what it would
    bear is most like itself, turned by quarters, and unlike the ground"""
    shape = samplers.plan.pieces[p.kind].shape
    width = min(shape[0])
    side, scale = PIXELS_A_SIDE, PIXELS_A_SIDE / width
    reach = round(ASIDE_REACH * side)
    best = -np.inf, p.top
    for turn in outline_turns(shape)[::WINDOW_TURNS]:
        seen, bare = (
            cut_windows(
                crop_window(c[p.photo], samplers.view, p.top, side + 2 * reach, scale, turn), side
            )
            for c in (samplers.canvases, samplers.grounds)
        )
        likeness = symmetry_of(seen, side) - np.maximum(correlate_pictures(seen, bare), 0)
        best_here = int(likeness.argmax())
        if likeness[best_here] > best[0]:
            aside = (np.array(divmod(best_here, 2 * reach + 1)[::-1]) - reach) / scale
            best = float(likeness[best_here]), p.top + turn_matrix(turn) @ aside
    return best


def cut_windows(picture: np.ndarray, side: int) -> np.ndarray:
    """(places, 3, side^2) what shows at every place of a picture (h, w, 3), each colour about its mean"""
    windows = np.lib.stride_tricks.sliding_window_view(picture, (side, side), (0, 1))
    out = windows.reshape(-1, 3, side * side)
    return out - out.mean(2, keepdims=True)


def straighten_edges(samplers: Samplers, p: Specimen, top: np.ndarray) -> float:
    """Degrees clockwise in which the edges of a square piece about (2,) mm lie along its sides; 0 of a
    disc"""
    size, disc, _ = samplers.plan.pieces[p.kind].shape
    if disc:
        return 0.0
    canvas = samplers.canvases[p.photo]
    side, scale = EDGE_PIXELS, EDGE_PIXELS / (WITH_RIM * size[0])
    rim = int(side * (1 - RIM_FROM / WITH_RIM) / 2)
    strongest = {}
    for turn in np.arange(0, 90, EDGE_TURNS):
        grey = crop_window(canvas, samplers.view, top, side, scale, turn).mean(2)
        slopes = np.gradient(grey)
        along = np.abs([v[rim:-rim].mean(0) for v in (slopes[1], slopes[0].T)])
        strongest[turn] = along[:, :rim].max(1).sum() + along[:, -rim:].max(1).sum()
    return float(max(strongest, key=strongest.get))


def symmetry_of(windows: np.ndarray, side: int) -> np.ndarray:
    """(places,) the mean correlation of windows, as of `cut_windows`, with themselves, turned by quarters"""
    places = np.arange(side * side).reshape(side, side)
    quarter, half = (
        correlate_pictures(windows, windows[:, :, np.rot90(places, q).ravel()]) for q in (1, 2)
    )
    return (2 * quarter + half) / 3


def correlate_pictures(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """(places,) correlations of windows as of `cut_windows`; nearer to 0 where they show hardly any print"""
    products, sizes, others = (
        np.einsum("pcn,pcn->p", u, v) for u, v in ((one, other), (one, one), (other, other))
    )
    return products / (np.sqrt(sizes * others) + FAINT_PRINT * one[0].size)
