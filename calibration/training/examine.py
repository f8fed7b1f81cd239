"""What a copy's network has learnt to tell, asked on made-up boards it never saw. Its central value:
Examination."""

from __future__ import annotations

import math

import cv2
import msgspec
import numpy as np

from calibration.synthesis.lesson import Lesson
from calibration.trial import Row, Trial
from vision.evidence.site_evidence import FLOOR, SiteEvidence
from vision.learned.canvas import picture_of
from vision.learned.groups import FOREIGN, UNDER
from vision.learned.network import SITE_GRID
from vision.learned.reader import Glance, LearnedReader, log_softmax
from vision.learned.sampling import sample_map

ASKED_SAMPLES = 100  # made-up samples
EXAMINER_SEED = 77_777  # no teacher's


class SiteAnswer(msgspec.Struct, frozen=True, eq=False):
    """group: the site's; want: the class of what lies there as one; told: (classes,)
    log-probabilities"""

    group: int
    want: int
    told: np.ndarray


class PieceAnswer(msgspec.Struct, frozen=True, eq=False):
    """want: the piece's kind, by number; found: the chance given to a piece there; kinds: which it may
    be -> probability"""

    want: int
    found: float
    kinds: dict[int, float]


class Examination(msgspec.Struct, frozen=True):
    """What was told of sites on which something lies, and of loose pieces"""

    sites: list[SiteAnswer]
    pieces: list[PieceAnswer]

    def trial(self, reader: LearnedReader) -> Trial:
        """The same as sites that were read; none of those that show something foreign, nor of
        blocks, which are no sites"""
        rows = []
        for a in self.sites:
            g = reader.groups[a.group]
            if a.want != FOREIGN and g.classes[a.want] != UNDER and g.ids:
                seen = reader.pile_evidence(g, a.told)
                rows.append(Row("", "", g.reads, g.classes[a.want], seen))
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
            found, kinds = reader.weigh_places(f, [glance], one[y, x], mine[:, 2:4], sample.camera)
            out.pieces.extend(
                PieceAnswer(int(want), float(p), dict(zip(reader.of_form[f], row.tolist())))
                for want, p, row in zip(mine[:, 1], found, kinds)
            )
    return out
