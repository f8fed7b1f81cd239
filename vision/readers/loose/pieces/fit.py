"""How well looks of one size explain a place, and where near by they do so best. Its central value:
Fine."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cached_property

import msgspec
import numpy as np

from vision.readers.loose.pieces.block_rims import framed
from vision.readers.loose.pieces.blocks import is_block, is_tall, side_gain
from vision.readers.loose.pieces.fit_compare import (
    best_at,
    by_kernel,
    compared,
    judged_at,
    look_at,
    steps_at,
)
from vision.readers.loose.scene.polar_patches import (
    Form,
    Patch,
    Rings,
    Table,
    dot,
    every_turn,
    slopes,
    turned,
)
from vision.readers.loose.scene.scene import Scene

# share of the gain of a perfect match at which a piece is as likely there as not; a figure,
SURE, SURE_TALL = 0.38, 0.7
# which may be lit from any side, explains much that is none, such as another's shadow; odds
STEEP, STEEP_TALL = 10.0, 20.0
# that such a share more tells
# odds that a block is there: what its fit adds, what its outline does, what is
FIT, FRAMED, COVERED, NEEDED = 10.0, 6.5, 17.0, 5.1
# lost where others cover it, as blocks stand beside each other, and what it takes
WELL = 0.7  # share of the gain of a perfect match above which a piece fits as well as any
# shares of a perfect match below which a piece may be another; of it that must lie open to tell
FITS, SEEN = 0.85, 0.5
LEAST = 25.0  # gain below which a place is not looked at again
# gains to go by; little else than a block looks like top and sides of one
PLENTY, PLENTY_BLOCK = 120.0, 50.0
TONE = 0.08  # by which a piece may be brighter or darker than its kind
DARKEST = 0.55  # of its light that ground in a shadow keeps
SHADOW = 8.0  # what it costs to take something for a shadow, times how dark it is
HIDDEN = 0.25  # share of the gain of a whole piece that must be seen of it
# share of perfect sides that count by themselves: without their top they are a sign's or a shadow's
ALONE = 0.35
# of the gain of a perfect match: what fits so much worse than bare ground is not shifted further;
# nor, if it
HOPELESS = 0.25
# is flat and seen coarsely, looked at finely
JUMP = 0.7  # of the way a block leans: as far off may a dark side be taken for its top
# of its inner radius: by which blocks are shifted, coarsely seen, to where they fit best
STEPS = 0.5, 0.25, 0.12
# grey levels by which points are off that hardly count when a piece is shifted, at first and then
SPREAD = 30.0, 20.0
LAST = 0.25, 0.06  # and then as finely as they are seen
CAP = 9.0  # squared, weighted grey levels beyond which a pixel shows something else altogether


class Piece(msgspec.Struct, eq=False):
    """A piece found. at: (2,) canvas mm of its top; foot: (2,) board mm; gains: per kind, how much
    better than bare ground it explains what is seen (log-likelihood); turn in radians; ideal: the
    gain of a perfect match here,
    whole: and if nothing covered it; framed: of a block, 0..1 how clearly its outline shows."""

    form: Form
    at: np.ndarray
    foot: np.ndarray
    turn: float
    kinds: tuple[str, ...]
    gains: np.ndarray
    best: int
    ideal: float = 0.0
    whole: float = 0.0
    framed: float | None = None

    @property
    def gain(self) -> float:
        return float(self.gains[self.best])

    @property
    def kind(self) -> str:
        return self.kinds[self.best]

    @property
    def chance(self) -> float:
        """0..1: how surely it is there at all"""
        if self.gain <= 0 or self.ideal <= 0:
            return 0.0
        share = self.gain / self.ideal
        if self.framed is not None:
            odds = (
                FIT * share
                + FRAMED * self.framed
                - COVERED * (1 - self.ideal / max(self.whole, 1e-6))
                - NEEDED
            )
        else:
            sure, steep = (SURE_TALL, STEEP_TALL) if is_tall(self.form) else (SURE, STEEP)
            odds = steep * min(share - sure, WELL) + 1.5 * math.log(self.gain / PLENTY)
            odds += min(20 * (self.gain / max(self.whole, 1e-6) - HIDDEN), 0)
        return 1 / (1 + math.exp(-max(odds, -30)))


class Fine:
    """The kinds of one form, as finely as the canvas shows them or more coarsely"""

    def __init__(
        self,
        form: Form,
        scale: float,
        kinds: Sequence[str],
        looks: np.ndarray,
        shades: np.ndarray | None = None,
        rings: Rings | None = None,
    ) -> None:
        """shades: (K, 2) how bright the sides of a block are, or None where they tell nothing;
        rings: the looks', else those usual for such a form at `scale` pixels a mm"""
        self.shades = shades
        self.form, self.scale, self.kinds, self.looks = form, scale, tuple(kinds), looks
        self.rings = rings or Rings.around(form, scale)
        self.area = self.rings.area(form)
        self.table = Table(self.rings, looks, np.broadcast_to(self.area, looks.shape[:3]))
        ways = slopes(self.rings, looks).reshape(len(looks), -1, 3)
        # (K, 3, R A 3): numpy is slow along short axes
        self.slopes = np.ascontiguousarray(ways.transpose(0, 2, 1))
        self.tone = (looks * self.area[..., None]).sum((1, 2)) / self.area.sum()
        self.every = every_turn(looks), every_turn(dot(looks, looks)), every_turn(self.area[None])

    @cached_property
    def planes(self) -> np.ndarray:
        """(K, 3, R, A) looks, one colour after the other"""
        return np.ascontiguousarray(self.looks.transpose(0, 3, 1, 2), np.float32)

    @cached_property
    def slope_planes(self) -> np.ndarray:
        """(K, 3 ways, 3 colours, R A) slopes"""
        return np.ascontiguousarray(
            self.slopes.reshape(len(self.looks), 3, -1, 3).transpose(0, 1, 3, 2), np.float32
        )

    def on(self, rings: Rings) -> Fine:
        """The same on coarser rings"""
        return Fine(
            self.form,
            self.scale,
            self.kinds,
            rings.resampled(self.looks, self.rings),
            self.shades,
            rings,
        )

    def lying(
        self, kinds: np.ndarray, turns: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Looks (N, R, A, 3), their squares and the (N, R, A) mm² that count, of (N,) kinds turned
        by (N,) steps"""
        looks, squares, areas = self.every
        return looks[kinds, turns], squares[kinds, turns], areas[0, turns]


def approached(soft: Scene, rough: Fine, at: np.ndarray) -> np.ndarray:
    """(M, 2) canvas mm, shifted to where pieces fit best in a blurred scene, coarsely seen; without
    flat ones that are hopeless"""
    if rough.shades is not None:
        return climbed(soft, rough, at, STEPS, JUMP)
    at = slid(soft, rough, at, 2)
    gains, ideal = weighed(soft, rough, at, top=1)[:2]
    return at[gains.max(1) > -HOPELESS * ideal]


def refined(scene: Scene, fine: Fine, at: np.ndarray, rounds: int = 3) -> list[Piece]:
    """The pieces at (N, 2) canvas mm, shifted to where they fit best (a few mm at most)"""
    if fine.shades is not None:
        at = climbed(scene, fine, at, LAST)
        gains, perfect, whole, turn = weighed(scene, fine, at)
    else:
        start, at = at, slid(scene, fine, at, rounds)
        gains, perfect, whole, turn = weighed(scene, fine, at)
        astray = np.flatnonzero(gains.max(1) < SURE * perfect)  # by what lies beside it, perhaps
        if len(astray) and rounds:
            before = weighed(scene, fine, start[astray])
            better = before[0].max(1) > gains[astray].max(1)
            at[astray[better]] = start[astray[better]]
            for now, then in zip((gains, perfect, whole, turn), before):
                now[astray[better]] = then[better]
        rival(scene, fine, at, gains, perfect, whole, turn)
    foot = scene.lean.foot(at, fine.form.height)
    best = gains.argmax(1)
    outline = [None] * len(at)
    if is_block(fine.form) and not is_tall(fine.form) and len(at):
        outline = framed(fine.form, scene, at, turn, fine.tone[best]).tolist()
    return [
        Piece(
            fine.form,
            at[i],
            foot[i],
            float(turn[i]),
            fine.kinds,
            gains[i],
            int(best[i]),
            float(perfect[i]),
            float(whole[i]),
            outline[i],
        )
        for i in range(len(at))
    ]


def rival(
    scene: Scene,
    fine: Fine,
    at: np.ndarray,
    gains: np.ndarray,
    perfect: np.ndarray,
    whole: np.ndarray,
    turn: np.ndarray,
    top: int = 2,
    close: float = 0.5,
) -> None:
    """Gives the kinds that come next their own best place too, and takes theirs where it turns out
    better; in place"""
    order = np.argsort(-gains, 1)
    first = gains[np.arange(len(at)), order[:, 0]]
    which, kinds = [], []
    for rank in range(1, min(top + 1, gains.shape[1])):
        near = np.flatnonzero(
            (gains[np.arange(len(at)), order[:, rank]] > close * first) & (first > LEAST)
        )
        which += list(near)
        kinds += list(order[near, rank])
    if not which:
        return
    moved = slid(scene, fine, at[which], 3, np.array(kinds))
    again, ideal, all_, turned_ = weighed(scene, fine, moved, np.array(kinds))
    for i, k, place, row, p, w, t in zip(which, kinds, moved, again, ideal, all_, turned_):
        if row[k] > gains[i].max():
            at[i], perfect[i], whole[i], turn[i] = place, p, w, t
        gains[i, k] = max(gains[i, k], row[k])


def reconsidered(
    scene: Scene,
    fine: Fine,
    found: Sequence[Piece],
    soft: Scene | None = None,
    rough: Fine | None = None,
    others: int = 6,
) -> list[Piece]:
    """The same pieces, or for those that fit worse than pieces do, what fits better near by: each
    of the kinds that come next has a place of its own, some way from where another fits best. soft,
    rough: the scene blurred and the looks as coarse"""
    out = list(found)
    poor = [
        i
        for i, p in enumerate(out)
        if fine.shades is None and p.gain <= FITS * p.ideal and p.ideal >= SEEN * p.whole
    ]
    if not poor:
        return out
    around = 0.15 * fine.form.inner * np.array([[0, 0], [1, 1], [1, -1], [-1, 1], [-1, -1]])
    kinds = np.stack([np.argsort(-out[i].gains)[:others] for i in poor])
    starts = np.stack([out[i].at for i in poor])[:, None, None] + np.tile(
        around, (kinds.shape[1], 1, 1)
    )
    tries = np.repeat(kinds.ravel(), len(around))
    at = slid(soft or scene, rough or fine, starts.reshape(-1, 2), 3, tries)
    gains = weighed(scene, fine, at, tries)[0].max(1).reshape(len(poor), -1)
    best = gains.argmax(1)
    better = np.flatnonzero(gains.max(1) > [out[i].gain for i in poor])
    if len(better):
        anew = refined(scene, fine, at.reshape(len(poor), -1, 2)[better, best[better]], 1)
        for i, p in zip((poor[b] for b in better), anew):
            out[i] = max(out[i], p, key=lambda q: q.gain)
    return out


def weighed(
    scene: Scene,
    fine: Fine,
    at: np.ndarray,
    kinds: np.ndarray | None = None,
    top: int = 3,
    lean: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """For pieces at (N, 2): (N, K) gains, sides and all, (N,) gains of perfect matches, the same if
    nothing covered them, and (N,) turns in radians; kinds: (N,) to judge these only; top: how many
    kinds to judge closely; lean: (N, 2) mm by which tops are seen beside the feet, where that is
    known nearly enough"""
    if by_kernel(scene):
        gains, perfect, whole, turns = judged_at(scene, fine, at, kinds, top)
    elif kinds is not None:
        patch = look_at(scene, fine.rings, at)
        gains, turns = fine.table.gains(patch)
        only = np.full_like(gains, -1e6)
        np.put_along_axis(only, kinds[:, None], np.take_along_axis(gains, kinds[:, None], 1), 1)
        gains, perfect, whole = judged(fine, patch, only, turns, 1)
    else:
        patch = look_at(scene, fine.rings, at)
        gains, turns = fine.table.gains(patch)
        gains, perfect, whole = judged(fine, patch, gains, turns, top)
    best = gains.argmax(1)
    turn = turns[np.arange(len(at)), best] * (2 * np.pi / fine.rings.angles)
    if fine.shades is not None:
        lean = at - scene.lean.foot(at, fine.form.height) if lean is None else lean
        more, most = side_gain(
            fine.form, scene, at - lean, turn, fine.tone[best], fine.shades[best], lean
        )
        fits = (gains.max(1) + PLENTY_BLOCK) / (perfect + PLENTY_BLOCK)
        if top > 1:  # in the end; while a place is looked for, sides show the way
            more = np.minimum(more, most * (fits.clip(0, 1) + ALONE))
        gains, perfect, whole = gains + more[:, None], perfect + most, whole + most
    return gains, perfect, whole, turn


def climbed(
    scene: Scene, fine: Fine, at: np.ndarray, steps: Sequence[float], jump: float = 0.0
) -> np.ndarray:
    """Blocks shifted by steps of their inner radius, above all along the way they lean, and before
    by so much of that way: a dark side looks much like a dark top"""
    lean = scene.lean.shift(at, fine.form.height)
    along = lean / (np.linalg.norm(lean, axis=1, keepdims=True) + 1e-6)
    across = np.stack([-along[:, 1], along[:, 0]], 1)
    beside = near_lean(scene, fine.form.height, at)
    gains, ideal = weighed(scene, fine, at, top=1, lean=beside(at, np.arange(len(at))))[:2]
    most, hopeless = gains.max(1), -HOPELESS * ideal
    at = at.copy()
    nets = [np.stack([-jump * lean, jump * lean], 1)] if jump else []
    nets += [
        step * fine.form.inner * np.stack([along, -along, across, -across], 1) for step in steps
    ]
    for i, net in enumerate(nets):
        live = np.flatnonzero(most > hopeless) if i > 1 or not jump else np.arange(len(at))
        if not len(live):
            break
        around = at[live, None] + net[live]
        places, whose = around.reshape(-1, 2), np.repeat(live, net.shape[1])
        gain = (
            weighed(scene, fine, places, top=1, lean=beside(places, whose))[0]
            .max(1)
            .reshape(len(live), -1)
        )
        best = gain.argmax(1)
        gain = gain[np.arange(len(live)), best]
        better = gain > most[live]
        at[live[better]], most[live[better]] = around[better, best[better]], gain[better]
    return at


def near_lean(
    scene: Scene, height: float, at: np.ndarray
) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """A function of (M, 2) canvas mm, each some mm from that of (N, 2) whose number is given, (M,):
    (M, 2) mm by which tops seen there lie beside their feet. That changes evenly over so short a
    way."""
    step = 5.0
    here, right, down = np.split(
        scene.lean.foot(np.vstack([at, at + (step, 0), at + (0, step)]), height), 3
    )
    slope = np.stack([right - here, down - here], 1) / step
    return lambda places, whose: (
        places - here[whose] - ((places - at[whose])[:, None] @ slope[whose])[:, 0]
    )


def slid(
    scene: Scene, fine: Fine, at: np.ndarray, rounds: int, kinds: np.ndarray | None = None
) -> np.ndarray:
    """Flat pieces shifted by what the differences from their looks say; kinds: (N,) of what, else
    of what fits best"""
    at = np.array(at, float)
    n = np.arange(len(at))
    step = 2 * np.pi / fine.rings.angles
    quick = by_kernel(scene)
    for i in range(rounds):
        if quick:
            if i < 2:
                if kinds is None:
                    _, which, turns, burnt = best_at(scene, fine.rings, fine.table, at)
                    best, turn = which[:, 0], turns[:, 0]
                else:
                    _, turns, burnt = compared(scene, fine.rings, fine.table, at, kinds)
                    best, turn = kinds, turns[n, kinds]
            d = steps_at(scene, fine, at, best, turn, burnt, SPREAD[min(i, 1)])
        else:
            patch = look_at(scene, fine.rings, at)
            if i < 2:
                gains, turns = fine.table.gains(patch)
                best = gains.argmax(1) if kinds is None else kinds
                turn = turns[n, best]
            d = steps_of(fine, patch, best, turn, SPREAD[min(i, 1)])
        d = d * np.minimum(1, 0.35 * fine.form.inner / (np.linalg.norm(d, axis=1) + 1e-9))[:, None]
        c, s = np.cos(turn * step), np.sin(turn * step)
        at[:, 0] += c * d[:, 0] - s * d[:, 1]
        at[:, 1] += s * d[:, 0] + c * d[:, 1]
    return at


def steps_of(
    fine: Fine, patch: Patch, kinds: np.ndarray, turns: np.ndarray, spread: float
) -> np.ndarray:
    """(N, 2) mm along their own axes by which pieces of (N,) kinds, turned by (N,) steps, would fit
    patches better; spread: grey levels from which a point hardly counts"""
    lying, burnt = turned(patch.seen, turns), patch.burnt(fine.table.most).any()
    r = lying - (
        np.minimum(fine.looks[kinds], patch.limit[:, None, None]) if burnt else fine.looks[kinds]
    )
    w = turned(patch.weight, turns) * fine.area
    w = w / (1 + dot(r, r) * np.float32(THIRD / spread**2)) ** 2
    J = fine.slopes[kinds]
    wj = J * np.repeat(w.reshape(len(r), -1), 3, 1)[:, None]
    A = wj @ J.transpose(0, 2, 1)
    b = wj @ r.reshape(len(r), -1, 1)
    A += 0.003 * A * np.eye(3) + 1e-6 * np.eye(3)
    return -np.linalg.solve(A, b)[:, :2, 0]


def judged(
    fine: Fine, patch: Patch, gains: np.ndarray, turns: np.ndarray, top: int = 3
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(N, K) gains again, and (N,) those of perfect matches, as things lie and if nothing covered
    them.

    No pixel counts for more than CAP, and ground in shadow is ground too, so that what is neither
    the ground nor the piece speaks for nothing. Only the best few are judged; the rest keep their
    distance."""
    n = np.arange(len(gains))
    order = np.argsort(-gains, 1)[:, :top]
    ss, gg = dot(patch.seen, patch.seen), dot(patch.ground, patch.ground)
    price = SHADOW * shown(patch, fine.area)
    bare = bareness(ss, dot(patch.seen, patch.ground), gg, patch.weight, price)
    out = np.empty_like(gains)
    perfect, whole = np.empty(len(gains), np.float32), np.empty(len(gains), np.float32)
    sure = np.full(len(gains), -np.inf)
    kept = {}
    burnt = patch.burnt(fine.table.most).any()
    for rank in range(order.shape[1]):
        k = order[:, rank]
        look, ll, area = fine.lying(k, turns[n, k])
        if burnt:
            look = np.minimum(look, patch.limit[:, None, None])
            ll = dot(look, look)
        sl = dot(patch.seen, look)
        heavy = (patch.weight * area).reshape(len(n), -1)
        tone = np.einsum("np,np->n", heavy, sl.reshape(heavy.shape)) / (
            np.einsum("np,np->n", heavy, ll.reshape(heavy.shape)) + 1e-6
        )
        tone = tone.clip(1 - TONE, 1 + TONE)[:, None, None].astype(np.float32)
        cost = np.minimum(patch.weight * (ss - tone * (2 * sl - tone * ll)) * THIRD, CAP)
        gain = over(bare - cost, area)
        lg = dot(look, patch.ground)
        most = over(bareness(ll, lg, gg, patch.weight, price), area)
        all_ = most if patch.uncovered else over(bareness(ll, lg, gg, patch.free), area)
        kept[rank] = gain
        better = gain > sure
        sure[better], perfect[better], whole[better] = gain[better], most[better], all_[better]
    first = gains[n, order[:, 0]]
    out[:] = np.minimum(sure, kept[order.shape[1] - 1])[:, None] - 0.2 * (first[:, None] - gains)
    for rank, gain in kept.items():
        out[n, order[:, rank]] = gain
    return out, perfect, whole


THIRD = np.float32(1 / 3)


def over(values: np.ndarray, area: np.ndarray) -> np.ndarray:
    """(N,) sums over (N, R, A) patches, weighed by area"""
    return np.einsum("np,np->n", values.reshape(len(values), -1), area.reshape(len(area), -1))


def shown(patch: Patch, area: np.ndarray) -> np.ndarray:
    """(N, 1, 1) the share of pieces that nothing found covers: beside what hides most of one, dark
    ground lies in its shadow"""
    seen = over((patch.weight > 0).astype(np.float32), np.broadcast_to(area, patch.weight.shape))
    return (seen / area.sum())[:, None, None].astype(np.float32)


def bareness(
    ss: np.ndarray,
    sg: np.ndarray,
    gg: np.ndarray,
    weight: np.ndarray,
    price: np.ndarray | float = SHADOW,
) -> np.ndarray:
    """(N, R, A) how badly bare ground, lit or in a shadow, explains what is seen; given the
    colours' products seen · seen, seen · ground and ground · ground; price: see SHADOW"""
    plain = weight * (ss - 2 * sg + gg) * THIRD
    dark = (sg / (gg + 1)).clip(DARKEST, 1)
    shaded = weight * (ss - dark * (2 * sg - dark * gg)) * THIRD
    return np.minimum(np.minimum(plain, CAP), shaded + (1 - dark) * price * (weight > 0))


def searched(scene: Scene, fine: Fine, at: np.ndarray, reach: float, step: float) -> np.ndarray:
    """(2,) canvas mm near `at` where the form fits best, by trying all places on a net"""
    net = np.arange(-reach, reach + step / 2, step)
    places = at + np.stack(np.meshgrid(net, net), -1).reshape(-1, 2)
    return places[best_at(scene, fine.rings, fine.table, places)[0].argmax()]
