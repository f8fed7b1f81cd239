"""Reads piles: one pile of pieces a site, seen from above. Its central value: PileReader."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import chain
from operator import itemgetter

import cv2
import numpy as np

from vision.evidence.site_evidence import FLOOR, Contents, SiteEvidence
from vision.frame_cache import FrameCache
from vision.geometry.footprints import lean_at, pile_height, seen_size
from vision.geometry.pose import Pose
from vision.geometry.site_windows import Pyramid
from vision.photometry.clipped_channels import CopyColours
from vision.photometry.room_light import estimate_light, small_view
from vision.plan import Plan
from vision.readers.pile.border_pieces import Borders, Seen, less_foreign, more_foreign, settled
from vision.readers.pile.colour_patch import hides
from vision.readers.pile.exemplar import Exemplar
from vision.readers.pile.group_reader import Bared, GroupReader, Sight
from vision.readers.pile.hidden_print import Shown
from vision.storage import model_file

WORTH = 0.002  # a chance of not being empty that is worth a closer look
# one at which a look that explains the site better than the empty board does is worth one too
FAINTLY = 0.0005
KEPT = 8  # contents told of a site
# chance of something foreign on a site, above which it is looked at without its neighbours' pieces
STRANGELY = 0.05
BESIDE = 1.0  # mm around a piece that go with it


class PileReader:
    """reference: (h, w, 3) the empty board in the light that all is compared in; cells, blocks:
    readers of sites and of pieces that cover several."""

    name, prepared = "pile", "cleaned"  # see SiteReader

    def __init__(
        self, plan: Plan, reference: np.ndarray, cells: list[GroupReader], blocks: list[GroupReader]
    ) -> None:
        self.plan, self.reference, self.cells, self.blocks = plan, reference, cells, blocks
        self.borders = Borders(plan)
        self.cut: list[Exemplar] = []  # only of a reader just fitted: what it learnt from

    @cached_property
    def colours(self) -> CopyColours:
        """Of the board and of the pieces"""
        return CopyColours.of(
            p for g in self.cells + self.blocks for p in (g.empty, g.stage.fine.pictures)
        )

    @cached_property
    def known_contents(self) -> dict[str, frozenset[Contents]]:
        """site -> all that it may be said to bear, but for nothing"""
        out: dict[str, frozenset[Contents]] = {}
        for g in self.cells:
            piled = [c for h in g.stage.heights for c in h.contents]
            known = frozenset([*g.stage.looks, *chain.from_iterable(g.turned), *piled])
            out |= dict.fromkeys(g.group.ids, known - {()})
        return out

    def read(
        self,
        picture: np.ndarray | Pyramid,
        pose: Pose,
        sites: set[str] | None = None,
        cache: FrameCache | None = None,
    ) -> dict[str, SiteEvidence]:
        """site -> evidence for these pile sites (None: all)"""
        pyramid = Pyramid.of(picture)
        sight = Sight(
            pyramid,
            pose,
            estimate_light(
                small_view(pyramid, pose, self.plan.size), self.reference, self.plan.size
            ),
        )
        out: dict[str, SiteEvidence] = {}
        seen: list[Seen] = []
        looks: list[tuple[GroupReader, np.ndarray, Bared]] = []
        below: set[str] = set()  # something much larger
        for g in self.cells:
            which = np.array(
                [i for i, s in enumerate(g.group.ids) if sites is None or s in sites], int
            )
            if len(which):
                told, bared = read_cells(g, sight, which, seen)
                out |= told
                looks.append((g, which, bared))
                below |= {g.group.ids[i] for i, likely in zip(which, bared.sheet) if likely > 0.5}
        out = settled(self.borders, out, seen)
        for g, which, bared in looks:
            out |= self.alone(
                g, sight, {s: e for s, e in out.items() if s not in below}, seen, bared.bare
            )
            out |= self.patched(g, sight, out, seen, which, bared.other)
        for g in self.blocks:
            out |= read_blocks(g, sight, out)
        return out

    def alone(
        self,
        g: GroupReader,
        sight: Sight,
        sites: dict[str, SiteEvidence],
        seen: Sequence[Seen],
        bare: Shown,
    ) -> dict[str, SiteEvidence]:
        """The sites of a group that seem to show something foreign, looked at again without what
        stands on the sites around; bare: those that seem empty"""
        which = np.array(
            [
                i
                for i, site in enumerate(g.group.ids)
                if site in sites and sites[site].other > np.log(STRANGELY)
            ],
            int,
        )
        sure = [s for s in seen if s.chance > 0.5]
        if not len(which) or not sure:
            return {}
        feet = np.array([s.foot for s in sure])
        # (which, sure)
        near = (
            np.abs(feet - g.group.centres[which][:, None]).max(2) < g.small.half + g.group.side / 2
        )
        stands = {
            n: (self.borders.stands(sure[n]), self.hull(sure[n], sight.pose, g.group.plane))
            for n in np.flatnonzero(near.any(0))
        }
        views, _ = g.seen(sight, which)
        hidden = np.zeros(views.shape[:3], np.uint8)
        for i, mine, clear in zip(which, near, hidden):
            for owner, hull in (stands[n] for n in np.flatnonzero(mine)):
                if owner != g.group.ids[i]:
                    cv2.fillConvexPoly(clear, g.small.to_px(i, hull), 1)
        views = np.where(hidden[..., None] > 0, g.empty[which], views)
        occupied = np.exp(
            g.bared(
                sight, which, views, g.stage.unlike(views, g.empty, g.lines, which), bare=bare
            ).there[:, 0]
        )
        return {
            g.group.ids[i]: less_foreign(sites[g.group.ids[i]], float(p))
            for i, p, clear in zip(which, occupied, hidden)
            if clear.any()
        }

    def patched(
        self,
        g: GroupReader,
        sight: Sight,
        sites: dict[str, SiteEvidence],
        seen: Sequence[Seen],
        which: np.ndarray,
        other: np.ndarray,
    ) -> dict[str, SiteEvidence]:
        """Those of the sites `which` of a group that seem empty and show something in a colour of
        its own. other: by how much their cells are off the empty sites', see Ground"""
        told, centres, reach = (
            [sites[g.group.ids[i]] for i in which],
            g.group.centres[which],
            g.small.half + g.group.side,
        )
        empty = np.array([not e.best and not e.foreign for e in told]) & ~np.isin(which, g.guessed)

        def hidden(row: int) -> np.ndarray:
            near = [
                s for s in seen if s.chance > 0.5 and np.abs(s.foot - centres[row]).max() < reach
            ]
            return hides(
                [g.small.to_px(which[row], self.hull(s, sight.pose, g.group.plane)) for s in near],
                g.small.side,
            )

        strange = g.ground.strange(other, which, empty, centres, hidden)
        return {
            g.group.ids[which[i]]: more_foreign(told[i], float(strange[i]))
            for i in np.flatnonzero(strange)
        }

    def hull(self, s: Seen, pose: Pose, plane: float) -> np.ndarray:
        """(n, 2) mm in a plane: what a piece hides"""
        contents = next(iter(s.parts))
        size, disc = seen_size(contents, self.plan)
        turn = (
            np.linspace(0, 2 * np.pi, 24, endpoint=False)
            if disc
            else np.pi / 4 * np.arange(1, 8, 2)
        )
        around = s.foot + np.stack([np.cos(turn), np.sin(turn)], -1) * (
            np.array(size) / 2 * (1 if disc else 2**0.5) + BESIDE
        )
        lean = lean_at(pose, s.foot[None])[0]
        both = np.vstack(
            [around + lean * (h - plane) for h in (0.0, pile_height(contents, self.plan))]
        )
        return cv2.convexHull(both.astype(np.float32)).reshape(-1, 2)

    def pack(self) -> model_file.Arrays:
        arrays: model_file.Arrays = {
            "reference": self.reference,
            "groups": np.array([len(self.cells), len(self.blocks)]),
        }
        for n, g in enumerate(self.cells + self.blocks):
            arrays |= model_file.add_prefix(str(n), model_file.pack_struct(g))
        return arrays

    @classmethod
    def unpack(cls, plan: Plan, arrays: model_file.Arrays) -> PileReader:
        """Back from pack_struct(). Raises KeyError or ValueError where something is missing."""
        cells, large = arrays["groups"].tolist()
        readers = [
            model_file.unpack_struct(GroupReader, model_file.strip_prefix(str(n), arrays))
            for n in range(cells + large)
        ]
        return cls(plan, arrays["reference"], readers[:cells], readers[cells:])


