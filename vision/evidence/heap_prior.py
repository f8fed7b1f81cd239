"""Whether pieces that lie together on a site are of one kind, as the calibration photos show it.
Its value: HeapPrior."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping

import msgspec
import numpy as np

from vision.evidence.site_evidence import FLOOR, Contents, CountedEvidence, SiteEvidence
from vision.plan import Plan


class HeapPrior(msgspec.Struct, frozen=True):
    """unlikely: (kinds as large as each other, natural logarithm of how much less likely a site
    shows several of them than one kind alone, where two or more pieces lie)"""

    unlikely: tuple[tuple[tuple[str, ...], float], ...] = ()

    @classmethod
    def of(cls, plan: Plan, layouts: Iterable[Mapping[str, Contents]]) -> HeapPrior:
        """From what lies where in photos. After n heaps of one kind the next is taken to be mixed
        once in n + 2 times (Laplace's rule); where mixed heaps are usual nothing is told"""
        sizes: dict[tuple, list[str]] = defaultdict(list)
        for p in plan.piece:
            sizes[p.footprint, p.disc, p.height].append(p.kind)
        layouts = list(layouts)
        out = []
        for kinds in sizes.values():
            heaps = [
                set(mine)
                for layout in layouts
                for site, contents in layout.items()
                if plan.sites[site].reads == "cluster"
                for mine in [[k for k in contents if k in kinds]]
                if len(mine) > 1
            ]
            mixed = sum(len(h) > 1 for h in heaps)
            odds = (mixed + 1) / (len(heaps) - mixed + 1)
            if odds < 1:
                out.append((tuple(kinds), math.log(odds)))
        return cls(tuple(out))

    def weigh_sites(self, sites: Mapping[str, SiteEvidence]) -> dict[str, SiteEvidence]:
        """The same evidence, mixed heaps as much less likely as they are unusual"""
        if not self.unlikely:
            return dict(sites)
        return {
            s: self.weigh_options(e) if isinstance(e, CountedEvidence) else e
            for s, e in sites.items()
        }

    def weigh_options(self, e: CountedEvidence) -> CountedEvidence:
        """The same for one site; its probabilities add up to what they did"""
        against = [self.log_prior(contents) for contents, _ in e.options]
        if not any(against):
            return e
        before = [p for _, p in e.options]
        logs = [p + a for p, a in zip(before, against)]
        total = np.logaddexp.reduce
        gain = float(total([*before, e.other]) - total([*logs, e.other]))
        options = [(c, max(p + gain, FLOOR)) for (c, _), p in zip(e.options, logs)]
        return msgspec.structs.replace(
            e,
            options=tuple(sorted(options, key=lambda o: -o[1])),
            other=max(e.other + gain, FLOOR),
        )

    def log_prior(self, contents: Contents) -> float:
        """Natural logarithm of how much less likely these contents are for what they mix"""
        return sum(
            less for kinds, less in self.unlikely if len({k for k in contents if k in kinds}) > 1
        )
