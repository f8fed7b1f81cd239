"""Figures seen from the side: they lean away from the camera, over the next site; their foot says
where they stand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from functools import cached_property, lru_cache

import cv2
import msgspec
import numpy as np

from vision.kernels import Kernel
from vision.photometry.canvas import sample_canvas
from vision.photometry.room_light import too_bright
from vision.readers.loose.pieces.fit import CAP, THIRD, Piece, bareness
from vision.readers.loose.pieces.fit_compare import SCENE, by_kernel, parts
from vision.readers.loose.pieces.outline_slopes import across, sides_of, slopes_of
from vision.readers.loose.pieces.search import MAYBE
from vision.readers.loose.scene.polar_patches import Form, dot, lit
from vision.readers.loose.scene.scene import FOLD, Scene, mark

_figures = Kernel("figures_upright", SCENE + "ddnxfnfnxffBnff")
PIXEL = 0.7  # mm of the pictures in which figures are kept
# times as dark or bright as it was learnt is a figure's side at most: the light falls from
# elsewhere
TONE = 2.0
UNLIKELY = 3.0  # what it costs to be lit otherwise, times the square of the logarithm
MISSING = 0.8  # how much what a figure leaves unexplained of itself counts against what it explains
FINE = 0.4  # mm of the pictures in which edges are looked at
LIKELY = 40  # places of which more is looked at to choose the best
# places of the map of what is strange from one at which the lean is worked out to the next
NET = 16
BESIDE = 1.5  # mm kept around a figure's foot
# of what two feet measure: nearer to each other they cannot stand, as exactly as feet are found
APART = 0.85


class TallLook(msgspec.Struct, frozen=True, eq=False, dict=True):
    """How figures of a form look when they lean `reach` mm: (K, h, w, 3) with the lean to the
    right, and (h, w) 0..1 what of the picture is figure."""

    form: Form
    reach: float
    kinds: tuple[str, ...]
    looks: np.ndarray
    alpha: np.ndarray

    @cached_property
    def thinned(self) -> dict[int, tuple[np.ndarray, ...]]:
        """What gains_of() has made ready: every so many rows and columns -> where these are, the
        looks one colour after the other, mm² that points count, and the looks' brightest colours"""
        return {}


@lru_cache(64)
def upright(form: Form, reach: float) -> np.ndarray:
    """(h, w, 2) mm: along the lean from the foot's middle, and across it"""
    r = form.outer + BESIDE
    n = int(np.ceil((reach + 2 * r) / PIXEL)), int(np.ceil(2 * r / PIXEL))
    u = -r + (np.arange(n[0]) + 0.5) * (reach + 2 * r) / n[0]
    v = -r + (np.arange(n[1]) + 0.5) * 2 * r / n[1]
    return np.stack(np.meshgrid(u, v), -1).astype(np.float32)


def places_of(
    form: Form, reach: float, scene: Scene, foot: np.ndarray, every: int = 1
) -> np.ndarray:
    """(N, h, w, 2) canvas pixels of the picture of a figure that would stand at each of (N, 2) mm,
    or of every so many rows and columns of it.

    Between foot and top the picture is stretched to the lean there; a foot's and a top's size stay
    as they are."""
    grid = upright(form, reach)[::every, ::every].astype(np.float32)
    lean = scene.lean.shift(foot, form.height).astype(np.float32)
    length = np.linalg.norm(lean, axis=1)
    # canvas pixels a mm
    along = (lean / np.maximum(length, 1e-6)[:, None]) * np.float32(scene.frame.scale)
    row = grid[0, :, 0]
    u = np.where(
        row < 0,
        row,
        np.where(row < reach, row * (length / reach)[:, None], row - reach + length[:, None]),
    )
    u = u.astype(np.float32)[:, None, :]  # (N, 1, w)
    v = grid[None, :, :1, 1]  # (1, h, 1)
    start = scene.frame.to_px(foot).astype(np.float32)[:, :, None, None]
    out = np.empty((len(foot), *grid.shape), np.float32)
    out[..., 0] = (start[:, 0] + u * along[:, 0, None, None]) - v * along[:, 1, None, None]
    out[..., 1] = (start[:, 1] + u * along[:, 1, None, None]) + v * along[:, 0, None, None]
    return out


