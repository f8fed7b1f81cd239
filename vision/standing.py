"""Reads sites on which things stand that are higher than wide: they lean over other sites, away from the camera. Its value:
StandingReader."""

from __future__ import annotations

from functools import cached_property

import msgspec
import numpy as np

from vision import model
from vision.cutout import lean_at, lights
from vision.evidence import FLOOR, SiteEvidence
from vision.light import compare, small_view
from vision.net import Net
from vision.plan import Plan
from vision.pose import Pose
from vision.shot import Shot
from vision.sites import groups
from vision.upright import FINE, Frame, Seat, Sheet, across_of, needed, rises, uppermost
from vision.upright_fit import Searcher, Seen
from vision.upright_form import FLOOR as NOISE
from vision.upright_form import SLACK, Looks, Man, first_form, fitted_form, misfit, moved, spoken_for
from vision.upright_teach import Place, placed, taught
from vision.windows import Pyramid

STANDS = 1.2         # times its width that a thing is high which stands
AWAY = 0.35          # of a site's side that heads are seen off their feet, from which on they are followed there
MANY = 75            # per cent of the things seen, of which some must be so
SLOP = 0.17          # of a site's side that things are put off its middle at most
OFF_BOARD = 0.35     # what counts of what is seen beside the board: the table there may have been moved
BIN = 4.0            # pixels that the tallest thing's head is moved from one lean to the next
BUMPED = 1.1         # times the leans of the calibration photos that may be met
ROUNDS = 3           # of finding where things stand and what form they have
PASSES = 3           # looks at a picture: what stands before is taken away from the second on
SURE = 0.5           # chance of a kind from which on it is taken away
KEPT = 8             # contents told of a site


def standing_sites(plan: Plan, shots: list[Shot]) -> list[str]:
    """The pile sites on which the photos show things, one on each, that often stand so high that their heads are seen off their feet"""
    out = []
    for group in groups(plan):
        contents = [c for s in shots for i in group.ids if (c := s.layout.get(i))]
        full = len(contents) == len(group.ids) * len(shots)         # then nothing shows what is behind
        if not contents or full or any(len(c) > 1 or c[0] not in plan.pieces or plan.pieces[c[0]].spans for c in contents):
            continue
        pieces = [plan.pieces[c[0]] for c in contents]
        slender, high = np.percentile([(p.height / max(p.footprint), p.height) for p in pieces], MANY, axis=0)
        lean = max(float(np.linalg.norm(lean_at(s.pose, group.centres), axis=1).max()) for s in shots)
        if slender > STANDS and high * lean > AWAY * group.side:
            out += group.ids
    return out


class Standing(msgspec.Struct, eq=False):
    """What a StandingReader is made of. ids: N sites; kinds: K names; low, high: (2,) mm of the sheet; empty: (h, w, CHANNELS) the
    empty board on it; weight: likewise, by its spread; reference: the light's"""

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


