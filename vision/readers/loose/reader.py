"""Reads sites where pieces lie loose: a tile or card below, any number of pieces on it. Its value:
ClusterReader."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy

import cv2
import msgspec
import numpy as np

from vision.evidence.site_evidence import CountedEvidence, SiteEvidence
from vision.frame_cache import FrameCache
from vision.geometry.pose import Pose
from vision.geometry.posed_photo import Lying
from vision.geometry.site_windows import Pyramid
from vision.photometry.camera_response import NEUTRAL_RESPONSE
from vision.photometry.canvas import MARGIN, Empty, Frame, site_trust
from vision.plan import Plan, Site
from vision.readers.loose.cards.card_level import Sheet
from vision.readers.loose.cards.card_reader import Firsts, Tried, group_of
from vision.readers.loose.cards.misplaced import read_astray, site_has
from vision.readers.loose.cards.tone_from_tiles import rendition_by_tiles
from vision.readers.loose.count_evidence import evidence_of, patched, shares_of
from vision.readers.loose.pieces.blocks import is_block
from vision.readers.loose.pieces.figures import TallLook, find_tall, hide
from vision.readers.loose.pieces.fit import FITS, WELL, Fine, Piece, reconsidered, refined, searched
from vision.readers.loose.pieces.fit_statistics import UNTOLD, Habit, Habits
from vision.readers.loose.pieces.looks import FormLooks, Look
from vision.readers.loose.pieces.occlusion_masks import fullness
from vision.readers.loose.pieces.search import find, kits_of, polygons
from vision.readers.loose.residual_blobs import Place, left_on, littered
from vision.readers.loose.scene.polar_patches import Form
from vision.readers.loose.scene.scene import FOLD, LIGHT_STEP, Rect, Scene, Stage, folded
from vision.readers.loose.scene_memory import NOTHING, Card, Recalled, SceneMemory
from vision.readers.loose.site_assignment import NEAR, Homes
from vision.readers.loose.usual_fit import Usual
from vision.storage import model_file, struct_codec

# of the smallest piece's area: a lump of that size on a card is as likely something foreign as not
LUMP, LUMPY = 1.85, 0.12
# of the smallest piece's area: one whose steps and sides may look like small ones; as likely as
# that
BIGGER, MAYBE = 1.7, 0.1
LARGE = 1600.0  # mm² of a site: on a larger one something foreign need not fill more
AROUND = 24  # sites looked at for how pieces fit where only few are read
BESIDE = 4.0  # mm beside a spot inside a cell at which what lies there is read with the spot
# share of a flat piece's place that is not the board's, from which what stands there may be one
# that lies
FULL = 0.9

# what a model file keeps of a reader, and the structs that may stand in it
PARTS = ("empty", "firsts", "looks", "tall", "aside", "stands", "usual", "lump", "patch")
STRUCTS = (Empty, Firsts, Form, Frame, Habit, Habits, Look, Sheet, TallLook, Usual)


class Begun(msgspec.Struct, frozen=True, eq=False):
    """A part of the canvas and the cards on some sites there: firsts: their log-likelihoods; tried:
    how they may lie; folded: folded();
    recalled: what is as it was"""

    scene: Scene
    firsts: dict[str, dict[str, float]]
    tried: dict[str, Tried]
    folded: np.ndarray | None
    recalled: Recalled


class Part(msgspec.Struct, frozen=True, eq=False):
    """What lies on some sites: wanted: those read here; firsts: their cards' log-likelihoods;
    tried: how these may lie; homes: whose a piece is; astray: as firsts, of other sites where a
    card lies"""

    begun: Begun
    wanted: dict[str, Site]
    firsts: dict[str, dict[str, float]]
    tried: dict[str, Tried]
    pieces: list[Piece]
    homes: Homes
    astray: dict[str, dict[str, float]]


class ClusterReader:
    """Fitted to a copy's photos; read() gives CountedEvidence for every site of a plan that reads
    "cluster"."""

    name = "cluster"  # of its part of a model file and of a cache

    def __init__(
        self,
        plan: Plan,
        empty: Empty,
        firsts: Firsts,
        looks: FormLooks,
        tall: Sequence[TallLook] = (),
        aside: Iterable[str] = (),
        stands: Iterable[str] = (),
        usual: Habits | None = None,
        lump: float = np.inf,
        patch: float = np.inf,
    ) -> None:
        """aside: kinds of the spots inside cells, known so that they are not taken for others;
        stands: tags and beginnings of names of the sites on which figures stand; usual: how pieces
        fit (what an earlier version learnt tells nothing); lump: mm of the largest lump
        (`Left.lump`) that samplers leave unexplained, patch: of what is `Left.filled()`"""
        self.plan, self.empty, self.firsts, self.looks, self.tall = (
            plan,
            empty,
            firsts,
            looks,
            tuple(tall),
        )
        self.aside, self.usual = frozenset(aside), usual if isinstance(usual, Habits) else UNTOLD
        # site -> mm of both, of the picture read last
        self.lump, self.patch, self.lumps = lump, patch, {}
        self.frame, self.kept = empty.frame, {}
        self.stage = Stage(empty, site_trust(self.frame, plan))
        self.clusters = {s.id: s for s in plan.site if s.reads == "cluster"}
        self.kits = kits_of(
            [Fine(f, self.frame.scale, k.kinds, k.looks, k.shades) for f, k in looks.items()]
        )
        self.least_inner = min((f.inner for f in looks), default=np.inf)
        self.least_area = min((f.area for f in looks), default=np.inf)
        self.stands = frozenset(stands)
        self.unprinted = unprinted(plan, firsts)
        self.lying: list[Lying] = []  # only of a reader just fitted: what it learnt from
        self.loose = sorted(
            {k for look in (*looks.values(), *tall) for k in look.kinds} - self.aside
        )
        self.spots = [
            o.astype(np.float32).reshape(-1, 1, 2)
            for s in plan.site
            if s.reads == "pile"
            for o in s.outlines
        ]
        self.homes = Homes.of(plan)

    def pack(self) -> model_file.Arrays:
        return struct_codec.freeze_value({part: getattr(self, part) for part in PARTS})

    @classmethod
    def unpack(cls, plan: Plan, arrays: model_file.Arrays) -> ClusterReader:
        """Back from pack(). Raises KeyError or ValueError where something is missing."""
        return cls(plan, **struct_codec.thaw_value(arrays, STRUCTS))

    def read(
        self,
        picture: np.ndarray | Pyramid,
        pose: Pose,
        sites: Iterable[str] | None = None,
        cache: FrameCache | None = None,
    ) -> dict[str, SiteEvidence]:
        """picture: of (h, w, 3) uint8 BGR; sites: only these, else all; cache: of this board's
        readings before with this pose, which is brought up to date. -> {site: evidence}; of sites
        that are read otherwise, those on which a card lies that does not belong there. Raises
        StaleCache where what is remembered is of another light."""
        known = (
            self.plan.sites
            if sites is None
            else {s: self.plan.sites[s] for s in sites if s in self.plan.sites}
        )
        if not self.firsts.sheets and not self.clusters.keys() & known.keys():
            return {}
        image, parts = Pyramid.of(picture).levels[0], self.parts(known)
        memory = None if cache is None else cache.state(self.name, SceneMemory)
        known_before = memory is not None and memory.seen is not None
        if known_before:
            image = memory.tone.undone(image)
        begun = self.begun(image, pose, parts, memory)
        if self.unprinted and not known_before:
            found = rendition_by_tiles(
                [(one.scene, tiles_of(one.firsts, one.tried)) for one in begun], self.firsts
            )
            if found != NEUTRAL_RESPONSE:
                image = found.undone(image)
                if memory is not None:
                    memory.retoned(found)
                begun = self.begun(image, pose, parts, memory)
        laid = [self.laid(one, some) for (some, _), one in zip(parts, begun)]
        self.last = [p for part in laid for p in part.pieces]
        usual, out = self.usual_here(image, pose, known, memory), {}
        for part in laid:
            told = self.evidence(part, usual)
            out |= told
            if memory is not None:
                one, whole = part.begun, len(known) == len(self.plan.sites)
                cards = {
                    s: Card(best_of(kinds), kinds, part.tried[s])
                    for s, kinds in part.firsts.items()
                    if s in part.tried and s not in one.recalled.cards
                }
                memory.keep(
                    one.scene,
                    self.frame,
                    one.folded,
                    one.recalled,
                    None if whole else part.wanted,
                    part.pieces,
                    cards,
                    {s: told[s] for s in part.wanted},
                )
        return out

    def usual_here(
        self, image: np.ndarray, pose: Pose, known: Mapping[str, Site], memory: SceneMemory | None
    ) -> Habits:
        """How pieces fit in this picture, by those of the sites read; where they are few and one
        may be something else, by those on the sites around too"""
        if len(known) == len(self.plan.sites) or not (odd := self.usual.doubtful(self.last)):
            return self.usual.here(self.last)
        if memory is not None and memory.pieces:
            return self.usual.here(
                self.last + [k.piece for k in memory.pieces if k.piece not in self.last]
            )
        around = sorted(
            self.clusters.keys() - known,
            key=lambda s: np.hypot(*(self.clusters[s].centre - odd[0].foot)),
        )
        parts = self.parts({s: self.clusters[s] for s in around[:AROUND]})
        return self.usual.here(
            [
                *self.last,
                *(
                    p
                    for (some, _), one in zip(parts, self.begun(image, pose, parts))
                    for p in self.laid(one, some).pieces
                ),
            ]
        )

    def begun(
        self,
        image: np.ndarray,
        pose: Pose,
        parts: Sequence[tuple[dict[str, Site], Rect | None]],
        memory: SceneMemory | None = None,
    ) -> list[Begun]:
        """Of each part its scene, what cards lie there, and how. Raises StaleCache where the
        picture is not like that remembered."""
        low = self.stage.low(image, pose) if memory or parts[0][1] else None
        light = memory.light(low) if memory else None
        first = memory is not None and light is None
        if parts[0][1] is None:
            scenes = [self.stage.scene(image, pose, light=light)]
            light = scenes[0].light
        else:
            light = self.stage.light(low) if light is None else light
            scenes = self.stage.windows(image, pose, [rect for _, rect in parts], light)
        if first:
            memory.lit_by(low, light)
        out = []
        for (known, _), scene in zip(parts, scenes):
            small, recalled = None, NOTHING
            if memory is not None:
                small = folded(scene)
                recalled = memory.recalled(scene, small, known, len(known) == len(self.plan.sites))
            tried: dict[str, Tried] = {}
            still = {
                s: c
                for s, c in recalled.doubtful.items()
                if self.firsts.still(scene, c.tried, c.kind)
            }
            tried |= {s: c.tried for s, c in still.items()}
            told = relaid(scene, recalled.cards | still)
            told |= self.firsts.read(
                scene,
                {s: k for s, k in known.items() if s in self.clusters and s not in told},
                tried,
            )
            out.append(Begun(scene, told, tried, small, recalled))
        return out

    def laid(self, begun: Begun, known: dict[str, Site]) -> Part:
        """What lies on some sites, all of which a scene shows"""
        scene, firsts, tried, recalled = begun.scene, begun.firsts, begun.tried, begun.recalled
        wanted = {s: site for s, site in known.items() if s in self.clusters}
        if len(known) < len(self.plan.sites) and self.firsts.sheets:
            # cards on the sites around are not looked for: not strange, then
            around, own = (
                [o for s in some for o in s.outlines]
                for some in (
                    [s for i, s in self.plan.sites.items() if i not in known],
                    known.values(),
                )
            )
            scene.strange[
                (polygons(scene.frame, around) > 0) & (polygons(scene.frame, own) == 0)
            ] = 0
        astray = read_astray(scene, self.firsts, known)
        firsts |= {s: kinds for s, kinds in astray.items() if s in wanted}
        pieces = self.pieces(scene, wanted, recalled) if wanted else []
        tried = {s: c.tried for s, c in recalled.cards.items()} | tried
        # a sleeve's colours may speak for one nobody tried
        tried = {s: t for s, t in tried.items() if t.knows(best_of(firsts[s]))}
        cards = {s: kind for s in tried if (kind := best_of(firsts[s]))}
        astray = {s: kinds for s, kinds in astray.items() if s not in wanted}
        return Part(begun, wanted, firsts, tried, pieces, self.homes.around(cards, tried), astray)

    def pieces(
        self, scene: Scene, wanted: dict[str, Site], recalled: Recalled = NOTHING
    ) -> list[Piece]:
        """What lies loose on some sites: figures first, as they hide what is behind them"""
        out, known, new = [], [(k.piece, k.covers) for k in recalled.pieces], recalled.new
        if self.tall:
            forms = {k.form: k for k in self.tall}
            feet = polygons(
                scene.frame,
                [o for s in wanted.values() if self.may_stand(s) for o in s.outlines],
                NEAR,
            )
            there = [p for p, _ in known if p.form in forms]
            for p in there:
                if p.chance > 0.5:
                    hide(scene, forms[p.form], p.foot)
            before = copy(scene)
            before.weight, before.strange = scene.weight.copy(), scene.strange.copy()
            out = find_tall(
                scene,
                self.tall,
                feet,
                {k: p.count for k, p in self.plan.pieces.items()},
                known=[p for p in there if p.chance > 0.5],
                new=new,
            )
            if flat := self.lying_flat(before, out):
                scene.weight, scene.strange = before.weight, before.strange
                out = [p for p in out if p not in flat]
                for p in (p for p in out if p.chance > 0.5):
                    hide(scene, forms[p.form], p.foot)
            out += there
        area = polygons(scene.frame, [o for s in wanted.values() for o in s.outlines], NEAR)
        return out + find(scene, self.kits, area, known=known, new=new)

    def lying_flat(self, scene: Scene, found: Sequence[Piece]) -> list[Piece]:
        """Those taken for figures where one flat piece explains more than they do"""
        out: list[Piece] = []
        for p in found:
            if p in out or p.chance < 0.5:
                continue
            well = FITS < p.gain / max(p.ideal, 1e-6) < 1 / FITS
            for fine in (f for kit in self.kits for f in kit.fines if not is_block(f.form)):
                if well and fullness(scene, fine.form, p.foot) < FULL:
                    continue
                at = searched(scene, fine, p.foot, fine.form.inner, 0.2 * fine.form.inner)
                q = refined(scene, fine, at[None])[0]
                there = [t for t in found if fine.form.inside(t.foot - q.foot) > 0]
                if 2 * q.gain > self.explained(there):
                    q = reconsidered(scene, fine, [q])[0]
                    there = [t for t in found if fine.form.inside(t.foot - q.foot) > 0]
                    if q.gain > WELL * q.ideal and q.gain > self.explained(there):
                        out += there
                        break
        return out

    def explained(self, found: Iterable[Piece]) -> float:
        """What figures gain together, no more of a kind than there are"""
        gains: dict[str, list[float]] = {}
        for p in found:
            gains.setdefault(p.kind, []).append(p.gain)
        return sum(
            sum(sorted(g, reverse=True)[: self.plan.pieces[k].count or None])
            for k, g in gains.items()
        )

    def may_stand(self, site: Site) -> bool:
        """Whether figures were seen on such sites, which are those with a tag or the beginning of
        the name in common"""
        return group_of(site.id) in self.stands or bool(self.stands & set(site.tags))

    def parts(self, known: dict[str, Site]) -> list[tuple[dict[str, Site], Rect | None]]:
        """Sites near each other, and the part of the canvas that shows them; None where that is
        about all of it"""
        f = self.frame
        out: list[tuple[dict[str, Site], Rect]] = []
        for s, site in known.items() if len(known) < len(self.plan.sites) else ():
            corners = np.vstack(site.outlines)
            lo = (
                np.floor(f.to_px(corners.min(0) - MARGIN)).astype(int).clip(0)
                // LIGHT_STEP
                * LIGHT_STEP
            )
            hi = np.minimum(
                np.ceil(f.to_px(corners.max(0) + MARGIN)).astype(int) // FOLD * FOLD,
                (f.width, f.height),
            )
            some, rect = {s: site}, (*map(int, lo), *map(int, hi))
            while near := [p for p in out if overlap(p[1], rect)]:
                for p in near:
                    out.remove(p)
                    some, rect = (
                        p[0] | some,
                        (*map(min, p[1][:2], rect[:2]), *map(max, p[1][2:], rect[2:])),
                    )
            out.append((some, rect))
        area = sum((x1 - x0) * (y1 - y0) for _, (x0, y0, x1, y1) in out)
        return out if 0 < area < 0.6 * f.width * f.height else [(known, None)]

    def evidence(self, part: Part, usual: Habits) -> dict[str, CountedEvidence]:
        """usual: how pieces fit in this picture"""
        firsts, recalled, here = part.firsts, part.begun.recalled, {s: [] for s in part.wanted}
        same = {id(k.piece) for k in recalled.pieces}
        quiet = recalled.told.keys() - {
            s for p in part.pieces if id(p) not in same for s in part.homes.depths(p.foot)
        }
        for p in part.pieces:
            if p.kind not in self.aside or not self.on_a_spot(p.foot):
                for s, share in shares_of(part.homes.depths(p.foot)).items():
                    if s in here and share > 0.001:
                        here[s].append((p, share))
        big = {
            s
            for s, some in here.items()
            if any(p.form.area > BIGGER * self.least_area and p.chance > MAYBE for p, _ in some)
        }
        cards = {s for s, kinds in firsts.items() if best_of(kinds)} - big
        told = {
            s: recalled.told[s]
            if s in quiet
            else evidence_of(
                firsts.get(s, {}),
                here[s],
                self.foreign(part.begun.scene, site, s in cards, here[s]),
                self.loose,
                usual,
            )
            for s, site in part.wanted.items()
        }
        return told | {s: evidence_of(kinds, (), 0.0) for s, kinds in part.astray.items()}

    def foreign(
        self,
        scene: Scene,
        site: Site,
        card: bool = False,
        pieces: Sequence[tuple[Piece, float]] = (),
    ) -> float:
        """Probability that something none of the known pieces lies on a site: too much of it stays
        unexplained. card: whether a card is known to lie there, and nothing big on it: then a lump
        not much larger than a piece is nothing that belongs there, nor are pieces (with the
        probability that each stands here) of which several are in doubt"""
        left = [left_on(scene, place) for place in self.places(scene.frame, site)]
        whole = min(float(cv2.contourArea(site.outlines[0].astype(np.float32))), LARGE)
        most = 24 * max(p.unknown for p in left) / whole - 10
        if card and (patch := max(p.patch for p in left)):
            most = max(most, (patch / self.least_area - LUMP) / LUMPY)
        strange = 1 / (1 + np.exp(min(-most, 50)))
        stands = any(is_block(p.form) and p.chance > 0.5 for p, _ in pieces)
        lump = max(p.lump for p in left)
        # shadows reach sites on which nothing stands, too
        self.lumps[site.id] = lump, max(p.filled(False) for p in left)
        for much, usual in ((lump, self.lump), (max(p.filled(stands) for p in left), self.patch)):
            strange = 1 - (1 - strange) * (1 - littered(much, usual, self.least_inner))
        return 1 - (1 - strange) * (1 - patched(pieces)) if card else strange

    def places(self, frame: Frame, site: Site) -> list[Place]:
        """Where a site's outlines lie on a canvas or a part of it; kept of the whole canvas"""
        if frame != self.frame:
            return [Place.of(frame, o) for o in site.outlines]
        if site.id not in self.kept:
            self.kept[site.id] = [Place.of(frame, o) for o in site.outlines]
        return self.kept[site.id]

    def at_home(self, p: Piece, site: Site, reach: float = 2.0) -> bool:
        """Whether a piece's foot lies on a site, or at most `reach` mm beside it"""
        return site_has(site, p.foot, reach)

    def on_a_spot(self, foot: np.ndarray) -> bool:
        """Whether a piece lies where it is read with a spot inside the cell, or at most BESIDE
        that"""
        at = tuple(map(float, foot))
        return any(cv2.pointPolygonTest(o, at, True) > -BESIDE for o in self.spots)


