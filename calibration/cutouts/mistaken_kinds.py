"""Finds the pieces of a heap that were taken for each other, by their signs: a square cut out as a disc lies
aside, and its sign resembles nobody's; kinds of which all lie in one heap are named by colours and prints of
the whole, which tell little. Its value: `find_exchanged`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from itertools import combinations

import numpy as np

from calibration.cutouts.naming import differing_parts
from calibration.cutouts.seek import Samplers
from calibration.cutouts.sign_alignment import (
    SAME_SIGN,
    cut_signs,
    differing_part,
    lay_sign,
)
from calibration.cutouts.specimens import Specimen
from vision.plan import Plan

# of both signs' correlations that exchanging two has to gain: of 188 pieces of a made-up Deluges the four
# that lay so gained 0.25 to 0.54, of 86 of a made-up Nile 0.21 and more, and no others more than 0.12
GAINED = 0.15
RELATIVES_TELLING = 4  # relatives that say how much like theirs a sign is, those most like it

# (piece, kind) -> it, laid as one of that kind, of those kinds of another form that it may be
Candidates = Mapping[tuple[int, str], Specimen]


def find_exchanged(
    samplers: Samplers, heaps: Sequence[int], pieces: Sequence[Specimen], laid: Candidates
) -> list[tuple[int, int]]:
    """Pairs of pieces of one heap of which each bears the other kind's sign, as that kind's relatives in
    other heaps bear it; no piece in two. heaps: (n,) the heap of each"""
    plan, signs = samplers.plan, cut_signs(samplers, pieces)
    anew = dict(zip(laid, cut_signs(samplers, list(laid.values()))))

    @cache
    def compare_signs(ask: tuple[int, str] | int, k: int) -> float:
        """0..1: how much alike a piece's sign, as it lies or laid anew, and the k-th's are"""
        sign = signs[ask] if isinstance(ask, int) else anew[ask]
        return lay_sign(signs[k], sign, k).likeness

    @cache
    def liken_sign(i: int, kind: str, apart: frozenset[int]) -> float | None:
        """0..1: how much a piece's sign is like that of those relatives of a kind that it is most like;
        None where there are none"""
        ask = (i, kind) if (i, kind) in anew else i
        likely = [
            sorted(compare_signs(ask, k) for k in kin)[-RELATIVES_TELLING:]
            for kin in relatives_of(plan, heaps, pieces, i, kind, apart)
        ]
        return max((float(np.median(some)) for some in likely), default=None)

    gained = []
    for i, j in pairs_of_kinds(plan, heaps, pieces, laid):
        one, other = pieces[i].kind, pieces[j].kind
        apart = frozenset(differing_parts(plan.artwork, one, other) or ())
        ways = [(i, other), (j, one)], [(i, one), (j, other)]
        exchanged, kept = ([liken_sign(*ask, apart) for ask in way] for way in ways)
        if None in exchanged + kept or sum(exchanged) < 2 * SAME_SIGN:
            continue
        gained.append((sum(exchanged) - sum(kept), i, j))
    out: list[tuple[int, int]] = []
    for gain, i, j in sorted(gained, reverse=True):
        if gain > GAINED and not {i, j} & {k for pair in out for k in pair}:
            out.append((i, j))
    return out


def pairs_of_kinds(
    plan: Plan, heaps: Sequence[int], pieces: Sequence[Specimen], laid: Candidates
) -> Iterator[tuple[int, int]]:
    """Pairs of pieces of one heap that may be each other's kinds"""
    for i, j in combinations(range(len(pieces)), 2):
        one, other = pieces[i].kind, pieces[j].kind
        alike = plan.pieces[one].shape == plan.pieces[other].shape
        exchangeable = alike or ((i, other) in laid and (j, one) in laid)
        if heaps[i] == heaps[j] and one != other and exchangeable:
            yield i, j


def relatives_of(
    plan: Plan,
    heaps: Sequence[int],
    pieces: Sequence[Specimen],
    i: int,
    kind: str,
    apart: Collection[int],
) -> list[list[int]]:
    """The pieces in other heaps than the i-th's that have a kind's form and are printed as it is but for one
    part, none of those `apart`, by that part: those of its own kind may have been mistaken as well"""
    out: dict[int, list[int]] = defaultdict(list)
    for k, other in enumerate(pieces):
        part = differing_part(plan, kind, other.kind)
        if heaps[k] != heaps[i] and part is not None and part not in apart:
            out[part].append(k)
    return list(out.values())
