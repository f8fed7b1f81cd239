"""Teaches a stage: makes pictures of sites from a copy's few photos and fits the two networks to
them."""

from __future__ import annotations

import cv2
import msgspec
import numpy as np

from calibration.readers.pile.piece_variation import grained
from calibration.readers.pile.synthesis import crossed, foreign, glossed, lay, relight, unknown
from calibration.readers.pile.synthetic_objects import littered
from vision.geometry.site_groups import Grounds, SizeGroup
from vision.photometry.colour_sampling import WindowField, to_opponent
from vision.readers import mlp
from vision.readers.mlp import Net
from vision.readers.pile.classifier import TRIED, Stage, edges, small
from vision.readers.pile.exemplar import Patch
from vision.readers.pile.face_match import Faces
from vision.readers.pile.fine_match import Fine
from vision.readers.pile.fit_statistics import Usual

CHUNK = 128  # pictures worked on together: what they take stays near the processor
FEW = 8000  # rows to learn from below which they are gone through more often
PROBES = 300  # pictures that decide how looks are compared
ENOUGH = 0.9  # of them, in which the right look is among those tried: rings do, and are quicker
# chance of being a site's own, of what is laid there to learn from; as little of what lies beside
# it
OWN = 0.6
# log units by which a stack's side is brighter than its rim makes expect, and one standard
# deviation
SIDE = -0.1, 0.3
SLOPPY = 0.05  # of its radius that a piece lies off the middle of the one beneath it
# times as much as a piece that counts, for whether a site is empty, which is something else
STRANGER = 3.0
GLOSSED = 0.15  # of what is laid, whose face mirrors a light
UNKNOWN = 0.3  # of what is made to be something else: pieces of a known form with a face never seen
CROSSED = 0.6  # of what is made to be something else, where kinds are not shown: their like
THINGS = 8  # pictures of pieces to each with a small thing on the site that is none
# mm: what people lay down by the way is seldom wider, however small the sites are
LARGE_COIN = 26.0


class Real(msgspec.Struct, frozen=True, eq=False):
    """A site as a photo shows it. window: (S, S, 3) log; site: index; look: index, BARE or STRANGE;
    piece: its cut-out or -1; pieces: in the stack."""

    window: np.ndarray
    site: int
    look: int
    piece: int = -1
    pieces: int = 1


BARE, STRANGE = -1, -2


class Stack(msgspec.Struct, frozen=True):
    """pieces: how many of a look may lie on each other, one of these numbers; step: mm, the height
    of each"""

    pieces: list[int]
    step: float


class Scenery(msgspec.Struct, frozen=True, eq=False):
    """What pictures of a group's sites are made of.

    plain: look -> patches with the cut-out each is from; piled: look -> its upper pieces alone,
    likewise; base: look -> the look these are laid on; near: per site the places (mm off it) where
    neighbours lie; around: patches of neighbours; large: patches of pieces that cover several
    sites; lean: (N, 2) mm a mm of height; height: mm above the board that windows are cut at; gap:
    mm to the next site; misplaced: patches of what belongs on spots inside cells, and not here;
    faces: one a shape of the stage, by_print, grains: how cut-outs are laid, and in what pieces of
    a kind differ, where these are used; stacked: look -> how it may be stacked;
    unshown: whether the plan has kinds of these forms that no photo shows."""

    group: SizeGroup
    real: list[Real]
    plain: dict[int, list[tuple[Patch, int]]]
    piled: dict[int, list[tuple[Patch, int]]]
    base: dict[int, int]
    near: list[np.ndarray]
    grounds: Grounds
    around: list[Patch]
    large: list[Patch]
    lean: np.ndarray
    scale: float
    height: float
    gap: float = 0.0
    misplaced: list[Patch] = []
    faces: list[Faces] = []
    by_print: Fine | None = None
    grains: list[np.ndarray] = []
    stacked: dict[int, Stack] = {}
    unshown: bool = False


