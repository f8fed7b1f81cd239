"""What a picture shows: per site the possible contents with their log-probabilities. No rules, no
decisions."""

from __future__ import annotations

import math
from collections import Counter

import msgspec
import numpy as np

Contents = tuple[str, ...]
FLOOR = math.log(1e-6)


class SiteEvidence(msgspec.Struct, frozen=True):
    """options: (contents, natural log of probability), best first; "?" in contents: hidden under
    another piece.

    other: log-probability of something that is none of the known kinds (a hand, a phone, a cup).
    The probabilities of options and other add up to at most 1; unlisted contents share the rest.
    """

    options: tuple[tuple[Contents, float], ...]
    other: float = FLOOR

    @property
    def best(self) -> Contents:
        """The likeliest contents, () if the site is empty"""
        return self.options[0][0] if self.options else ()

    @property
    def foreign(self) -> bool:
        """Whether something that is not a piece is likelier than any contents"""
        return not self.options or self.other > self.options[0][1]

    @property
    def best_logp(self) -> float:
        """Log-probability of the likeliest contents"""
        return self.options[0][1] if self.options else FLOOR

    def logp(self, contents: Contents, reads: str = "pile") -> float:
        """Log-probability of these contents; FLOOR if they are not listed. Something foreign hides
        what is below it, so all contents get the same share of its probability."""
        p = max((lp for c, lp in self.options if contents_match(c, contents, reads)), default=FLOOR)
        return max(float(np.logaddexp(p, self.other + math.log(0.5))), FLOOR)


# the evidence of a site outside the picture
UNSEEN = SiteEvidence((((), math.log(0.5)),), math.log(0.5))


class CountedEvidence(SiteEvidence, frozen=True):
    """A cluster: the first piece (a tile, a card, None: nothing) and the number of each loose kind,
    as independent factors.

    first: kind or "" -> log-probability; counts: kind -> (n,) log-probabilities of 0, 1, 2 ...
    pieces; pieces: the same for all kinds together, () if unknown: a piece that may be flax or
    grapes is certainly one piece.
    """

    first: dict[str, float] = {}
    counts: dict[str, tuple[float, ...]] = {}
    pieces: tuple[float, ...] = ()

    def logp(self, contents: Contents, reads: str = "cluster") -> float:
        lowest = contents[0] if contents else ""
        # kinds that only lie at the bottom were not counted
        below = lowest if lowest in self.first or lowest not in self.counts else ""
        names = sorted(contents[1:] if below else contents)
        loose = Counter(names)
        p = self.first.get(below, FLOOR) if self.first else (FLOOR if below else 0.0)
        for kind, table in self.counts.items():
            n = loose.pop(kind, 0)
            p += table[n] if n < len(table) else FLOOR
        p += FLOOR * sum(loose.values())
        if self.pieces:
            p = min(p, self.pieces[len(names)] if len(names) < len(self.pieces) else FLOOR)
        told = (below, *names) if below else tuple(names)
        # kinds of the same piece are not independent factors
        p = max([p, *(q for c, q in self.options if c == told)])
        return max(float(np.logaddexp(p, self.other + math.log(0.5))), 3 * FLOOR)


def contents_match(seen: Contents, contents: Contents, reads: str = "pile") -> bool:
    """Whether what was seen can be these contents; "?" stands for anything below the top of a
    pile."""
    if seen == contents:
        return True
    if len(seen) != len(contents) or not seen:
        return False
    if reads == "cluster":
        return Counter(seen) == Counter(contents)
    return seen[-1] == contents[-1] and all(
        a == b or "?" in (a, b) for a, b in zip(seen[:-1], contents[:-1])
    )


class Registration(msgspec.Struct, frozen=True):
    """How the board was found: by "markers", "print", "tiles" or "last" (the previous pose still
    holds); error in pixels; maybe_turned: the board looks the same when turned, and may be
    turned."""

    by: str
    error_px: float
    maybe_turned: bool = False


class Evidence(msgspec.Struct, frozen=True):
    """One picture's reading. busy: why nothing should be concluded from it ("hand", "moving",
    "dark", "covered"), or None.

    changed: sites read in this picture (the others are copied from the previous one); None: all.
    """

    sites: dict[str, SiteEvidence]
    registration: Registration
    busy: str | None = None
    changed: frozenset[str] | None = None
    ms: float = 0.0

    def layout(self) -> dict[str, Contents]:
        """The likeliest contents of every site that shows any; foreign sites are left out."""
        return {s: e.best for s, e in self.sites.items() if e.best and not e.foreign}

    def unsure(self) -> dict[str, list[tuple[list[str], float]]]:
        """site -> [[contents, probability], ...] for sites where the best is less probable than
        0.9"""
        return {
            s: [(list(c), round(math.exp(p), 4)) for c, p in e.options[:4] if p > math.log(0.005)]
            for s, e in self.sites.items()
            if e.best_logp < math.log(0.9)
        }


class NoBoard(ValueError):
    """The picture does not show the board; the message says why. photo: which of several, counted
    from 0."""

    def __init__(self, why: str, photo: int | None = None) -> None:
        super().__init__(why if photo is None else f"photo {photo + 1}: {why}")
        self.why, self.photo = why, photo
