"""Possible contents and piece counts, with probabilities, of a site that may hold several
pieces."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from vision.evidence.site_evidence import FLOOR

RAREST = 1e-4  # less probable contents of a site are dropped
WIDTH = 24  # beam width: contents kept at a time
UNSEEN_CHANCE = 0.002  # probability that a site holds a piece that was not seen at all

Option = dict[str, float]


def best_options(below: Option, found: Sequence[Option]) -> list[tuple[tuple[str, ...], float]]:
    """(contents, probability), best first, of everything that is not too improbable"""
    beam: dict[tuple[str, tuple[str, ...]], float] = {
        (k, ()): p for k, p in below.items() if p > RAREST
    }
    for choice in found:
        grown: dict[tuple[str, tuple[str, ...]], float] = {}
        for (first, loose), p in beam.items():
            for kind, q in choice.items():
                if p * q > RAREST:
                    key = first, tuple(sorted((*loose, kind))) if kind else loose
                    grown[key] = grown.get(key, 0.0) + p * q
        beam = dict(sorted(grown.items(), key=lambda kv: -kv[1])[:WIDTH]) or beam
    out = [(((first,) if first else ()) + loose, min(p, 1.0)) for (first, loose), p in beam.items()]
    return sorted(out, key=lambda o: -o[1])


def count_distributions(
    found: Sequence[Option], kinds: Iterable[str] = ()
) -> dict[str, tuple[float, ...]]:
    """kind -> log-probabilities of 0, 1, 2 ... pieces, including the chance of unseen ones"""
    unseen = np.array([1.0, UNSEEN_CHANCE, UNSEEN_CHANCE**2])
    unseen /= unseen.sum()
    tables: dict[str, np.ndarray] = {}
    for choice in found:
        for kind, p in choice.items():
            if kind:
                tables[kind] = np.convolve(tables.get(kind, np.ones(1)), (1 - p, p))
    return dict.fromkeys(kinds, bounded_logs(unseen)) | {
        k: bounded_logs(np.convolve(t, unseen)) for k, t in tables.items()
    }


def bounded_logs(table: np.ndarray) -> tuple[float, ...]:
    """Natural logarithms of a table of probabilities, none below FLOOR."""
    return tuple(max(math.log(max(v, 1e-9)), FLOOR) for v in table)