class Maker:
    """Makes log windows of one group's sites. lean: how things leaned in the window made last, mm a
    mm of height; pieces: in its stack."""

    def __init__(self, scenery: Scenery, seed: int) -> None:
        self.lean, self.pieces = np.zeros(2), 1
        self.s, self.grains = scenery, []
        self.rng = np.random.default_rng(seed)
        self.bare = [r for r in scenery.real if r.look == BARE]
        self.strangers = [r for r in scenery.real if r.look == STRANGE]
        self.full = [r for r in scenery.real if r.look >= 0]

    def light(self) -> tuple[np.ndarray, float, float] | None:
        if self.rng.random() < 0.15:
            return None
        a = self.rng.uniform(0, 2 * np.pi)
        return (
            self.rng.uniform(0.1, 0.8) * np.array([np.cos(a), np.sin(a)]),
            self.rng.uniform(0.1, 0.7),
            self.rng.uniform(0.5, 3.0),
        )

    def offset(self, site: int, patch: Patch) -> np.ndarray:
        """mm off the site's middle: anywhere inside it, now and then sticking out"""
        side = self.s.group.side
        free = np.maximum(self.s.group.boxes[site] / 2 - patch.radius, 0)
        slack = side * (0.05 if self.rng.random() < 0.7 else 0.13) + self.s.gap
        for _ in range(20):
            at = self.rng.uniform(-free - slack, free + slack)
            inside, claim = self.s.grounds.at(np.array([site]), at[None])[0]
            # an outline need not fill its box, and beyond it may be another's
            if inside > -slack and claim > OWN:
                break
        return at

    def turn(self, patch: Patch) -> float:
        if patch.lies == "any":
            return self.rng.uniform(0, 360)
        askew = np.clip(self.rng.normal(0, 4), -10, 10)
        return askew if patch.lies == "upright" else askew + 90 * self.rng.integers(4)

    def lay(
        self, window: np.ndarray, patch: Patch, at: np.ndarray, lean: np.ndarray, light
    ) -> np.ndarray:
        """Lays a patch with its foot at `at` (mm off the window's middle); -> its top's middle,
        px"""
        middle = len(window) / 2 - 0.5 + (at + lean * (patch.height - self.s.height)) * self.s.scale
        lay(window, patch, middle, self.turn(patch), self.s.scale, lean, light)
        return middle

    def put(
        self, window: np.ndarray, look: int, site: int, lean: np.ndarray, light
    ) -> tuple[int, int]:
        """Lays a look on the site; -> the cut-outs it is made of"""
        rng, s = self.rng, self.s
        if look in s.stacked:
            return self.stack(window, look, site, lean, light), -1
        upper = s.piled.get(look) if rng.random() < 0.85 else None
        options = s.plain[s.base[look] if upper else look]
        patch, piece = options[rng.integers(len(options))]
        if rng.random() < GLOSSED:
            patch = glossed(rng, patch)
        if self.grains:
            patch = grained(rng, patch, self.grains)
        middle = self.lay(window, patch, self.offset(site, patch), lean, light)
        if not upper:
            return piece, -1
        top, second = upper[rng.integers(len(upper))]
        free = max(patch.radius - 0.6 * top.radius, 0)
        where = rng.uniform(-free, free, 2) if rng.random() < 0.7 else rng.normal(0, 0.3 * free, 2)
        spin = (
            rng.uniform(0, 360) if rng.random() < 0.3 else 90 * rng.integers(4) + rng.normal(0, 12)
        )
        lay(window, top, middle + where * s.scale, spin, s.scale, lean * 0.2, light)
        return piece, second

    def stack(self, window: np.ndarray, look: int, site: int, lean: np.ndarray, light) -> int:
        """Lays pieces alike on each other, not quite straight; -> the cut-out that all are made
        of"""
        rng, stack = self.rng, self.s.stacked[look]
        options = self.s.plain[look]
        patch, piece = options[rng.integers(len(options))]
        patch = msgspec.structs.replace(
            patch, side=patch.side + np.float32(rng.normal(*SIDE)), height=stack.step
        )
        rarer = 1 / np.array(stack.pieces)
        self.pieces = int(rng.choice(stack.pieces, p=rarer / rarer.sum()))
        at = self.offset(site, patch)
        shadow = light and (light[0] * self.pieces, *light[1:])
        for n in range(self.pieces):
            self.lay(window, patch, at + lean * n * stack.step, lean, None if n else shadow)
            at = at + rng.normal(0, SLOPPY * patch.radius, 2)
        return piece

    def neighbours(self, window: np.ndarray, site: int, lean: np.ndarray, light) -> None:
        rng, s = self.rng, self.s
        busy = rng.choice([0.0, 0.25, 0.6])
        for at in s.near[site]:
            if s.around and rng.random() < busy:
                patch = s.around[rng.integers(len(s.around))]
                at = at + 0.8 * self.offset(site, patch)
                # it must not be taken for the site's own
                if s.grounds.at(np.array([site]), at[None])[0, 1] < 1 - OWN:
                    self.lay(window, patch, at, lean, light)
        if s.large and rng.random() < 0.06:
            self.lay(window, s.large[rng.integers(len(s.large))], self.beside(3), lean, light)

    def beside(self, halves: int) -> np.ndarray:
        """mm: where a large piece's middle lies that covers this site (1) or the one next to it
        (3)"""
        side = self.s.group.side / 2
        at = np.array([halves, self.rng.choice([-1, 1])]) * side * self.rng.choice([-1, 1])
        return at[:: self.rng.choice([-1, 1])] + self.rng.uniform(-0.15, 0.15, 2) * side

    def ground(self, light) -> tuple[np.ndarray, int, np.ndarray]:
        """An empty site, sometimes with neighbours: (log window, site, how things lean there)"""
        r = self.bare[self.rng.integers(len(self.bare))]
        self.lean = lean = self.s.lean[r.site] * self.rng.uniform(0.5, 1.3) + self.rng.normal(
            0, 0.05, 2
        )
        window = r.window.copy()
        if self.rng.random() < 0.8:
            window = shifted(window, self.rng.normal(0, 0.25, 2) * self.s.scale)
        if self.rng.random() < 0.6:
            self.neighbours(window, r.site, lean, light)
        return window, r.site, lean

    def empty(self) -> tuple[np.ndarray, int]:
        window, site, _ = self.ground(self.light())
        return relight(self.rng, window), site

    def occupied(self, look: int) -> tuple[np.ndarray, int, tuple[int, int]]:
        light = self.light()
        window, site, lean = self.ground(light)
        used = self.put(window, look, site, lean, light)
        return relight(self.rng, window), site, used

    def photographed(self) -> tuple[np.ndarray, int, int, tuple[int, int]]:
        """A piece as a photo shows it, in another light: (log window, site, look, its cut-out)"""
        r = self.full[self.rng.integers(len(self.full))]
        self.lean, self.pieces = self.s.lean[r.site], r.pieces
        window = shifted(r.window, self.rng.normal(0, 0.02, 2) * self.s.group.side * self.s.scale)
        return relight(self.rng, window), r.site, r.look, (r.piece, -1)

    def strange(self) -> tuple[np.ndarray, int]:
        """None of the looks: something foreign, or what the photos show there"""
        rng = self.rng
        if self.strangers and rng.random() < 0.3:
            r = self.strangers[rng.integers(len(self.strangers))]
            self.lean = self.s.lean[r.site]
            return relight(rng, shifted(r.window, rng.normal(0, 0.5, 2) * self.s.scale)), r.site
        light = self.light()
        window, site, lean = self.ground(light)
        # several sites with what else lies on them, and half of the time under a cup
        if self.s.group.block:
            if rng.random() < 0.5:
                window = foreign(rng, window, plainly=0.3)
        elif self.s.misplaced and rng.random() < UNKNOWN:
            patch = self.s.misplaced[rng.integers(len(self.s.misplaced))]
            self.lay(window, patch, self.offset(site, patch), lean, light)
        elif self.s.unshown and rng.random() < CROSSED and (patch := self.crossed()) is not None:
            self.lay(window, patch, self.offset(site, patch), lean, light)
        elif rng.random() < UNKNOWN:
            options = self.s.plain[list(self.s.plain)[rng.integers(len(self.s.plain))]]
            ground = (
                window if rng.random() < 0.5 else self.bare[rng.integers(len(self.bare))].window
            )
            patch = unknown(rng, options[rng.integers(len(options))][0], np.median(ground, (0, 1)))
            self.lay(window, patch, self.offset(site, patch), lean, light)
        elif self.s.large and rng.random() < 0.5:
            self.lay(
                window, self.s.large[rng.integers(len(self.s.large))], self.beside(1), lean, light
            )
        elif rng.random() < 0.2:
            if self.full:
                r = self.full[rng.integers(len(self.full))]
                window, site = foreign(rng, r.window), r.site
        else:
            window = foreign(rng, window)
        return relight(rng, window), site

    def crossed(self) -> Patch | None:
        """A piece as one of a kind that no photo shows might look, made of two that they show"""
        if len(self.s.plain) < 2:
            return None
        one, other = (
            list(self.s.plain.values())[k]
            for k in self.rng.choice(len(self.s.plain), 2, replace=False)
        )
        return crossed(
            self.rng, *(options[self.rng.integers(len(options))][0] for options in (one, other))
        )

    def littered(self) -> tuple[np.ndarray, int]:
        """A coin, a cap, a key: on the empty site or on what lies there"""
        rng, s, light = self.rng, self.s, self.light()
        window, site, lean = self.ground(light)
        if rng.random() < 0.5:
            self.put(window, list(s.plain)[rng.integers(len(s.plain))], site, lean, light)
        piece = 2 * min(p.radius for options in s.plain.values() for p, _ in options) * s.scale
        most = min(max(1.1 * s.group.side, LARGE_COIN) * s.scale, len(window))
        window = littered(
            rng, window, piece, most, len(window) / 2 - 0.5 - lean * s.height * s.scale
        )
        return relight(rng, window), site


