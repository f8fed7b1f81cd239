"""From pieces found to honest evidence: how surely each is there, what it is, and on which side of
a line it stands."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from vision.evidence.count_options import Option, best_options, count_distributions
from vision.evidence.site_evidence import FLOOR, CountedEvidence
from vision.readers.loose.pieces.fit import Piece
from vision.readers.loose.pieces.fit_statistics import UNTOLD, Habits

TELLING = 0.05  # nats that a mm² of squared, weighted grey levels tells between two kinds
TELLING_FIRST = 0.1  # of the log-likelihoods of cards: neighbouring pixels say much the same
EDGE = 1.0  # mm by which a foot may be misplaced
KEEP = 8
SUREST = 0.9995
# blocks as likely there as not that together are as likely something foreign; how sharply so
DOUBTS, DOUBT = 1.3, 0.15

ANY = "any"  # whatever it is


def kinds_of(p: Piece) -> Option:
    """kind -> probability, if the piece is there"""
    score = TELLING * (p.gains - p.gains.max())
    w = np.exp(score)
    w /= w.sum()
    return {k: float(v) for k, v in zip(p.kinds, w) if v > 1e-6}


def shares_of(depths: Mapping[str, float]) -> Option:
    """site -> probability that a foot lies in it; depths: how many mm it lies inside each site near
    by (negative: outside)"""
    w = {s: 0.5 * (1 + math.erf(d / EDGE / math.sqrt(2))) for s, d in depths.items()}
    total = sum(w.values())
    if total < 1e-3:  # outside of all: the nearest has it
        return {max(depths, key=depths.get): 1.0} if depths else {}
    return {
        s: v / max(total, 1.0) if total > 1 else v + (1 - total) * (s == max(w, key=w.get))
        for s, v in w.items()
    }


def patched(pieces: Sequence[tuple[Piece, float]]) -> float:
    """Probability that blocks taken for some of the known pieces are patches of something else: one
    may be in doubt, several in the same place are not"""
    doubts = sum(
        4 * c * (1 - c)
        for p, here in pieces
        if p.framed is not None
        for c in [p.chance * here]
        if here > 0.5
    )
    return 1 / (1 + math.exp(min((DOUBTS - doubts) / DOUBT, 30)))


def evidence_of(
    first: Mapping[str, float],
    pieces: Sequence[tuple[Piece, float]],
    other: float,
    kinds: Iterable[str] = (),
    usual: Habits = UNTOLD,
) -> CountedEvidence:
    """first: kind or "" -> log-likelihood of what lies below, empty where no card can lie; pieces:
    with the probability that each stands here; other: probability that something foreign does;
    kinds: all that may lie here, found or not;
    usual: how pieces fit in this picture."""
    below = {k: TELLING_FIRST * v for k, v in first.items()}
    total = float(np.logaddexp.reduce(list(below.values()))) if below else 0.0
    below = {k: v - total for k, v in below.items()}
    found = []
    for p, here in pieces:
        there = min(p.chance, SUREST) * here
        choice = {k: v * there for k, v in kinds_of(p).items()}
        choice[""] = 1 - there
        found.append(choice)
    options = best_options({k: math.exp(v) for k, v in below.items()} or {"": 1.0}, found)
    other = usual.foreign(pieces, other)
    rest = math.log(max(1 - other, 1e-6))
    return CountedEvidence(
        tuple((c, max(math.log(p) + rest, FLOOR)) for c, p in options[:KEEP]),
        max(math.log(max(other, 1e-9)), FLOOR),
        {k: max(v, FLOOR) for k, v in below.items()},
        count_distributions(found, kinds),
        count_distributions([{ANY: 1 - c[""]} for c in found], (ANY,))[ANY],
    )
