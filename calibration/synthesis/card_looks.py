"""Looks of the cards of each group of sites, as a reader lays them on what it sees."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

import cv2
import numpy as np

from calibration.synthesis.compose import card_classes, single_classes
from calibration.synthesis.painter import Look
from vision.learned.card_bank import CARD_SAMPLES, CardBank, CardLooks
from vision.learned.groups import Form, SiteGroup, loose_tops, small_tops
from vision.plan import Plan

LOOKS_OF_CARD = 4  # of each kind at most: specimens of one print


def draw_card_banks(
    plan: Plan,
    groups: Sequence[SiteGroup],
    forms: Sequence[Form],
    looks: Mapping[str, Sequence[Look]],
    scale: float,
) -> dict[int, CardBank]:
    """The looks of the cards of every group that tells two at least, and of tiles on piles on which a small
    piece may lie, by the group's number. scale: pixels of the canvas a millimetre"""
    out = {}
    for n, g in enumerate(groups):
        classes = card_classes(plan, g, looks) or tile_classes(plan, g, forms, looks)
        cards = [(c, g.classes[c][0]) for c in classes]
        if not cards:
            continue
        longest = max(max(plan.pieces[k].footprint) for _, k in cards)
        samples = min(scale, CARD_SAMPLES / longest)
        drawn: dict[tuple, list[tuple[int, np.ndarray]]] = defaultdict(list)
        for c, kind in cards:
            size, full = (
                tuple(max(round(v * fine), 1) for v in plan.pieces[kind].footprint)
                for fine in (samples, scale)
            )
            for look in looks[kind][:LOOKS_OF_CARD]:
                picture = cv2.resize(look.patch, full, interpolation=cv2.INTER_AREA)
                drawn[size, look.lies != "upright"].append((c, picture))
        banked = []
        for (size, quarters), some in drawn.items():
            numbers, pictures = zip(*some)
            banked.append(CardLooks.of(np.array(numbers), np.stack(pictures), size, quarters))
        out[n] = CardBank(samples, tuple(banked))
    return out


def tile_classes(
    plan: Plan, g: SiteGroup, forms: Sequence[Form], looks: Mapping[str, Sequence[Look]]
) -> list[int]:
    """Numbers of a group's classes that are one tile each whose looks are known, and on which a small loose piece
    may lie, too"""
    small = small_tops(plan, g)
    covered = {g.classes[n][:-1] for n in loose_tops(plan, g, forms) if g.classes[n][-1] in small}
    return [n for n in single_classes(plan, g, looks) if g.classes[n] in covered]