def shifted(window: np.ndarray, by: np.ndarray) -> np.ndarray:
    """A window (s, s, 3) moved by `by` (2,) pixels, its border repeated."""
    side = len(window)
    return cv2.warpAffine(
        window,
        np.float32([[1, 0, by[0]], [0, 1, by[1]]]),
        (side, side),
        flags=cv2.INTER_LINEAR,
        borderMode=cv2.BORDER_REPLICATE,
    )


def choose_faces(
    stage: Stage, scenery: Scenery, empty: np.ndarray, spread: np.ndarray, seed: int
) -> None:
    """Has the stage compare faces where that finds the right look among the likeliest, in pictures
    made for it, more often than
    rings do: they take longer"""
    maker = Maker(scenery, seed + 1)
    made = [
        (*maker.occupied(n % len(stage.looks)), maker.lean, n % len(stage.looks))
        for n in range(PROBES)
    ]
    windows, sites, banned, leans, labels = (np.array(part) for part in zip(*made))
    seen = small(windows, empty.shape[1])
    unlike = stage.unlike(seen, empty, edges(empty), sites)
    gain, place = stage.places(seen, stage.shrunk(empty)[sites], stage.shrunk(spread)[sites], leans)
    field = WindowField(to_opponent(windows), scenery.scale)

    def found() -> float:
        _, lying = stage.hypotheses(
            field, np.arange(len(made)), gain, place, unlike, sites, leans, banned
        )
        return float((stage.owner[lying.tried] == labels[:, None]).any(1).mean())

    rings = found()
    if rings < ENOUGH:
        whole = stage.fine
        stage.faces, stage.fine = scenery.faces, scenery.by_print
        if found() < rings + 0.5 * (1 - ENOUGH):
            stage.faces, stage.fine = [], whole


