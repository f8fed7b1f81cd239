"""How a copy's photos are read by a reader that has not seen them. Its value: Trial."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec

from calibration.copy import Copy
from calibration.readers.reader_fit import fit_reader_without_network
from engine.layout import same_contents
from vision.evidence.site_evidence import Contents, SiteEvidence
from vision.evidence.temperature_scaling import TemperatureScaling, fit_temperature
from vision.geometry.posed_photo import Shot
from vision.reader import Reader
from vision.registration.registrar import Registrar

BINS = (0.0, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999, 1.0001)
EFFORT = 0.25  # of a fit that nobody plays with: calibrating must stay quick
# chance of being taken for another kind, beyond which a camera cannot tell the two apart
ALIKE = 0.25


class Row(msgspec.Struct, frozen=True):
    """One site of one photo: what lies there, what was read, and the evidence."""

    photo: str
    site: str
    reads: str
    want: Contents
    seen: SiteEvidence

    @property
    def got(self) -> Contents | None:
        """What is read; None: something foreign"""
        return None if self.seen.foreign else self.seen.best

    @property
    def right(self) -> bool:
        """Whether the site was read right."""
        return self.got is not None and same_contents(self.want, self.got, self.reads)

    @property
    def sure(self) -> float:
        """The probability that the answer is given, 0 to 1"""
        best = self.seen.options[0][1] if self.seen.options else -math.inf
        return math.exp(max(best, self.seen.other))

    @property
    def chance(self) -> float:
        """The probability given to what lies there"""
        return math.exp(
            max(
                (p for c, p in self.seen.options if same_contents(self.want, c, self.reads)),
                default=-math.inf,
            )
        )


class Trial(msgspec.Struct, frozen=True):
    """photos: those read; rows: their sites; unasked: kinds that only the photos read show, so
    nothing could be told."""

    photos: list[str]
    rows: list[Row]
    unasked: list[str]

    @property
    def right(self) -> int:
        """How many sites were read right."""
        return sum(r.right for r in self.rows)

    def tempers(self) -> dict[str, TemperatureScaling]:
        """How the evidence of each way of reading is to be taken, so that it means what it says"""
        ways = {r.reads for r in self.rows}
        return {
            w: fit_temperature([(r.seen, r.want, r.reads) for r in self.rows if r.reads == w])
            for w in sorted(ways)
        }

    def tempered(self, tempers: Mapping[str, TemperatureScaling]) -> Trial:
        """The same photos as they would be read with these"""
        rows = [
            msgspec.structs.replace(r, seen=tempers[r.reads].applied(r.seen))
            if r.reads in tempers
            else r
            for r in self.rows
        ]
        return msgspec.structs.replace(self, rows=rows)

    def reliability(self) -> list[tuple[float, float, int, int]]:
        """(given from, to, sites, right among them) for each step of probability with a site in
        it"""
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
        """(kind, another, chance of being taken for it) of kinds that this camera cannot tell
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
    return [(n, k) for n, k, _ in bins], sum(abs(k - given) for _, k, given in bins) / max(
        len(judged), 1
    )


def taken_for(want: Contents, got: Contents | None, kind: str) -> str | None:
    """What `kind` was taken for: another kind, "" for nothing, "?" for something foreign, itself
    and more; None when it is not to blame"""
    if got is None:
        return "?"
    missing, extra = Counter(want) - Counter(got), Counter(got) - Counter(want)
    if not kind:
        return " ".join(got)
    if not missing[kind]:
        return f"itself and {' '.join(extra)}" if extra and not missing else None
    return next(iter(extra)) if extra else ""


def put_aside(shots: list[Shot], copy: Copy) -> list[Shot]:
    """The sampler whose kinds the others show best, and an empty board where another is left; none
    where one sampler is all"""
    samplers, empties = [s for s in shots if s.layout], [s for s in shots if not s.layout]
    if len(samplers) < 2:
        return []

    def alone(shot: Shot) -> int:
        return len(
            kinds_shown([shot], copy) - kinds_shown([s for s in samplers if s is not shot], copy)
        )

    return [min(reversed(samplers), key=alone)] + (empties[-1:] if len(empties) > 1 else [])


def kinds_shown(shots: list[Shot], copy: Copy) -> set[str]:
    """The kinds that these photos show, with those that look like them."""
    kinds = {k for s in shots for contents in s.layout.values() for k in contents if k != "?"}
    return kinds | {looks for k in kinds if (looks := copy.plan.pieces[k].looks)}


def read_all(reader: Reader, shots: list[Shot], copy: Copy, known: set[str]) -> list[Row]:
    """Every site of these photos that shows nothing but known kinds, as the reader has it"""
    rows = []
    for shot in shots:
        found = reader.read_sites(shot.image, shot.pose)
        for site in copy.plan.site:
            want = tuple(shot.layout.get(site.id, ()))
            if not site.optional and site.id in found and all(k in known or k == "?" for k in want):
                rows.append(Row(shot.name, site.id, site.reads, want, found[site.id]))
    return rows


def own_photos_trial(copy: Copy, reader: Reader, shots: list[Shot]) -> Trial:
    """The photos a reader has learnt from: what it confuses even there, nobody can hope that it
    tells apart"""
    return Trial(
        [s.name for s in shots], read_all(reader, shots, copy, kinds_shown(shots, copy)), []
    )


def held_out_trial(copy: Copy, registrar: Registrar, shots: list[Shot]) -> Trial:
    """Fits a reader without some photos, with less effort, and lets it read these. Where the board
    is in them is taken from the calibration, which saw them. A copy with a single sampler gives an
    empty trial."""
    aside = put_aside(shots, copy)
    rest = [s for s in shots if not any(s is a for a in aside)]
    if not aside:
        return Trial([], [], sorted(kinds_shown(shots, copy)))
    known = kinds_shown(rest, copy)
    rows = read_all(
        fit_reader_without_network(copy.plan, registrar, rest, EFFORT), aside, copy, known
    )
    return Trial([s.name for s in aside], rows, sorted(kinds_shown(aside, copy) - known))
