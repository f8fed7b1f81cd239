"""Teaches a stage: makes pictures of sites from a copy's few photos and fits the two networks to them."""

from __future__ import annotations

import cv2
import msgspec
import numpy as np

from vision import net
from vision.match import opponent
from vision.sites import Group
from vision.stage import TRIED, Stage, small
from vision.synth import Patch, foreign, lay, relight

CHUNK = 512


class Real(msgspec.Struct, frozen=True, eq=False):
    """A site as a photo shows it. window: (S, S, 3) log; site: index; look: index or -1 for empty; piece: its cut-out or
    -1."""

    window: np.ndarray
    site: int
    look: int
    piece: int


class Scenery(msgspec.Struct, frozen=True, eq=False):
    """What pictures are made of. patches: look -> [(patch, cut-out it is from, second cut-out or -1)]; over: patch lists
    to be laid on a base: look -> [(base look, patches)]; lean: (N, 2) mm a mm of height; reach: mm."""

    group: Group
    real: list[Real]
    plain: dict[int, list[tuple[Patch, int]]]
    piled: dict[int, list[tuple[Patch, int]]]
    base: dict[int, int]
    lean: np.ndarray
    scale: float
    reach: float
    base_height: float


class Maker:
    """Makes log windows of one group's sites."""

    def __init__(self, scenery: Scenery, seed: int) -> None:
        self.s = scenery
        self.rng = np.random.default_rng(seed)
        self.bare = [r for r in scenery.real if r.look < 0]
        d = np.linalg.norm(scenery.group.centres[:, None] - scenery.group.centres[None], axis=2)
        self.near = [np.flatnonzero((row > 0) & (row < 1.6 * scenery.group.side)) for row in d]
        self.looks = sorted(set(scenery.plain) | set(scenery.piled))

    def light(self) -> tuple[np.ndarray, float, float] | None:
        if self.rng.random() < 0.15:
            return None
        a = self.rng.uniform(0, 2 * np.pi)
        return (self.rng.uniform(0.1, 0.8) * np.array([np.cos(a), np.sin(a)]), self.rng.uniform(0.1, 0.7),
                self.rng.uniform(0.5, 3.0))

    def offset(self) -> np.ndarray:
        """mm off the site's middle: mostly little, now and then as far as is still on the site"""
        r = self.s.reach
        if self.rng.random() < 0.5:
            return np.clip(self.rng.normal(0, 0.3 * r, 2), -r, r)
        return self.rng.uniform(-0.9 * r, 0.9 * r, 2)

    def put(self, window: np.ndarray, look: int, at: np.ndarray, lean: np.ndarray, light) -> tuple[int, int]:
        """Lays a look at `at` (mm off the window's middle); -> the cut-outs it is made of"""
        rng, s = self.rng, self.s
        base = s.base.get(look, look)
        used = (-1, -1)
        options = s.plain.get(base)
        piled = s.piled.get(look) if base != look else None
        if base != look and not (options and piled):
            options, piled = s.plain.get(look), None
        patch, piece = options[rng.integers(len(options))]
        used = (piece, -1)
        turn = rng.uniform(0, 360) if patch.disc else 90 * rng.integers(4) + np.clip(rng.normal(0, 4), -10, 10)
        middle = len(window) / 2 - 0.5 + (at + lean * (patch.height - s.base_height)) * s.scale
        lay(window, patch, middle, turn, s.scale, lean, light)
        if piled:
            top, second = piled[rng.integers(len(piled))]
            used = (piece, second)
            free = max(patch.radius - 0.6 * top.radius, 0)
            where = rng.uniform(-free, free, 2) if rng.random() < 0.7 else rng.normal(0, 0.3 * free, 2)
            spin = rng.uniform(0, 360) if rng.random() < 0.3 else 90 * rng.integers(4) + rng.normal(0, 12)
            lay(window, top, middle + where * s.scale, spin, s.scale, lean * 0.2, light)
        return used

    def neighbours(self, window: np.ndarray, site: int, light) -> None:
        rng, s = self.rng, self.s
        busy = rng.choice([0.0, 0.25, 0.6])
        for other in self.near[site]:
            if rng.random() < busy:
                at = s.group.centres[other] - s.group.centres[site] + self.offset() * 0.6
                self.put(window, self.looks[rng.integers(len(self.looks))], at, s.lean[site], light)

    def empty(self) -> tuple[np.ndarray, int]:
        r = self.bare[self.rng.integers(len(self.bare))]
        window = r.window.copy()
        if self.rng.random() < 0.8:
            window = shifted(window, self.rng.normal(0, 0.25, 2) * self.s.scale)
        if self.rng.random() < 0.6:
            self.neighbours(window, r.site, self.light())
        return relight(self.rng, window), r.site

    def occupied(self, look: int) -> tuple[np.ndarray, int, tuple[int, int]]:
        r = self.bare[self.rng.integers(len(self.bare))]
        window, light = r.window.copy(), self.light()
        if self.rng.random() < 0.6:
            self.neighbours(window, r.site, light)
        lean = self.s.lean[r.site] * self.rng.uniform(0.5, 1.3) + self.rng.normal(0, 0.05, 2)
        used = self.put(window, look, self.offset(), lean, light)
        return relight(self.rng, window), r.site, used

    def strange(self) -> tuple[np.ndarray, int]:
        if self.rng.random() < 0.5:
            r = self.bare[self.rng.integers(len(self.bare))]
            window = r.window.copy()
        else:
            r = self.s.real[self.rng.integers(len(self.s.real))]
            window = r.window.copy()
        return relight(self.rng, foreign(self.rng, window)), r.site


