"""What lies first on a site, below the loose pieces: which tile or card, and where exactly. Its
value: Firsts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import cv2
import msgspec
import numpy as np

from vision.geometry.footprints import lies_below
from vision.geometry.posed_photo import Shot
from vision.photometry.canvas import Frame
from vision.plan import Plan, Site
from vision.readers.loose.cards.card_level import CAP, Level, Sheet
from vision.readers.loose.cards.card_sheet import learn_sheet, merged, remerged
from vision.readers.loose.cards.coarse_search import Rough
from vision.readers.loose.cards.hypotheses import (
    CLOSE,
    attempts,
    bareness,
    settled,
    turn_round,
)
from vision.readers.loose.cards.shared_artwork import agreed
from vision.readers.loose.scene.compositing import paint
from vision.readers.loose.scene.resampling import cut
from vision.readers.loose.scene.scene import Scene, corners_of, sharp

SURENESS = 0.15  # of a mm² of a card on which two kinds differ: how many nats it tells
# misfit, and nats, by which a kind may be worse as the likeliest lies before its own place is
# worked out
OPEN, TELLING = 0.3, 20.0
TRIES = 6  # kinds whose place is worked out well, of all that may lie on a site, at most
FILLED = 0.8  # of its site: a card so large is what things stand on
COARSE, FINE = 0.55, 1.1  # pixels a mm at which kinds are told apart


def step_of(sheet: Sheet, scale: float) -> int:
    """How many pixels of a sheet make one, at about so many a mm"""
    return max(round(sheet.scale / scale), 1)


def group_of(site: str) -> str:
    """Sites named alike lie alike: L5.3 and L2.1, but not R5.3"""
    return re.match(r"[^\d.]*", site).group()


class Place(msgspec.Struct, frozen=True, eq=False):
    """A card of a sampler: which photo and site, its kind, its sheet's number and the (3,) pose it
    was found at."""

    shot: int
    site: str
    kind: str
    sheet: int
    pose: np.ndarray


class Tried(msgspec.Struct, frozen=True, eq=False):
    """What a card may be: kinds (n,) of a sheet, their (n, 3) poses there and (n, 3) factors of
    light; home: (3,) pose at which a card lies straight on its site; laid: the kind, pose and light
    by which one was laid, where not as here."""

    sheet: Sheet
    kinds: np.ndarray
    poses: np.ndarray
    light: np.ndarray
    home: np.ndarray
    laid: tuple[int, np.ndarray, np.ndarray] | None = None

    def number(self, kind: str) -> int:
        return [self.sheet.kinds[k] for k in self.kinds].index(kind)

    def knows(self, kind: str) -> bool:
        """Whether it was tried; "" for no card"""
        return not kind or kind in [self.sheet.kinds[k] for k in self.kinds]

    def alone(self, kind: str) -> Tried:
        """One of these by itself"""
        n = self.number(kind)
        return Tried(
            self.sheet,
            self.kinds[n : n + 1],
            self.poses[n : n + 1],
            self.light[n : n + 1],
            self.home,
        )

    def corners(self, kind: str) -> np.ndarray:
        """(4, 2) canvas mm of one of these"""
        return corners_of(self.sheet.size, self.poses[self.number(kind)])

    def along(self, kind: str, outline: np.ndarray) -> np.ndarray:
        """A site's outline, (n, 2) mm, as it would be drawn around one of these where it lies; the
        same where a card leaves much of its site free"""
        if (
            cv2.contourArea(outline.astype(np.float32)) * FILLED
            > self.sheet.size[0] * self.sheet.size[1]
        ):
            return outline
        (x, y, turn), middle = self.poses[self.number(kind)] - self.home, outline.mean(0)
        c, s = np.cos(turn), np.sin(turn)
        return (outline - middle) @ np.array([[c, s], [-s, c]]) + middle + (x, y)

    def paint(self, scene: Scene, kind: str) -> None:
        """Lays one of these on the scene's ground"""
        n = self.number(kind)
        which, pose, light = self.laid or (int(self.kinds[n]), self.poses[n], self.light[n])
        paint(scene, self.sheet, which, pose, light / scene.light_at(pose[None, :2])[0])

    def lit(self, gain: np.ndarray) -> Tried:
        """The same in a picture that is so many times as bright, (3,)"""
        laid = self.laid and (*self.laid[:2], self.laid[2] / gain)
        return msgspec.structs.replace(self, light=self.light / gain, laid=laid)


