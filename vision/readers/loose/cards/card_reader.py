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
from vision.kernels import Kernel
from vision.photometry.canvas import Frame
from vision.photometry.room_light import CLIPPED
from vision.plan import Plan, Site
from vision.readers.loose.cards.card_level import CAP, Level, Sheet
from vision.readers.loose.cards.card_sheet import learn_sheet, merged, remerged
from vision.readers.loose.cards.coarse_search import Rough
from vision.readers.loose.cards.glare import (
    THIN,
    Veil,
    half_of,
    taken_off,
    veiled_as,
    veiled_unlike,
)
from vision.readers.loose.cards.hypotheses import (
    CLOSE,
    DARKEST,
    SHADOW,
    attempts,
    bareness,
    settled,
    turn_round,
)
from vision.readers.loose.cards.shared_artwork import agreed
from vision.readers.loose.cards.small_symbols import Cover, Signs
from vision.readers.loose.scene.compositing import paint
from vision.readers.loose.scene.polar_patches import dot
from vision.readers.loose.scene.resampling import cut, free_of, in_pixels, is_canvas, is_mask
from vision.readers.loose.scene.scene import Scene, corners_of, sharp

SURENESS = 0.15  # of a mm² of a card on which two kinds differ: how many nats it tells
# misfit, and nats, by which a kind may be worse as the likeliest lies before its own place is
# worked out
OPEN, TELLING = 0.3, 20.0
TRIES = 6  # kinds whose place is worked out well, of all that may lie on a site, at most
# shares of a card: hidden, from which its place and light may have been mistaken; seen, that tell
# better
MUCH, FEWEST = 0.1, 0.1
# mm and logarithm of brightness by which such a mistake misleads what is looked for on the card
MOVED, RECOLOURED = 1.0, 0.1
# misfit of what shows above which a card is looked for once more, turned by so many radians
POOR, ASKEW = 1.0, (-0.1, 0.0, 0.1)
FILLED = 0.8  # of its site: a card so large is what things stand on
COARSE, FINE = 0.55, 1.1  # pixels a mm at which kinds are told apart
EDGE = 1.5  # mm: where a card ends tells where it was laid or cut, not which it is
_shown = Kernel("shown_cards", "BBnnldnfnffffxxxf")


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

    def at_one(self, which: np.ndarray, place: int) -> Tried:
        """Some of these, (n,) bool, all as one of them is thought to lie"""
        kinds = self.kinds[which]
        return Tried(
            self.sheet,
            kinds,
            np.repeat(self.poses[place : place + 1], len(kinds), 0),
            np.repeat(self.light[place : place + 1], len(kinds), 0),
            self.home,
        )

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

    def otherwise(self, before: Tried, kind: str) -> bool:
        """Whether a kind lies elsewhere or in other light than was thought before"""
        n = self.number(kind)
        return bool(
            np.linalg.norm(self.poses[n, :2] - before.poses[n, :2]) > MOVED
            or np.abs(np.log(self.light[n] / before.light[n])).max() > RECOLOURED
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
    ladders: dict[int, tuple[Level, Level, Level, Signs]] = msgspec.field(default_factory=dict)
    roughs: dict[int, Rough] = msgspec.field(default_factory=dict)

    def levels(self, sheet: Sheet) -> tuple[Level, Level, Level, Signs]:
        """A coarse and a finer one, where relatives agree, to tell the kinds; a fine one as they
        were seen; and what tells those apart that look alike; worked out once"""
        key = id(sheet)
        if key not in self.ladders:
            looks = agreed(dict(zip(sheet.kinds, sheet.looks)))
            prints = np.stack([looks[k] for k in sheet.kinds])
            steps = step_of(sheet, COARSE), step_of(sheet, FINE)
            self.ladders[key] = (
                *(Level(prints, sheet.size, sheet.scale, step) for step in steps),
                Level(sheet.looks, sheet.size, sheet.scale, steps[1]),
                Signs(prints, sheet.size, sheet.scale),
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
        coarse, fine, seen, _ = self.levels(sheet)
        tries = attempts(scene, looks, coarse, home, light)
        if veils := veiled_as(scene, coarse, tries, light):
            taken_off(scene, veils.values())
            rows = np.array(list(veils))
            tries.anew(rows, attempts(scene, looks, coarse, home[rows], light[rows]))
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

    def again(
        self,
        scene: Scene,
        told: Mapping[str, Mapping[str, float]],
        tried: dict[str, Tried],
        hidden: np.ndarray,
        covers: Sequence[Cover],
    ) -> dict[str, dict[str, float]]:
        """What read() told of some sites, now that it is known what pieces hide of their cards: a
        green piece on a card is no green sign, and a big one neither shifts the card below it nor
        colours its light. hidden: (h, w) uint8 mask on the canvas;
        covers: the pieces that hide it; tried: set right"""
        out = {s: dict(kinds) for s, kinds in told.items()}
        for s, t in tried.items():
            names = [t.sheet.kinds[k] for k in t.kinds]
            _, level, _, signs = self.levels(t.sheet)
            if not near_hidden(hidden, scene, t):
                continue
            share = free_of(hidden, scene.frame, level.grid, t.poses).mean((1, 2))
            if share.min() == 1:
                continue
            misfit = shown_misfit(scene, level, t, hidden)
            if FEWEST < share.min() < 1 - MUCH:
                t, misfit = reopened(scene, level, t, misfit, hidden)
                names = [t.sheet.kinds[k] for k in t.kinds]
                tried[s], misfit = settled_again(scene, level, t, misfit, hidden)
                # what hides it may have led far astray
                for askew in ASKEW if misfit.min() > POOR * share.min() else ():
                    start = msgspec.structs.replace(
                        t, poses=np.tile(t.home + (0, 0, askew), (len(t.kinds), 1))
                    )
                    other, now = settled_again(
                        scene, level, start, shown_misfit(scene, level, start, hidden), hidden
                    )
                    if now.min() < misfit.min():
                        tried[s], misfit = other, now
            if len(names) < 2:
                continue
            best = int(misfit.argmin())
            # told by what they differ in, not by where each of them was laid
            kin = level.alike[t.kinds[best]][t.kinds]
            area = t.sheet.size[0] * t.sheet.size[1]
            pose, light = tried[s].poses[best], tried[s].light[best]
            misfit[kin] = (
                misfit[best]
                + signs.misfits(scene.seen, scene.frame, t.kinds[kin], pose, light, covers) / area
            )
            better = dict(zip(names, (-SURENESS * area * misfit).tolist()))
            shift = max(better.values()) - max(told[s][k] for k in names)
            out[s] = {k: better.get(k, v + shift) for k, v in told[s].items()}
            bare = (
                -SURENESS
                * area
                * float(
                    bareness(scene, level, pose[None], scene.light_at(pose[None, :2]), hidden)[0]
                )
            )
            # a sandy ziggurat hid all but a rim of a card on sandy ground
            nothing = max(told[s], key=told[s].get) == ""
            out[s][""] = min(out[s][""], bare) if nothing else max(out[s][""], bare)
        return out


def near_hidden(hidden: np.ndarray, scene: Scene, t: Tried) -> bool:
    """Whether anything of (h, w) a mask is as near to a card as its corners"""
    px, reach = (
        scene.frame.to_px(t.poses[:, :2]),
        np.hypot(*t.sheet.size) / 2 * scene.frame.scale + 2,
    )
    (x0, y0), (x1, y1) = (
        (px.min(0) - reach).astype(int).clip(0),
        (px.max(0) + reach).astype(int).clip(0) + 1,
    )
    return bool(hidden[y0:y1, x0:x1].any())


def reopened(
    scene: Scene, level: Level, t: Tried, misfit: np.ndarray, hidden: np.ndarray
) -> tuple[Tried, np.ndarray]:
    """The same with kinds that nobody thought of while a big piece hid them, and that fit what
    shows better than those tried do in whatever light; misfit: (n,) of each"""
    best, every = int(misfit.argmin()), np.setdiff1d(np.arange(len(t.sheet.kinds)), t.kinds)
    if not len(every):
        return t, misfit
    light = np.repeat(scene.light_at(t.poses[best : best + 1, :2]), len(every), 0)
    more = Tried(t.sheet, every, np.repeat(t.poses[best : best + 1], len(every), 0), light, t.home)
    theirs = shown_misfit(scene, level, more, hidden)
    new = theirs < misfit[best]
    kinds, poses, light = (
        np.concatenate([a, b[new]])
        for a, b in ((t.kinds, every), (t.poses, more.poses), (t.light, light))
    )
    return Tried(t.sheet, kinds, poses, light, t.home), np.concatenate([misfit, theirs[new]])


def settled_again(
    scene: Scene, level: Level, t: Tried, before: np.ndarray, hidden: np.ndarray
) -> tuple[Tried, np.ndarray]:
    """Cards laid and lit by what shows of them, each kind where it fits better than before, and
    (n,) how badly they do; before: (n,) how badly they did, by shown_misfit"""
    poses, gain = level.settle(scene.seen, scene.frame, t.kinds, t.poses, 6, t.light, hidden=hidden)
    anew = msgspec.structs.replace(t, poses=poses, light=t.light * gain)
    now = shown_misfit(scene, level, anew, hidden)
    better = (now < before)[:, None]
    poses, light = np.where(better, poses, t.poses), np.where(better, anew.light, t.light)
    return msgspec.structs.replace(t, poses=poses, light=light), np.minimum(now, before)


def shown_misfit(scene: Scene, level: Level, t: Tried, hidden: np.ndarray) -> np.ndarray:
    """(n,) how badly what is seen of a card, but for its very edge, speaks for each kind; it may
    lie in a piece's shadow"""
    x, y = np.abs(level.grid[..., 0]), np.abs(level.grid[..., 1])
    inner = (x < t.sheet.size[0] / 2 - EDGE) & (y < t.sheet.size[1] / 2 - EDGE)
    if _shown and is_canvas(scene.seen) and is_mask(hidden):
        out = np.empty(len(t.kinds), np.float32)
        _shown(
            scene.seen,
            hidden,
            *hidden.shape,
            np.ascontiguousarray(t.kinds),
            in_pixels(scene.frame, t.poses),
            len(out),
            level.offsets(scene.frame.scale),
            inner.size,
            inner.astype(np.float32),
            level.planes,
            level.surety,
            np.ascontiguousarray(t.light, np.float32),
            CAP,
            DARKEST,
            SHADOW,
            out,
        )
        return out
    free = free_of(hidden, scene.frame, level.grid, t.poses) * inner
    seen = cut(scene.seen, scene.frame, level.grid, t.poses, t.light)
    look = np.minimum(level.looks[t.kinds], CLIPPED * t.light[:, None, None])
    dark = (dot(seen, look) / (dot(look, look) + 1)).clip(DARKEST, 1)[..., None]
    off = seen - dark * look
    cost = dot(off, off) * (level.surety[t.kinds] / 3) + (1 - dark[..., 0]) * SHADOW
    return (np.minimum(cost, CAP) * free).mean((1, 2))


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


def veils_of(
    firsts: Firsts, placed: Sequence[Place], scenes: Sequence[Scene]
) -> list[tuple[Place, Veil]]:
    """The samplers' cards below something mirrored, as others of their kind show, with what that
    adds"""
    out = []
    for i, sheet in enumerate(firsts.sheets):
        mine = [p for p in placed if p.sheet == i]
        light = np.concatenate([scenes[p.shot].light_at(p.pose[None, :2]) for p in mine])
        even = np.concatenate(
            [
                cut(
                    scenes[p.shot].seen, scenes[p.shot].frame, sheet.grid(), p.pose[None], own[None]
                )
                for p, own in zip(mine, light)
            ]
        )
        level = Level(even, sheet.size, sheet.scale, THIN * step_of(sheet, COARSE))
        seen = level.looks / light[:, None, None]
        told = veiled_unlike(
            level.grid, seen, level.looks, level.surety, light, [p.kind for p in mine]
        )
        out += [
            (mine[n], Veil(terms, mine[n].pose, half_of(level.grid))) for n, terms in told.items()
        ]
    return out


def unveil(scenes: Sequence[Scene], veils: Sequence[tuple[Place, Veil]]) -> None:
    """Takes what is mirrored off the samplers' scenes"""
    for n, scene in enumerate(scenes):
        taken_off(scene, [veil for p, veil in veils if p.shot == n])


def clear_of(placed: Sequence[Place], veils: Sequence[tuple[Place, Veil]]) -> list[Place]:
    """The cards that are not veiled, and those of which no other of the kind is not: they show its
    print"""
    veiled = [p for p, _ in veils]
    clear = {p.kind for p in placed if p not in veiled}
    return [p for p in placed if p not in veiled or p.kind not in clear]


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
