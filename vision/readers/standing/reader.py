"""Reads sites on which things stand that are higher than wide: they lean over other sites, away
from the camera. Its value: StandingReader."""

from __future__ import annotations

import msgspec
import numpy as np

from vision.evidence.site_evidence import FLOOR, SiteEvidence
from vision.frame_cache import FrameCache
from vision.geometry.pose import Pose
from vision.geometry.site_windows import Pyramid
from vision.photometry.room_light import estimate_light, small_view
from vision.plan import Plan
from vision.readers.mlp import Net, log_softmax
from vision.readers.standing.lean_geometry import Frame, Seat, Sheet, across_of, coarse
from vision.readers.standing.occlusion_masks import hidden
from vision.readers.standing.shape_model import misfit
from vision.readers.standing.shape_search import Searcher, Seen
from vision.storage import model_file

PASSES = 3  # looks at a picture: what stands before is taken away from the second on
SURE = 0.5  # chance of a kind from which on it is taken away
SETTLED = 0.97  # chance below which a site is looked at in the mirror too
KEPT = 8  # contents told of a site


class Standing(msgspec.Struct, eq=False):
    """What a StandingReader is made of. ids: N sites; kinds: K names; low, high: (2,) mm of the
    sheet; empty: (h, w, CHANNELS) the empty board on it; weight: likewise, by its spread;
    reference: the light's"""

    ids: list[str]
    kinds: list[str]
    low: np.ndarray
    high: np.ndarray
    empty: np.ndarray
    weight: np.ndarray
    reference: np.ndarray
    frame: Frame
    searcher: Searcher
    net: Net


class StandingReader:
    """Reads the sites that `standing_sites` names: what stands nearest below the camera first,
    since it hides what is behind."""

    name, prepared = "standing", "cleaned"  # see SiteReader

    def __init__(self, plan: Plan, made: Standing) -> None:
        self.plan, self.made, self.reference = plan, made, made.reference
        self.centres = np.array([plan.sites[i].centre for i in made.ids])
        self.sheet = Sheet.of(made.low, made.high, made.frame.scale)

    def read(
        self,
        picture: np.ndarray | Pyramid,
        pose: Pose,
        sites: set[str] | None = None,
        cache: FrameCache | None = None,
    ) -> dict[str, SiteEvidence]:
        """site -> evidence for these sites (None: all)"""
        m = self.made
        asked = self.concerned(sites)
        if not len(asked):
            return {}
        centres = self.centres[asked]
        pyramid = Pyramid.of(picture)
        fine = self.sheet.close
        view = fine.see(
            pyramid,
            pose,
            estimate_light(small_view(pyramid, pose, self.plan.size), m.reference, self.plan.size),
        )
        along, lean = Seat.of(pose).leaning(centres)
        close = m.frame.close.cut(fine, view, centres, along)
        window = np.array([coarse(c) for c in close])
        empty, weight = (m.frame.cut(self.sheet, v, centres, along) for v in (m.empty, m.weight))
        bare = misfit(window, empty, weight)
        told, at = np.zeros((len(asked), len(m.kinds) + 2)), np.zeros((len(asked), len(m.kinds), 2))
        before, behind = np.zeros((2, *bare.shape), bool)
        todo, kept = np.arange(len(asked)), {}
        for _ in range(PASSES):
            seen = Seen.among(
                window,
                empty,
                bare,
                before,
                behind,
                m.searcher.looks.nearest(lean),
                np.full(len(asked), -1),
                close[..., 0],
                lean,
            )
            found = m.searcher.search(seen.rows(todo), kept)
            scores, at[todo] = m.net.scores(found.inputs), found.at
            told[todo] = log_softmax(scores)
            # who has learnt from mirrored men may look twice
            doubt = np.flatnonzero(told[todo].max(1) < np.log(SETTLED))
            if len(doubt):
                again = m.searcher.search(seen.rows(todo[doubt]).mirrored(), kept)
                told[todo[doubt]] = log_softmax((scores[doubt] + m.net.scores(again.inputs)) / 2)
            best = told.argmax(1)
            sure = np.flatnonzero((best < len(m.kinds)) & (told.max(1) > np.log(SURE)))
            x, y = (at[sure, best[sure], None] / m.frame.scale).transpose(2, 0, 1)
            feet = centres[sure] + across_of(along[sure]) * x + along[sure] * y
            new = hidden(m.frame, m.searcher.looks, centres, along, lean, sure, best[sure], feet)
            todo = np.flatnonzero((new[0] != before).any((1, 2)) | (new[1] != behind).any((1, 2)))
            before, behind = new
            if not len(todo):
                break
        return {
            m.ids[i]: self.evidence(row)
            for i, row in zip(asked, np.maximum(told, FLOOR))
            if sites is None or m.ids[i] in sites
        }

    def concerned(self, sites: set[str] | None) -> np.ndarray:
        """Numbers of the sites that must be looked at to read these: what stands near by may hide
        them"""
        own = np.array(
            [i for i, site in enumerate(self.made.ids) if sites is None or site in sites], int
        )
        if sites is None or not len(own):
            return own
        far = np.linalg.norm(self.centres[:, None] - self.centres[own], axis=2).min(1)
        return np.flatnonzero(far < self.made.frame.front)

    def evidence(self, row: np.ndarray) -> SiteEvidence:
        """Of (K + 2,) log-probabilities: kinds, something else, nothing"""
        options = [((k,), float(p)) for k, p in zip(self.made.kinds, row)] + [((), float(row[-1]))]
        return SiteEvidence(tuple(sorted(options, key=lambda o: -o[1])[:KEPT]), float(row[-2]))

    def pack(self) -> model_file.Arrays:
        return model_file.pack_struct(self.made)

    @classmethod
    def unpack(cls, plan: Plan, arrays: model_file.Arrays) -> StandingReader:
        """Back from pack_struct(). Raises KeyError or ValueError where something is missing."""
        return cls(plan, model_file.unpack_struct(Standing, arrays))
