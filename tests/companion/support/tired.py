"""Evidence without a camera, as a good or a tired reader would give it."""

import math

from vision.evidence.site_evidence import Evidence, Registration, SiteEvidence


class Reader:
    """Evidence of layouts. unsure: share of sites read with 60 to 90 % only; misread: share read
    wrongly with 97 %."""

    def __init__(self, plan, rng, unsure=0.0, misread=0.0):
        self.plan, self.rng, self.unsure, self.misread = plan, rng, unsure, misread
        self.kinds = {}
        self.misreads = set()

    def read(self, layout, foreign=(), busy=None):
        self.misreads = set()
        for s, c in layout.items():
            self.kinds.setdefault(s, set()).add(tuple(c))
        sites = {
            s: self._site(s, tuple(layout.get(s, ())))
            if s not in foreign
            else SiteEvidence((((), math.log(0.02)),), math.log(0.97))
            for s in self.plan.sites
        }
        return Evidence(sites, Registration("markers", 0.3), busy)

    def _site(self, site, true):
        roll = self.rng.random()
        if roll < self.misread + self.unsure:
            other = self._other(site, true)
            if other is not None:
                if roll < self.misread:
                    self.misreads.add(site)
                    return SiteEvidence(
                        ((other, math.log(0.97)), (true, math.log(0.025))), math.log(0.002)
                    )
                p = self.rng.uniform(0.6, 0.9)
                # honest: now and then the second is the true one
                if self.rng.random() > p / (p + 0.1):
                    true, other = other, true
                return SiteEvidence(
                    ((true, math.log(p)), (other, math.log(0.98 - p))), math.log(0.005)
                )
        return SiteEvidence(((true, math.log(0.998)),), math.log(0.0005))

    def _other(self, site, true):
        """What a site may be taken for: empty, or what other sites that read alike show"""
        alike = sorted(
            {
                c
                for s, cs in self.kinds.items()
                for c in cs
                if self.plan.sites[s].reads == self.plan.sites[site].reads
            }
            | {()}
        )
        alike = [c for c in alike if c != true and len(c) <= len(true) + 1]
        return self.rng.choice(alike) if alike else None
