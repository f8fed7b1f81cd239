"""Samplers that people lay by hand: every kind often enough, and not a piece more."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

from companion.simulate.copies import art_for
from companion.simulate.samples import Layout, another, samplers
from vision.plan import Plan

EACH, ROUNDS = 3, 2      # so often each kind, in so many photos
FEWEST = 16              # pieces in all, where there are few kinds: two stones of a colour show little of how stones lie and shine


def lean_samplers(plan: Plan, seed: int = 1) -> list[Layout]:
    """Layouts for a person to lay; the same seed gives the same ones. What may lie where is the game's `[[lie]]`."""
    rng = random.Random(seed)
    each = max(EACH, -(-FEWEST // len(plan.piece)))
    layouts = samplers(plan, art_for(plan).data.get("lie", ()), rng, photos=ROUNDS, each=each, sides=True)
    shown = Counter(k for layout in layouts for c in layout.values() for k in c)
    spanning = {k for k, p in plan.pieces.items() if p.spans}
    for layout in layouts:
        # Large heaps first: the more of them go, the less there is to lay. What a spanning piece lies on must stay.
        if any(k in spanning for c in layout.values() for k in c):
            kept = {k for p in plan.piece if p.spans for k in [p.over]}
        else:
            kept = set()
        here = Counter(k for c in layout.values() for k in c)
        # ... and among heaps alike any, so that what stays is spread over the board: pieces lean and shine otherwise elsewhere
        for site in sorted(rng.sample(sorted(layout), len(layout)), key=lambda s: -len(layout[s])):
            there = Counter(layout[site])
            # a kind stays in each photo that shows it: seen in two lights it is learnt better, and can be tried on the other
            if all(k not in spanning and k not in kept and shown[k] - n >= each and here[k] > n for k, n in there.items()):
                shown -= there
                here -= there
                del layout[site]
    return layouts


def one_more(plan: Plan, kinds: Sequence[str], before: Sequence[Layout]) -> Layout:
    """A layout that shows these kinds again, and little else; before: what the photos so far show"""
    return another(plan, art_for(plan).data.get("lie", ()), random.Random(len(before)), kinds, before, EACH)
