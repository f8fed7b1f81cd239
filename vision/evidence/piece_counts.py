"""Applies a plan's piece counts: no more pieces of a kind can be on the board than the box holds,
so a piece on one site cannot be on another too."""

from __future__ import annotations

import math
from collections.abc import Mapping

import msgspec
import numpy as np

from vision.evidence.site_evidence import FLOOR, CountedEvidence, SiteEvidence
from vision.plan import Plan

# probability, per piece of a kind, that the box holds one more than the plan says: of photos that
# show all twenty cubes of one of Ur's colours, one in ten shows a twenty-first
SPARE = 5e-3
NEGLIGIBLE = 1e-5  # if a kind is less probable on a site than this, the site is left unchanged
MATTERS = 1e-3  # if a kind is less probable on a site than this, other sites ignore it
TILTS = np.linspace(0.5, 14, 10)[:, None]  # exponents tried in the Chernoff bound

Sites = Mapping[str, SiteEvidence]


class KindOptions(msgspec.Struct, frozen=True, eq=False):
    """The options that contain a kind. site, option: (m,) indices; pieces: (m,) how many of the
    kind in each, 1 or more."""

    site: np.ndarray
    option: np.ndarray
    pieces: np.ndarray


def apply_piece_counts(plan: Plan, sites: Sites) -> dict[str, SiteEvidence]:
    """The same evidence, given that these sites together cannot hold more of a kind than there are
    (count 0: any number). Sites that are surer of a piece take it from less sure ones."""
    names = list(sites)
    logs = np.full((len(names), max((len(e.options) for e in sites.values()), default=0)), -np.inf)
    for row, e in zip(logs, sites.values()):
        row[: len(e.options)] = [p for _, p in e.options]
    other = np.array([e.other for e in sites.values()])
    counts: dict[int, dict[str, np.ndarray]] = {}
    for kind, told in kind_options(plan, sites).items():
        rows, at = np.unique(told.site, return_inverse=True)
        numbers = np.zeros((len(rows), told.pieces.max() + 1))
        np.add.at(numbers, (at, told.pieces), np.exp(logs[told.site, told.option]))
        numbers[:, 0] = np.maximum(1 - numbers.sum(1), 0)
        if not may_exceed(numbers, plan.pieces[kind].count):
            continue
        gain = np.log(np.maximum(factors_of(numbers, plan.pieces[kind].count), 1e-12))
        gain -= gain[:, :1]
        whole = np.log((numbers * np.exp(gain)).sum(1) / numbers.sum(1))
        logs[told.site, told.option] += gain[at, told.pieces]
        logs[rows] -= whole[:, None]
        other[rows] -= whole
        for row, g in zip(rows.tolist(), gain):
            counts.setdefault(row, {})[kind] = g
    return dict(sites) | {
        names[row]: reweighted_evidence(sites[names[row]], logs[row], other[row], gains)
        for row, gains in counts.items()
    }


def kind_options(plan: Plan, sites: Sites) -> dict[str, KindOptions]:
    """kind -> the options that contain it, for every counted kind of which there may seem to be too
    many"""
    least = math.log(NEGLIGIBLE)
    found: dict[str, list[tuple[int, int, int]]] = {}
    counted = {kind for kind, piece in plan.pieces.items() if piece.count > 0}
    for row, e in enumerate(sites.values()):
        for option, (contents, p) in enumerate(e.options):
            if p > least and contents:
                for kind in dict.fromkeys(contents):
                    if kind in counted:
                        found.setdefault(kind, []).append((row, option, contents.count(kind)))
    return {
        kind: KindOptions(*np.array(lines).T)
        for kind, lines in found.items()
        if sum(n for *_, n in lines) > plan.pieces[kind].count
    }


def may_exceed(numbers: np.ndarray, count: int) -> bool:
    """Whether more than `count` pieces can lie on sites with these chances (n, m) of 0, 1, 2 ... (a
    Chernoff bound)"""
    tilted = np.log(np.exp(TILTS * np.arange(numbers.shape[1])) @ numbers.T).sum(1)
    return bool((tilted - TILTS[:, 0] * (count + 1)).min() > math.log(NEGLIGIBLE / 10))


def factors_of(numbers: np.ndarray, count: int) -> np.ndarray:
    """(n, m): the probability that the other sites leave 0, 1, 2 ... pieces for this one, given
    each site's probabilities (n, m) of these numbers"""
    some = np.flatnonzero(numbers[:, 0] < 1 - MATTERS)
    n, m = len(some), numbers.shape[1]
    most = n * (m - 1)
    before = np.zeros((n + 1, most + 1))  # probabilities of each total on the first sites
    room = np.zeros((n + 1, most + m))  # what is left for the last sites for each total taken
    before[0, 0] = 1
    room[n] = min(SPARE * count, 0.5) ** np.maximum(np.arange(most + m) - count, 0)
    for i, site in enumerate(some):
        for k, p in enumerate(numbers[site]):
            before[i + 1, k:] += p * before[i, : most + 1 - k]
    for i in range(n - 1, -1, -1):
        for k, p in enumerate(numbers[some[i]]):
            room[i, : most + m - k] += p * room[i + 1, k:]
    out = np.empty_like(numbers)
    out[:] = room[0, :m]
    for k in range(m):
        out[some, k] = (before[:-1] * room[1:, k : k + most + 1]).sum(1)
    return out


def reweighted_evidence(
    e: SiteEvidence, logs: np.ndarray, other: float, gains: Mapping[str, np.ndarray]
) -> SiteEvidence:
    """Evidence with new log-probabilities of its options and of something else; gains: kind -> (m,)
    by how much 0, 1, 2 ... pieces became likelier"""
    options = [(contents, max(p, FLOOR)) for (contents, _), p in zip(e.options, logs.tolist())]
    changes = {
        "options": tuple(sorted(options, key=lambda o: -o[1])),
        "other": max(float(other), FLOOR),
    }
    if isinstance(e, CountedEvidence):
        changes["counts"] = e.counts | {
            kind: reweighted_counts(e.counts[kind], g)
            for kind, g in gains.items()
            if kind in e.counts
        }
    return msgspec.structs.replace(e, **changes)


def reweighted_counts(table: tuple[float, ...], gain: np.ndarray) -> tuple[float, ...]:
    """(n,) log-probabilities of 0, 1, 2 ... plus their gains; entries beyond the gains get the last
    one"""
    weighed = np.array(table) + gain[np.minimum(np.arange(len(table)), len(gain) - 1)]
    return tuple(np.maximum(weighed - np.logaddexp.reduce(weighed), FLOOR).tolist())