def tells_bare(inputs: np.ndarray, labels: np.ndarray, looks: int, seed: int) -> tuple[Net, float]:
    """(what tells empty sites from all others, the share of held-out pictures it is right about);
    labels: (n,) looks, `looks` for something else, BARE. Where it is all but certain the closer
    look is saved: so it learns long, from half of the inputs at a time, and what is strange, rare
    among the pictures and each time another, counts for more."""
    held, empty = len(inputs) // 10, (labels == BARE).astype(int)
    told = mlp.train(
        inputs[held:],
        empty[held:],
        2,
        64,
        seed,
        epochs=40,
        batch=128,
        drop=0.5,
        smooth=0.002,
        weights=np.where(labels == looks, STRANGER, 1.0)[held:],
    )
    told = mlp.sharpened(told, inputs[:held], empty[:held])
    return told, float((told.scores(inputs[:held]).argmax(1) == empty[:held]).mean())


class Rows:
    """rows: (n, D) float16, filled part by part: examples take most of the memory that calibrating
    needs"""

    def __init__(self, n: int) -> None:
        self.n, self.filled = n, 0

    def add(self, part: np.ndarray) -> None:
        if not self.filled:
            self.rows = np.empty((self.n, part.shape[1]), np.float16)
        self.rows[self.filled : self.filled + len(part)] = part
        self.filled += len(part)


