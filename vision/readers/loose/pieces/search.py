"""Which loose pieces explain a picture: places compared with every look, the best taken, what it
covers taken out, again."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np

from vision.kernels import Kernel
from vision.photometry.canvas import Frame, sample_canvas
from vision.readers.loose.pieces.blocks import is_block
from vision.readers.loose.pieces.fit import (
    FITS,
    LEAST,
    WELL,
    Fine,
    Piece,
    approached,
    reconsidered,
    refined,
)
from vision.readers.loose.pieces.fit_compare import best_at, by_kernel
from vision.readers.loose.scene.compositing import Print, lay
from vision.readers.loose.scene.polar_patches import Rings, Table
from vision.readers.loose.scene.resampling import is_whole
from vision.readers.loose.scene.scene import FOLD, Scene, cover, cover_within

MAYBE = 0.02  # chance of being there below which a place is not worth telling
AT_ONCE = 100  # places looked at together by numpy: what they take stays near the processor
# how far apart places are looked at, of a piece's
NETS = (0.42, 0.2, 1, False), (0.21, 0.5, 2, False), (0.42, 0.07, 2, True)
# inner radius; the share of strange ground around one; how often the next places are tried once no
# more is found; whether only where the colour is a piece's: what the first net leaves unexplained
# is looked at more closely, and what hides on ground of its own colour
# the gain below which not even a place is looked at again where a piece may hide on its own colour:
# what
FAINT = 8.0
# shows of it from afar is no more than the shade of its sides
COARSE = 2.0  # mm between rings at which pieces are compared coarsely, at most
NUDGE = 0.21  # of an inner radius: by which places of the net may lie off
TRIED = 0.35  # of an inner radius: so near it was tried already
# places looked at closely for nothing, two for each piece found aside, after which what is left is
# none of
VAIN = 1000
# the pieces (a sleeve, a cloth): of the boards measured the fullest has 340 of them
SIDE = 8  # places a side at which a colour is looked at, at most
OWN = 25.0  # grey levels by which a colour is a piece's own
# of the sum of their inner radii: nearer to each other no two pieces lie, a little given for
# misplacing
APART = 0.9

_most_near = Kernel("most_near", "fllnnnnxf")
_strange_around = Kernel("strange_around", "fBnnlnlnnxB")
_coloured = Kernel("coloured_places", "Bnnfnndnfnfnx" + "B")


class Kit:
    """Forms of much the same size, compared coarsely all at once"""

    def __init__(self, fines: Sequence[Fine]) -> None:
        self.fines = list(fines)
        self.inner = min(f.form.inner for f in fines)
        self.rings = Rings(max(f.form.outer for f in fines), min(self.inner / 4, COARSE), 32)
        self.rough = [f.on(self.rings) for f in fines]
        areas = np.concatenate([np.broadcast_to(r.area, r.looks.shape[:3]) for r in self.rough])
        self.table = Table(self.rings, np.concatenate([r.looks for r in self.rough]), areas)
        self.owner = np.repeat(np.arange(len(fines)), [len(f.kinds) for f in fines])

    def coloured(self, soft: Scene, at: np.ndarray) -> np.ndarray:
        """Which of (N, 2) canvas mm are about as bright and as coloured as one of these pieces is,
        in a scene blurred over a ring"""
        n = min(max(round(self.inner / self.rings.step), 1), SIDE)
        off = np.float32(((np.arange(n) + 0.5) / n - 0.5) * self.inner * soft.frame.scale)
        around, px = np.stack(np.meshgrid(off, off), -1).reshape(-1, 2), soft.frame.to_px(at)
        tones = np.concatenate([f.tone for f in self.fines])
        soft.near(px, self.inner * soft.frame.scale)
        if by_kernel(soft):
            out = np.empty(len(at), np.uint8)
            _coloured(
                soft.seen,
                *soft.seen.shape[:2],
                soft.light,
                *soft.light.shape[:2],
                px,
                len(px),
                np.ascontiguousarray(around.T),
                len(around),
                tones,
                len(tones),
                OWN,
                out,
            )
            return out > 0
        seen = (sample_canvas(soft.seen, px[:, None] + around).mean(1) * soft.light_at(at)).T[
            ..., None
        ]
        # one colour after the other: numpy is slow along short axes
        return (np.abs(seen - tones.T[:, None]).max(0) < OWN).any(1)


def kits_of(fines: Sequence[Fine]) -> list[Kit]:
    """Big pieces first: small ones lie on them"""
    out: list[list[Fine]] = []
    for f in sorted(fines, key=lambda f: -f.form.outer):
        if out and out[-1][0].form.outer < 1.7 * f.form.outer:
            out[-1].append(f)
        else:
            out.append([f])
    return [Kit(k) for k in out]


class Net:
    """Places on a regular net, (ny, nx) of them, `step` mm apart, where something may lie: the
    ground is strange around; least: the gain from which one is looked at closely"""

    def __init__(
        self,
        scene: Scene,
        strange: np.ndarray,
        inner: float,
        allowed: np.ndarray,
        step: float,
        share: float,
    ) -> None:
        """step: at least so much of `inner`; share: of the ground that must be strange"""
        k = scene.frame.scale / FOLD
        self.step, self.least = max(step * inner, 1.0 / k), LEAST
        n = max(int(round(1.6 * inner * k)), 1)
        xs, ys = (
            spots(start / FOLD, length, self.step * k)
            for start, length in zip(scene.corner, strange.shape[::-1])
        )
        self.shape = len(ys), len(xs)
        self.y, self.x = np.nonzero(strange_around(strange, allowed, xs, ys, n, share))
        self.sides = [
            scene.frame.to_mm((np.stack([v, v], -1) + 0.5) * FOLD - 0.5)[:, i]
            for i, v in enumerate((xs, ys))
        ]
        self.at = np.stack([self.sides[0][self.x], self.sides[1][self.y]], -1)

    def keep(self, which: np.ndarray) -> None:
        self.y, self.x, self.at = self.y[which], self.x[which], self.at[which]

    def near(self, at: np.ndarray, radius: float) -> np.ndarray:
        """(N,) whether a place lies within `radius` mm of one of (M, 2)"""
        # which way the last digit falls is judged below
        out, reach = np.zeros(self.shape, bool), radius + 1e-6
        first, beyond = (
            np.stack([np.searchsorted(v, at[:, i] + by) for i, v in enumerate(self.sides)], 1)
            for by in (-reach, reach)
        )
        for dx, dy in np.ndindex(*(beyond - first).max(0)) if len(at) else ():
            x, y = first.T + [[dx], [dy]]
            inside = (x < beyond[:, 0]) & (y < beyond[:, 1])
            x, y = x[inside], y[inside]
            off = np.hypot(self.sides[0][x] - at[inside, 0], self.sides[1][y] - at[inside, 1])
            out[y[off <= radius], x[off <= radius]] = True
        return out[self.y, self.x]

    def most_near(self, values: np.ndarray, radius: float) -> np.ndarray:
        """(N,) the largest of (N,) values within `radius` mm of each place"""
        n = int(radius / self.step)
        if n < 1 or not len(values):
            return values
        if _most_near:
            out = np.empty(len(values), np.float32)
            y, x = map(np.ascontiguousarray, (self.y, self.x))
            _most_near(
                np.ascontiguousarray(values, np.float32),
                y,
                x,
                len(values),
                *self.shape,
                n,
                radius / self.step,
                out,
            )
            return out
        field = np.full(self.shape, -1e9, np.float32)
        field[self.y, self.x] = values
        disc = np.hypot(*np.mgrid[-n : n + 1, -n : n + 1]) * self.step <= radius
        return cv2.dilate(
            field, disc.astype(np.uint8), borderType=cv2.BORDER_CONSTANT, borderValue=-1e9
        )[self.y, self.x]


def away(at: np.ndarray, place: np.ndarray) -> np.ndarray:
    """(N,) how far (N, 2) are from a place (2,); many times quicker than np.linalg.norm along so
    short an axis"""
    x, y = at[:, 0] - place[0], at[:, 1] - place[1]
    return np.sqrt(x * x + y * y)


def spots(start: float, length: int, step: float) -> np.ndarray:
    """Pixels every `step` of them along a side of a part of the canvas that begins at pixel
    `start`: the same places in all parts"""
    first = np.ceil(start / step - 0.5)
    return (
        np.round((np.arange(first, (start + length) / step - 0.5) + 0.5) * step - start - 0.5)
        .astype(int)
        .clip(0, length - 1)
    )


def strange_around(
    strange: np.ndarray, allowed: np.ndarray, xs: np.ndarray, ys: np.ndarray, n: int, share: float
) -> np.ndarray:
    """(ny, nx) bool: at which columns (nx,) and rows (ny,) of a map (h, w) something is allowed,
    and more than a share of n x n pixels around is strange"""
    if _strange_around and strange.dtype == np.float32 and is_whole(strange, allowed):
        out = np.empty((len(ys), len(xs)), np.uint8)
        _strange_around(strange, allowed, *strange.shape, xs, len(xs), ys, len(ys), n, share, out)
        return out.view(bool)
    return (cv2.blur(strange, (n, n)).take(ys, 0).take(xs, 1) > share) & (
        allowed.take(ys, 0).take(xs, 1) > 0
    )


def find(
    scene: Scene,
    kits: Sequence[Kit],
    allowed: np.ndarray,
    most: int = 300,
    known: Sequence[tuple[Piece, np.ndarray]] = (),
    new: np.ndarray | None = None,
) -> list[Piece]:
    """Pieces that explain the scene. allowed: the mask of polygons() where their tops may appear;
    known: pieces that are there, with (n, 2) canvas mm around what each covers; new: as strange is,
    1 where others may be, None: everywhere.

    scene.weight, ground and strange are used up."""
    out: list[Piece] = []
    for kit in kits:
        forms = {f.form for f in kit.fines}
        mine = [(p, covers) for p, covers in known if p.form in forms]
        for p, covers in mine:
            if p.chance > 0.5:
                cover_within(scene, covers)
        old = [p for p, _ in mine]
        others = find_of(
            scene, kit, allowed, most - len(out), [p for p in old if p.chance > 0.5], new
        )
        found = unlike(old, others) + unlike(others, old)
        for p in others:
            under = [q for q in out if q.form.inside(turned_back(p.foot - q.foot, q.turn)) > 0]
            if under:  # it stands on a bigger piece: so much higher does its top show
                p.foot = scene.lean.foot(
                    p.at[None], p.form.height + max(q.form.height for q in under)
                )[0]
        if kit is not kits[-1]:
            for p in found:
                if p.chance > 0.5:
                    lay_piece(scene, kit, p)
        out += found
    return out


def turned_back(d: np.ndarray, turn: float) -> np.ndarray:
    """A vector (2,) turned by -`turn` radians."""
    c, s = np.cos(turn), np.sin(turn)
    return np.array([c * d[0] + s * d[1], -s * d[0] + c * d[1]])


def lay_piece(scene: Scene, kit: Kit, p: Piece) -> None:
    """A big piece becomes ground for the small ones that lie on it; not a very sure one, as it is
    not flat"""
    fine = next(f for f in kit.fines if f.form == p.form)
    w, h = (max(int(round(v * scene.frame.scale)), 4) for v in p.form.size)
    x = ((np.arange(w) + 0.5) / w - 0.5) * p.form.size[0]
    y = ((np.arange(h) + 0.5) / h - 0.5) * p.form.size[1]
    x, y = np.meshgrid(x, y)
    rings = fine.rings
    look = cv2.remap(
        np.concatenate([fine.looks[p.best], fine.looks[p.best][:, :1]], 1),
        (np.arctan2(y, x) % (2 * np.pi) / (2 * np.pi) * rings.angles).astype(np.float32),
        (np.hypot(x, y) / rings.step - 0.5).clip(0, len(rings.r) - 1).astype(np.float32),
        cv2.INTER_LINEAR,
    )
    print_ = Print.of(look, p.form.size, scene.frame.scale)
    lay(scene, print_, p.form.size, np.array([*p.at, p.turn]), 12.0 if is_block(p.form) else 0.0)


def unlike(some: Sequence[Piece], others: Sequence[Piece]) -> list[Piece]:
    """Those that are surely there, and those in whose place no surer one of the others is"""
    return [
        p
        for p in some
        if p.chance > 0.5
        or not any(
            q.chance > p.chance
            and np.linalg.norm(p.at - q.at) < APART * (p.form.inner + q.form.inner)
            for q in others
        )
    ]


def find_of(
    scene: Scene,
    kit: Kit,
    allowed: np.ndarray,
    most: int,
    there: Sequence[Piece] = (),
    new: np.ndarray | None = None,
) -> list[Piece]:
    """The pieces of one kit; there: those that are known to be there, already covered; new: see
    find()"""
    sure: list[Piece] = []
    maybe: list[Piece] = []
    tried = np.empty((0, 2))
    n = max(int(kit.rings.step * scene.frame.scale), 1)
    soft: Scene | None = None
    for step, share, goes, hiding in NETS:
        net = Net(
            scene,
            scene.strange if new is None else scene.strange * new,
            kit.inner,
            allowed,
            step,
            share,
        )
        if not len(net.at):
            continue
        if soft is None:  # what is seen does not change while pieces of one kit are taken out
            soft = scene.blurred(n)
        if hiding:
            net.keep(kit.coloured(soft, net.at))
            net.least = FAINT
        more, others, tried = caught(
            scene, soft, kit, net, [*there, *sure], tried, goes, most, VAIN + 2 * len(sure)
        )
        sure += more
        maybe = [
            p
            for p in maybe
            if not any(
                np.linalg.norm(p.at - q.at) < APART * (p.form.inner + q.form.inner) for q in more
            )
        ]
        maybe = apart(maybe + others)
        if len(tried) >= VAIN + 2 * len(sure):
            break
    return sure + maybe


def caught(
    scene: Scene,
    soft: Scene,
    kit: Kit,
    net: Net,
    known: Sequence[Piece],
    tried: np.ndarray,
    goes: int,
    most: int,
    vain: int,
) -> tuple[list[Piece], list[Piece], np.ndarray]:
    """The pieces of a kit at places of a net besides those known: the sure ones, which are taken
    out of the scene, and others;
    soft: the scene blurred; tried: (M, 2) places known to be no better than these, and the same
    with those of this net; vain: how many of them are enough, two more for each piece found"""
    gain = np.zeros((len(net.at), len(kit.fines)), np.float32)
    stale = np.ones(len(gain), bool)
    out: list[Piece] = []
    others: list[Piece] = []
    again = goes
    while len(gain) and len(known) + len(out) < most and len(tried) < vain + 2 * len(out):
        for part in np.array_split(
            np.flatnonzero(stale), 1 if by_kernel(soft) else stale.sum() // AT_ONCE + 1
        ):
            if len(part):
                gain[part] = best_at(
                    soft, kit.rings, kit.table, net.at[part], kit.owner, net.least
                )[0]
        stale[:] = False
        keep = gain.max(1) > net.least
        net.keep(keep)
        gain, stale = gain[keep], stale[keep]
        new, at = candidates(
            scene, soft, kit, net, np.where(net.near(tried, TRIED * kit.inner)[:, None], 0, gain)
        )
        tried = np.vstack([tried, at])
        found = apart(
            not_smaller(free_of([p for p in others + new if p.chance > MAYBE], [*known, *out]))
        )
        sure = [p for p in found if p.chance > 0.5]
        if not sure:
            others, again = found, again - 1
            if again and len(at):
                # what is no piece may have looked more like one from afar than what lies beside it
                continue
            return out, found, tried
        # what fits badly may be in a better one's place
        found = [p for p in sure if p.gain > WELL * p.ideal] or sure
        again = goes
        found = [
            p
            for fine, rough in zip(kit.fines, kit.rough)
            for p in reconsidered(
                scene, fine, [q for q in found if q.form == fine.form], soft, rough
            )
        ]
        gone = np.zeros(len(gain), bool)
        others += new
        places, far = np.array([q.at for q in others]).reshape(-1, 2), np.ones(len(others), bool)
        for p in found:
            cover(scene, p.form, p.foot, p.turn)
            d = away(net.at, p.at)
            reach = kit.rings.r[-1] + p.form.outer + 1
            stale |= d < reach
            tried = tried[away(tried, p.at) >= reach]
            far &= away(places, p.at) >= reach
            gone |= d < 0.5 * (kit.inner + p.form.inner)
        others = [q for q, clear in zip(others, far) if clear]
        out += found
        net.keep(~gone)
        gain, stale = gain[~gone], stale[~gone]
    return out, others, tried


def nudged(soft: Scene, rough: Fine, at: np.ndarray, step: float) -> np.ndarray:
    """(N, 2) places shifted, by so many mm and half of that, to where a form fits best, coarsely"""
    ring = np.array([[0, 0], [1, 0], [-1, 0], [0, 1], [0, -1], [1, 1], [1, -1], [-1, 1], [-1, -1]])
    for by in (step, 0.5 * step):
        around = (at[:, None] + ring * by).reshape(-1, 2)
        at = (
            at
            + by
            * ring[
                best_at(soft, rough.rings, rough.table, around)[0].reshape(len(at), -1).argmax(1)
            ]
        )
    return at


def candidates(
    scene: Scene, soft: Scene, kit: Kit, net: Net, gain: np.ndarray
) -> tuple[list[Piece], np.ndarray]:
    """The best places of each form, refined where there is hope, and (M, 2) where on the net they
    were; gain: (N, forms) at the places of the net"""
    out: list[Piece] = []
    places = np.empty((0, 2))
    if not len(gain):
        return out, places
    top = net.most_near(gain.max(1), kit.inner)
    for i, fine in enumerate(kit.fines):
        near = net.most_near(gain[:, i], 0.75 * fine.form.inner)
        peaks = np.flatnonzero(
            (gain[:, i] >= near) & (gain[:, i] > np.maximum(0.4 * top, net.least))
        )
        if len(peaks):
            at = approached(
                soft, kit.rough[i], nudged(soft, kit.rough[i], net.at[peaks], NUDGE * kit.inner)
            )
            out += refined(scene, fine, at, 1) if len(at) else []
            places = np.vstack([places, net.at[peaks]])
    return out, places


def apart(found: Sequence[Piece]) -> list[Piece]:
    """The best ones of those that stand in each other's way"""
    out: list[Piece] = []
    places, radii = np.empty((len(found), 2)), np.empty(len(found))
    for p in sorted(found, key=lambda p: -p.gain):
        n = len(out)
        far = away(places[:n], p.at)
        if not (far <= APART * (p.form.inner + radii[:n])).any() and not any(
            clash(p, out[i]) for i in np.flatnonzero(far < p.form.outer + np.sqrt(2) * radii[:n])
        ):
            places[n], radii[n] = p.at, p.form.inner
            out.append(p)
    return out


