"""Readings of sites with known contents, from photos or synthetic boards. Central value: Trial."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import msgspec

from calibration.copy import Copy
from engine.layout import same_contents
from vision.evidence.site_evidence import Contents, SiteEvidence
from vision.geometry.posed_photo import Shot
from vision.reader import Reader

BINS = (0.0, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999, 1.0001)
# probability of being taken for another kind above which the two count as indistinguishable
ALIKE = 0.25


class Row(msgspec.Struct, frozen=True):
    """One site of one photo: what lies there, what was read, and the evidence. photo, site: "" for
    a synthetic board"""

    photo: str
    site: str
    reads: str
    want: Contents
    seen: SiteEvidence

    @property
    def got(self) -> Contents | None:
        """The contents read; None: something foreign"""
        return None if self.seen.foreign else self.seen.best

    @property
    def right(self) -> bool:
        """Whether the site was read right."""
        return self.got is not None and same_contents(self.want, self.got, self.reads)

    @property
    def sure(self) -> float:
        """The probability of the answer, 0 to 1"""
        best = self.seen.options[0][1] if self.seen.options else -math.inf
        return math.exp(max(best, self.seen.other))

    @property
    def chance(self) -> float:
        """The probability given to the actual contents"""
        meant = (p for c, p in self.seen.options if same_contents(self.want, c, self.reads))
        return math.exp(max(meant, default=-math.inf))


class Trial(msgspec.Struct, frozen=True):
    """rows: the sites that were read"""

    rows: list[Row]

    @property
    def right(self) -> int:
        """How many sites were read right."""
        return sum(r.right for r in self.rows)

    def reliability(self) -> list[tuple[float, float, int, int]]:
        """(probability from, to, sites, right among them) for each non-empty bin"""
        counts, _ = reliability_of([(r.sure, r.right) for r in self.rows])
        return [
            (low, min(high, 1.0), n, right)
            for (low, high), (n, right) in zip(zip(BINS, BINS[1:]), counts)
            if n
        ]

    def kinds(self) -> dict[str, tuple[int, int, Counter[str]]]:
        """kind ("" empty) -> (sites that show it, right among them, what it was taken for)"""
        out: dict[str, tuple[int, int, Counter[str]]] = {}
        for r in self.rows:
            for kind in set(r.want) or {""}:
                asked, right, taken = out.get(kind, (0, 0, Counter()))
                if not r.right and (other := taken_for(r.want, r.got, kind)) is not None:
                    taken[other] += 1
                out[kind] = asked + 1, right + r.right, taken
        return out

    def alike(self) -> list[tuple[str, str, float]]:
        """(kind, another, probability of being taken for it) of kinds that this camera cannot tell
        apart"""
        mass: dict[tuple[str, str], float] = {}
        asked: Counter[str] = Counter()
        for r in self.rows:
            asked.update(set(r.want))
            for contents, p in r.seen.options:
                for kind in set(r.want):
                    other = taken_for(r.want, contents, kind)
                    if other and other != "?" and " " not in other:
                        mass[kind, other] = mass.get((kind, other), 0.0) + math.exp(p)
        found = [(a, b, m / asked[a]) for (a, b), m in mass.items() if m / asked[a] > ALIKE]
        return sorted(found, key=lambda f: -f[2])


def reliability_of(judged: Sequence[tuple[float, bool]]) -> tuple[list[tuple[int, int]], float]:
    """(probability given, right) of sites -> sites and right ones in each of BINS, and the expected
    calibration error, 0 to 1"""
    bins = [(0, 0, 0.0) for _ in BINS[:-1]]
    for given, ok in judged:
        n = next(i for i, top in enumerate(BINS[1:]) if given < top)
        bins[n] = bins[n][0] + 1, bins[n][1] + ok, bins[n][2] + given
    error = sum(abs(k - given) for _, k, given in bins) / max(len(judged), 1)
    return [(n, k) for n, k, _ in bins], error


def taken_for(want: Contents, got: Contents | None, kind: str) -> str | None:
    """What `kind` was taken for: another kind, "" for nothing, "?" for something foreign, itself
    and more; None if it was not misread"""
    if got is None:
        return "?"
    missing, extra = Counter(want) - Counter(got), Counter(got) - Counter(want)
    if not kind:
        return " ".join(got)
    if not missing[kind]:
        return f"itself and {' '.join(extra)}" if extra and not missing else None
    return next(iter(extra)) if extra else ""


def kinds_shown(shots: list[Shot], copy: Copy) -> set[str]:
    """The kinds that these photos show, with those that look like them."""
    kinds = {k for s in shots for contents in s.layout.values() for k in contents if k != "?"}
    return kinds | {looks for k in kinds if (looks := copy.plan.pieces[k].looks)}


def read_all(reader: Reader, shots: list[Shot], copy: Copy, known: set[str]) -> list[Row]:
    """Readings of every site in these photos that shows only known kinds"""
    rows = []
    for shot in shots:
        found = reader.read_sites(shot.image, shot.pose)
        for site in copy.plan.site:
            want = tuple(shot.layout.get(site.id, ()))
            if not site.optional and site.id in found and all(k in known or k == "?" for k in want):
                rows.append(Row(shot.name, site.id, site.reads, want, found[site.id]))
    return rows


def own_photos_trial(copy: Copy, reader: Reader, shots: list[Shot]) -> Trial:
    """A trial on the photos a reader was trained on: kinds confused even there are hopeless"""
    return Trial(read_all(reader, shots, copy, kinds_shown(shots, copy)))
