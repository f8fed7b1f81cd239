"""What a copy's network has learnt to tell, asked on made-up boards it never saw. Its value: how
far it is to be believed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import cv2
import numpy as np

from calibration.learned.teach import Lesson
from vision.learned.canvas import picture_of
from vision.learned.groups import FOREIGN
from vision.learned.network import SITE_GRID
from vision.learned.reader import Glance, LearnedReader, sample_map

ASKED_SAMPLES = 100  # made-up samples
# shares told right at which it is not believed, and wholly, by photos-2's Nile and Ur (docs/learned.md):
# of cards, and of pieces that stand, which made-up boards clutter far more than people do; of piles,
# which photos show as made-up boards do; of loose pieces that lie, of which one missed or one too many
# spoils a count
CARD_SHARES, PILE_SHARES, PIECE_SHARES = (0.4, 0.6), (0.6, 0.9), (0.85, 0.95)
# from which the matchers hardly count on piles: photos-2's Nile tells 91 % right, matchers all
MASTERED_SHARE = 0.95
# and of each of its contents alone: two that it merely guesses between (a tile with a small piece on
# it, and without) are half right, and few among all
HARDEST_SHARE = 0.8
# answers that a group, or one of many contents, is judged with beside its own: most groups have
# hundreds and most contents twenty, but some five
TYPICAL = 10
HALF_TRUST = 0.5  # trust in its loose pieces below which a site's card is better told without them
FEW_EXAMPLES = 5  # examples below which nothing is known of a group or form
EXAMINER_SEED = 77_777  # no teacher's


def weigh_trust(
    lesson: Lesson, reader: LearnedReader
) -> tuple[dict[str, float], frozenset[str], frozenset[str]]:
    """(site -> 0 to 1, how far the network is to be believed there; sites of which it had better
    tell the card alone; piles that it tells so well that it is believed before the matchers). All
    by what it tells right even on made-up boards of the contents and of the loose pieces of such
    sites"""
    groups, forms = examine_network(lesson, reader)
    told = [
        trust_of(v, CARD_SHARES if f.upright else PIECE_SHARES) for v, f in zip(forms, reader.forms)
    ]
    trust: dict[str, float] = {}
    cards: set[str] = set()
    mastered: set[str] = set()
    for g, (right, hardest) in zip(reader.groups, groups):
        mine = [t for t, form in zip(told, reader.forms) if set(form.kinds) & set(g.loose)]
        pieces, base = (
            min(mine, default=1.0),
            trust_of(right, PILE_SHARES if g.reads == "pile" else CARD_SHARES),
        )
        if pieces < HALF_TRUST and len(g.classes) > FOREIGN + 1:
            cards |= set(g.ids)
            pieces = 1.0
        trust |= dict.fromkeys(g.ids, min(base, pieces))
        known_well = right is not None and right >= MASTERED_SHARE and hardest >= HARDEST_SHARE
        if g.reads == "pile" and known_well:
            mastered |= set(g.ids)
    return trust, frozenset(cards), frozenset(mastered)


def trust_of(right: float | None, limits: tuple[float, float]) -> float:
    """0 up to the lower share told right, 1 from the upper on; who was asked too little is believed"""
    least, whole = limits
    return 1.0 if right is None else min(max((right - least) / (whole - least), 0.0), 1.0)


def examine_network(
    lesson: Lesson, reader: LearnedReader
) -> tuple[list[tuple[float | None, float | None]], list[float | None]]:
    """The share told right of each group's occupied sites, of all and of the contents that it tells
    worst, and of each form's pieces, of those that stand only if they are found too; None where too
    few were asked"""
    composer = lesson.composer(EXAMINER_SEED, crowded=0.0, odd=0.0)  # as boards are laid and lit
    sites, pieces = defaultdict(lambda: defaultdict(list)), defaultdict(list)
    for _ in range(ASKED_SAMPLES):
        sample = composer.make_sample()
        fine, quarter, heat = reader.trunk(sample.x.astype(np.float32))
        seen = picture_of(sample.x.astype(np.float32))
        glance = Glance(fine, heat, seen)
        if len(sample.sites):
            at, axes = sample.sites[:, 2:4], sample.sites[:, 4:].reshape(-1, 2, 2)
            sampled = sample_map(quarter, at, axes, SITE_GRID, 4)
            pictures = lesson.shapes.frame_pictures(sample.sites, sample.points)
            upright, turned = (
                reader.classify("site", sampled, reader.site_prints(seen, *pictures, quarters))
                for quarters in (False, True)
            )
            quarters = np.array([g.quarters for g in reader.groups])[sample.sites[:, 0].astype(int)]
            logits = np.where(quarters[:, None], turned, upright)
            for (g, want, *_), row in zip(sample.sites, logits):
                if want:
                    begin, end = reader.offsets[int(g)], reader.offsets[int(g) + 1]
                    sites[int(g)][int(want)].append(row[begin:end].argmax() == want)
        for g, want, picture in sample.close:
            if want:
                told = reader.classify_pictures(g, [picture])[0].argmax()
                sites[g][want].append(told == want)
        if len(sample.points):
            logits = reader.heat_maps(heat)
        for f, form in enumerate(reader.forms):
            mine = sample.points[sample.points[:, 0] == f]
            if not len(mine):
                continue
            one = cv2.dilate(np.ascontiguousarray(logits[..., f]), np.ones((3, 3)))
            x, y = np.round((mine[:, 2:] + 0.5) / 2 - 0.5).astype(int).T
            found, kinds = reader.weigh_places(f, [glance], one[y, x], mine[:, 2:4])
            right = np.array(reader.of_form[f])[kinds.argmax(1)] == mine[:, 1]
            pieces[f] += list(right & (found > 0.5) if form.upright else right)
    answers = [list(sites[n].values()) for n in range(len(reader.groups))]
    alike: dict[str, list[bool]] = defaultdict(list)
    for g, mine in zip(reader.groups, answers):
        alike[g.reads] += [r for some in mine for r in some]
    groups = [shares_right(v, share_right(alike[g.reads])) for g, v in zip(reader.groups, answers)]
    return groups, [share_right(pieces[n]) for n in range(len(reader.forms))]


def share_right(answers: Sequence[bool]) -> float | None:
    """None of too few"""
    return float(np.mean(answers)) if len(answers) >= FEW_EXAMPLES else None


def shares_right(
    answers: Sequence[Sequence[bool]], usual: float | None
) -> tuple[float | None, float | None]:
    """Of all contents of a group together, and of those told worst: of a group seldom asked, as if
    `TYPICAL` more had been told as well as on `usual` others, and of such contents as well as the rest"""
    mine = [r for some in answers for r in some]
    if usual is None or len(mine) < FEW_EXAMPLES:
        return None, None
    right = share_with(mine, usual)
    return right, min(share_with(some, right) for some in answers)


def share_with(answers: Sequence[bool], usual: float) -> float:
    """Told right if `TYPICAL` more had been as well as is usual"""
    return (sum(answers) + TYPICAL * usual) / (len(answers) + TYPICAL)