def not_smaller(found: Sequence[Piece]) -> list[Piece]:
    """Those that are not smaller ones, one or several side by side: none fits badly where these fit
    well and explain as much, for what lies beside them may be explained besides"""
    out = []
    for p in found:
        parts = (
            []
            if p.gain > WELL * p.ideal
            else apart(
                [
                    q
                    for q in found
                    if q.form.inner < p.form.inner
                    and q.gain > WELL * q.ideal
                    and (
                        away(p.at[None], q.at)[0] <= APART * (p.form.inner + q.form.inner)
                        or clash(p, q)
                    )
                ]
            )
        )
        if sum(q.gain for q in parts) <= FITS * p.gain:
            out.append(p)
    return out


def free_of(found: Sequence[Piece], there: Sequence[Piece]) -> list[Piece]:
    """Those that can stand beside all that are there"""
    feet, outer = (
        np.array([q.foot for q in there]).reshape(-1, 2),
        np.array([q.form.outer for q in there]),
    )
    return [
        p
        for p in found
        if not is_block(p.form)
        or not any(
            clash(p, there[i]) for i in np.flatnonzero(away(feet, p.foot) <= p.form.outer + outer)
        )
    ]


def clash(p: Piece, q: Piece) -> bool:
    """Two blocks cannot stand in the same place: nowhere may one reach further into the other than
    misplacing them explains"""
    return (
        is_block(p.form)
        and is_block(q.form)
        and reaches_into(p, q) > (1 - APART) * (p.form.inner + q.form.inner)
    )