def views(
    form: Form, reach: float, scene: Scene, foot: np.ndarray, every: int = 1
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """seen, ground (N, h, w, 3) and weight (N, h, w) where figures would stand at (N, 2) mm"""
    px = places_of(form, reach, scene, foot, every)
    seen = lit(sample_canvas(scene.seen, px), scene.light_at(foot))
    return (
        seen,
        sample_canvas(scene.ground, px),
        np.maximum(sample_canvas(scene.weight, px)[..., 0], 0),
    )


def gains_of(
    look: TallLook, scene: Scene, foot: np.ndarray, every: int = 1
) -> tuple[np.ndarray, np.ndarray]:
    """(N, K) how much better each kind explains what shows than bare ground, and (N, K) what
    perfect figures would gain;
    every: only so many rows and columns are looked at"""
    if every not in look.thinned:
        grid, looks = (
            upright(look.form, look.reach)[::every, ::every],
            look.looks[:, ::every, ::every],
        )
        area = np.ascontiguousarray(look.alpha[::every, ::every] * np.float32((every * PIXEL) ** 2))
        planes = np.ascontiguousarray(looks.transpose(0, 3, 1, 2), np.float32)
        look.thinned[every] = (
            grid[0, :, 0].copy(),
            grid[:, 0, 1].copy(),
            planes,
            area,
            looks.max((1, 2)),
        )
    along, beside, planes, area, brightest = look.thinned[every]
    limit = scene.limit_at(foot)
    bright = too_bright(brightest, limit.min(0)).any(1)
    gain = np.empty((len(foot), len(look.kinds)), np.float32)
    most = np.empty_like(gain)
    if by_kernel(scene):
        _figures(
            *parts(scene),
            scene.frame.to_px(foot),
            scene.lean.shift(foot, look.form.height),
            len(foot),
            scene.frame.scale,
            along,
            len(along),
            beside,
            len(beside),
            look.reach,
            planes,
            area,
            bright.astype(np.uint8),
            len(planes),
            gain,
            most,
        )
        return gain, most
    seen, ground, weight = views(look.form, look.reach, scene, foot, every)
    gg = dot(ground, ground)
    ss = dot(seen, seen)
    bare = bareness(ss, dot(seen, ground), gg, weight)  # ground in a shadow is ground too
    for k, figure in enumerate(look.looks[:, ::every, ::every]):
        if bright[k]:
            figure = np.minimum(figure, limit[:, None, None])
        sf, ff = dot(seen, figure), dot(figure, figure)
        tone = (sf / (ff + 1)).clip(1 / TONE, TONE)
        off = weight * THIRD * (ss - tone * (2 * sf - tone * ff)) + UNLIKELY * np.log(tone) ** 2
        gain[:, k] = ((bare - np.minimum(off, CAP)) * area).sum((1, 2))
        most[:, k] = (
            bareness(tone * tone * ff, tone * dot(ground, figure), gg, weight) * area
        ).sum((1, 2))
    return gain, most


def find_tall(
    scene: Scene,
    looks: Sequence[TallLook],
    allowed: np.ndarray,
    counts: Mapping[str, int] | None = None,
    most: int = 60,
    known: Sequence[Piece] = (),
    new: np.ndarray | None = None,
) -> list[Piece]:
    """Figures that explain what is strange; allowed: the mask (as coarse as what is strange) of
    where feet may stand;
    counts: kind -> how many there are (0 or none told: any number). Where the best so far are all
    there are of a form, what is left over may still be of another. known: those that are there,
    already hidden: they stand in others' way; new: as of find().

    Uses up scene.weight and scene.strange."""
    out: list[Piece] = []
    room = {
        look.form: all_of(look.kinds, counts or {}) - sum(p.form == look.form for p in known)
        for look in looks
    }
    bare = copy(scene)
    bare.weight = scene.weight.copy()
    tries = [
        Spots(
            scene,
            bare,
            look,
            feet(scene, look, allowed, scene.strange if new is None else scene.strange * new),
        )
        for look in looks
    ]
    for t in tries:
        for p in known:
            t.taken(p)
    while len(out) < most:
        found = [
            p
            for t in tries
            if room[t.look.form] > 0 and (p := t.best()) is not None and p.chance > MAYBE
        ]
        if not found:
            break
        p = max(found, key=lambda p: p.gain - MISSING * (p.ideal - p.gain))
        out.append(p)
        if p.chance < 0.5:
            break
        room[p.form] -= 1
        hide(scene, next(k for k in looks if k.form == p.form), p.foot)
        for t in tries:
            t.taken(p)
    return out


def all_of(kinds: Sequence[str], counts: Mapping[str, int]) -> float:
    """How many pieces there are of these kinds together"""
    each = [counts.get(k, 0) for k in kinds]
    return sum(each) if all(each) else np.inf


def telling(gain: np.ndarray, ideal: np.ndarray) -> np.ndarray:
    """What figures explain less what they leave unexplained of themselves: one half behind another
    is no better a step aside"""
    return gain - MISSING * np.maximum(ideal - gain, 0)


LEANS = 0.0, 0.35, 0.7  # of the way a figure leans: where it must be strange
AROUND = np.array(
    [[0, 0], [1, 0], [-1, 0], [0, 1], [0, -1], [1, 1], [1, -1], [-1, 1], [-1, -1]], float
)


def around_foot(form: Form) -> float:
    """mm by which a figure's picture reaches beyond its foot's and its top's middle, and what
    hide() adds to it"""
    return 1.5 * (form.outer + BESIDE) + 2


class Spots:
    """Where figures of one form may stand, and how well one there would explain what shows; worked
    out anew only where another figure was found near by."""

    def __init__(self, scene: Scene, bare: Scene, look: TallLook, at: np.ndarray) -> None:
        """bare: the scene before any figure was found; at: (N, 2) mm"""
        self.scene, self.bare, self.look, self.at = scene, bare, look, at
        self.stand: list[Piece] = []
        self.gain = np.zeros(len(at), np.float32)
        self.stale = np.ones(len(at), bool)
        self.far = np.linalg.norm(scene.lean.shift(at, look.form.height), axis=1) + around_foot(
            look.form
        )
        # the best so far, and where it was first thought to stand
        self.found: tuple[np.ndarray, Piece] | None = None

    def best(self) -> Piece | None:
        """The best figure, its foot shifted to where it fits best"""
        if not len(self.at):
            return None
        if self.found is not None and not self.stale.any():
            return self.found[1]
        look, lean = self.look, self.scene.lean
        anew = np.flatnonzero(self.stale)
        for part in np.array_split(anew, len(anew) // 200 + 1):
            if len(part):
                self.gain[part] = telling(*gains_of(look, self.scene, self.at[part], every=4)).max(
                    1
                )
        self.stale[:] = False
        likely = np.argsort(-self.gain)[:LIKELY]
        first = foot = self.at[
            likely[telling(*gains_of(look, self.scene, self.at[likely], every=2)).max(1).argmax()]
        ]
        if self.found is not None and (self.found[0] == first).all():
            return self.found[1]
        for step in (1.0, 0.5, 0.25):
            around = foot + AROUND * step
            around = around[np.r_[True, self.free(around[1:])]]
            gain, perfect = gains_of(look, self.scene, around)
            i, k = divmod(int(telling(gain, perfect).argmax()), gain.shape[1])
            foot = around[i]
        whole = float(gains_of(look, self.bare, foot[None])[1][0, k])
        p = Piece(
            look.form,
            foot + lean.shift(foot, look.form.height)[0],
            foot,
            0.0,
            look.kinds,
            gain[i],
            k,
            float(perfect[i, k]),
            whole,
        )
        self.found = first, p
        return p

    def taken(self, p: Piece) -> None:
        """A figure was found: none stands in the same place, and what it hides is judged again"""
        away = np.linalg.norm(self.at - p.foot, axis=1)
        near = away < self.far + np.linalg.norm(p.at - p.foot) + around_foot(p.form)
        self.stale |= near
        if self.found is not None and near[(self.at == self.found[0]).all(1)].any():
            self.found = None  # what it was judged by is hidden now
        self.stand.append(p)
        keep = self.free(self.at)
        self.at, self.gain, self.stale, self.far = (
            self.at[keep],
            self.gain[keep],
            self.stale[keep],
            self.far[keep],
        )

    def free(self, at: np.ndarray) -> np.ndarray:
        """(N,) whether a foot at each of (N, 2) mm is clear of those that stand already"""
        out = np.ones(len(at), bool)
        for p in self.stand:
            out &= np.linalg.norm(at - p.foot, axis=1) > APART * (
                self.look.form.inner + p.form.inner
            )
        return out


def feet(
    scene: Scene,
    look: TallLook,
    allowed: np.ndarray,
    strange: np.ndarray,
    step: float = 1.6,
    share: float = 0.35,
) -> np.ndarray:
    """(N, 2) mm where a figure may stand: its foot and what is above it are strange"""
    k = scene.frame.scale / FOLD
    dense, n = cv2.blur(strange, (max(int(look.form.inner * k), 1),) * 2), max(int(step * k), 1)
    ys, xs = np.nonzero(allowed[::n, ::n])
    px = np.stack([xs, ys], -1).astype(np.float32) * n
    lean = leans(scene, look.form.height, px) * np.float32(k)
    full = np.zeros(len(px), np.float32)
    for t in np.float32(LEANS):
        # a canvas pixel's middle lies a quarter past that of the coarser one
        x, y = np.rint(px + 0.25 + t * lean).astype(int).T
        full += dense[y.clip(0, dense.shape[0] - 1), x.clip(0, dense.shape[1] - 1)]
    return scene.frame.to_mm((px[full > 3 * share].astype(float) + 0.5) * FOLD - 0.5)


def leans(scene: Scene, height: float, px: np.ndarray) -> np.ndarray:
    """(N, 2) mm by which what is `height` mm up appears beside the board's points at (N, 2) pixels
    of the map of what is strange; from a coarse net of such, as a lens bends slowly"""
    (h, w), f = scene.strange.shape, scene.frame
    x, y = np.meshgrid(*(np.arange(v // NET + 2) * NET for v in (w, h)))
    net = scene.lean.shift(
        f.to_mm((np.stack([x, y], -1).reshape(-1, 2) + 0.5) * FOLD - 0.5), height
    )
    return sample_canvas(net.reshape(*x.shape, 2).astype(np.float32), px / np.float32(NET))


def hide(scene: Scene, look: TallLook, foot: np.ndarray) -> None:
    """What a figure covers counts no more"""
    px = places_of(look.form, look.reach, scene, foot[None])[0]
    mask = np.zeros(scene.weight.shape, np.uint8)
    corners = px[[0, 0, -1, -1], [0, -1, -1, 0]]
    lo = np.floor(corners.min(0)).astype(int).clip(0)
    hi = np.ceil(corners.max(0)).astype(int) + 2
    part = mask[lo[1] : hi[1], lo[0] : hi[0]]
    dots = np.round(px[look.alpha > 0.25] - lo).astype(int)
    ok = (dots >= 0).all(1) & (dots[:, 0] < part.shape[1]) & (dots[:, 1] < part.shape[0])
    part[dots[ok, 1], dots[ok, 0]] = 1
    part[:] = cv2.dilate(part, np.ones((3, 3)), iterations=2)
    there = slice(lo[1], hi[1]), slice(lo[0], hi[0])
    mark(scene.weight[there], part)
    small = cv2.resize(
        part,
        (max(part.shape[1] // FOLD, 1), max(part.shape[0] // FOLD, 1)),
        interpolation=cv2.INTER_AREA,
    )
    y, x = lo[1] // FOLD, lo[0] // FOLD
    view = scene.strange[y : y + small.shape[0], x : x + small.shape[1]]
    view[small[: view.shape[0], : view.shape[1]] > 0] = 0


def first_foot(
    scene: Scene, form: Form, outline: np.ndarray, strange: np.ndarray
) -> np.ndarray | None:
    """(2,) mm: where the one figure on a site stands, by the near end of what is strange there;
    None if nothing is"""
    middle = outline.mean(0)
    lean = scene.lean.shift(middle[None], form.height)[0]
    hull = cv2.convexHull(np.vstack([outline, outline + lean]).astype(np.float32)).reshape(-1, 2)
    mask = np.zeros(strange.shape, np.uint8)
    cv2.fillPoly(mask, [np.round(scene.frame.to_px(hull)).astype(np.int32)], 1)
    count, labels, stats, _ = cv2.connectedComponentsWithStats(
        ((strange > 0.4) & (mask > 0)).astype(np.uint8)
    )
    if count < 2:
        return None
    big = 1 + int(stats[1:, cv2.CC_STAT_AREA].argmax())
    ys, xs = np.nonzero(labels == big)
    mm = scene.frame.to_mm(np.stack([xs, ys], -1).astype(float))
    along = lean / max(np.linalg.norm(lean), 1e-6)
    u, v = (mm - middle) @ along, (mm - middle) @ np.array([-along[1], along[0]])
    near = np.quantile(u, 0.02)
    low = u < near + 2 * form.inner
    return (
        middle + (near + form.inner) * along + np.median(v[low]) * np.array([-along[1], along[0]])
    )


def within(form: Form, reach: float) -> np.ndarray:
    """(h, w) 0..1: what of an upright picture a figure can cover, nowhere wider than its foot; the
    rest is shadow"""
    grid = upright(form, reach)
    off = np.stack([grid[..., 0] - grid[..., 0].clip(0, reach), grid[..., 1]], -1)
    return ((form.outer - np.linalg.norm(off, axis=-1)) / PIXEL + 1).clip(0, 1).astype(np.float32)


def on_edges(scene: Scene, form: Form, foot: np.ndarray, strange: np.ndarray) -> np.ndarray:
    """(2,) mm near `foot` where the outline of what stands there shows edges on the near side; a
    shadow lies on that side too, but its edge is soft"""
    lean = scene.lean.shift(foot[None], form.height)[0]
    along = lean / max(np.linalg.norm(lean), 1e-6)
    u, v = np.meshgrid(
        np.arange(-form.inner, 1.2 * form.inner + 0.5 * np.linalg.norm(lean), 0.5),
        np.arange(-4, 4.1, 0.5),
    )
    net = foot + u.reshape(-1, 1) * along + v.reshape(-1, 1) * np.array([-along[1], along[0]])
    half = form.outer + np.abs(net - foot).max() + 2
    n = int(np.ceil(half / FINE))
    x = np.arange(-n, n + 1) * FINE
    px = scene.frame.to_px(foot + np.stack(np.meshgrid(x, x), -1))
    slopes = [
        slopes_of(sample_canvas(canvas, px) * light)
        for canvas, light in ((scene.seen, scene.light_at(foot[None])[0]), (scene.ground, 1.0))
    ]
    best, out = -np.inf, foot
    at, way = (v.reshape(-1, 2) for v in sides_of(form))
    for turn in np.radians([0.0] if form.disc else np.arange(0, 90, 7.5)):
        c, s = np.cos(turn), np.sin(turn)
        points, normal = (v @ np.array([[c, s], [-s, c]]) for v in (at, way))
        near = normal @ along < -0.3
        places = ((net - foot)[:, None] + points[near]) / FINE + n
        seen, bare = (across(two, places, normal[near]) for two in slopes)
        edge = np.exp(np.log((seen - bare).clip(0) + 1).mean(1))
        full = sample_canvas(strange, scene.frame.to_px(net[:, None] + 0.7 * points))[..., 0].mean(
            1
        )
        score = edge * full
        if score.max() > best:
            best, out = score.max(), net[score.argmax()]
    return out


def learn_tall(
    form: Form, seen: Sequence[tuple[Scene, np.ndarray, np.ndarray, str]]
) -> TallLook | None:
    """seen: (scene, strange (h, w) with sharp edges, outline, kind) of sites where one figure
    stands alone"""
    feet_ = [first_foot(scene, form, outline, strange) for scene, strange, outline, _ in seen]
    alone = [
        (s[0], s[1], s[3], on_edges(s[0], form, f, s[1]))
        for s, f in zip(seen, feet_)
        if f is not None
    ]
    if not alone:
        return None
    reach = float(
        np.median(
            [np.linalg.norm(scene.lean.shift(f[None], form.height)[0]) for scene, _, _, f in alone]
        )
    )
    reach = max(reach, 2.0)
    kinds = tuple(sorted({k for _, _, k, _ in alone}))
    at = [f for *_, f in alone]
    for again in (2.4, 1.2, 0.6, 0.0):
        pictures, masks = [], []
        for (scene, strange, _, _), f in zip(alone, at):
            pictures.append(views(form, reach, scene, f[None])[0][0])
            masks.append(sample_canvas(strange, places_of(form, reach, scene, f[None]))[0, ..., 0])
        whole = cv2.morphologyEx(np.mean(masks, 0), cv2.MORPH_CLOSE, np.ones((7, 7)))
        alpha = (cv2.blur((whole + whole[::-1]) / 2, (2, 2)) * 1.6 - 0.3).clip(0, 1).astype(
            np.float32
        ) * within(form, reach)
        looks = np.stack(
            [np.median([p for p, a in zip(pictures, alone) if a[2] == k], 0) for k in kinds]
        ).astype(np.float32)
        look = TallLook(form, reach, kinds, looks, alpha)
        if not again:
            return look
        net = np.stack(np.meshgrid(*[np.linspace(-again, again, 5)] * 2), -1).reshape(-1, 2)
        for i, (scene, strange, kind, _) in enumerate(alone):
            own = sample_canvas(strange, places_of(form, reach, scene, at[i] + net))[..., 0]
            fit = ((own - 0.5) * (alpha - 0.5)).sum((1, 2))
            gain = gains_of(look, scene, at[i] + net)[0][:, kinds.index(kind)]
            score = fit / np.abs(fit).max() + gain / (np.abs(gain).max() + 1e-6)
            at[i] = at[i] + net[score.argmax()]
    return None
