"""Reads piles: one pile of pieces a site, seen from above. Its central value: PileReader."""

from __future__ import annotations

import json
from collections import defaultdict

import cv2
import msgspec
import numpy as np

from vision import model
from vision.cutout import Exemplar, difference, exemplars, footprint_mask, lights, log_windows
from vision.evidence import Contents, SiteEvidence, from_scores
from vision.light import Light, compare, small_view
from vision.plan import Plan
from vision.pose import Pose
from vision.shot import Shot
from vision.sites import Group, blocks, groups
from vision.windows import Pyramid, Windows

COARSE = 22          # window pixels along a site
REACH = 0.18         # of a site's side: how far a piece may lie off the middle
TURNS = 24           # of a disc
HEIGHT = 2.0         # mm above the board that windows are cut at: most pieces are about that high


def look_of(contents: Contents, plan: Plan) -> Contents:
    """Contents with "?" for what lies wholly under a piece as large"""
    def area(kind):
        w, d = plan.pieces[kind].footprint
        return w * d * (0.785 if plan.pieces[kind].disc else 1)
    out = list(contents)
    for i, kind in enumerate(out[:-1]):
        if kind != "?" and plan.pieces[contents[-1]].spans is None and any(
                area(k) >= 0.95 * area(kind) for k in contents[i + 1:] if k != "?"):
            out[i] = "?"
    return tuple(out)


class GroupModel(msgspec.Struct, frozen=True, eq=False):
    """What one group of sites needs. empty: (N, S, S, 3) log; templates: (T, m*m*3), masked; sums: (T,) of their squares;
    look: (T,) index into looks; mask: (T,) index into masks (M, m, m)."""

    group: Group
    windows: Windows
    looks: list[Contents]
    empty: np.ndarray
    templates: np.ndarray
    sums: np.ndarray
    look: np.ndarray
    mask: np.ndarray
    masks: np.ndarray


def turned(picture: np.ndarray, angle: float, scale: float, side: int) -> np.ndarray:
    """(side, side, 3): the cut-out turned about its middle and scaled"""
    m = len(picture)
    soft = picture if scale >= 1 else cv2.GaussianBlur(picture, (0, 0), 0.4 / scale)
    move = cv2.getRotationMatrix2D((m / 2 - 0.5, m / 2 - 0.5), angle, scale)
    move[:, 2] += side / 2 - m / 2
    return cv2.warpAffine(soft, move, (side, side), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)


def fit_group(plan: Plan, group: Group, pieces: list[Exemplar], empties: list[tuple[Pyramid, Pose, Light]]) -> GroupModel:
    scale = COARSE / group.side * (2 if group.block else 1)
    windows = Windows(group.centres, group.side * (0.5 + REACH), scale)
    bare = [log_windows(windows, p, pose, light, np.arange(len(group.ids)), 0.0) for p, pose, light in empties]
    empty = np.mean(bare, 0) if bare else np.zeros((len(group.ids), windows.side, windows.side, 3), np.float32)
    largest = max(max(e.size) for e in pieces)
    side = min(int(np.ceil(largest * scale)) + 1, windows.side - 2)
    looks = sorted({look_of(e.contents, plan) for e in pieces})
    shapes = sorted({(e.size, e.disc) for e in pieces})
    masks = np.stack([footprint_mask(size, disc, side, scale, -0.5) for size, disc in shapes])
    templates, look, mask = [], [], []
    for e in pieces:
        m = shapes.index((e.size, e.disc))
        for angle in np.arange(TURNS) * 360 / TURNS if e.disc else (0, 90, 180, 270):
            templates.append(turned(e.picture, float(angle), scale / e.scale, side))
            look.append(looks.index(look_of(e.contents, plan)))
            mask.append(m)
    t = np.stack(templates)
    weighted = t * masks[mask][..., None]
    return GroupModel(group, windows, looks, empty, weighted.reshape(len(t), -1), (weighted * t).sum((1, 2, 3)),
                      np.array(look), np.array(mask), masks)