def relaid(scene: Scene, cards: Mapping[str, Card]) -> dict[str, dict[str, float]]:
    """Lays cards where they were and says what was told of them; the scene's light is mended by
    them as by those that are found"""
    there = [(c.tried, c.tried.number(c.kind)) for c in cards.values() if c.kind]
    if there:
        at = np.stack([t.poses[n, :2] for t, n in there])
        own = np.stack([t.light[n] for t, n in there]) / scene.light_at(at)
        scene.relit(at, own, np.full(len(at), 0.8))
    for c in cards.values():
        if c.kind:
            c.tried.paint(scene, c.kind)
    return {s: dict(c.told) for s, c in cards.items()}


def unprinted(plan: Plan, firsts: Firsts) -> bool:
    """Whether there is no printed board that tells a camera's tone and colours, but tiles"""
    return bool(firsts.sheets) and all(s.reads == "cluster" for s in plan.site)


def overlap(a: Rect, b: Rect) -> bool:
    """Whether two rectangles have a place in common."""
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def tiles_of(firsts: Mapping[str, Mapping[str, float]], tried: Mapping[str, Tried]) -> list[Tried]:
    """The tiles found, each as the kind that it is taken for"""
    found = [(t, best_of(firsts[s])) for s, t in tried.items()]
    return [t.alone(kind) for t, kind in found if kind]


def best_of(told: Mapping[str, float]) -> str:
    """The kind of highest probability."""
    return max(told, key=told.get)