def read_cells(
    g: GroupReader, sight: Sight, which: np.ndarray, pieces: list[Seen]
) -> tuple[dict[str, SiteEvidence], Bared]:
    """(evidence of sites `which` of the group, each by itself: whether anything lies there first,
    what it is where it does; whether they are empty). What is seen on each, and where it stands, is
    added to `pieces`."""
    seen, unlike = g.seen(sight, which)
    others = np.setdiff1d(np.arange(len(g.group.ids)), which)
    others = others if len(others) else None
    bared = g.bared(sight, which, seen, unlike, others)
    bare = bared.there
    out = {g.group.ids[i]: SiteEvidence((((), float(b[1])),), FLOOR) for i, b in zip(which, bare)}
    busy = np.flatnonzero(bare[:, 0] > np.log(FAINTLY))
    if not len(busy):
        return out, bared
    lean = lean_at(sight.pose, g.group.centres[which[busy]])
    gain, place = g.places(which[busy], seen[busy], lean)
    closely = (bare[busy, 0] > np.log(WORTH)) | (gain.max(1) > 0)
    if not closely.any():
        return out, bared
    busy, lean = busy[closely], lean[closely]
    told, lying, feet = g.told(
        sight,
        which[busy],
        unlike[busy],
        gain[closely],
        place[closely],
        lean,
        bared.of(busy),
        others,
    )
    told, parts = (
        np.maximum(told, FLOOR),
        g.split(told, lying) | g.stacked(which[busy], told, lying, lean),
    )
    contents = [*g.stage.looks, ()]
    every, strange = np.delete(told, -2, 1).tolist(), told[:, -2].tolist()
    likely = told[:, : len(g.stage.looks)].argmax(1).tolist()
    for i, (n, foot, likeliest) in enumerate(zip(busy, feet, likely)):
        options = dict(zip(contents, every[i]))
        same: tuple[Contents, ...] = (contents[likeliest],)
        for k in (k for k in range(len(g.turned)) if (i, k) in parts):
            whole = options.pop(contents[k])
            options |= {c: max(whole + p, FLOOR) for c, p in parts[i, k].items()}
            same = tuple(parts[i, k]) if k == likeliest else same
        if not np.isnan(foot).any():
            pieces.append(
                Seen(g.group.ids[which[n]], {c: float(np.exp(options[c])) for c in same}, foot)
            )
        best = sorted(options.items(), key=itemgetter(1), reverse=True)[:KEPT]
        out[g.group.ids[which[n]]] = SiteEvidence(tuple(best), strange[i])
    return out, bared


