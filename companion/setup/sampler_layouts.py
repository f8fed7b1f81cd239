"""Samplers for people to lay by hand: every kind often enough, without unnecessary pieces."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from itertools import zip_longest
from operator import itemgetter

import numpy as np

from companion.simulate.copies import art_for
from companion.simulate.samples import SampleLayout, another_sampler, full_samplers
from vision.geometry.footprints import has_standing_pieces
from vision.plan import Plan

EACH, ROUNDS = 3, 2  # how often each kind is shown, and in how many photos
# least number of pieces if there are few kinds: two stones of a colour show too little of how
# stones lie and shine
FEWEST = 16
APART = 2.0  # distance, in sites, at which standing pieces do not hide each other


def sampler_layouts(plan: Plan, seed: int = 1) -> list[SampleLayout]:
    """Layouts for a person to lay; the same seed gives the same ones. The game's `[[lie]]` says
    what may lie where."""
    rng = random.Random(seed)
    rules = art_for(plan).data.get("lie", ())
    if not rules and has_standing_pieces(plan):
        return spread_out_layouts(plan, rng)
    each = max(EACH, -(-FEWEST // len(plan.piece)))
    layouts = full_samplers(plan, rules, rng, photos=ROUNDS, each=each, sides=True)
    shown = Counter(k for layout in layouts for c in layout.values() for k in c)
    spanning = {k for k, p in plan.pieces.items() if p.spans}
    here = [Counter(k for c in layout.values() for k in c) for layout in layouts]
    # what such a piece lies on is kept
    kept = [{p.over for p in plan.piece if p.spans} if spanning & set(h) else set() for h in here]
    # Removes large heaps first, since that saves most work; among equal heaps at random, so that
    # the rest is spread over the board, where pieces lean and shine differently. Photos take turns,
    # so that none shows all of a kind and another hardly any.
    orders = [
        [
            (n, site)
            for _, site in sorted(
                ((-len(layout[s]), s) for s in rng.sample(sorted(layout), len(layout))),
                key=itemgetter(0),
            )
        ]
        for n, layout in enumerate(layouts)
    ]
    for n, site in (at for step in zip_longest(*orders) for at in step if at is not None):
        there = Counter(layouts[n][site])
        # a kind stays in every photo that shows it: seen in two lights it is learnt better, and can
        # be tested on the other photo
        if all(
            k not in spanning and k not in kept[n] and shown[k] - m >= each and here[n][k] > m
            for k, m in there.items()
        ):
            shown -= there
            here[n] -= there
            del layouts[n][site]
    return layouts


def spread_out_layouts(plan: Plan, rng: random.Random) -> list[SampleLayout]:
    """Layouts of pieces that lean and hide each other and so look different in every place:
    everything in the box, each kind far from where it stands in the other photos and from
    everything else in its own."""
    sites = [s for s in plan.site if s.reads == "pile"]
    side = float(np.median([np.ptp(np.array(s.outline), axis=0).max() for s in sites]))
    centres = np.array([s.centre for s in sites]) / side
    most = len(sites) // 2  # the board must be visible beside them
    layouts: list[SampleLayout] = []
    shown: dict[str, list[int]] = {p.kind: [] for p in plan.piece}
    for _ in range(ROUNDS):
        todo = [
            (len(shown[p.kind]) + n, p.kind) for p in plan.piece for n in range(p.count or EACH)
        ]
        rng.shuffle(todo)
        placed: dict[int, str] = {}
        # what is shown least comes first, since there may not be room for everything
        for _, kind in sorted(todo, key=lambda one: one[0])[:most]:
            near, like = (nearest_distances(centres, at) for at in (list(placed), shown[kind]))
            room = [
                i for i, s in enumerate(sites) if i not in placed and s.id in plan.fitting[kind]
            ]
            if not room:
                continue
            at = max(
                room,
                key=lambda i: (
                    1.5 * min(float(near[i]), APART)
                    + min(float(like[i]), 2 * APART)
                    + rng.random() / 2
                ),
            )
            placed[at] = kind
            shown[kind].append(at)
        layouts.append({sites[i].id: [placed[i]] for i in sorted(placed)})
    return layouts


def nearest_distances(centres: np.ndarray, at: list[int]) -> np.ndarray:
    """(n,) the distance of each to the nearest of those in `at`, infinity if there are none."""
    return (
        np.linalg.norm(centres[:, None] - centres[at], axis=2).min(1)
        if at
        else np.full(len(centres), np.inf)
    )


def one_more_layout(
    plan: Plan, kinds: Sequence[str], before: Sequence[SampleLayout]
) -> SampleLayout:
    """A layout that shows these kinds again, and little else. before: what the photos so far
    show."""
    return another_sampler(
        plan, art_for(plan).data.get("lie", ()), random.Random(len(before)), kinds, before, EACH
    )
