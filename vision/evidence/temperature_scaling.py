"""Evidence that means what it says: log-probabilities cooled or heated by what photos read unseen
have shown. Its value: TemperatureScaling."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import msgspec
import numpy as np

from vision.evidence.site_evidence import (
    FLOOR,
    Contents,
    CountedEvidence,
    SiteEvidence,
    contents_match,
)

HEATS = 1.1 ** np.arange(-2, 13)
DOUBTS = (0.0003, 0.001, 0.002, 0.004, 0.016, 0.064, 0.25)
# that is kept: who reads unseen photos has learnt from fewer than who is played with
MOST_DOUBT = 0.004
PRIOR_SITES = 20.0  # sites that a reader is taken to have read as it says before any was checked
OTHERS = 10  # contents that share the doubt
LEAST_CHANCE = 1e-4  # probability that anything may have at least


class TemperatureScaling(msgspec.Struct, frozen=True):
    """heat: what log-probabilities are divided by; doubt: probability that a site shows what was
    not considered at all."""

    heat: float = 1.0
    doubt: float = 0.0

    def applied(self, e: SiteEvidence) -> SiteEvidence:
        """The same evidence, meant so"""
        if self == TemperatureScaling() or not e.options:
            return e
        # a handful: without numpy it takes half as long
        told = [p for _, p in e.options] + [e.other]
        rest = max(1 - sum(map(math.exp, told)), 1e-9)
        whole = [p / self.heat for p in (*told, math.log(rest))]
        most = max(whole)
        norm = most + math.log(sum([math.exp(p - most) for p in whole]))
        less = math.log1p(-self.doubt) - norm
        options = tuple(
            [(c, p + less if p + less > FLOOR else FLOOR) for (c, _), p in zip(e.options, whole)]
        )
        changes: dict[str, Any] = {"options": options, "other": max(whole[-2] - norm, FLOOR)}
        if not isinstance(e, CountedEvidence):
            return SiteEvidence(**changes)
        kinds = list(e.first)
        changes["first"] = (
            dict(zip(kinds, scale_logs(tuple(e.first[k] for k in kinds), self.heat)))
            if kinds
            else {}
        )
        share = self.doubt / max(len(e.counts), 1)
        # of most kinds nothing was seen
        anew = {t: blur_counts(scale_logs(t, self.heat), share) for t in set(e.counts.values())}
        changes["counts"] = {k: anew[t] for k, t in e.counts.items()}
        changes["pieces"] = (
            blur_counts(scale_logs(e.pieces, self.heat), self.doubt) if e.pieces else ()
        )
        return msgspec.structs.replace(e, **changes)


@lru_cache(maxsize=512)  # most sites of a board show the same: nothing
def scale_logs(logs: tuple[float, ...], heat: float) -> tuple[float, ...]:
    """Log-probabilities divided by `heat`, adding up to 1 again"""
    out = np.array(logs) / heat
    out -= np.logaddexp.reduce(out)
    return tuple(float(max(p, FLOOR)) for p in out)


@lru_cache(maxsize=512)
def blur_counts(table: tuple[float, ...], doubt: float) -> tuple[float, ...]:
    """Log-probabilities of 0, 1, 2 ... pieces, if any of these numbers may be one off unseen"""
    p = np.exp(table)
    off = np.zeros_like(p)
    off[1:] += p[:-1] / 2
    off[:-1] += p[1:] / 2
    p = (1 - doubt) * p + doubt * off
    return tuple(float(max(v, FLOOR)) for v in np.log(p / p.sum()))


def fit_temperature(seen: Sequence[tuple[SiteEvidence, Contents, str]]) -> TemperatureScaling:
    """The temper that makes what lay there likeliest. seen: (evidence, what lay there, "pile" or
    "cluster"). Much that was not considered at all, for want of photos, is doubt and not heat: else
    all that was read well would be told less surely for it"""
    if not seen:
        return TemperatureScaling()

    def cost(t: TemperatureScaling) -> float:
        lost = 0.0
        for e, want, reads in seen:
            p = sum(math.exp(p) for c, p in t.applied(e).options if contents_match(c, want, reads))
            lost -= math.log(max(p, t.doubt / OTHERS, LEAST_CHANCE))
        return lost + PRIOR_SITES * (math.log(t.heat) ** 2 + t.doubt)

    best = min((TemperatureScaling(float(h), d) for h in HEATS for d in DOUBTS), key=cost)
    return TemperatureScaling(best.heat, min(best.doubt, MOST_DOUBT))
