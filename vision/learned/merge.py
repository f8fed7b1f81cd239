"""Two readers' evidence of a site made one: each is believed as far as its figures say."""

from __future__ import annotations

import math
from collections.abc import Mapping, Set

import numpy as np

from vision.evidence.site_evidence import FLOOR, Contents, CountedEvidence, SiteEvidence

LEAST_HELD = math.log(1e-4)  # what either voice may hold against contents it did not think of
# what the matcher may hold against contents: it misreads one site in fifty where pieces lie loose,
# however sure it is (docs/learned.md)
ERRING = math.log(0.02)
UNTAUGHT = math.log(0.1)  # what the learned voice says of contents it was never taught
VoiceWeights = tuple[float, float]
# of the matcher's and of a wholly trusted network's log-probabilities: docs/learned.md
VOICE_WEIGHTS: VoiceWeights = (0.7, 1.0)
# the same where the network tells a card alone, or all pieces stand: the matcher tells these by their
# colour
CARD_WEIGHTS: VoiceWeights = (0.2, 1.0)
KEPT_CONTENTS = 8
# of a card: a voice that gives it less, as it saw another, says nothing of what would lie on it
DOUBTED_CARD = 0.01


def merge_evidence(
    first: SiteEvidence,
    second: SiteEvidence,
    reads: str,
    taught: frozenset[Contents] | None = None,
    trust: float = 1.0,
    whole: VoiceWeights = VOICE_WEIGHTS,
    kinds: Set[str] | None = None,
) -> SiteEvidence:
    """The product of two voices' probabilities, made to add up to 1.

    first: the matcher's; second: the network's, without options where it tells nothing but the
    card; taught: the contents it knows (None: any); trust: 0 to 1, how far it is believed; whole:
    the voices' weights where it is wholly; kinds: the kinds that it knows there (None: any)"""
    weights = 1 - (1 - whole[0]) * trust, whole[1] * trust
    if (
        isinstance(first, CountedEvidence)
        and isinstance(second, CountedEvidence)
        and first.options
        and not second.options
    ):
        return merge_card(first, second, weights)
    contents = list(
        dict.fromkeys([*(c for c, _ in first.options), *(c for c, _ in second.options)])
    )
    if not contents:
        return first
    logs = [
        weigh_both(
            voice_logp(first, c, reads),
            voice_logp(second, c, reads)
            if (taught is None or c in taught) and (kinds is None or kinds.issuperset(c))
            else UNTAUGHT,
            weights,
        )
        for c in contents
    ]
    other = weigh_both(first.other, second.other, weights, LEAST_HELD)
    total = float(np.logaddexp.reduce([*logs, other]))
    order = sorted(range(len(contents)), key=lambda n: -logs[n])[:KEPT_CONTENTS]
    options = tuple((contents[n], max(logs[n] - total, FLOOR)) for n in order)
    other = max(other - total, FLOOR)
    if not (isinstance(first, CountedEvidence) and isinstance(second, CountedEvidence)):
        return SiteEvidence(options, other)
    counts = {
        k: merge_tables(first.counts.get(k), second.counts.get(k), weights)
        for k in {**first.counts, **second.counts}
    }
    return CountedEvidence(
        options,
        other,
        merge_choices(first.first, second.first, weights),
        counts,
        merge_tables(first.pieces or None, second.pieces or None, weights),
    )


def merge_card(
    first: CountedEvidence, second: CountedEvidence, weights: VoiceWeights
) -> CountedEvidence:
    """The same where the second voice tells the card alone: of what lies on the card the first says
    all, whichever card it be"""
    cards = merge_choices(first.first or {"": 0.0}, second.first, weights)
    rests: dict[str, dict[Contents, float]] = {}
    whole: dict[Contents, float] = {}
    for c, p in first.options:
        card = c[0] if c and c[0] in cards else ""
        rest = c[1:] if card else c
        mine = rests.setdefault(card, {})
        mine[rest] = mine.get(rest, 0.0) + math.exp(p)
        whole[rest] = whole.get(rest, 0.0) + math.exp(p)
    logs: dict[Contents, float] = {}
    for card, p in cards.items():
        likely = rests.get(card, {})
        if sum(likely.values()) < DOUBTED_CARD:
            likely = whole
        total = sum(likely.values())
        for rest, q in likely.items():
            logs[(card, *rest) if card else rest] = p + math.log(q / total)
    other = weigh_both(first.other, second.other, weights, LEAST_HELD)
    here = math.log(max(1 - math.exp(min(other, 0.0)), 1e-9))
    order = sorted(logs, key=lambda c: -logs[c])[:KEPT_CONTENTS]
    return CountedEvidence(
        tuple((c, max(logs[c] + here, FLOOR)) for c in order),
        max(other, FLOOR),
        cards,
        first.counts,
        first.pieces,
    )


def voice_logp(e: SiteEvidence, contents: Contents, reads: str) -> float:
    """Log-probability that one voice gives contents; where it sees something else it says little of
    any"""
    listed = max((p for c, p in e.options if c == contents), default=None)
    return max(e.logp(contents, reads) if listed is None else listed, LEAST_HELD)


def weigh_both(first: float, second: float, weights: VoiceWeights, least: float = ERRING) -> float:
    """The sum of two voices' log-probabilities, as far as each is believed. least: what the
    matcher, the first, may hold against it"""
    return weights[0] * max(first, least) + weights[1] * max(second, LEAST_HELD)


def merge_choices(
    first: Mapping[str, float], second: Mapping[str, float], weights: VoiceWeights = VOICE_WEIGHTS
) -> dict[str, float]:
    """Of one out of several, log-probabilities"""
    if not first or not second:
        return dict(first or second)
    both = {
        k: weigh_both(first.get(k, FLOOR), second.get(k, FLOOR), weights)
        for k in {**first, **second}
    }
    whole = float(np.logaddexp.reduce(list(both.values())))
    return {k: max(v - whole, FLOOR) for k, v in both.items()}


def merge_tables(
    first: tuple[float, ...] | None,
    second: tuple[float, ...] | None,
    weights: VoiceWeights = VOICE_WEIGHTS,
) -> tuple[float, ...]:
    """Log-probabilities of 0, 1, 2 ... pieces"""
    if first is None or second is None:
        return first or second or ()
    n = max(len(first), len(second))
    padded = ((*table, *[FLOOR] * (n - len(table))) for table in (first, second))
    both = np.array([weigh_both(a, b, weights) for a, b in zip(*padded)])
    both -= np.logaddexp.reduce(both)
    return tuple(np.maximum(both, FLOOR).tolist())
