"""No more of a kind lies about than the box holds (a plan's piece counts): what one site shows, another cannot show too."""

from __future__ import annotations

import math
from collections.abc import Mapping

import msgspec
import numpy as np

from vision.evidence import FLOOR, CountedEvidence, SiteEvidence
from vision.plan import Plan

SPARE = 1e-3        # probability that a box holds one more than the plan says
LEAST = 1e-5        # chance of a kind on a site below which the site does not matter to the others

Sites = Mapping[str, SiteEvidence]


def within_box(plan: Plan, sites: Sites) -> dict[str, SiteEvidence]:
    """The same evidence, given that of each kind no more can lie on these sites together than there are (count 0: any
    number). Sites that are surer of a piece take it from those that are less sure."""
    out = dict(sites)
    for kind, held in counts_of(plan, sites).items():
        tables = {s: numbers_of(out[s], kind) for s in held}
        count = plan.pieces[kind].count
        if sum(len(t) - 1 for t in tables.values()) > count:
            for s, factors in zip(tables, factors_of(list(tables.values()), count)):
                out[s] = weighed(out[s], kind, factors)
    return out


def counts_of(plan: Plan, sites: Sites) -> dict[str, list[str]]:
    """kind -> sites that may hold it, for every kind that the plan counts"""
    out: dict[str, list[str]] = {}
    for s, e in sites.items():
        for kind in {k for contents, p in e.options if p > math.log(LEAST) for k in contents}:
            if kind in plan.pieces and plan.pieces[kind].count > 0:
                out.setdefault(kind, []).append(s)
    return out


def numbers_of(e: SiteEvidence, kind: str) -> np.ndarray:
    """(n,) probabilities of 0, 1, 2 ... pieces of a kind; what is not told counts as none"""
    told = [(contents.count(kind), math.exp(p)) for contents, p in e.options if p > math.log(LEAST)]
    out = np.zeros(max(n for n, _ in told) + 1)
    for n, p in told:
        out[n] += p
    out[0] += max(1 - out.sum(), 0.0)
    return out


def factors_of(tables: list[np.ndarray], count: int) -> list[np.ndarray]:
    """Per table, how likely the other sites leave room for 0, 1, 2 ... here"""
    before = [np.ones(1)]
    for t in tables[:-1]:
        before.append(np.convolve(before[-1], t))
    after = [np.ones(1)]
    for t in tables[:0:-1]:
        after.append(np.convolve(after[-1], t))
    out = []
    for t, a, b in zip(tables, before, reversed(after)):
        rest = np.convolve(a, b)
        total = np.arange(len(t))[:, None] + np.arange(len(rest))
        out.append((rest * SPARE ** np.maximum(total - count, 0)).sum(1))
    return out


def weighed(e: SiteEvidence, kind: str, factors: np.ndarray) -> SiteEvidence:
    """Evidence with each number of a kind made so many times likelier, and normalised again"""
    def log_of(n: int) -> float:
        return math.log(max(float(factors[min(n, len(factors) - 1)]), 1e-12))

    options = [(c, p + log_of(c.count(kind))) for c, p in e.options]
    told = sum(math.exp(p) for _, p in e.options)
    rest = max(1 - told, 0.0) * math.exp(log_of(0))
    total = math.log(sum(math.exp(p) for _, p in options) + rest)
    ordered = tuple(sorted(((c, max(p - total, FLOOR)) for c, p in options), key=lambda o: -o[1]))
    changes = {"options": ordered, "other": max(e.other + log_of(0) - total, FLOOR)}
    if isinstance(e, CountedEvidence) and kind in e.counts:
        table = [p + log_of(n) for n, p in enumerate(e.counts[kind])]
        whole = float(np.logaddexp.reduce(table))
        changes["counts"] = {**e.counts, kind: tuple(max(p - whole, FLOOR) for p in table)}
    return msgspec.structs.replace(e, **changes)
