"""Reads piles: one pile of pieces a site, seen from above. Its central value: PileReader."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import numpy as np

from vision import model
from vision.cutout import SLOP, Exemplar, exemplars, fine_windows, lights, log_windows
from vision.evidence import FLOOR, Contents, SiteEvidence
from vision.learn import Real, Scenery, teach
from vision.light import Light, compare, small_view
from vision.match import opponent
from vision.plan import Plan
from vision.pose import Pose
from vision.shot import Shot
from vision.sites import Group, groups
from vision.stage import COARSE, SMALL, Stage
from vision.synth import agreeing, as_patch, overlay
from vision.windows import Pyramid, Windows

HEIGHT = 2.0         # mm above the board that windows are cut at: most pieces are about that high
PICTURES = 6000      # made to learn from, a group


def look_of(contents: Contents, plan: Plan) -> Contents:
    """Contents with "?" for what lies wholly under a piece as large"""
    def area(kind: str) -> float:
        w, d = plan.pieces[kind].footprint
        return w * d * (0.785 if plan.pieces[kind].disc else 1)
    out = list(contents)
    for i, kind in enumerate(out[:-1]):
        if kind != "?" and plan.pieces[contents[-1]].spans is None and any(
                area(k) >= 0.95 * area(kind) for k in contents[i + 1:] if k != "?"):
            out[i] = "?"
    return tuple(out)


def lean_at(pose: Pose, mm: np.ndarray) -> np.ndarray:
    """(N, 2): how far, in mm a mm of height, the top of something upright is seen off its foot"""
    return (pose.to_mm(pose.to_px(mm, 10.0)) - mm) / 10.0


class GroupReader(msgspec.Struct, eq=False):
    """group with its two sizes of window; empty, spread: (N, S, S, 3) opponent small windows; stage: what tells looks."""

    group: Group
    small: Windows
    fine: Windows
    empty: np.ndarray
    spread: np.ndarray
    stage: Stage


def fit_group(plan: Plan, group: Group, pieces: list[Exemplar], shots: list[Shot], room: list[Light],
              tell: Callable[[float], None]) -> GroupReader:
    fine = fine_windows(group, shots)
    tiny = Windows(group.centres, fine.half, SMALL / group.side)
    pyramids = [Pyramid(s.image) for s in shots]
    everything = np.arange(len(group.ids))
    blank = [n for n, s in enumerate(shots) if not s.layout]
    views = [opponent(log_windows(tiny, pyramids[n], shots[n].pose, room[n], everything, 0.0)) for n in blank]
    empty = np.mean(views, 0).astype(np.float32)
    noise = np.sqrt(np.mean([(v - empty) ** 2 for v in views], 0).mean(0).mean((0, 1)))
    looks = sorted({look_of(e.contents, plan) for e in pieces})
    owner = [looks.index(look_of(e.contents, plan)) for e in pieces]
    gy, gx = np.gradient(empty, axis=(1, 2))
    spread = np.sqrt(np.array([0.15, 0.06, 0.06]) ** 2 + noise ** 2 + 0.1 * (gx ** 2 + gy ** 2)).astype(np.float32)
    stage = Stage.fit(looks, pieces, owner, tiny.scale, COARSE / group.side, fine.scale,
                      round(2 * fine.half * COARSE / group.side) - 4)
    pieces, owner = [pieces[i] for i in stage.order], [owner[i] for i in stage.order]
    plain: dict[int, list] = {}
    piled: dict[int, list] = {}
    base: dict[int, int] = {}
    for n, e in enumerate(pieces):
        height = sum(plan.pieces[k].height if k != "?" else 2.0 for k in looks[owner[n]])
        plain.setdefault(owner[n], []).append((as_patch(e, height), n))
    for k, look in enumerate(looks):
        if len(look) > 1 and look[-2] != "?" and look[:-1] in looks:
            base[k] = looks.index(look[:-1])
            top = plan.pieces[look[-1]]
            bases = [e for e, o in zip(pieces, owner) if o == base[k]]
            for n, e in enumerate(pieces):
                if owner[n] == k and (patch := overlay(e, bases, top.footprint, top.disc, top.height)) is not None:
                    piled.setdefault(k, []).append((patch, n))
            piled[k] = agreeing(piled.get(k, []))
    real = []
    known = {(e.photo, e.where): n for n, e in enumerate(pieces)}
    for n, s in enumerate(shots):
        logs = log_windows(fine, pyramids[n], s.pose, room[n], everything, HEIGHT if s.layout else 0.0)
        for i, site in enumerate(group.ids):
            contents = s.layout.get(site, ())
            if not contents:
                real.append(Real(logs[i], i, -1, -1))
            elif (n, site) in known:
                piece = known[n, site]
                real.append(Real(logs[i], i, owner[piece], piece))
    scenery = Scenery(group, real, plain, piled, base, lean_at(shots[0].pose, group.centres), fine.scale,
                      group.side * SLOP, HEIGHT)
    teach(stage, scenery, empty, spread, PICTURES, tell=tell)
    return GroupReader(group, tiny, fine, empty, spread, stage)


class PileReader:
    def __init__(self, plan: Plan, reference: np.ndarray, readers: list[GroupReader]) -> None:
        self.plan, self.reference, self.readers = plan, reference, readers

    @classmethod
    def fit(cls, plan: Plan, shots: list[Shot], tell: Callable[[float], None] = lambda part: None) -> PileReader:
        """From calibration photos: at least one sampler, and one empty board or sites empty somewhere."""
        reference, room = lights(plan, shots)
        pieces = exemplars(plan, shots)
        readers = []
        for group in groups(plan):
            ids = set(group.ids)
            mine = [e for e in pieces if e.where in ids and plan.pieces[e.contents[-1]].spans is None]
            if mine:
                readers.append(fit_group(plan, group, mine, shots, room, tell))
        return cls(plan, reference, readers)

    def read(self, image: np.ndarray, pose: Pose, sites: set[str] | None = None) -> dict[str, SiteEvidence]:
        """site -> evidence for these pile sites (None: all)"""
        pyramid = Pyramid(image)
        light = compare(small_view(image, pose, self.plan.size), self.reference, self.plan.size)
        out: dict[str, SiteEvidence] = {}
        for g in self.readers:
            which = np.array([i for i, s in enumerate(g.group.ids) if sites is None or s in sites], int)
            if len(which):
                out |= self._read_group(g, pyramid, pose, light, which)
        return out

    def _read_group(self, g: GroupReader, pyramid: Pyramid, pose: Pose, light: Light, which: np.ndarray
                    ) -> dict[str, SiteEvidence]:
        seen = opponent(log_windows(g.small, pyramid, pose, light, which, HEIGHT))
        empty, spread = g.empty[which], g.spread[which]
        bare = g.stage.bare.answer(g.stage.unlike(seen, empty))                 # (n, 2): occupied, empty
        busy = np.flatnonzero(bare[:, 0] > np.log(0.002))
        gain, place = g.stage.places(seen[busy], empty[busy], spread[busy])
        logs = opponent(log_windows(g.fine, pyramid, pose, light, which[busy], HEIGHT))
        inputs = g.stage.hypotheses(logs, np.arange(len(busy)), gain, place)[0]
        told = g.stage.told(inputs) if len(busy) else np.zeros((0, len(g.stage.looks) + 1))
        out = {g.group.ids[i]: SiteEvidence((((), float(b[1])),), FLOOR) for i, b in zip(which, bare)}
        for n, row in zip(busy, told):
            scores = row + bare[n, 0]
            options = [(look, float(max(v, FLOOR))) for look, v in zip(g.stage.looks, scores)]
            options.append(((), float(max(bare[n, 1], FLOOR))))
            options.sort(key=lambda o: -o[1])
            out[g.group.ids[which[n]]] = SiteEvidence(tuple(options[:8]), float(max(scores[-1], FLOOR)))
        return out

    def pack(self) -> model.Arrays:
        arrays: model.Arrays = {"reference": self.reference, "groups": np.array(len(self.readers))}
        for n, g in enumerate(self.readers):
            arrays |= model.drawer(str(n), model.pack(g))
        return arrays

    @classmethod
    def unpack(cls, plan: Plan, arrays: model.Arrays) -> PileReader:
        """Back from pack(). Raises KeyError or ValueError where something is missing."""
        return cls(plan, arrays["reference"], [model.unpack(GroupReader, model.opened(str(n), arrays))
                                               for n in range(int(arrays["groups"]))])
