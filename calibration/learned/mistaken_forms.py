"""Finds the pieces of a heap that were taken for each other's forms: a square cut out as a disc lies aside,
and its sign resembles nobody's. Its value: `find_exchanged`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np

from calibration.learned.naming import differing_parts
from calibration.learned.seek import Samplers
from calibration.learned.sign_alignment import Sign, cut_signs, lay_sign
from calibration.learned.specimens import Specimen
from vision.plan import Plan

# of both signs' correlations that exchanging two has to gain: of 188 pieces of a made-up Deluges the four
# that lay so gained 0.25 to 0.54, and no others more than 0.05
GAINED = 0.15
RELATIVES_TELLING = 4  # relatives that say how much like theirs a sign is, those most like it

Candidates = Mapping[tuple[int, str], Specimen]  # (piece, kind) -> it, laid as one of that kind


def find_exchanged(
    samplers: Samplers, heaps: Sequence[int], pieces: Sequence[Specimen], laid: Candidates
) -> list[tuple[int, int]]:
    """Pairs of pieces of one heap and of different forms of which each bears the other kind's sign, as
    that kind's relatives in other heaps bear it; no piece in two. heaps: (n,) the heap of each"""
    pairs = list(pairs_of_forms(samplers.plan, heaps, pieces, laid))
    asked = {
        (k, kind) for i, j in pairs for k in (i, j) for kind in (pieces[i].kind, pieces[j].kind)
    }
    signs = cut_signs(samplers, pieces)
    known = {
        (k, kind): liken_sign(sign, relatives_of(samplers.plan, heaps, pieces, k, kind), signs)
        for (k, kind), sign in zip(asked, cut_signs(samplers, [laid[a] for a in asked]))
    }
    gained = []
    for i, j in pairs:
        one, other = pieces[i].kind, pieces[j].kind
        exchanged, kept = known[i, other] + known[j, one], known[i, one] + known[j, other]
        gained.append((exchanged - kept, i, j))
    out: list[tuple[int, int]] = []
    for gain, i, j in sorted(gained, reverse=True):
        if gain > GAINED and not {i, j} & {k for pair in out for k in pair}:
            out.append((i, j))
    return out


def pairs_of_forms(
    plan: Plan, heaps: Sequence[int], pieces: Sequence[Specimen], laid: Candidates
) -> Iterator[tuple[int, int]]:
    """Pairs of pieces of one heap and of different forms that may be each other's kinds, if those have
    relatives in other heaps"""
    for i, j in combinations(range(len(pieces)), 2):
        kinds = pieces[i].kind, pieces[j].kind
        if (
            heaps[i] == heaps[j]
            and plan.pieces[kinds[0]].shape != plan.pieces[kinds[1]].shape
            and all((k, kind) in laid for k in (i, j) for kind in kinds)
            and all(relatives_of(plan, heaps, pieces, i, kind) for kind in kinds)
        ):
            yield i, j


def relatives_of(
    plan: Plan, heaps: Sequence[int], pieces: Sequence[Specimen], i: int, kind: str
) -> list[list[int]]:
    """The pieces in other heaps than the i-th's that have a kind's form and are printed as it is but for one
    part, by that part: those of its own kind may have been mistaken as well"""
    out: dict[int, list[int]] = defaultdict(list)
    for k, other in enumerate(pieces):
        apart = differing_parts(plan.artwork, kind, other.kind) or ()
        alike = plan.pieces[other.kind].shape == plan.pieces[kind].shape
        if heaps[k] != heaps[i] and alike and len(apart) == 1:
            out[next(iter(apart))].append(k)
    return list(out.values())


def liken_sign(sign: Sign, relatives: Sequence[Sequence[int]], signs: Sequence[Sign]) -> float:
    """0..1: how much a sign is like that of those relatives that it is most like"""
    likely = [sorted(lay_sign(signs[k], sign, k).likeness for k in kin) for kin in relatives]
    return max(float(np.median(each[-RELATIVES_TELLING:])) for each in likely)
