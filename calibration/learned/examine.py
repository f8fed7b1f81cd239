"""What a copy's network has learnt to tell, asked on made-up boards it never saw. Its value: the sites on
which it had better be silent."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from calibration.learned.teach import Lesson
from vision.learned.groups import FOREIGN
from vision.learned.network import PIECE_GRID, PIECE_REACH, SITE_GRID, SITE_REACH
from vision.learned.reader import LearnedReader, sample_map

ASKED = 100  # made-up samples
TOLD = 0.85  # share of them it must tell right: seven nets of use had 0.9 and more, one that did harm 0.3 to 0.7
FEW = 5  # examples below which nothing is known of a group or form
SEED = 77_777  # no teacher's


def doubtful_sites(lesson: Lesson, reader: LearnedReader) -> tuple[frozenset[str], frozenset[str]]:
    """(sites on which it had better be silent, sites of which it had better tell the card alone): those whose contents, or
    loose pieces of which, the network often mistakes even on made-up boards"""
    groups, forms = examine_network(lesson, reader)
    poor = {f for f, right in enumerate(forms) if right is not None and right < TOLD}
    silent: set[str] = set()
    cards: set[str] = set()
    for g, right in zip(reader.groups, groups):
        mine = {f for f, form in enumerate(reader.forms) if set(form.kinds) & set(g.loose)}
        if right is not None and right < TOLD or mine & poor and len(g.classes) <= FOREIGN + 1:
            silent |= set(g.ids)
        elif mine & poor:
            cards |= set(g.ids)
    return frozenset(silent), frozenset(cards)


def examine_network(
    lesson: Lesson, reader: LearnedReader
) -> tuple[list[float | None], list[float | None]]:
    """The share told right of each group's occupied sites and of each form's pieces; None where too few were asked"""
    composer, scale = lesson.composer(SEED), reader.view.scale
    sites, pieces = defaultdict(list), defaultdict(list)
    for _ in range(ASKED):
        sample = composer.make_sample()
        fine, quarter, _ = reader.trunk(sample.x.astype(np.float32))
        if len(sample.sites):
            side = SITE_REACH * sample.sites[:, 4] * scale
            logits = reader.classify(
                "site", sample_map(quarter, sample.sites[:, 2:4], side, SITE_GRID, 4)
            )
            for (g, want, *_), row in zip(sample.sites, logits):
                if want:
                    begin, end = reader.offsets[int(g)], reader.offsets[int(g) + 1]
                    sites[int(g)].append(row[begin:end].argmax() == want)
        if len(sample.points):
            side = (
                PIECE_REACH
                * scale
                * np.array([reader.forms[int(f)].reach for f in sample.points[:, 0]])
            )
            logits = reader.classify(
                "piece", sample_map(fine, sample.points[:, 2:4], side, PIECE_GRID, 2)
            )
            for (f, want, *_), row in zip(sample.points, logits):
                mine = reader.of_form[int(f)]
                pieces[int(f)].append(mine[row[mine].argmax()] == want)
    return tuple(
        [float(np.mean(told[n])) if len(told[n]) >= FEW else None for n in range(count)]
        for told, count in ((sites, len(reader.groups)), (pieces, len(reader.forms)))
    )
