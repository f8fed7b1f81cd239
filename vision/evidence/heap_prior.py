"""Whether pieces that lie together on a site are of one kind, as the calibration photos show it.
Its value: HeapPrior."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping

import msgspec
import numpy as np

from vision.evidence.piece_counts import reweighted_evidence
from vision.evidence.site_evidence import Contents, CountedEvidence, SiteEvidence
from vision.plan import Plan


class HeapPrior(msgspec.Struct, frozen=True):
    """unlikely: (kinds as large as each other, natural logarithm of how much less likely a site
    shows several of them than one kind alone, where two or more pieces lie)"""

    unlikely: tuple[tuple[tuple[str, ...], float], ...] = ()

    @classmethod
    def of(cls, plan: Plan, layouts: Iterable[Mapping[str, Contents]]) -> HeapPrior:
        """From what lies where in photos. After n heaps of one kind the next is taken to be mixed
        once in n + 2 times (Laplace's rule); where mixed heaps are usual nothing is told"""
        alike: dict[tuple, list[str]] = defaultdict(list)
        for p in plan.piece:
            alike[p.shape].append(p.kind)
        laid = [
            contents
            for layout in layouts
            for site, contents in layout.items()
            if plan.sites[site].reads == "cluster"
        ]
        out = []
        for kinds in alike.values():
            heaps = [[k for k in contents if k in kinds] for contents in laid]
            mixed = sum(len(set(h)) > 1 for h in heaps)
            single = sum(len(h) > 1 for h in heaps) - mixed
            if len(kinds) > 1 and mixed < single:
                out.append((tuple(kinds), math.log((mixed + 1) / (single + 1))))
        return cls(tuple(out))

    def weigh_sites(self, sites: Mapping[str, SiteEvidence]) -> dict[str, SiteEvidence]:
        """The same evidence, mixed heaps as much less likely as they are unusual"""
        if not self.unlikely:
            return dict(sites)
        return {
            s: self.weigh_options(e) if isinstance(e, CountedEvidence) else e
            for s, e in sites.items()
        }

    def weigh_options(self, e: CountedEvidence) -> SiteEvidence:
        """The same for one site; its probabilities add up to what they did"""
        against = [self.log_prior(contents) for contents, _ in e.options]
        if not any(against):
            return e
        before = np.array([p for _, p in e.options])
        logs, total = before + against, np.logaddexp.reduce
        gain = total([*before, e.other]) - total([*logs, e.other])
        return reweighted_evidence(e, logs + gain, e.other + gain, {})

    def log_prior(self, contents: Contents) -> float:
        """Natural logarithm of how much less likely these contents are for what they mix"""
        return sum(
            less for kinds, less in self.unlikely if len({k for k in contents if k in kinds}) > 1
        )
