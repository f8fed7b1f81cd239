"""What a copy's network has learnt to tell, asked on made-up boards it never saw. Its central value:
Examination."""

from __future__ import annotations

import math
from collections.abc import Sequence

import cv2
import msgspec
import numpy as np

from calibration.learned.teach import Lesson
from calibration.trial import Row, Trial
from vision.evidence.site_evidence import FLOOR, SiteEvidence
from vision.learned.canvas import picture_of
from vision.learned.groups import FOREIGN, UNDER
from vision.learned.network import SITE_GRID
from vision.learned.reader import Glance, LearnedReader, log_softmax, sample_map

ASKED_SAMPLES = 100  # made-up samples
# shares told right at which it is not believed, and wholly, by photos-2's Nile and Ur (docs/learned.md):
# of cards, and of pieces that stand, which made-up boards clutter far more than people do; of loose
# pieces that lie, of which one missed or one too many spoils a count
CARD_SHARES, PIECE_SHARES = (0.4, 0.6), (0.85, 0.95)
HALF_TRUST = 0.5  # trust in its loose pieces below which a site's card is better told without them
FEW_EXAMPLES = 5  # examples below which nothing is known of a group or form
EXAMINER_SEED = 77_777  # no teacher's


class SiteAnswer(msgspec.Struct, frozen=True, eq=False):
    """group: the site's; want: the class of what lies there as one; told: (classes,)
    log-probabilities"""

    group: int
    want: int
    told: np.ndarray

    @property
    def right(self) -> bool:
        return int(self.told.argmax()) == self.want


class PieceAnswer(msgspec.Struct, frozen=True, eq=False):
    """form: the piece's; want: its kind, by number; found: the chance given to a piece there; kinds:
    which it may be -> probability"""

    form: int
    want: int
    found: float
    kinds: dict[int, float]

    @property
    def told(self) -> int:
        """The likeliest kind"""
        return max(self.kinds, key=self.kinds.__getitem__)


class Examination(msgspec.Struct, frozen=True):
    """What was told of sites on which something lies, and of loose pieces"""

    sites: list[SiteAnswer]
    pieces: list[PieceAnswer]

    def trial(self, reader: LearnedReader) -> Trial:
        """The same as sites that were read; none of those that show something foreign"""
        rows = [
            Row("", "", reader.groups[a.group].reads, reader.groups[a.group].classes[a.want], told)
            for a in self.sites
            if a.want != FOREIGN and reader.groups[a.group].classes[a.want] != UNDER
            for told in [reader.pile_evidence(reader.groups[a.group], a.told)]
        ]
        for a in self.pieces:
            told = [((reader.names[k],), p * a.found) for k, p in a.kinds.items()]
            options = sorted([*told, ((), 1 - a.found)], key=lambda o: -o[1])
            seen = SiteEvidence(tuple((c, math.log(max(p, 1e-9))) for c, p in options), FLOOR)
            rows.append(Row("", "", "cluster", (reader.names[a.want],), seen))
        return Trial(rows)


def examine_network(lesson: Lesson, reader: LearnedReader) -> Examination:
    """What it tells of made-up boards, laid and lit as boards are"""
    composer = lesson.composer(EXAMINER_SEED, crowded=0.0, odd=0.0)
    out = Examination([], [])

    def hear_sites(groups: np.ndarray, wanted: np.ndarray, logits: np.ndarray) -> None:
        for g, want, row in zip(groups.astype(int), wanted.astype(int), logits):
            if want:
                mine = row[reader.offsets[g] : reader.offsets[g + 1]]
                out.sites.append(SiteAnswer(int(g), int(want), log_softmax(mine[None])[0]))

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
            hear_sites(sample.sites[:, 0], sample.sites[:, 1], logits)
        for g, want, picture in sample.close:
            if want:
                told = reader.classify_pictures(g, [picture])[0]
                out.sites.append(SiteAnswer(int(g), int(want), told))
        if len(sample.points):
            logits = reader.heat_maps(heat)
        for f in range(len(reader.forms)):
            mine = sample.points[sample.points[:, 0] == f]
            if not len(mine):
                continue
            one = cv2.dilate(np.ascontiguousarray(logits[..., f]), np.ones((3, 3)))
            x, y = np.round((mine[:, 2:] + 0.5) / 2 - 0.5).astype(int).T
            found, kinds = reader.weigh_places(f, [glance], one[y, x], mine[:, 2:4])
            out.pieces.extend(
                PieceAnswer(f, int(want), float(p), dict(zip(reader.of_form[f], row.tolist())))
                for want, p, row in zip(mine[:, 1], found, kinds)
            )
    return out


def weigh_trust(
    told: Examination, reader: LearnedReader
) -> tuple[dict[str, float], frozenset[str]]:
    """(cluster -> 0 to 1, how far the network is to be believed there beside the matcher; those of
    which it had better tell the card alone): by what it tells right even on made-up boards, of the
    cards and of the loose pieces of such sites, of those that stand only if they are found too"""
    forms = [
        trust_of(
            share_right(
                [
                    a.told == a.want and (a.found > 0.5 or not form.upright)
                    for a in told.pieces
                    if a.form == f
                ]
            ),
            CARD_SHARES if form.upright else PIECE_SHARES,
        )
        for f, form in enumerate(reader.forms)
    ]
    trust: dict[str, float] = {}
    cards: set[str] = set()
    for n, g in enumerate(reader.groups):
        if g.reads == "pile":
            continue
        mine = [t for t, form in zip(forms, reader.forms) if set(form.kinds) & set(g.loose)]
        pieces = min(mine, default=1.0)
        right = share_right([a.right for a in told.sites if a.group == n])
        if pieces < HALF_TRUST and len(g.classes) > FOREIGN + 1:
            cards |= set(g.ids)
            pieces = 1.0
        trust |= dict.fromkeys(g.ids, min(trust_of(right, CARD_SHARES), pieces))
    return trust, frozenset(cards)


def trust_of(right: float | None, limits: tuple[float, float]) -> float:
    """0 up to the lower share told right, 1 from the upper on; who was asked too little is believed"""
    least, whole = limits
    return 1.0 if right is None else min(max((right - least) / (whole - least), 0.0), 1.0)


def share_right(answers: Sequence[bool]) -> float | None:
    """None of too few"""
    return float(np.mean(answers)) if len(answers) >= FEW_EXAMPLES else None