def search(g: GroupModel, seen: np.ndarray, which: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(gain (n, looks), left (n,)): how much better each look explains a window than the empty site does, per pixel of
    a footprint, at its best place and turn; and how much the empty site leaves unexplained."""
    n, side, m = len(seen), seen.shape[1], g.masks.shape[1]
    k = side - m + 1
    empty = g.empty[which]
    unlike = ((seen - empty) ** 2).sum(-1)
    view = np.lib.stride_tricks.sliding_window_view(seen, (m, m), (1, 2))           # n k k 3 m m
    patches = np.ascontiguousarray(view.transpose(0, 1, 2, 4, 5, 3)).reshape(n * k * k, m * m * 3)
    plain = np.ascontiguousarray(np.lib.stride_tricks.sliding_window_view(unlike, (m, m), (1, 2))).reshape(n * k * k, m * m)
    flat = g.masks.reshape(len(g.masks), -1)
    before = plain @ flat.T                                                          # empty's misfit under each mask
    square = (patches ** 2).reshape(-1, m * m, 3).sum(-1) @ flat.T
    misfit = square[:, g.mask] - 2 * patches @ g.templates.T + g.sums
    gain = (before[:, g.mask] - misfit) / flat.sum(1)[g.mask]
    best = gain.reshape(n, k * k, -1).max(1)
    out = np.full((n, len(g.looks)), -np.inf, np.float32)
    for t in range(len(g.look)):
        np.maximum(out[:, g.look[t]], best[:, t], out=out[:, g.look[t]])
    return out, before.reshape(n, k * k, -1).mean((1, 2)) / flat.sum(1).mean()


class PileReader:
    def __init__(self, plan: Plan, reference: np.ndarray, models: list[GroupModel]) -> None:
        self.plan, self.reference, self.models = plan, reference, models

    @classmethod
    def fit(cls, plan: Plan, shots: list[Shot]) -> PileReader:
        """From calibration photos: at least one empty board and one sampler."""
        reference, room = lights(plan, shots)
        empties = [(Pyramid(s.image), s.pose, light) for s, light in zip(shots, room) if not s.layout]
        pieces = exemplars(plan, shots)
        models = []
        large = sorted({p.spans for p in plan.piece if p.spans})
        for group in groups(plan) + [b for s in large if (b := blocks(plan, s)) is not None]:
            ids = set(group.ids)
            mine = [e for e in pieces if e.where in ids and (plan.pieces[e.contents[-1]].spans is not None) == group.block]
            if mine:
                models.append(fit_group(plan, group, mine, empties))
        return cls(plan, reference, models)

    def read(self, image: np.ndarray, pose: Pose, sites: set[str] | None = None) -> dict[str, SiteEvidence]:
        """site -> evidence for these pile sites (None: all)"""
        pyramid = Pyramid(image)
        light = compare(small_view(image, pose, self.plan.size), self.reference, self.plan.size)
        out: dict[str, SiteEvidence] = {}
        gains: dict[str, float] = defaultdict(float)
        for g in self.models:
            wanted = [i for i, members in enumerate(g.group.members) if sites is None or sites & set(members)]
            which = np.array(wanted, int)
            if not len(which):
                continue
            seen = log_windows(g.windows, pyramid, pose, light, which, HEIGHT)
            gain, _ = search(g, seen, which)
            for i, row in zip(which, gain):
                scores = {look: float(v) * 60 for look, v in zip(g.looks, row)}
                if not g.group.block:
                    scores[()] = 1.0
                    out[g.group.ids[i]] = from_scores(scores)
                    gains[g.group.ids[i]] = float(row.max())
                elif row.max() > 0.1 and row.max() > 1.1 * np.mean([gains[s] for s in g.group.members[i]]):
                    out[g.group.ids[i]] = from_scores(scores)
                    for s in g.group.members[i][1:]:
                        over = self.plan.pieces[g.looks[int(row.argmax())][-1]].over
                        out[s] = from_scores({(over,) if over else (): 0.0})
        return out

    def pack(self) -> model.Arrays:
        arrays = {"reference": self.reference, "models": np.array(len(self.models))}
        for n, g in enumerate(self.models):
            about = {"ids": g.group.ids, "side": g.group.side, "members": g.group.members, "half": g.windows.half,
                     "scale": g.windows.scale, "looks": g.looks}
            arrays[f"{n}/about"] = model.text(json.dumps(about))
            for name in ("empty", "templates", "sums", "look", "mask", "masks"):
                arrays[f"{n}/{name}"] = getattr(g, name)
            arrays[f"{n}/centres"] = g.group.centres
        return arrays

    @classmethod
    def unpack(cls, plan: Plan, arrays: model.Arrays) -> PileReader:
        models = []
        for n in range(int(arrays["models"])):
            a = json.loads(model.as_text(arrays[f"{n}/about"]))
            centres = arrays[f"{n}/centres"]
            group = Group(tuple(a["ids"]), centres, a["side"], tuple(tuple(m) for m in a["members"]))
            models.append(GroupModel(group, Windows(centres, a["half"], a["scale"]), [tuple(x) for x in a["looks"]],
                                     *(arrays[f"{n}/{k}"] for k in ("empty", "templates", "sums", "look", "mask", "masks"))))
        return cls(plan, arrays["reference"], models)
