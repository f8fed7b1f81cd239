"""Whether pieces that lie together on a site are of one kind, learnt from the calibration photos.
Central value: HeapPrior."""

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
    """unlikely: (kinds of equal size, log factor by which a heap of two or more pieces that mixes
    them is less likely than one of a single kind)"""

    unlikely: tuple[tuple[tuple[str, ...], float], ...] = ()

    @classmethod
    def of(cls, plan: Plan, layouts: Iterable[Mapping[str, Contents]]) -> HeapPrior:
        """From the layouts of photos. After n unmixed heaps the next one is mixed with probability
        1 / (n + 2) (Laplace's rule of succession); no prior if mixed heaps are common"""
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
        """The same evidence with mixed heaps made less likely"""
        if not self.unlikely:
            return dict(sites)
        return {
            s: self.weigh_options(e) if isinstance(e, CountedEvidence) else e
            for s, e in sites.items()
        }

    def weigh_options(self, e: CountedEvidence) -> SiteEvidence:
        """The same for one site; the sum of its probabilities does not change"""
        against = [self.log_prior(contents) for contents, _ in e.options]
        if not any(against):
            return e
        before = np.array([p for _, p in e.options])
        logs, total = before + against, np.logaddexp.reduce
        gain = total([*before, e.other]) - total([*logs, e.other])
        return reweighted_evidence(e, logs + gain, e.other + gain, {})

    def log_prior(self, contents: Contents) -> float:
        """The log factor by which these contents are less likely because of what they mix"""
        return sum(
            less for kinds, less in self.unlikely if len({k for k in contents if k in kinds}) > 1
        )
