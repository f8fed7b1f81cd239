"""Fits the reader of things that stand to a copy's photos. Its values: `standing_sites`,
`fit_standing_reader`."""

from __future__ import annotations

import numpy as np

from calibration.readers.standing.sample_photos import Studio
from calibration.readers.standing.train import Maker, examples, taught
from vision.geometry.footprints import SEEN_PERCENTILE, STANDS, lean_at
from vision.geometry.posed_photo import Shot
from vision.geometry.site_groups import group_by_size
from vision.plan import Plan
from vision.readers.standing.reader import Standing, StandingReader
from vision.storage.heap_trim import trim_heap

# of a site's side that heads are seen off their feet, from which on they are followed there
AWAY = 0.35


def standing_sites(plan: Plan, shots: list[Shot]) -> list[str]:
    """The pile sites on which the photos show things, one on each, that often stand so high that
    their heads are seen off their feet"""
    out = []
    for group in group_by_size(plan):
        contents = [c for s in shots for i in group.ids if (c := s.layout.get(i))]
        full = len(contents) == len(group.ids) * len(shots)  # then nothing shows what is behind
        if (
            not contents
            or full
            or any(
                len(c) > 1 or c[0] not in plan.pieces or plan.pieces[c[0]].spans for c in contents
            )
        ):
            continue
        pieces = [plan.pieces[c[0]] for c in contents]
        slender, high = np.percentile(
            [(p.height / max(p.footprint), p.height) for p in pieces], SEEN_PERCENTILE, axis=0
        )
        lean = max(
            float(np.linalg.norm(lean_at(s.pose, group.centres), axis=1).max()) for s in shots
        )
        if slender > STANDS and high * lean > AWAY * group.side:
            out += group.ids
    return out


def fit_standing_reader(
    plan: Plan, ids: list[str], shots: list[Shot], effort: float = 1.0
) -> StandingReader:
    """From calibration photos in which something stands on these sites. effort: share of the
    usual number of pictures made to learn from"""
    studio = Studio(plan, ids, shots)
    men, forms = studio.found()
    studio.settled(men, studio.searcher(men, forms))
    near, forms, wide = studio.closely(men, forms)
    searcher = studio.searcher(men, forms)
    places = studio.places(men, searcher.looks)
    trim_heap()  # as is all that is deleted here, a good part of the memory
    maker = Maker(
        studio.looks(near, wide, studio.frame.close),
        studio.frame.close,
        places,
        studio.side,
        studio.lent(near),
    )
    del men, near, places
    trim_heap()
    shown = [examples(searcher, maker, effort)]
    del maker
    trim_heap()
    net = taught(*shown.pop(), len(studio.kinds) + 2)
    return StandingReader(
        plan,
        Standing(
            list(ids),
            studio.kinds,
            studio.low,
            studio.high,
            studio.empty,
            studio.weight,
            studio.reference,
            studio.frame,
            searcher,
            net,
        ),
    )