class Firsts(msgspec.Struct, frozen=True, eq=False):
    """sheets: a size of tiles or cards each; turns: group of sites -> radians by which cards lie
    turned there."""

    sheets: tuple[Sheet, ...]
    turns: dict[str, float]
    ladders: dict[int, tuple[Level, Level, Level]] = msgspec.field(default_factory=dict)
    roughs: dict[int, Rough] = msgspec.field(default_factory=dict)

    def levels(self, sheet: Sheet) -> tuple[Level, Level, Level]:
        """A coarse and a finer one, where relatives agree, to tell the kinds; a fine one as they
        were seen; worked out once"""
        key = id(sheet)
        if key not in self.ladders:
            looks = agreed(dict(zip(sheet.kinds, sheet.looks)))
            prints = np.stack([looks[k] for k in sheet.kinds])
            steps = step_of(sheet, COARSE), step_of(sheet, FINE)
            self.ladders[key] = (
                *(Level(prints, sheet.size, sheet.scale, step) for step in steps),
                Level(sheet.looks, sheet.size, sheet.scale, steps[1]),
            )
        return self.ladders[key]

    def rough(self, sheet: Sheet) -> Rough:
        """The coarsest of all, to find them with; worked out once"""
        if id(sheet) not in self.roughs:
            self.roughs[id(sheet)] = Rough(sheet.looks, sheet.size)
        return self.roughs[id(sheet)]

    def read(
        self, scene: Scene, wanted: Mapping[str, Site], tried: dict[str, Tried] | None = None
    ) -> dict[str, dict[str, float]]:
        """site -> kind, or "" for none -> log-likelihood (any offset); lays what was found on the
        scene's ground. tried: filled in"""
        out: dict[str, dict[str, float]] = {}
        for sheet in self.sheets:
            ids = [s for s in wanted if fits(wanted[s], sheet)]
            if ids:
                out |= self.read_sheet(
                    scene, sheet, {s: wanted[s] for s in ids}, {} if tried is None else tried
                )
        return out

    def read_sheet(
        self, scene: Scene, sheet: Sheet, wanted: Mapping[str, Site], tried: dict[str, Tried]
    ) -> dict[str, dict[str, float]]:
        centre = np.array([s.centre for s in wanted.values()])
        turn = [self.turns.get(group_of(s), 0.0) for s in wanted]
        home = np.column_stack([centre + scene.lean.shift(centre, sheet.height), turn])
        light = scene.light_at(centre)
        frame, n = scene.frame, np.arange(len(wanted))
        looks = self.rough(sheet)
        coarse, fine, seen = self.levels(sheet)
        tries = attempts(scene, looks, coarse, home, light)
        misfit, poses, own = tries.misfit, tries.poses, tries.own
        first = misfit.argmin(1)
        shows = misfit[n, first] < 0.5 * bareness(scene, coarse, poses[n, first], light)
        scene.relit(
            poses[n, first][shows, :2], own[n, first][shows], 1 / (1 + misfit[n, first][shows] ** 2)
        )
        close = misfit < misfit.min(1, keepdims=True) + CLOSE
        close &= np.argsort(np.argsort(misfit, 1), 1) < TRIES
        misfit[~close] += CAP
        settled(
            scene,
            fine,
            close,
            tries,
            light,
            OPEN + TELLING / (SURENESS * sheet.size[0] * sheet.size[1]),
        )
        best = misfit.argmin(1)
        if sheet.size[0] == sheet.size[1]:
            turn_round(scene, looks, fine, home, tries, light)
        bare = bareness(scene, fine, poses[n, best], scene.light_at(centre))
        lies, gain = seen.settle(scene.seen, frame, best, poses[n, best], 3, light, reach=1.0)
        area = sheet.size[0] * sheet.size[1]
        out = {}
        for i, s in enumerate(wanted):
            out[s] = {k: -SURENESS * area * float(misfit[i, j]) for j, k in enumerate(sheet.kinds)}
            out[s][""] = -SURENESS * area * float(bare[i])
            close[i, misfit[i].argmin()] = True  # another's place may have shown that it is this
            some = np.flatnonzero(close[i])
            tried[s] = Tried(
                sheet,
                some,
                poses[i, some],
                light[i] * own[i, some],
                home[i],
                (int(best[i]), lies[i], light[i] * gain[i]),
            )
            if kind := max(out[s], key=out[s].get):
                tried[s].paint(scene, kind)  # relit() has changed the scene's light since
        return out

    def still(self, scene: Scene, tried: Tried, kind: str) -> bool:
        """Whether a card that lay there and was of a kind is so still: of all kinds, none fits
        better in its place"""
        n = tried.number(kind)
        level = self.levels(tried.sheet)[1]
        misfits = level.misfits_at(
            scene.seen, scene.frame, tried.poses[n : n + 1], tried.light[n : n + 1]
        )[0]
        return bool(misfits.argmin() == tried.kinds[n])