def reaches_into(p: Piece, q: Piece) -> float:
    """mm by which two pieces would have to be moved apart at least; negative: so far they are"""
    off = q.foot - p.foot
    far = np.linalg.norm(off)
    if far > p.form.outer + q.form.outer:
        return float(p.form.outer + q.form.outer - far)
    ways = [off / max(far, 1e-6)] if p.form.disc or q.form.disc else []
    for r in (p, q):
        c, s = np.cos(r.turn), np.sin(r.turn)
        ways += [] if r.form.disc else [np.array([c, s]), np.array([-s, c])]
    return min(half_width(p, way) + half_width(q, way) - abs(float(off @ way)) for way in ways)


def half_width(p: Piece, way: np.ndarray) -> float:
    """mm from a piece's middle to its outline's end along a unit vector (2,)"""
    u = turned_back(way, p.turn)
    return p.form.inner if p.form.disc else float(np.abs(u) @ p.form.size) / 2


def polygons(frame: Frame, outlines: Sequence[np.ndarray], grow: float = 0.0) -> np.ndarray:
    """Mask (as coarse as what is strange) of outlines in mm, grown by some mm"""
    out = np.zeros((frame.height // FOLD, frame.width // FOLD), np.uint8)
    for o in outlines:
        cv2.fillPoly(out, [np.round(frame.to_px(o) / FOLD).astype(np.int32)], 1)
    if grow > 0:
        n = int(np.ceil(grow * frame.scale / FOLD))
        out = cv2.dilate(out, np.ones((2 * n + 1, 2 * n + 1), np.uint8))
    return out
