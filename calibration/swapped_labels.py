"""Which of the samplers' pieces look as if two had changed places: each fits the other's kind and
not its own."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from vision.readers.pile.exemplar import Exemplar
from vision.readers.pile.fine_match import ONE, Fine, Rings, cut_field

# of its misfit with its own kind, that it must have with the other's; kinds that are alike come
# down to 0.64
PLAINLY = 0.4


def pairwise_misfits(pieces: list[Exemplar]) -> np.ndarray:
    """(E, E): how badly each cut-out fits on each other of the same footprint, as it fits best;
    infinite on itself"""
    rings, fine, n = Rings.fit(pieces), Fine.fit(pieces, 8, 1.0), len(pieces)
    out = np.empty((n, n))
    site, every = np.zeros(n, int), np.arange(n)
    for i, e in enumerate(pieces):
        field = cut_field(e)
        _, turns = rings.best(field, ONE, np.zeros((1, 2)))
        middle, turn = fine.refine(field, site, every, np.zeros((n, 2)), turns[0])
        out[i] = fine.misfit(field, site, every, middle, turn)
    np.fill_diagonal(out, np.inf)
    return out


def find_swapped(cut: Sequence[Exemplar]) -> list[tuple[Exemplar, Exemplar]]:
    """Pairs of pieces in one photo of which each fits others of the other's kind far better than
    others of its own. Where a kind is shown too seldom to tell in which photo it was, each pair
    that it may have been."""
    same = defaultdict(list)
    for e in cut:
        if not e.borrowed:
            same[e.size, e.disc].append(e)
    out: list[tuple[Exemplar, Exemplar]] = []
    for pieces in same.values():
        kinds = [e.contents for e in pieces]
        if len(set(kinds)) < 2:
            continue
        misfit, found = pairwise_misfits(pieces), []

        def fit(
            i: int,
            kind: tuple[str, ...],
            but: int,
            misfit: np.ndarray = misfit,
            kinds: list = kinds,
        ) -> float:
            return min(
                (misfit[i, j] for j, k in enumerate(kinds) if k == kind and j != but),
                default=np.nan,
            )

        for i, a in enumerate(pieces):
            for k, b in enumerate(pieces[i + 1 :], i + 1):
                if a.photo == b.photo and kinds[i] != kinds[k]:
                    unlike = [
                        fit(i, kinds[k], k) / fit(i, kinds[i], k),
                        fit(k, kinds[i], i) / fit(k, kinds[k], i),
                    ]
                    # no number, where one is the only one of its kind: nothing is told
                    if np.max(unlike) < PLAINLY:
                        found.append((np.max(unlike), a, b))
        plain = min((f[0] for f in found), default=0.0)
        out += [
            (a, b)
            for unlike, a, b in sorted(found, key=lambda f: f[0])
            if unlike < 2 * plain + 0.02
        ]
    return out
