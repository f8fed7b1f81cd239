"""Reads piles: one pile of pieces a site, seen from above. Its central value: PileReader."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from operator import itemgetter
from typing import Any

import cv2
import msgspec
import numpy as np

from vision import model
from vision.cutout import (
    Exemplar,
    height_of,
    lean_at,
    lights,
    log_windows,
    looked_at,
    seen_size,
)
from vision.evidence import FLOOR, Contents, SiteEvidence
from vision.faces import Faces
from vision.features import PIXELS, WIDER
from vision.field import PictureField, WindowField, opponent, window_colours
from vision.grain import grains
from vision.heights import Heights, centred, stacks
from vision.learn import BARE, STRANGE, Real, Scenery, Stack, teach
from vision.light import Light, compare, small_view
from vision.match import PRINT, Fine
from vision.owners import Borders, Seen, less_foreign, settled
from vision.plan import Plan
from vision.pose import Pose
from vision.sampler import buried, covered_by_blocks, exemplars
from vision.shot import Lying, Shot
from vision.sites import Grounds, Group, apart
from vision.stage import SMALL, Laid, Stage, edges
from vision.synth import Patch, agreeing, as_patch, overlay
from vision.tops import Top
from vision.turns import off_straight, plain, split, turned_kinds
from vision.windows import Pyramid, Windows

PICTURES = 6000      # made to learn from, a group
STACKS = 3           # times as many where stacks are told by their height
WORTH = 0.002        # a chance of not being empty that is worth a closer look
FAINTLY = 0.0005     # one at which a look that explains the site better than the empty board does is worth one too
KEPT = 8             # contents told of a site
STRANGELY = 0.05     # chance of something foreign on a site, above which it is looked at without its neighbours' pieces
AROUND, COMPARED = 40, 12      # sites looked at, and pieces looked at there, for how pieces fit where only few sites are read
BESIDE = 1.0         # mm around a piece that go with it
WORTH_SPLITTING = -9.0   # log-probability of a look above which its turn is looked at


Each = Callable[[Callable[..., Any], Iterable[tuple]], list[Any]]      # what [work(*args) for args in every] gives, in any way


def one_by_one(work: Callable[..., Any], every: Iterable[tuple]) -> list[Any]:
    return [work(*args) for args in every]


def look_of(contents: Contents, plan: Plan) -> Contents:
    """Contents with "?" for what lies wholly under a piece as large, and a kind that is another one turned as that one"""
    if plan.pieces[contents[-1]].spans:
        return plain(contents, plan)
    return tuple("?" if under else kind for kind, under in zip(plain(contents, plan), buried(contents, plan)))


class Sight(msgspec.Struct, frozen=True, eq=False):
    """A picture ready to be read: with where the board is and the light on it"""

    pyramid: Pyramid
    pose: Pose
    light: Light

    def see(self, windows: Windows, which: np.ndarray, plane: float) -> np.ndarray:
        """(n, S, S, 3) opponent colours in the reference light"""
        return window_colours(windows, self.pyramid, self.pose, self.light, which, plane)


class GroupReader(msgspec.Struct, eq=False, dict=True):
    """group with its two sizes of window; empty, spread: (N, S, S, 3) opponent small
    windows; stage: what tells looks; turned, degrees: per look what else it may be when it lies turned so."""

    group: Group
    small: Windows
    fine: Windows
    empty: np.ndarray
    spread: np.ndarray
    stage: Stage
    turned: list[list[Contents]]
    degrees: list[list[float]]

    @cached_property
    def lines(self) -> np.ndarray:
        """(N, D) edges of the empty sites"""
        return edges(self.empty)

    @cached_property
    def coarse(self) -> tuple[np.ndarray, np.ndarray]:
        """empty, spread: as looks are slid over them"""
        return self.stage.shrunk(self.empty), self.stage.shrunk(self.spread)

    def seen(self, sight: Sight, which: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Small windows of these sites, (n, S, S, 3) opponent colours, and (n, D) how unlike the empty sites they are"""
        seen = sight.see(self.small, which, self.group.plane)
        return seen, self.stage.unlike(seen, self.empty, self.lines, which)

    def places(self, which: np.ndarray, seen: np.ndarray, lean: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(gain (n, looks), place (n, looks, 2) mm off the middle) of looks on these sites, see Coarse.search; lean: (n, 2)"""
        empty, spread = self.coarse
        return self.stage.places(seen, empty[which], spread[which], lean)

    def looked(self, sight: Sight, which: np.ndarray, unlike: np.ndarray, gain: np.ndarray, place: np.ndarray, lean: np.ndarray
               ) -> tuple[np.ndarray, np.ndarray, Laid]:
        """((n, looks + 2) log-probabilities of what these sites show: looks, something else, empty; what the stage was given, how each
        would lie). lean: (n, 2) mm a mm of height"""
        field = PictureField.of(sight.pyramid, sight.pose, sight.light, self.group.centres[which], self.group.plane, self.fine.scale)
        inputs, lying = self.stage.hypotheses(field, np.arange(len(which)), gain, place, unlike, which, lean)
        return self.stage.told(inputs, lying), inputs, lying

    def told(self, sight: Sight, which: np.ndarray, unlike: np.ndarray, gain: np.ndarray, place: np.ndarray, lean: np.ndarray,
             others: np.ndarray | None = None) -> tuple[np.ndarray, Laid, np.ndarray]:
        """(the same, what is strange told by how pieces fit in this picture; how each would lie; (n, 2) mm: where the likeliest
        look stands, nan where it was not looked at closely). others: of the group, which tell that too where one may be strange"""
        told, inputs, lying = self.looked(sight, which, unlike, gain, place, lean)
        if self.stage.usual is not None and self.stage.bare is not None:
            fits = told, *self.stage.fits(told, inputs, lying)
            more = self.others(sight, which, others) if others is not None and self.stage.may_be_strange(*fits[:2]) else None
            usual = self.stage.usual_here(*(map(np.concatenate, zip(fits, more)) if more else fits))
            told = self.stage.sobered(*fits, usual, unlike)
        return told, lying, self.group.centres[which] + self.stage.stands(told, lying)

    def others(self, sight: Sight, which: np.ndarray, others: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        """looked() and Stage.fits() of some of the other sites on which pieces lie, those nearest to `which`; None: there are none"""
        away = np.linalg.norm(self.group.centres[others] - self.group.centres[which].mean(0), axis=1)
        others = others[np.argsort(away)[:AROUND]]
        seen, unlike = self.seen(sight, others)
        busy = np.flatnonzero(self.stage.bare.answer(unlike)[:, 0] > np.log(0.5))[:COMPARED]
        if not len(busy):
            return None
        lean = lean_at(sight.pose, self.group.centres[others[busy]])
        told, inputs, lying = self.looked(sight, others[busy], unlike[busy], *self.places(others[busy], seen[busy], lean), lean)
        return told, *self.stage.fits(told, inputs, lying)

    def split(self, told: np.ndarray, lying: Laid) -> dict[tuple[int, int], dict[Contents, float]]:
        """(row, look) -> natural logarithm of how likely each of what looks so is, by its turn, where that tells anything; for
        rows of told (n, looks + 2) and looks not quite unlikely there"""
        rows, looks = np.nonzero((told[:, :len(self.turned)] > WORTH_SPLITTING) & np.array([bool(t) for t in self.turned]))
        return {(n, k): split(dict(zip(self.turned[k], self.degrees[k])), *self.stage.ways(lying, n, k))
                for n, k in zip(rows.tolist(), looks.tolist())}

    def stacked(self, which: np.ndarray, told: np.ndarray, lying: Laid, lean: np.ndarray
                ) -> dict[tuple[int, int], dict[Contents, float]]:
        """The same for how many lie on each other; which: (n,) the sites, lean: (n, 2)"""
        out: dict[tuple[int, int], dict[Contents, float]] = {}
        for h in self.stage.heights:
            rows, top = self.stage.tops_of(h.look, lying, np.flatnonzero(told[:, h.look] > WORTH_SPLITTING), lean)
            if len(rows):
                empty = WindowField(self.empty, self.small.scale)
                chances = h.tells.answer(h.features(lying.field, lying.site[rows], empty, which[rows], top, lean[rows]))
                out |= {(n, h.look): dict(zip(h.contents, p)) for n, p in zip(rows.tolist(), chances.tolist())}
        return out


class Photos(msgspec.Struct, frozen=True, eq=False):
    """The calibration photos with what is derived of them once"""

    plan: Plan
    shots: list[Shot]
    room: list[Light]
    pyramids: list[Pyramid]
    pieces: list[Exemplar]

    def logs(self, windows: Windows, n: int, plane: float) -> np.ndarray:
        """(N, S, S, 3): windows of photo n, `plane` mm above the board"""
        return log_windows(windows, self.pyramids[n], self.shots[n].pose, self.room[n], np.arange(len(windows.centres)),
                           plane)


def photographed(photos: Photos, group: Group, windows: Windows, pieces: list[Exemplar], owner: list[int]) -> list[Real]:
    """Every site of the group in every photo, with what lies there as far as the group has it as a look"""
    known = {(e.photo, e.where): n for n, e in enumerate(pieces)}
    real = []
    for n, s in enumerate(photos.shots):
        logs = photos.logs(windows, n, group.plane)
        hidden = covered_by_blocks(photos.plan, s.layout)
        for i, site in enumerate(group.ids):
            if (n, site) in known:
                piece = known[n, site]
                real.append(Real(logs[i], i, owner[piece], piece, len(pieces[piece].contents)))
            elif not any(s.layout.get(m) for m in group.members[i]):
                real.append(Real(logs[i], i, BARE))
            elif group.block or site in hidden:
                real.append(Real(logs[i], i, STRANGE))
    return real


def scenery_of(photos: Photos, group: Group, windows: Windows, grounds: Grounds, looks: list[Contents],
               pieces: list[Exemplar], owner: list[int]) -> Scenery:
    """What pictures to learn from are put together of: pieces alone, in heaps, their own kind beneath."""
    plan = photos.plan
    plain: dict[int, list[tuple[Patch, int]]] = {}
    piled: dict[int, list[tuple[Patch, int]]] = {}
    base: dict[int, int] = {}
    for n, e in enumerate(pieces):
        plain.setdefault(owner[n], []).append((as_patch(e, height_of(e.contents, plan)), n))
    for k, look in enumerate(looks):
        if len(look) > 1 and look[-2] != "?" and look[:-1] in looks:
            base[k] = looks.index(look[:-1])
            top = plan.pieces[look[-1]]
            bases = [e for e, o in zip(pieces, owner) if o == base[k]]
            upper = [(overlay(e, bases, top.footprint, top.disc, top.height), n) for n, e in enumerate(pieces) if owner[n] == k]
            piled[k] = agreeing([(p, n) for p, n in upper if p is not None])
    cells = np.array([s.centre for s in plan.site if s.reads == "pile"])
    near = []
    for centre in group.centres:
        off = cells - centre
        far = np.abs(off).max(1)
        near.append(off[(far < windows.half + 0.6 * group.side) & ((far > 1e-6) | group.block)])
    others = [as_patch(e, height_of(e.contents, plan)) for e in photos.pieces]
    large = [p for p, e in zip(others, photos.pieces) if plan.pieces[e.contents[-1]].spans]
    around = [p for p, e in zip(others, photos.pieces) if not plan.pieces[e.contents[-1]].spans]
    misplaced = [p for p, e in zip(others, photos.pieces)
                 if e.where in plan.sites and plan.sites[e.where].of is not None and look_of(e.contents, plan) not in looks]
    return Scenery(group, photographed(photos, group, windows, pieces, owner), plain, piled, base, near, grounds, around, large,
                   lean_at(photos.shots[0].pose, group.centres), windows.scale, group.plane, misplaced=misplaced)


def pictures_for(looks: int, block: bool) -> int:
    """How many pictures to make: more where there is more to tell apart"""
    return int(PICTURES * np.clip(looks / 24, 0.25, 1.5) / (4 if block else 1))


def empty_sites(photos: Photos, group: Group, windows: Windows) -> tuple[np.ndarray, np.ndarray]:
    """((N, S, S, 3) opponent windows of the empty sites, (3,) variance of their noise): from photos of the empty board, or
    each site from the photos in which it is bare; a site that is bare in none is taken to look like most others"""
    views = np.array([opponent(photos.logs(windows, n, group.plane)) for n in range(len(photos.shots))])
    bare = np.array([[not any(s.layout.get(m) for m in members) for members in group.members] for s in photos.shots])
    clear = [n for n, s in enumerate(photos.shots) if not s.layout]
    if clear:
        bare = np.isin(np.arange(len(bare)), clear)[:, None] & np.ones_like(bare)
    seen = bare.sum(0)
    empty = np.einsum("pn,pnijc->nijc", bare.astype(np.float32), views) / np.maximum(seen, 1)[:, None, None, None]
    if not seen.all():
        empty[seen == 0] = np.median(empty[seen > 0], 0) if seen.any() else np.median(views, (0, 1))
    off = ((views - empty) ** 2).mean((2, 3))[bare]
    return empty.astype(np.float32), off.mean(0) if len(off) else np.zeros(3)


def fit_group(photos: Photos, group: Group, pieces: list[Exemplar], effort: float = 1.0) -> GroupReader:
    """The reader of sites of one shape, from exemplars and the empty board. effort: share of the usual number of pictures."""
    plan = photos.plan
    group, fine = looked_at(group, plan, photos.shots)
    tiny = Windows(group.centres, fine.half, SMALL / group.side)
    empty, noise = empty_sites(photos, group, tiny)
    gy, gx = np.gradient(empty, axis=(1, 2))
    spread = np.sqrt(np.array([0.15, 0.06, 0.06]) ** 2 + noise + 0.1 * (gx ** 2 + gy ** 2)).astype(np.float32)
    high = stacks({look_of(e.contents, plan) for e in pieces}, lambda kind: (plan.pieces[kind].footprint, plan.pieces[kind].disc))
    owners = {c: plain for plain, mine in high.items() for c in mine}
    kinds = [owners.get(look := look_of(e.contents, plan), look) for e in pieces]
    looks = sorted(set(kinds))
    rise = np.array([np.mean([height_of(c, plan) for c in high.get(k, [k])]) for k in looks]) - group.plane
    stacked = {looks.index(k): Stack([len(c) for c in mine], plan.pieces[k[-1]].height) for k, mine in high.items()}
    pieces = [centred(e) if e.disc and k in high else e for e, k in zip(pieces, kinds)]
    gap = apart(plan, group, max(max(e.size) for e in pieces))
    stage = Stage.fit(looks, pieces, [looks.index(k) for k in kinds], off_straight(pieces, plan), rise, group, fine,
                      Grounds.of(plan, group, fine.half), gap)
    ordered = [pieces[i] for i in stage.order]
    scenery = scenery_of(photos, group, fine, stage.grounds, looks, ordered, stage.owner.tolist())
    faces = [Faces.fit([e for e, s in zip(ordered, stage.shape) if s == n]) for n in range(len(stage.rings))]
    by_print = Fine.fit(ordered, PIXELS, WIDER, PRINT)
    scenery = msgspec.structs.replace(scenery, gap=gap, stacked=stacked, faces=faces, by_print=by_print,
                                     grains=grains(by_print, ordered, stage.owner))
    stage.tops = [Top.fit(scenery.base[k], k, [p for p, _ in upper], scenery.plain[scenery.base[k]][0][0].radius)
                  for k, upper in scenery.piled.items() if upper and scenery.plain.get(scenery.base[k])]
    stage.heights = [Heights(looks.index(k), mine, np.array([height_of(c, plan) for c in mine]), max(plan.pieces[k[-1]].footprint) / 2)
                     for k, mine in high.items()]
    teach(stage, scenery, empty, spread, round(effort * pictures_for(len(looks), group.block) * (STACKS if stacked else 1)))
    turned = [turned_kinds(k, plan) for k in looks]
    return GroupReader(group, tiny, fine, empty, spread, stage, [list(t) for t in turned],
                       [list(t.values()) for t in turned])


class PileReader:
    """reference: (h, w, 3) the empty board in the light that all is compared in; cells, blocks: readers of sites and of
    pieces that cover several."""

    def __init__(self, plan: Plan, reference: np.ndarray, cells: list[GroupReader], blocks: list[GroupReader]) -> None:
        self.plan, self.reference, self.cells, self.blocks = plan, reference, cells, blocks
        self.borders = Borders(plan)
        self.cut: list[Exemplar] = []       # only of a reader just fitted: what it learnt from

    @classmethod
    def fit(cls, plan: Plan, shots: list[Shot], effort: float = 1.0, lying: Sequence[Lying] = (), each: Each = one_by_one
            ) -> PileReader:
        """From calibration photos: at least one sampler, and one empty board or sites empty somewhere.

        effort: share of the usual number of pictures made to learn from; lying: pieces found on sites that are read otherwise;
        each: may fit groups side by side"""
        reference, room = lights(plan, shots)
        found = exemplars(plan, shots, lying)
        photos = Photos(plan, shots, room, [Pyramid(s.image) for s in shots], [e for _, pieces in found for e in pieces])
        fitted = each(fit_group, [(photos, group, pieces, effort) for group, pieces in found])
        cells, large = ([r for (group, _), r in zip(found, fitted) if group.block == block] for block in (False, True))
        reader = cls(plan, reference, cells, large)
        reader.cut = [e for group, pieces in found if not group.block for e in pieces]
        return reader

    def read(self, picture: np.ndarray | Pyramid, pose: Pose, sites: set[str] | None = None) -> dict[str, SiteEvidence]:
        """site -> evidence for these pile sites (None: all)"""
        pyramid = Pyramid.of(picture)
        sight = Sight(pyramid, pose, compare(small_view(pyramid, pose, self.plan.size), self.reference, self.plan.size))
        out: dict[str, SiteEvidence] = {}
        seen: list[Seen] = []
        for g in self.cells:
            which = np.array([i for i, s in enumerate(g.group.ids) if sites is None or s in sites], int)
            if len(which):
                out |= read_cells(g, sight, which, seen)
        out = settled(self.borders, out, seen)
        for g in self.cells:
            out |= self.alone(g, sight, out, seen)
        for g in self.blocks:
            out |= read_blocks(g, sight, out)
        return out

    def alone(self, g: GroupReader, sight: Sight, sites: dict[str, SiteEvidence], seen: Sequence[Seen]) -> dict[str, SiteEvidence]:
        """The sites of a group that seem to show something foreign, looked at again without what stands on the sites around"""
        which = np.array([i for i, site in enumerate(g.group.ids) if site in sites and sites[site].other > np.log(STRANGELY)], int)
        sure = [s for s in seen if s.chance > 0.5]
        if not len(which) or not sure:
            return {}
        feet = np.array([s.foot for s in sure])
        near = np.abs(feet - g.group.centres[which][:, None]).max(2) < g.small.half + g.group.side / 2     # (which, sure)
        stands = {n: (self.borders.stands(sure[n]), self.hull(sure[n], sight.pose, g.group.plane)) for n in np.flatnonzero(near.any(0))}
        views, _ = g.seen(sight, which)
        hidden = np.zeros(views.shape[:3], np.uint8)
        for i, mine, clear in zip(which, near, hidden):
            for owner, hull in (stands[n] for n in np.flatnonzero(mine)):
                if owner != g.group.ids[i]:
                    cv2.fillConvexPoly(clear, g.small.to_px(i, hull), 1)
        views = np.where(hidden[..., None] > 0, g.empty[which], views)
        occupied = np.exp(g.stage.bare.answer(g.stage.unlike(views, g.empty, g.lines, which))[:, 0])
        return {g.group.ids[i]: less_foreign(sites[g.group.ids[i]], float(p))
                for i, p, clear in zip(which, occupied, hidden) if clear.any()}

    def hull(self, s: Seen, pose: Pose, plane: float) -> np.ndarray:
        """(n, 2) mm in a plane: what a piece hides"""
        contents = next(iter(s.parts))
        size, disc = seen_size(contents, self.plan)
        turn = np.linspace(0, 2 * np.pi, 24, endpoint=False) if disc else np.pi / 4 * np.arange(1, 8, 2)
        around = s.foot + np.stack([np.cos(turn), np.sin(turn)], -1) * (np.array(size) / 2 * (1 if disc else 2 ** 0.5) + BESIDE)
        lean = lean_at(pose, s.foot[None])[0]
        both = np.vstack([around + lean * (h - plane) for h in (0.0, height_of(contents, self.plan))])
        return cv2.convexHull(both.astype(np.float32)).reshape(-1, 2)

    def pack(self) -> model.Arrays:
        arrays: model.Arrays = {"reference": self.reference, "groups": np.array([len(self.cells), len(self.blocks)])}
        for n, g in enumerate(self.cells + self.blocks):
            arrays |= model.drawer(str(n), model.pack(g))
        return arrays

    @classmethod
    def unpack(cls, plan: Plan, arrays: model.Arrays) -> PileReader:
        """Back from pack(). Raises KeyError or ValueError where something is missing."""
        cells, large = arrays["groups"].tolist()
        readers = [model.unpack(GroupReader, model.opened(str(n), arrays)) for n in range(cells + large)]
        return cls(plan, arrays["reference"], readers[:cells], readers[cells:])


def read_cells(g: GroupReader, sight: Sight, which: np.ndarray, pieces: list[Seen]) -> dict[str, SiteEvidence]:
    """Evidence of sites `which` of the group, each by itself: whether anything lies there first, what it is where it does.
    What is seen on each, and where it stands, is added to `pieces`."""
    seen, unlike = g.seen(sight, which)
    bare = g.stage.bare.answer(unlike)                                          # (n, 2): occupied, empty
    out = {g.group.ids[i]: SiteEvidence((((), float(b[1])),), FLOOR) for i, b in zip(which, bare)}
    busy = np.flatnonzero(bare[:, 0] > np.log(FAINTLY))
    if not len(busy):
        return out
    lean = lean_at(sight.pose, g.group.centres[which[busy]])
    gain, place = g.places(which[busy], seen[busy], lean)
    closely = (bare[busy, 0] > np.log(WORTH)) | (gain.max(1) > 0)
    if not closely.any():
        return out
    busy, lean = busy[closely], lean[closely]
    others = np.setdiff1d(np.arange(len(g.group.ids)), which)
    told, lying, feet = g.told(sight, which[busy], unlike[busy], gain[closely], place[closely], lean, others if len(others) else None)
    told, parts = np.maximum(told, FLOOR), g.split(told, lying) | g.stacked(which[busy], told, lying, lean)
    contents = [*g.stage.looks, ()]
    every, strange = np.delete(told, -2, 1).tolist(), told[:, -2].tolist()
    likely = told[:, :len(g.stage.looks)].argmax(1).tolist()
    for i, (n, foot, likeliest) in enumerate(zip(busy, feet, likely)):
        options = dict(zip(contents, every[i]))
        same: tuple[Contents, ...] = (contents[likeliest],)
        for k in (k for k in range(len(g.turned)) if (i, k) in parts):
            whole = options.pop(contents[k])
            options |= {c: max(whole + p, FLOOR) for c, p in parts[i, k].items()}
            same = tuple(parts[i, k]) if k == likeliest else same
        if not np.isnan(foot).any():
            pieces.append(Seen(g.group.ids[which[n]], {c: float(np.exp(options[c])) for c in same}, foot))
        best = heapq.nlargest(KEPT, options.items(), key=itemgetter(1))
        out[g.group.ids[which[n]]] = SiteEvidence(tuple(best), strange[i])
    return out


def read_blocks(g: GroupReader, sight: Sight, cells: dict[str, SiteEvidence]) -> dict[str, SiteEvidence]:
    """Evidence for sites under a piece that covers several, where the cells' own evidence leaves room for one"""
    strange = {s for s, e in cells.items() if e.other > np.log(0.02)}
    which = np.array([i for i, members in enumerate(g.group.members)
                      if sum(m in strange for m in members) >= 0.75 * len(members)], int)
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