def fits(site: Site, sheet: Sheet) -> bool:
    """Whether a site is about as big as a card"""
    o = np.ptp(np.array(site.outline), axis=0)
    return bool(min(o) > 0.8 * min(sheet.size) and max(o) < 1.6 * max(sheet.size))


def learn_firsts(
    plan: Plan, frame: Frame, full: Sequence[Shot], scenes: Sequence[Scene]
) -> tuple[Firsts, list[Place]]:
    """From samplers; lays the cards on the scenes' ground"""
    by_size = cards_of(plan, full)
    sheets: list[Sheet] = []
    turns: dict[str, float] = {}
    placed: list[Place] = []
    sharps = [sharp(s.off, frame.scale) for s in scenes]
    for (size, height), where in by_size.items():
        seen, lights = [], []
        for n, site, kind in where:
            mm = plan.sites[site].centre
            seen.append((n, mm + scenes[n].lean.shift(mm, height)[0], kind, group_of(site)))
            lights.append(scenes[n].light_at(mm[None])[0])
        sheet, pose, own = learn_sheet(
            [s.seen for s in scenes],
            sharps,
            frame,
            seen,
            np.array(lights),
            tuple(map(float, size)),
            float(height),
        )
        turns |= own
        placed += [Place(n, site, kind, len(sheets), p) for (n, site, kind), p in zip(where, pose)]
        sheets.append(sheet)
    firsts = Firsts(tuple(sheets), turns)
    lay_all(firsts, placed, scenes)
    return firsts, placed


def cards_of(plan: Plan, full: Sequence[Shot]) -> dict[tuple, list[tuple[int, str, str]]]:
    """size_of a card -> (photo, site, kind) of each that samplers show below on clusters"""
    by_size: dict[tuple, list[tuple[int, str, str]]] = {}
    aside: list[tuple[int, str, str]] = []
    for n, shot in enumerate(full):
        for site, contents in shot.layout.items():
            if contents and lies_below(plan, plan.sites[site], contents[0]):
                if plan.sites[site].reads == "cluster":
                    by_size.setdefault(size_of(plan, contents[0]), []).append(
                        (n, site, contents[0])
                    )
                elif len(contents) == 1:
                    aside.append((n, site, contents[0]))
    shown = {kind for where in by_size.values() for _, _, kind in where}
    for n, site, kind in aside:  # a card that no cluster shows looks as it does on its stock
        if kind not in shown and size_of(plan, kind) in by_size:
            by_size[size_of(plan, kind)].append((n, site, kind))
    return by_size


def size_of(plan: Plan, kind: str) -> tuple[tuple[float, ...], float]:
    """(footprint, height) in mm"""
    return plan.pieces[kind].footprint, plan.pieces[kind].height


def lay_all(firsts: Firsts, placed: Sequence[Place], scenes: Sequence[Scene]) -> None:
    """Lays the samplers' cards on the ground of their scenes"""
    for p in placed:
        sheet = firsts.sheets[p.sheet]
        paint(scenes[p.shot], sheet, sheet.kinds.index(p.kind), p.pose)


def learn_again(
    firsts: Firsts,
    placed: Sequence[Place],
    scenes: Sequence[Scene],
    hidden: Sequence[np.ndarray] | None = None,
) -> Firsts:
    """The same in other light, or knowing where loose pieces hide the cards: hidden, per photo an
    (h, w) mask on the canvas"""
    sheets = []
    for i, sheet in enumerate(firsts.sheets):
        mine = [p for p in placed if p.sheet == i]
        grid = sheet.grid()
        patches = np.concatenate(
            [
                cut(
                    scenes[p.shot].seen,
                    scenes[p.shot].frame,
                    grid,
                    p.pose[None],
                    scenes[p.shot].light_at(p.pose[None, :2]),
                )
                for p in mine
            ]
        )
        if hidden is None:
            looks = merged(patches, [p.kind for p in mine])
            sheets.append(
                msgspec.structs.replace(
                    sheet, looks=np.stack([looks[k] for k in sheet.kinds]).astype(np.float32)
                )
            )
            continue
        free = np.concatenate(
            [
                1 - cut(hidden[p.shot], scenes[p.shot].frame, grid, p.pose[None])[..., 0]
                for p in mine
            ]
        )
        looks = remerged(patches, [p.kind for p in mine], free.clip(0, 1))
        sheets.append(
            msgspec.structs.replace(
                sheet, looks=np.stack([looks[k] for k in sheet.kinds]).astype(np.float32)
            )
        )
    return Firsts(tuple(sheets), firsts.turns)
