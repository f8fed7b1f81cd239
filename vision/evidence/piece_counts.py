"""No more of a kind lies about than the box holds (a plan's piece counts): what one site shows,
another cannot show too."""

from __future__ import annotations

import math
from collections.abc import Mapping

import msgspec
import numpy as np

from vision.evidence.site_evidence import FLOOR, CountedEvidence, SiteEvidence
from vision.plan import Plan

# probability, for each piece of a kind, that the box holds one more than the plan says: of photos
# that show all twenty cubes of one of Ur's colours, one in ten shows a twenty-first
SPARE = 5e-3
NEGLIGIBLE = 1e-5  # chance of a kind on a site below which it is left as it is
MATTERS = 1e-3  # chance of a kind on a site below which the site does not matter to the others
TILTS = np.linspace(0.5, 14, 10)[:, None]  # how steeply to bound the chance that there are too many

Sites = Mapping[str, SiteEvidence]


class KindOptions(msgspec.Struct, frozen=True, eq=False):
    """Options in which a kind lies. site, option: (m,) numbers; pieces: (m,) how many of the kind
    in each, 1 or more."""

    site: np.ndarray
    option: np.ndarray
    pieces: np.ndarray


def apply_piece_counts(plan: Plan, sites: Sites) -> dict[str, SiteEvidence]:
    """The same evidence, given that of each kind no more can lie on these sites together than there
    are (count 0: any number). Sites that are surer of a piece take it from those that are less
    sure."""
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
    """kind -> the options it lies in, for every kind that the plan counts and of which there may
    seem to be more"""
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
    """(n, m): how likely the other sites leave room for 0, 1, 2 ... here, given each site's chances
    (n, m) of so many"""
    some = np.flatnonzero(numbers[:, 0] < 1 - MATTERS)
    n, m = len(some), numbers.shape[1]
    most = n * (m - 1)
    before = np.zeros((n + 1, most + 1))  # chances of so many on the first sites
    room = np.zeros((n + 1, most + m))  # what is left for the last sites when so many are taken
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
    """(n,) log-probabilities of 0, 1, 2 ... with what each gained; what is beyond gains as much as
    the last"""
    weighed = np.array(table) + gain[np.minimum(np.arange(len(table)), len(gain) - 1)]
    return tuple(np.maximum(weighed - np.logaddexp.reduce(weighed), FLOOR).tolist())