class Studio(msgspec.Struct, dict=True, eq=False):
    """The calibration photos as they are learnt from. centres: (N, 2) mm; heights, radii: (K,) mm; views: a sheet of each photo"""

    plan: Plan
    ids: list[str]
    shots: list[Shot]

    def __post_init__(self) -> None:
        plan = self.plan
        self.kinds = sorted({s.layout[i][-1] for s in self.shots for i in self.ids if s.layout.get(i)})
        self.heights = np.array([plan.pieces[k].height for k in self.kinds])
        self.radii = np.array([max(plan.pieces[k].footprint) / 2 for k in self.kinds])
        self.centres = np.array([plan.sites[i].centre for i in self.ids])
        self.side = float(np.median([np.ptp(np.array(plan.sites[i].outline), axis=0).max() for i in self.ids]))
        self.seats = [Seat.of(s.pose) for s in self.shots]
        self.most = max(seat.leaning(self.centres)[1].max() for seat in self.seats) * BUMPED + 0.02
        self.above = float(np.mean([s.height for s in self.seats]))
        wide = float(self.radii.max() * 1.15 + SLOP * self.side + 2)
        front = float(rises(self.heights.max(), self.most, self.above)[0].max()) + wide
        self.frame = Frame(wide, wide, front, FINE / self.side)
        self.low, self.high = self.centres.min(0) - front - 2 * wide, self.centres.max(0) + front + 2 * wide
        self.sheet = Sheet.of(self.low, self.high, self.frame.scale)
        self.reference, room = lights(plan, self.shots)
        self.views = [self.sheet.see(Pyramid(s.image), s.pose, light) for s, light in zip(self.shots, room)]

    @property
    def slop(self) -> int:
        """pixels that things are looked for off a site's middle"""
        return round(SLOP * FINE)

    @cached_property
    def empty(self) -> np.ndarray:
        """(h, w, CHANNELS) the empty board"""
        bare = [v for v, s in zip(self.views, self.shots) if not s.layout]
        return (np.mean(bare, 0) if bare else np.median(self.views, 0)).astype(np.float32)

    @cached_property
    def weight(self) -> np.ndarray:
        """(h, w, CHANNELS) one by how much the empty board's look may vary: more where it is uneven"""
        gy, gx = np.gradient(self.empty, axis=(0, 1))
        weight = 1 / (NOISE ** 2 + 0.5 * (gx ** 2 + gy ** 2))
        a, b = (self.sheet.px(np.array(c)).astype(int) for c in ((0, 0), self.plan.size))
        inside = np.full(weight.shape[:2], OFF_BOARD, np.float32)
        inside[max(a[1], 0):b[1], max(a[0], 0):b[0]] = 1
        return (weight * inside[..., None]).astype(np.float32)

    def cut(self, view: np.ndarray, foot: np.ndarray, along: np.ndarray) -> np.ndarray:
        return self.frame.cut(self.sheet, view, foot[None], along[None])[0]

    def look(self, man: Man) -> None:
        """Has a man's window where he is now thought to stand"""
        man.window = self.cut(self.views[man.photo], man.foot, man.along)
        man.bare = misfit(man.window, *(self.cut(v, man.foot, man.along) for v in (self.empty, self.weight)))

    def found(self) -> tuple[list[Man], np.ndarray]:
        """(everything that stands in the photos, (K, SLICES) the forms of the kinds)"""
        men = []
        for n, (shot, seat) in enumerate(zip(self.shots, self.seats)):
            along, lean = seat.leaning(self.centres)
            for i, site in enumerate(self.ids):
                if shot.layout.get(site):
                    kind, nothing = self.kinds.index(shot.layout[site][-1]), np.zeros(0)
                    men.append(Man(kind, n, i, self.centres[i], along[i], float(lean[i]), seat.height, nothing, nothing))
                    self.look(men[-1])
        forms = np.array([first_form(2 * r) for r in self.radii])
        for _ in range(ROUNDS):
            for k, height in enumerate(self.heights):
                mine = [m for m in men if m.kind == k]
                for m, speaks in zip(mine, spoken_for(mine, self.frame, height, forms[k])):
                    self.put(m, moved(speaks, uppermost(needed(self.frame, height, m.lean, m.above), forms[k]) >= 0, self.slop))
                needs = [needed(self.frame, height, m.lean, m.above) for m in mine]
                forms[k] = fitted_form(spoken_for(mine, self.frame, height, forms[k]), needs, forms[k], self.radii[k] * SLACK)
        return men, forms

    def put(self, man: Man, by: tuple[int, int]) -> None:
        """Moves a man by pixels across and along, not far off his site"""
        off = man.foot - self.centres[man.site] + (across_of(man.along) * by[0] + man.along * by[1]) / self.frame.scale
        far = 1.2 * SLOP * self.side
        man.foot = self.centres[man.site] + np.clip(off, -far, far)
        self.look(man)

    def looks(self, men: list[Man], forms: np.ndarray) -> Looks:
        least = min(seat.leaning(self.centres)[1].min() for seat in self.seats) / BUMPED
        steps = int(np.ceil((self.most - least) * self.heights.max() * self.frame.scale / BIN))
        return Looks.fit(men, self.frame, self.heights, forms, np.linspace(least, self.most, max(steps, 1) + 1), self.above)

    def places(self, men: list[Man], looks: Looks) -> list[Place]:
        """Every site in every photo"""
        out = []
        for n, (seat, view) in enumerate(zip(self.seats, self.views)):
            along, lean = seat.leaning(self.centres)
            cuts = [self.frame.cut(self.sheet, v, self.centres, along) for v in (view, self.empty, self.weight)]
            mine = {m.site: number for number, m in enumerate(men) if m.photo == n}
            before, behind = hidden(self.frame, looks, self.centres, along, lean, np.array(list(mine), int),
                                    np.array([men[m].kind for m in mine.values()], int),
                                    np.array([men[m].foot for m in mine.values()]).reshape(-1, 2))
            for i in range(len(self.ids)):
                man = mine.get(i, -1)
                out.append(Place(*(c[i] for c in cuts), float(lean[i]), around(self.frame, self.centres, along, lean, i), before[i],
                                 behind[i], men[man].kind if man >= 0 else -1, man))
        return out