def teach(
    stage: Stage, scenery: Scenery, empty: np.ndarray, spread: np.ndarray, count: int, seed: int = 1
) -> None:
    """Fits stage.bare (not for blocks) and stage.kinds. empty, spread: (N, S, S, 3) opponent small
    windows; count: pictures of pieces."""
    maker = Maker(scenery, seed)
    looks = len(stage.looks)
    block = scenery.group.block
    jobs = [n % looks for n in range(count)] + [looks] * (
        count if block else count // (4 if scenery.unshown else 8)
    )
    jobs += [] if block else [BARE] * (count // 2)
    # beside a spot inside a cell lie pieces that look as things on it would
    things = not block and not scenery.misplaced
    jobs += [looks + 2] * (count // THINGS) if things else []
    jobs += [looks + 1] * (count // 4 if maker.full else 0)
    maker.rng.shuffle(jobs)
    if not block:
        choose_faces(stage, scenery, empty, spread, seed)
        maker.grains = scenery.grains if stage.faces else []
    lines, coarse_empty, coarse_spread = edges(empty), stage.shrunk(empty), stage.shrunk(spread)
    bare_x, kind_x = Rows(len(jobs)), Rows(len(jobs) * TRIED)
    bare_y, kind_y = [], []
    left, tenth = [], len(jobs) // 10
    tops, heights = [[] for _ in stage.tops], [[] for _ in stage.heights]
    for a in range(0, len(jobs), CHUNK):
        windows, sites, labels, banned, leans, pieces = [], [], [], [], [], []
        for label in jobs[a : a + CHUNK]:
            used = (-1, -1)
            if label == looks + 1:
                window, site, label, used = maker.photographed()
            elif label == looks + 2:
                window, site, label = *maker.littered(), looks
            elif label == looks:
                window, site = maker.strange()
            elif label == BARE:
                window, site = maker.empty()
            else:
                window, site, used = maker.occupied(label)
            windows.append(window)
            sites.append(site)
            labels.append(label)
            banned.append(used)
            leans.append(maker.lean)
            pieces.append(maker.pieces)
        logs, labels, sites, banned = (
            np.stack(windows),
            np.array(labels),
            np.array(sites),
            np.array(banned),
        )
        seen = small(logs, empty.shape[1])
        unlike = stage.unlike(seen, empty, lines, sites)
        if not block:
            bare_x.add(unlike)
            bare_y.append(labels)
        leans = np.array(leans)
        gain, place = stage.places(seen, coarse_empty[sites], coarse_spread[sites], leans)
        field = WindowField(to_opponent(logs), scenery.scale)
        inputs, lying = stage.hypotheses(
            field, np.arange(len(logs)), gain, place, unlike, sites, leans, banned
        )
        kind_x.add(inputs)
        if things and a < tenth:
            own = np.where((labels >= 0) & (labels < looks), labels, 0)
            left.append(stage.left_by(inputs, lying, own))
        for top, examples in zip(stage.tops, tops):
            mine = np.flatnonzero(np.isin(labels, (top.base, top.whole)))
            examples.append((stage.on_top(top, lying, mine), labels[mine] == top.whole))
        for h, examples in zip(stage.heights, heights):
            mine, at = stage.tops_of(h.look, lying, np.flatnonzero(labels == h.look), leans)
            bare = WindowField(empty, scenery.scale * empty.shape[1] / logs.shape[1])
            found = h.features(field, mine, bare, sites[mine], at, leans[mine])
            examples.append(
                (found, np.searchsorted([len(c) for c in h.contents], np.array(pieces)[mine]))
            )
        kind_y.append(np.repeat(np.where(labels == BARE, looks + 1, labels), TRIED))
    stage.held = []
    if not block:
        stage.bare, right = tells_bare(bare_x.rows, np.concatenate(bare_y), looks, seed)
        stage.held = [right]
    stage.tops = [
        top.taught(*(np.concatenate(part) for part in zip(*examples)), seed)
        for top, examples in zip(stage.tops, tops)
    ]
    stage.heights = [
        h.taught(*(np.concatenate(part) for part in zip(*examples)), seed)
        for h, examples in zip(stage.heights, heights)
    ]
    x, y = kind_x.rows, np.concatenate(kind_y)
    held = len(x) // 10 // TRIED * TRIED
    kinds = mlp.train(
        x[held:], y[held:], looks + 2, 128, seed, epochs=max(12, round(12 * FEW / len(x)))
    )
    stage.kinds = mlp.sharpened(kinds, x[:held], y[:held], TRIED, doubt=1)
    told = stage.looked(x[:held])
    if left:
        labels = y[:held:TRIED]
        right = np.flatnonzero((told.argmax(1) == labels) & (labels < looks))
        stage.usual = Usual.of(
            np.concatenate(left)[right],
            labels[right],
            np.bincount(stage.owner, minlength=looks) > 1,
            scenery.unshown,
        )
    stage.held += [
        float((told.argmax(1) == y[:held:TRIED]).mean()),
        float(-told[np.arange(len(told)), y[:held:TRIED]].mean()),
        stage.kinds.sharpness,
    ]