def shifted(window: np.ndarray, by: np.ndarray) -> np.ndarray:
    side = len(window)
    return cv2.warpAffine(window, np.float32([[1, 0, by[0]], [0, 1, by[1]]]), (side, side), flags=cv2.INTER_LINEAR,
                          borderMode=cv2.BORDER_REPLICATE)


def teach(stage: Stage, scenery: Scenery, empty: np.ndarray, spread: np.ndarray, count: int, seed: int = 1,
          tell=lambda part: None) -> None:
    """Fits stage.bare and stage.kinds. empty, spread: (N, S, S, 3) opponent small windows; count: pictures of pieces."""
    maker = Maker(scenery, seed)
    rng = maker.rng
    looks = len(stage.looks)
    jobs: list[tuple[str, int]] = []
    for n in range(count):
        jobs.append(("look", n % looks))
    jobs += [("other", 0)] * (count // 8) + [("empty", 0)] * (count // 2)
    full = [r for r in scenery.real if r.look >= 0]
    jobs += [("real", int(i)) for i in rng.integers(len(full), size=count // 4)] if full else []
    rng.shuffle(jobs)
    side = empty.shape[1]
    bare_x, bare_y, kind_x, kind_y = [], [], [], []
    for a in range(0, len(jobs), CHUNK):
        windows, sites, labels, banned = [], [], [], []
        for what, n in jobs[a:a + CHUNK]:
            n = int(n)
            used = (-1, -1)
            if what == "look":
                window, site, used = maker.occupied(n)
                label = n
            elif what == "other":
                (window, site), label = maker.strange(), looks
            elif what == "empty":
                (window, site), label = maker.empty(), -1
            else:
                r = full[n]
                window = shifted(r.window, rng.normal(0, 0.08, 2) * scenery.reach * scenery.scale)
                window, site, label, used = relight(rng, window), r.site, r.look, (r.piece, -1)
            windows.append(window)
            sites.append(site)
            labels.append(label)
            banned.append(used)
        logs = np.stack(windows)
        labels, sites, banned = np.array(labels), np.array(sites), np.array(banned)
        seen = small(logs, side)
        bare_x.append(stage.unlike(seen, empty[sites]))
        bare_y.append((labels < 0).astype(int))
        rows = np.flatnonzero(labels >= 0)
        gain, place = stage.places(seen[rows], empty[sites[rows]], spread[sites[rows]])
        inputs = stage.hypotheses(opponent(logs), rows, gain, place, banned[rows])[0]
        kind_x.append(inputs)
        kind_y.append(np.repeat(labels[rows], TRIED))
        tell((a + CHUNK) / len(jobs) * 0.7)
    x, y = np.vstack(bare_x), np.concatenate(bare_y)
    held = len(x) // 10
    stage.bare = net.sharpened(net.train(x[held:], y[held:], 2, 32, seed, epochs=10), x[:held], y[:held])
    tell(0.8)
    x, y = np.vstack(kind_x), np.concatenate(kind_y)
    held = len(x) // 10 // TRIED * TRIED
    stage.kinds = net.train(x[held:], y[held:], looks + 1, 128, seed, epochs=12)
    raw = stage.kinds.scores(x[:held]).reshape(-1, TRIED, looks + 1).mean(1)
    truth = y[:held:TRIED]
    tried = np.geomspace(0.3, 4, 25)
    cost = [-net.log_softmax(raw * s)[np.arange(len(truth)), truth].mean() for s in tried]
    stage.kinds = msgspec.structs.replace(stage.kinds, sharpness=float(tried[int(np.argmin(cost))]))
    stage.held = [float((raw.argmax(1) == truth).mean()), float(min(cost)), stage.kinds.sharpness,
                  float((stage.bare.scores(np.vstack(bare_x)[:held]).argmax(1) == np.concatenate(bare_y)[:held]).mean())]
    tell(1.0)