class StandingReader:
    """Reads the sites that `standing_sites` names: what stands nearest below the camera first, since it hides what is behind."""

    def __init__(self, plan: Plan, made: Standing) -> None:
        self.plan, self.made, self.reference = plan, made, made.reference
        self.centres = np.array([plan.sites[i].centre for i in made.ids])
        self.sheet = Sheet.of(made.low, made.high, made.frame.scale)

    @classmethod
    def fit(cls, plan: Plan, ids: list[str], shots: list[Shot], effort: float = 1.0) -> StandingReader:
        """From calibration photos in which something stands on these sites. effort: share of the usual number of pictures made to
        learn from"""
        studio = Studio(plan, ids, shots)
        men, forms = studio.found()
        looks = studio.looks(men, forms)
        searcher = Searcher(looks, studio.frame, studio.slop, float(FINE))
        net = taught(searcher, studio.places(men, looks), len(studio.kinds), studio.side, effort)
        return cls(plan, Standing(list(ids), studio.kinds, studio.low, studio.high, studio.empty, studio.weight, studio.reference,
                                  studio.frame, searcher, net))

    def read(self, picture: np.ndarray | Pyramid, pose: Pose, sites: set[str] | None = None) -> dict[str, SiteEvidence]:
        """site -> evidence for these sites (None: all)"""
        m = self.made
        asked = self.concerned(sites)
        if not len(asked):
            return {}
        centres = self.centres[asked]
        pyramid = Pyramid.of(picture)
        view = self.sheet.see(pyramid, pose, compare(small_view(pyramid, pose, self.plan.size), m.reference, self.plan.size))
        along, lean = Seat.of(pose).leaning(centres)
        window, empty, weight = (m.frame.cut(self.sheet, v, centres, along) for v in (view, m.empty, m.weight))
        bare = misfit(window, empty, weight)
        told, at = np.zeros((len(asked), len(m.kinds) + 2)), np.zeros((len(asked), len(m.kinds), 2))
        before, behind = np.zeros((2, *bare.shape), bool)
        todo = np.arange(len(asked))
        for _ in range(PASSES):
            seen = Seen.among(window, empty, bare, before, behind, m.searcher.looks.nearest(lean), np.full(len(asked), -1))
            found = m.searcher.search(seen.rows(todo))
            told[todo], at[todo] = m.net.answer(found.inputs), found.at
            best = told.argmax(1)
            sure = np.flatnonzero((best < len(m.kinds)) & (told.max(1) > np.log(SURE)))
            x, y = (at[sure, best[sure], None] / m.frame.scale).transpose(2, 0, 1)
            feet = centres[sure] + across_of(along[sure]) * x + along[sure] * y
            new = hidden(m.frame, m.searcher.looks, centres, along, lean, sure, best[sure], feet)
            todo = np.flatnonzero((new[0] != before).any((1, 2)) | (new[1] != behind).any((1, 2)))
            before, behind = new
            if not len(todo):
                break
        return {m.ids[i]: self.evidence(row) for i, row in zip(asked, np.maximum(told, FLOOR)) if sites is None or m.ids[i] in sites}

    def concerned(self, sites: set[str] | None) -> np.ndarray:
        """Numbers of the sites that must be looked at to read these: what stands near by may hide them"""
        own = np.array([i for i, site in enumerate(self.made.ids) if sites is None or site in sites], int)
        if sites is None or not len(own):
            return own
        far = np.linalg.norm(self.centres[:, None] - self.centres[own], axis=2).min(1)
        return np.flatnonzero(far < self.made.frame.front)

    def evidence(self, row: np.ndarray) -> SiteEvidence:
        """Of (K + 2,) log-probabilities: kinds, something else, nothing"""
        options = [((k,), float(p)) for k, p in zip(self.made.kinds, row)] + [((), float(row[-1]))]
        return SiteEvidence(tuple(sorted(options, key=lambda o: -o[1])[:KEPT]), float(row[-2]))

    def pack(self) -> model.Arrays:
        return model.pack(self.made)

    @classmethod
    def unpack(cls, plan: Plan, arrays: model.Arrays) -> StandingReader:
        """Back from pack(). Raises KeyError or ValueError where something is missing."""
        return cls(plan, model.unpack(Standing, arrays))


def hidden(frame: Frame, looks: Looks, centres: np.ndarray, along: np.ndarray, lean: np.ndarray, sites: np.ndarray, kinds: np.ndarray,
           feet: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two of (N, V, U) bool: what of the windows round centres (N, 2) is hidden by something before them, and what shows something
    behind them. sites, kinds, feet: (m,), (m,), (m, 2) of what stands there"""
    across = across_of(along)
    before, behind = np.zeros((2, len(centres), *frame.shape), bool)
    bins = looks.nearest(lean)
    reach = frame.front + frame.wide
    for j, kind, foot in zip(sites, kinds, feet):
        solid = looks.solid(kind, bins[j])
        off = foot - centres
        u, v = (off * across).sum(1), (off * along).sum(1)
        for i in np.flatnonzero((np.abs(u) < reach) & (np.abs(v) < reach) & (np.arange(len(off)) != j)):
            turn = float(turned_from(along[i], along[j]))
            there = placed(solid, frame, (u[i], v[i]), turn) > 0.5
            (before if lean[j] < lean[i] else behind)[i] |= there
    return before, behind


def turned_from(along: np.ndarray, other: np.ndarray) -> np.ndarray:
    """(...) degrees that unit vectors `other` (..., 2) are turned from `along` (2,)"""
    return np.degrees(np.arctan2(-(other @ across_of(along)), other @ along))


def around(frame: Frame, centres: np.ndarray, along: np.ndarray, lean: np.ndarray, i: int) -> np.ndarray:
    """(m, 4): see Place.around"""
    across = across_of(along[i])
    off = centres - centres[i]
    x, y = off @ across, off @ along[i]
    turn = turned_from(along[i], along)
    near = (np.abs(x) < 2 * frame.wide + 5) & (y > -frame.front - frame.wide) & (y < frame.front + frame.wide)
    near[i] = False
    return np.stack([x, y, turn, lean], 1)[near]
