"""Reads sites where pieces lie loose: a tile or card below, any number of pieces on it. Its value: ClusterReader."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import cv2
import numpy as np

from vision.cluster_canvas import MARGIN, Empty, Frame, match_light, trust
from vision.cluster_find import SURE, Fine, Piece, find, kits_of, polygons
from vision.cluster_first import Firsts, group_of, lay_all, learn_again, learn_firsts
from vision.cluster_loose import FormLooks, centred, evened, figures, first_places, form_of, groups_of, looked_again, looks_of, named
from vision.cluster_scene import FOLD, Scene, Stage
from vision.cluster_tall import TallLook, find_tall
from vision.evidence import FLOOR, CountedEvidence
from vision.plan import Plan, Site
from vision.pose import Pose
from vision.shot import Shot

LEAST = 60.0        # gain (mm² of squared noise) below which nothing is worth telling
MISSED, UNSEEN = 0.015, 0.003      # how likely one piece more or less, among those found and where none was
NEAR = 6.0          # mm by which a piece's middle may lie outside its site's outline


class ClusterReader:
    """Fitted to a copy's photos; read() gives CountedEvidence for every site of a plan that reads "cluster"."""

    def __init__(self, plan: Plan, empty: Empty, firsts: Firsts, looks: FormLooks, tall: Sequence[TallLook] = (),
                 aside: Iterable[str] = (), stands: Iterable[str] = ()) -> None:
        """aside: kinds of the spots inside cells, known so that they are not taken for others; stands: tags and beginnings
        of names of the sites on which figures stand"""
        self.plan, self.empty, self.firsts, self.looks, self.tall = plan, empty, firsts, looks, tuple(tall)
        self.aside = frozenset(aside)
        self.frame = empty.frame
        self.stage = Stage(empty, trust(self.frame, plan))
        self.clusters = {s.id: s for s in plan.site if s.reads == "cluster"}
        self.kits = kits_of([Fine(f, self.frame.scale, k.kinds, k.looks, k.shades) for f, k in looks.items()])
        self.stands = frozenset(stands)
        self.loose = sorted({k for look in looks.values() for k in look.kinds})
        self.outlines = [(s.id, o.min(0), o.max(0), o.astype(np.float32).reshape(-1, 1, 2))
                         for s in plan.site for o in s.outlines]

    def read(self, image: np.ndarray, pose: Pose, sites: Iterable[str] | None = None) -> dict[str, CountedEvidence]:
        """image: (h, w, 3) uint8 BGR; sites: only these, else all. -> {site: evidence}"""
        wanted = {s: self.clusters[s] for s in (self.clusters if sites is None else sites) if s in self.clusters}
        if not wanted:
            return {}
        scene = self.stage.scene(image, pose, None if sites is None else self.rects(wanted.values()))
        firsts = self.firsts.read(scene, wanted)
        pieces = self.pieces(scene, wanted)
        self.last = pieces
        return self.evidence(wanted, firsts, pieces)

    def pieces(self, scene: Scene, wanted: dict[str, Site]) -> list[Piece]:
        """What lies loose on some sites: figures first, as they hide what is behind them"""
        out = []
        if self.tall:
            feet = polygons(self.frame, [o for s in wanted.values() if self.may_stand(s) for o in s.outlines], NEAR)
            out = find_tall(scene, self.tall, feet, LEAST, SURE)
        area = polygons(self.frame, [o for s in wanted.values() for o in s.outlines], NEAR)
        return out + find(scene, self.kits, area, LEAST)

    def may_stand(self, site: Site) -> bool:
        """Whether figures were seen on such sites, which are those with a tag or the beginning of the name in common"""
        return group_of(site.id) in self.stands or bool(self.stands & set(site.tags))

    def rects(self, sites: Iterable[Site]) -> list[tuple[int, int, int, int]] | None:
        """The parts of the canvas that show these sites; None where that is about all of it"""
        f, out = self.frame, []
        for o in (o for s in sites for o in s.outlines):
            lo = np.floor(f.to_px(o.min(0) - MARGIN)).astype(int).clip(0) // FOLD * FOLD
            hi = np.minimum(np.ceil(f.to_px(o.max(0) + MARGIN)).astype(int) // FOLD * FOLD, (f.width, f.height))
            out.append((*map(int, lo), *map(int, hi)))
        area = sum((x1 - x0) * (y1 - y0) for x0, y0, x1, y1 in out)
        return None if area > 0.6 * f.width * f.height else out

    def evidence(self, wanted: dict[str, Site], firsts: dict[str, dict[str, float]], pieces: Sequence[Piece]
                 ) -> dict[str, CountedEvidence]:
        here: dict[str, list[Piece]] = {s: [] for s in wanted}
        for p in pieces:
            s = self.home(p.foot, self.clusters)
            if s in here:
                here[s].append(p)
        out = {}
        for s in wanted:
            first = firsts.get(s, {})
            below = max(first, key=first.get) if first else ""
            loose = sorted(p.kind for p in here[s] if p.kind not in self.aside)
            contents = ((below,) if below else ()) + tuple(loose)
            out[s] = CountedEvidence(((contents, -0.1),), FLOOR, first, counted(Counter(loose), self.loose))
        return out

    def home(self, foot: np.ndarray, sites: Iterable[str], reach: float = NEAR) -> str | None:
        """Which of some sites a foot point lies in, or is nearest to within `reach` mm"""
        best = -reach, None
        x, y = map(float, foot)
        for site, lo, hi, outline in self.outlines:
            if (lo[0] - reach < x < hi[0] + reach and lo[1] - reach < y < hi[1] + reach and site in sites):
                d = cv2.pointPolygonTest(outline, (x, y), True)
                if d > best[0]:
                    best = d, site
        return best[1]

    @classmethod
    def fit(cls, plan: Plan, shots: Sequence[Shot]) -> ClusterReader:
        """From calibration photos, some of the empty board. Raises ValueError where there is nothing to learn from."""
        if not shots:
            raise ValueError("no calibration photos")
        frame = Frame.of(plan, [s.pose for s in shots])
        canvases = [frame.flatten(s.image, frame.maps(s.pose)) for s in shots]
        bare = [c for s, c in zip(shots, canvases) if not s.layout]
        if not bare:
            bare = [np.median(canvases, 0).astype(np.uint8)]
        empty = Empty.of(frame, bare)
        trusted = trust(frame, plan)
        levels = [match_light(frame, c, empty.canvas, trusted).terms[0] for s, c in zip(shots, canvases) if s.layout]
        level = max(1.0, float(np.exp(np.median(levels)))) if levels else 1.0
        if level > 1:       # pieces are brighter than the table: keep them below white
            empty = Empty(frame, (empty.canvas / level).astype(np.uint8), empty.spread / level)
        return learn(plan, empty, [s for s in shots if s.layout])


def counted(found: Counter[str], kinds: Iterable[str]) -> dict[str, tuple[float, ...]]:
    """kind -> log-probabilities of 0, 1, 2 ... pieces, given how many were found: one too few or too many is not unheard of"""
    out = {}
    for kind in {*kinds, *found}:
        n = found[kind]
        off = MISSED if n else UNSEEN
        p = [off ** abs(k - n) for k in range(n + 3)]
        out[kind] = tuple(float(v) for v in np.log(np.array(p) / sum(p)))
    return out


def learn(plan: Plan, empty: Empty, full: Sequence[Shot], rounds: int = 2) -> ClusterReader:
    """A first reader by outlines and layouts; then better ones, by what the one before found in the same samplers"""
    frame = empty.frame
    reader = ClusterReader(plan, empty, Firsts((), {}), {})
    scenes = [reader.stage.scene(s.image, s.pose, learning=True) for s in full]
    firsts, placed = learn_firsts(plan, frame, full, scenes)
    groups = groups_of(plan, full)
    loose = {k for g in groups if g.site.reads == "cluster" for k in g.kinds}
    forms = {form_of(plan.pieces[k]) for k in loose}
    tall, stands = figures(plan, groups, scenes, frame)
    aside = {k for g in groups for k in g.kinds if form_of(plan.pieces[k]) not in forms}
    found = first_places(plan, frame, groups, scenes)
    named(found, groups, scenes, frame, plan)
    centred(found, groups, scenes, frame)
    for _ in range(2):
        evened(found, groups, scenes, frame)
    reader = ClusterReader(plan, empty, firsts, looks_of(found, groups, scenes, frame), tall, aside, stands)
    for _ in range(rounds):
        pieces, hidden = zip(*(looked_over(reader, shot) for shot in full))
        if placed:
            firsts = learn_again(firsts, placed, scenes, hidden)
            lay_all(firsts, placed, scenes)
        found = looked_again(found, groups, pieces, lambda p, site: reader.home(p.foot, {site.id}, 2.0) is not None)
        named(found, groups, scenes, frame, plan)
        reader = ClusterReader(plan, empty, firsts, looks_of(found, groups, scenes, frame), tall, aside, stands)
    return reader


def looked_over(reader: ClusterReader, shot: Shot) -> tuple[list[Piece], np.ndarray]:
    """The pieces a reader finds in a sampler, of the kinds that lie there, and the (h, w) uint8 mask of what they hide"""
    scene = reader.stage.scene(shot.image, shot.pose)
    reader.firsts.read(scene, reader.clusters)
    pieces = find(scene, reader.kits, np.ones_like(scene.strange, np.uint8), LEAST)
    hidden = np.zeros(scene.seen.shape[:2], np.uint8)
    for p in pieces:
        home = reader.home(p.foot, reader.clusters)
        if p.kind in shot.layout.get(home, ()):
            shade(scene, p, hidden)
    return pieces, hidden


def shade(scene: Scene, p: Piece, mask: np.ndarray, grown: float = 1.5) -> None:
    """Marks what a piece hides, and a little around it for its shadow"""
    base = p.form.outline(p.foot, p.turn, grown)
    hull = cv2.convexHull(np.vstack([base, base + scene.lean.shift(base, p.form.height)]).astype(np.float32)).reshape(-1, 2)
    cv2.fillPoly(mask, [np.round(scene.frame.to_px(hull)).astype(np.int32)], 1)
