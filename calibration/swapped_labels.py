"""Finds pairs of pieces in the samplers that seem to be exchanged: each looks like the other's kind
and not like its own."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import combinations

import cv2
import numpy as np

from calibration.cutouts.outlines import SHADE_WEIGHT
from calibration.cutouts.specimens import Specimen
from vision.plan import Plan

# ratio of a piece's difference from the other's kind to that from its own, below which it counts as
# exchanged: no correctly labelled pair of five copies came below 1
PLAINLY = 0.5
PLAIN_SHARE = 0.8  # least visible share of a piece that is judged
LOOK_SIDE = 20  # side in pixels at which looks are compared
SHIFT = 2  # pixels by which cut-outs may be misaligned
DISC_TURNS = 24  # rotations in which discs are compared; others are compared in four
CLEAR_SHARE = 0.5  # least uncovered share of a look for comparison
# from log B, G, R to brightness and two orthogonal hues, weighted as in `colour_difference`
COUNTING = np.vstack(
    [
        np.full(3, SHADE_WEIGHT**0.5 / 3),
        np.array([1, 0, -1]) / 2**0.5,
        np.array([1, -2, 1]) / 6**0.5,
    ]
)


def small_looks(s: Specimen, disc: bool) -> tuple[np.ndarray, np.ndarray]:
    """((turns, n, n, 3) a look in all possible rotations, as weighted brightness and hues; (turns,
    n, n) how uncovered it is)"""
    seen = np.dstack([s.look @ COUNTING.T, s.clear]).astype(np.float32)
    square = cv2.resize(seen, (LOOK_SIDE, LOOK_SIDE), interpolation=cv2.INTER_AREA)
    if disc:
        middle = (LOOK_SIDE / 2 - 0.5,) * 2
        y, x = np.mgrid[:LOOK_SIDE, :LOOK_SIDE] - middle[0]
        square[..., 3] *= np.hypot(x, y) < LOOK_SIDE / 2 - 0.5
        turns = [
            cv2.warpAffine(
                square,
                cv2.getRotationMatrix2D(middle, 360.0 * k / DISC_TURNS, 1.0),
                square.shape[1::-1],
            )
            for k in range(DISC_TURNS)
        ]
    else:
        long = s.look.shape[0] != s.look.shape[1]
        turns = [np.rot90(square, k) for k in ((0, 2) if long else range(4))]
    out = np.stack(turns)
    return out[..., :3], out[..., 3]


def pairwise_misfits(pieces: Sequence[Specimen], disc: bool) -> np.ndarray:
    """(E, E): the difference between any two pieces of the same footprint at the best rotation and
    shift; infinite to itself, and if too little of both is uncovered"""
    looks, clear = (np.stack(v, 1) for v in zip(*(small_looks(s, disc) for s in pieces)))
    size, n = LOOK_SIDE - 2 * SHIFT, len(pieces)
    middle = np.s_[:, SHIFT : SHIFT + size, SHIFT : SHIFT + size]
    mine, seen = looks[0][middle].reshape(n, -1, 3), clear[0][middle].reshape(n, -1)
    out = np.full((n, n), np.inf)
    for turned, shown in zip(looks, clear):
        for dy, dx in np.ndindex(2 * SHIFT + 1, 2 * SHIFT + 1):
            window = np.s_[:, dy : dy + size, dx : dx + size]
            theirs, both = turned[window].reshape(n, -1, 3), shown[window].reshape(n, -1)
            # the sum of (mine - theirs) squared where both are uncovered
            unlike = (seen * np.square(mine).sum(2)) @ both.T
            unlike += seen @ (both * np.square(theirs).sum(2)).T
            for k in range(3):
                unlike -= 2 * (seen * mine[..., k]) @ (both * theirs[..., k]).T
            weight = seen @ both.T
            enough = weight >= CLEAR_SHARE * size**2 * (0.785 if disc else 1.0)
            misfit = np.sqrt(unlike.clip(0) / np.maximum(weight, 1e-6))
            out = np.where(enough, np.minimum(out, misfit), out)
    np.fill_diagonal(out, np.inf)
    return out


def misfit_ratio(misfit: np.ndarray, kinds: Sequence[str], i: int, other: int) -> float:
    """How much less the i-th piece differs from the kind of another than from its own, neither of
    them counted in; NaN if nothing can be compared. misfit: as of `pairwise_misfits`"""

    def least_of(kind: str) -> float:
        fits = [misfit[i, j] for j, k in enumerate(kinds) if k == kind and j != other]
        return min((v for v in fits if np.isfinite(v)), default=np.nan)

    return least_of(kinds[other]) / least_of(kinds[i])


def find_swapped(plan: Plan, cut: Sequence[Specimen]) -> list[tuple[Specimen, Specimen]]:
    """Pairs of pieces in one photo, each of which looks far more like the other's kind than like
    its own. If a kind is shown too seldom to tell which pair it was, all possible pairs."""
    same = defaultdict(list)
    for s in cut:
        if s.clear.mean() < PLAIN_SHARE:
            continue
        piece = plan.pieces[s.kind]
        same[piece.footprint, piece.disc, s.look.shape].append(s)
    out: list[tuple[Specimen, Specimen]] = []
    for (_, disc, _), pieces in same.items():
        kinds = [s.kind for s in pieces]
        if len(set(kinds)) < 2:
            continue
        misfit, found = pairwise_misfits(pieces, disc), []
        for i, k in combinations(range(len(pieces)), 2):
            if pieces[i].photo == pieces[k].photo and kinds[i] != kinds[k]:
                unlike = np.maximum(
                    misfit_ratio(misfit, kinds, i, k), misfit_ratio(misfit, kinds, k, i)
                )
                if unlike < PLAINLY:
                    found.append((unlike, pieces[i], pieces[k]))
        plain = min((f[0] for f in found), default=0.0)
        out += [
            (a, b)
            for unlike, a, b in sorted(found, key=lambda f: f[0])
            if unlike < 2 * plain + 0.02
        ]
    return out
