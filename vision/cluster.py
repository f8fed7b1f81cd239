"""Reads sites where pieces lie loose: a tile or card below, any number of pieces on it. Its value: ClusterReader."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

import cv2
import msgspec
import numpy as np

from vision.cluster_base import CAP, NOISE, Sheet, cut, grid_of, halved, learn_sheet, related, search, settle
from vision.cluster_canvas import MARGIN, Empty, Frame, match_light, trust
from vision.cluster_find import Fine, Piece, find, kits_of, polygons, refined, searched
from vision.cluster_learn import Found, by_shape, explained, name_all
from vision.cluster_polar import ANGLES, SCORE_NOISE, Form, Patch, Rings, Table, turned
from vision.cluster_scene import FOLD, Scene, Stage, paint, sharp
from vision.evidence import FLOOR, CountedEvidence, first_lies_below
from vision.plan import Piece as PlanPiece
from vision.plan import Plan, Site
from vision.pose import Pose
from vision.shot import Shot

LEAST = 60.0        # gain (mm² of squared noise) below which nothing is worth telling


def form_of(p: PlanPiece) -> Form:
    return Form(tuple(map(float, p.footprint)), float(p.height), p.disc)


def group_of(site: str) -> str:
    """Sites named alike lie alike: L5.3 and L2.1, but not R5.3"""
    return re.match(r"[^\d.]*", site).group()


class ClusterReader:
    """Fitted to a copy's photos; read() gives CountedEvidence for every site of a plan that reads "cluster"."""

    def __init__(self, plan: Plan, empty: Empty, sheets: Sequence[Sheet], looks: dict[Form, tuple[tuple[str, ...], np.ndarray]],
                 turns: dict[str, float],
                 aside: Iterable[str] = ()) -> None:
        self.plan, self.empty, self.sheets, self.turns = plan, empty, list(sheets), turns
        self.frame = empty.frame
        self.stage = Stage(empty, trust(self.frame, plan))
        self.clusters = {s.id: s for s in plan.site if s.reads == "cluster"}
        self.looks = looks
        self.aside = frozenset(aside)       # kinds of spots inside a cell: known, so that they are not taken for others
        self.kits = kits_of([Fine(f, self.frame.scale, kinds, a) for f, (kinds, a) in looks.items()])
        self.all_boxes = boxes_of(plan.site)
        self.boxes = boxes_of(self.clusters.values())

    # ---------------------------------------------------------------- reading

    def read(self, image: np.ndarray, pose: Pose, sites: Iterable[str] | None = None) -> dict[str, CountedEvidence]:
        """image: (h, w, 3) uint8 BGR; sites: only these, else all. -> {site: evidence}"""
        wanted = {s: self.clusters[s] for s in (self.clusters if sites is None else sites) if s in self.clusters}
        if not wanted:
            return {}
        scene = self.stage.scene(image, pose, None if sites is None else self.rects(wanted.values()))
        firsts = self.read_bases(scene, wanted)
        area = polygons(self.frame, [o for s in wanted.values() for o in s.outlines], 6.0)
        pieces = find(scene, self.kits, area, LEAST)
        self.last = pieces
        return self.evidence(wanted, firsts, pieces)

    def rects(self, sites: Iterable[Site]) -> list[tuple[int, int, int, int]] | None:
        """The parts of the canvas that show these sites; None where that is about all of it"""
        f, out = self.frame, []
        for o in (o for s in sites for o in s.outlines):
            lo = np.floor(f.to_px(o.min(0) - MARGIN)).astype(int).clip(0) // FOLD * FOLD
            hi = np.minimum(np.ceil(f.to_px(o.max(0) + MARGIN)).astype(int) // FOLD * FOLD, (f.width, f.height))
            out.append((*map(int, lo), *map(int, hi)))
        area = sum((x1 - x0) * (y1 - y0) for x0, y0, x1, y1 in out)
        return None if area > 0.6 * f.width * f.height else out

    def read_bases(self, scene: Scene, wanted: dict[str, Site]) -> dict[str, dict[str, float]]:
        """site -> kind or "" -> log-probability; paints what was found on the scene's ground"""
        out: dict[str, dict[str, float]] = {}
        for sheet in self.sheets:
            ids = [s for s in wanted if self.takes(wanted[s], sheet)]
            if not ids:
                continue
            centre = np.array([wanted[s].centre for s in ids])
            home = np.column_stack([centre + scene.lean.shift(centre, sheet.height), [self.turns.get(group_of(s), 0.0) for s in ids]])
            light = scene.light_at(centre)
            rough, cost = search(scene.seen, self.frame, sheet.looks, sheet.size, home, light)
            n = len(ids)
            grid = grid_of(sheet.size, sheet.scale)
            coarse = grid_of(sheet.size, sheet.scale, 2)
            order = np.argsort(cost, 1)[:, :2]
            misfit = np.full((n, len(sheet.kinds)), np.inf)
            poses = np.zeros((n, len(sheet.kinds), 3))
            small = halved(sheet.looks, 2)
            for rank in range(order.shape[1]):
                k = order[:, rank]
                pose = rough[np.arange(n), k]
                pose, _ = settle(scene.seen, self.frame, small[k], coarse, pose, 5, light)
                pose, gain = settle(scene.seen, self.frame, sheet.looks[k], grid, pose, 2, light, reach=1.5)
                got = cut(scene.seen, self.frame, grid, pose, light * gain)
                for j in range(len(sheet.kinds)):
                    m = np.minimum(((got - sheet.looks[j]) ** 2).mean(-1) / NOISE ** 2, CAP).mean((1, 2))
                    better = m < misfit[:, j]
                    misfit[better, j] = m[better]
                    poses[better, j] = pose[better]
            bare = cut(scene.ground, self.frame, grid, poses[np.arange(n), misfit.argmin(1)])
            got = cut(scene.seen, self.frame, grid, poses[np.arange(n), misfit.argmin(1)], light)
            none = np.minimum(((got - bare) ** 2).mean(-1) / NOISE ** 2, CAP).mean((1, 2))
            area = sheet.size[0] * sheet.size[1]
            for i, s in enumerate(ids):
                scores = {k: -0.15 * area * float(misfit[i, j]) for j, k in enumerate(sheet.kinds)}
                scores[""] = -0.15 * area * float(none[i])
                total = np.logaddexp.reduce(list(scores.values()))
                out[s] = {k: max(float(v - total), FLOOR) for k, v in scores.items()}
                best = max(out[s], key=out[s].get)
                if best:
                    j = sheet.kinds.index(best)
                    paint(scene, sheet, j, poses[i, j])
        return out

    def takes(self, site: Site, sheet: Sheet) -> bool:
        o = np.ptp(np.array(site.outline), axis=0)
        return bool(min(o) > 0.8 * min(sheet.size) and max(o) < 1.6 * max(sheet.size))

    def evidence(self, wanted: dict[str, Site], firsts: dict[str, dict[str, float]], pieces: Sequence[Piece]
                 ) -> dict[str, CountedEvidence]:
        here: dict[str, list[Piece]] = {s: [] for s in wanted}
        for p in pieces:
            s = self.home(p.foot)
            if s in here:
                here[s].append(p)
        out = {}
        for s in wanted:
            first = firsts.get(s, {})
            below = max(first, key=first.get) if first else ""
            loose = sorted(p.kind for p in here[s] if p.kind not in self.aside)
            contents = ((below,) if below else ()) + tuple(loose)
            out[s] = CountedEvidence(((contents, -0.1),), FLOOR, first, {})
        return out

    def home(self, foot: np.ndarray, sites: Iterable[Site] | None = None, reach: float = 4.0) -> str | None:
        """The cluster site (or one of `sites`) in which a foot point lies, or the nearest within `reach` mm"""
        best = -reach, None
        at = float(foot[0]), float(foot[1])
        only = None if sites is None else {s.id for s in sites}
        for site, lo, hi, outline in self.all_boxes if only else self.boxes:
            if (only is None or site in only) and (foot > lo - reach).all() and (foot < hi + reach).all():
                d = cv2.pointPolygonTest(outline, at, True)
                if d > best[0]:
                    best = d, site
        return best[1]

    # ---------------------------------------------------------------- fitting

    @classmethod
    def fit(cls, plan: Plan, shots: Sequence[Shot]) -> ClusterReader:
        """From calibration photos, some of the empty board. Raises ValueError where there is nothing to learn from."""
        frame = Frame.of(plan, [s.pose for s in shots])
        canvases = [frame.flatten(s.image, frame.maps(s.pose)) for s in shots]
        bare = [c for s, c in zip(shots, canvases) if not s.layout]
        full = [(s, c) for s, c in zip(shots, canvases) if s.layout]
        if not bare:
            bare = [np.median(canvases, 0).astype(np.uint8)]
        empty = Empty.of(frame, bare)
        trusted = trust(frame, plan)
        levels = [match_light(frame, c, empty.canvas, trusted).terms[0] for _, c in full]
        level = max(1.0, float(np.exp(np.median(levels)))) if levels else 1.0
        if level > 1:       # pieces are brighter than the table: keep them below white
            empty = Empty(frame, (empty.canvas / level).astype(np.uint8), empty.spread / level)
        return learn(plan, empty, [s for s in shots if s.layout])


def boxes_of(sites: Iterable[Site]) -> list[tuple[str, np.ndarray, np.ndarray, np.ndarray]]:
    """(id, least and largest corner, outline for cv2) of every outline"""
    return [(s.id, o.min(0), o.max(0), o.astype(np.float32).reshape(-1, 1, 2)) for s in sites for o in s.outlines]


def learn(plan: Plan, empty: Empty, full: Sequence[Shot]) -> ClusterReader:
    frame = empty.frame
    reader = ClusterReader(plan, empty, [], {}, {})
    scenes = [reader.stage.scene(s.image, s.pose, learning=True) for s in full]
    sheets, turns = learn_bases(plan, frame, full, scenes)
    groups = groups_of(plan, full)
    loose = {k for g in groups if g.site.reads == "cluster" for k in g.kinds}
    forms = {form_of(plan.pieces[k]) for k in loose}
    aside = {k for g in groups for k in g.kinds if form_of(plan.pieces[k]) not in forms}
    found = first_places(plan, frame, groups, scenes)
    named(found, groups, scenes, frame, plan)
    centred(found, groups, scenes, frame)
    reader = ClusterReader(plan, empty, sheets, looks_of(found, groups, scenes, frame), turns, aside)
    for _ in range(2):
        found = second_look(reader, found, groups, full)
        named(found, groups, scenes, frame, plan)
        reader = ClusterReader(plan, empty, sheets, looks_of(found, groups, scenes, frame), turns, aside)
    return reader


def learn_bases(plan: Plan, frame: Frame, full: Sequence[Shot], scenes: Sequence[Scene]
                ) -> tuple[list[Sheet], dict[str, float]]:
    by_size: dict[tuple, list[tuple[int, str, str]]] = {}
    for n, shot in enumerate(full):
        for site, contents in shot.layout.items():
            if plan.sites[site].reads == "cluster" and contents and first_lies_below(contents[0]):
                p = plan.pieces[contents[0]]
                by_size.setdefault((p.footprint, p.height), []).append((n, site, contents[0]))
    sheets, turns = [], {}
    for (size, height), places in by_size.items():
        seen, lights = [], []
        for n, site, kind in places:
            mm = plan.sites[site].centre
            seen.append((n, mm + scenes[n].lean.shift(mm, height)[0], kind, np.pi if group_of(site) == "R" else 0.0))
            lights.append(scenes[n].light_at(mm[None])[0])
        sheet, pose = learn_sheet([s.seen for s in scenes], [sharp(s.off, frame.scale) for s in scenes], frame, seen, np.array(lights),
                                  tuple(map(float, size)), float(height))
        for (n, site, kind), p in zip(places, pose):
            paint(scenes[n], sheet, sheet.kinds.index(kind), p)
        sheets.append(sheet)
    return sheets, {"R": np.pi} if plan.game == "nile" else {}


class Group(msgspec.Struct, frozen=True, eq=False):
    """A site of a sampler photo and the loose kinds that lie there."""

    shot: int
    site: Site
    kinds: Counter[str]


def groups_of(plan: Plan, full: Sequence[Shot]) -> list[Group]:
    """What samplers show of loose pieces: on clusters, on the spots inside them, and alone on piles where the size is one of theirs"""
    out = []
    for n, shot in enumerate(full):
        for site, contents in shot.layout.items():
            if plan.sites[site].reads == "cluster":
                loose = Counter(plan.pieces[k].looks or k for k in contents if not first_lies_below(k) and k in plan.pieces)
                if loose:
                    out.append(Group(n, plan.sites[site], loose))
    used = {form_of(plan.pieces[k]) for g in out for k in g.kinds}
    for n, shot in enumerate(full):
        for site, contents in shot.layout.items():
            s = plan.sites[site]
            if s.reads == "pile" and len(contents) == 1 and contents[0] in plan.pieces:
                p = plan.pieces[contents[0]]
                if form_of(p) in used or (s.of and plan.sites[s.of].reads == "cluster"):
                    out.append(Group(n, s, Counter([p.looks or p.kind])))
    return out


def first_places(plan: Plan, frame: Frame, groups: Sequence[Group], scenes: Sequence[Scene]) -> list[Found]:
    """Where the sampler's pieces lie, by their outlines"""
    sharps = [sharp(s.off, frame.scale) for s in scenes]
    found: list[Found] = []
    for g, group in enumerate(groups):
        scene = scenes[group.shot]
        wanted: Counter[Form] = Counter()
        for k, c in group.kinds.items():
            if flat(form_of(plan.pieces[k])):
                wanted[form_of(plan.pieces[k])] += c
        if not wanted:
            continue
        best = None
        for o in group.site.outlines:
            height = max(f.height for f in wanted)
            got = by_shape(sharps[group.shot], frame, o + scene.lean.shift(o.mean(0), height), wanted)
            total = sum(x[3] * x[0].area for x in got)
            if best is None or total > best[0]:
                best = total, got
        found += [Found(g, f, at, score, turn=turn, shape=score) for f, at, turn, score in best[1]]
    return found


def flat(form: Form) -> bool:
    """Seen from above, not from the side"""
    return form.height <= 1.6 * 2 * form.inner


NEARBY = np.array([[0, 0], [1, 0], [-1, 0], [0, 1], [0, -1], [.7, .7], [.7, -.7], [-.7, .7], [-.7, -.7]])


def named(found: Sequence[Found], groups: Sequence[Group], scenes: Sequence[Scene], frame: Frame, plan: Plan) -> None:
    """Gives each found piece its kind, form by form"""
    for form in {f.form for f in found}:
        mine = [f for f in found if f.form == form]
        rings = Rings.around(form, frame.scale)
        patches = patches_of(rings, frame, mine, groups, scenes)
        everyone = Table(rings, patches.seen, np.broadcast_to(rings.area(form), patches.weight.shape))
        cost = np.full((len(mine), len(mine)), np.inf)
        for shift in NEARBY * 0.8:
            part = patches_of(rings, frame, mine, groups, scenes, shift)
            even = Patch(part.seen, part.ground, np.full_like(part.weight, 1 / SCORE_NOISE ** 2))
            cost = np.minimum(cost, everyone.unlike(even))
        D = np.minimum(cost, cost.T) / form.area
        contents = {g: Counter({k: c for k, c in groups[g].kinds.items() if form_of(plan.pieces[k]) == form})
                    for g in {f.group for f in mine}}
        for f in mine:
            f.kind = None
        name_all(mine, contents, lambda i, j, D=D: float(D[i, j]))


def centred(found: Sequence[Found], groups: Sequence[Group], scenes: Sequence[Scene], frame: Frame) -> None:
    """Pieces that hardly stand out from what they lie on are laid like their clearer relatives of another colour"""
    looks = looks_of(found, groups, scenes, frame)
    for form, (kinds, prints) in looks.items():
        mine = [f for f in found if f.form == form]
        clear = {k: float(np.mean([f.shape for f in mine if f.kind == k])) for k in kinds}
        rings = Rings.around(form, frame.scale)
        area = rings.area(form)
        reach = np.arange(-0.6, 0.61, 0.1) * form.inner
        shifts = np.stack(np.meshgrid(reach, reach), -1).reshape(-1, 2)
        for kind in sorted(kinds, key=lambda k: -clear[k]):
            kin = [k for k in kinds if related(kind, k) > 0 and clear[k] > clear[kind] + 0.05]
            for f in (f for f in mine if f.kind == kind and kin):
                near = np.concatenate([patches_of(rings, frame, [f], groups, scenes, s).seen for s in shifts])
                shares = np.stack([explained(near, prints[kinds.index(k)], area) for k in kin])
                k, s, turn = np.unravel_index(shares.argmax(), shares.shape)
                here = shares[:, len(shifts) // 2].max()
                if shares[k, s, turn] > 0.6 and shares[k, s, turn] > here + 0.1:
                    f.at = f.at + shifts[s]
                    f.turn = turn * 2 * np.pi / rings.angles


def looks_of(found: Sequence[Found], groups: Sequence[Group], scenes: Sequence[Scene], frame: Frame
             ) -> dict[Form, tuple[tuple[str, ...], np.ndarray]]:
    """The look of every kind: the median of its pieces, turned alike; shifts every piece to where it fits that best"""
    out = {}
    for form in sorted({f.form for f in found}, key=lambda f: -f.area):
        mine = [f for f in found if f.form == form]
        rings = Rings.around(form, frame.scale)
        area = rings.area(form)[None]
        kinds = tuple(sorted({f.kind for f in mine}))
        for reach in (1.4, 0.5, 0.0):
            patches = patches_of(rings, frame, mine, groups, scenes)
            looks = np.zeros((len(kinds), *patches.seen.shape[1:]), np.float32)
            for k, kind in enumerate(kinds):
                which = [i for i, f in enumerate(mine) if f.kind == kind]
                first = max(which, key=lambda i: mine[i].score)
                straight = turned(patches.seen[first:first + 1], np.array([steps(mine[first].turn)]))
                part = Patch(patches.seen[which], patches.ground[which], patches.weight[which])
                turn = Table(rings, straight, area).gains(part)[1][:, 0]
                looks[k] = np.median(turned(part.seen, turn), 0)
            for f in mine if reach else ():
                one = Fine(form, frame.scale, [f.kind], looks[kinds.index(f.kind)][None])
                scene = scenes[groups[f.group].shot]
                f.at = searched(scene, one, f.at, reach, reach / 2)
                p = refined(scene, one, f.at[None], 0)[0]
                f.score, f.turn = p.gain, p.turn
        out[form] = kinds, looks
    return out


def second_look(reader: ClusterReader, found: Sequence[Found], groups: Sequence[Group], full: Sequence[Shot]
                ) -> list[Found]:
    """What a first reader finds in the samplers, where it agrees with the layout; else what was found before"""
    plan = reader.plan
    pieces = []
    for shot in full:
        scene = reader.stage.scene(shot.image, shot.pose)
        reader.read_bases(scene, reader.clusters)
        everywhere = np.ones_like(scene.strange, np.uint8)
        pieces.append(find(scene, reader.kits, everywhere, LEAST))
    out = []
    for g, group in enumerate(groups):
        old = [f for f in found if f.group == g]
        here = [p for p in pieces[group.shot] if reader.home(p.foot, [group.site], 2.0)]
        for form in {f.form for f in old}:
            mine = [f for f in old if f.form == form]
            now = [p for p in here if p.form == form]
            out += [Found(g, form, p.at, p.gain, None, p.turn, shape_near(p.at, mine)) for p in now] if len(now) == len(mine) else mine
    return out


def shape_near(at: np.ndarray, mine: Sequence[Found]) -> float:
    return min(mine, key=lambda f: np.linalg.norm(f.at - at)).shape


def steps(turn: float) -> int:
    return int(round(turn / (2 * np.pi) * ANGLES)) % ANGLES


def patches_of(rings: Rings, frame: Frame, mine: Sequence[Found], groups: Sequence[Group], scenes: Sequence[Scene],
               shift: np.ndarray | float = 0.0) -> Patch:
    parts = []
    for f in mine:
        scene = scenes[groups[f.group].shot]
        parts.append(rings.look_at(frame, scene.seen, scene.ground, scene.weight, f.at[None] + shift,
                                   scene.light_at(f.at[None])))
    return Patch(*(np.concatenate([getattr(p, a) for p in parts]) for a in ("seen", "ground", "weight")))