def read_blocks(
    g: GroupReader, sight: Sight, cells: dict[str, SiteEvidence]
) -> dict[str, SiteEvidence]:
    """Evidence for sites under a piece that covers several, where the cells' own evidence leaves
    room for one"""
    strange = {s for s, e in cells.items() if e.other > np.log(0.02)}
    which = np.array(
        [
            i
            for i, members in enumerate(g.group.members)
            if sum(m in strange for m in members) >= 0.75 * len(members)
        ],
        int,
    )
    if not len(which):
        return {}
    seen, unlike = g.seen(sight, which)
    lean = lean_at(sight.pose, g.group.centres[which])
    told, *_ = g.told(sight, which, unlike, *g.places(which, seen, lean), lean)
    told = np.hstack([told[:, :-2], np.logaddexp(told[:, -2:-1], told[:, -1:])])
    out: dict[str, SiteEvidence] = {}
    for n in np.argsort(told[:, -1]):
        members = g.group.members[which[n]]
        row = np.maximum(told[n], FLOOR)
        if row[-1] > np.log(0.5) or any(m in out for m in members):
            continue
        order = np.argsort(-row[:-1])
        options = tuple((g.stage.looks[k], float(row[k])) for k in order[:KEPT])
        out[members[0]] = SiteEvidence(options, float(row[-1]))
        below = options[0][0][:-1]
        for m in members[1:]:
            out[m] = SiteEvidence(((below, float(np.log1p(-np.exp(row[-1])))),), float(row[-1]))
    return out
