"""How well each kind that stands would explain what is seen round a foot. Its value: Searcher."""

from __future__ import annotations

import cv2
import msgspec
import numpy as np

from vision.kernels import Kernel
from vision.readers.standing.closeup_features import Closeup
from vision.readers.standing.lean_geometry import SLICES, Frame
from vision.readers.standing.shape_model import CHANNELS, FLOOR, WORST, Looks

STEP = 2  # pixels between places that are tried first, and between those then compared
SPARSE = 3  # of so many pixels one is compared with single men
TOGETHER = 40.0  # pixels that speak as one: what is wrong about one is wrong about its neighbours
LEVEL = 0.35  # log units by which all of a thing may be darker or brighter than it should be
DIFFUSE = 0.5  # what it costs a pixel, a log unit, that a kind may have any colour there
HANDS = 0.12  # of a site's side that things are put off its middle, one standard deviation
PARTS = ((0, 0.2), (0.2, 0.6), (0.6, 1.0))  # foot, body and head, as shares of the height
PATCH = (20, 10)  # pixels of the straightened picture that is told besides
AT_ONCE = 1_500_000  # numbers worked on at once
CLOSER = 4  # kinds that are looked at closely
SHARP = (1 / FLOOR**2 / 3).astype(np.float32)  # what a difference from a single man counts
# misfit of the empty board where something that stands behind is known to explain what is seen
EXPLAINED = 1.0
UNTRIED = -20.0  # what a kind is taken to explain that is not
WHOLE = len(PARTS)  # the column of what a kind explains in all
slid = np.lib.stride_tricks.sliding_window_view
_places = Kernel("upright_places", "fffnnnffffinnnxf")
_tried = Kernel("upright_tried", "fffnnffffinnlllnxxff")
_men = Kernel("upright_men", "fffnninfnfllnxxf")


class Seen(msgspec.Struct, frozen=True, eq=False):
    """Windows to be explained. window: (n, V, U, 3); bare: (n, V, U) misfit of the empty board,
    little where what stands behind explains it; open: (n, V, U) float, nought where something that
    stands before hides what is here; bins: (n,) how far things lean; banned: (n,) a man not to be
    compared with, -1: none"""

    window: np.ndarray
    bare: np.ndarray
    open: np.ndarray
    empty: np.ndarray
    bins: np.ndarray
    banned: np.ndarray
    close: np.ndarray
    lean: np.ndarray

    @classmethod
    def among(
        cls,
        window: np.ndarray,
        empty: np.ndarray,
        bare: np.ndarray,
        before: np.ndarray,
        behind: np.ndarray,
        bins: np.ndarray,
        banned: np.ndarray,
        close: np.ndarray,
        lean: np.ndarray,
    ) -> Seen:
        """Where things that stand before, (n, V, U) bool, hide what is here, and those behind show
        too; bare: whatever shows"""
        return cls(
            window,
            np.where(behind, np.minimum(bare, EXPLAINED), bare),
            (~before).astype(np.float32),
            empty,
            bins,
            banned,
            close,
            lean,
        )

    def rows(self, pick: np.ndarray) -> Seen:
        return Seen(*(getattr(self, f)[pick] for f in self.__struct_fields__))

    def mirrored(self) -> Seen:
        """The same seen in a mirror beside it"""
        flipped = {
            f: np.ascontiguousarray(getattr(self, f)[:, :, ::-1])
            for f in ("window", "bare", "open", "empty", "close")
        }
        return msgspec.structs.replace(self, **flipped)


class Found(msgspec.Struct, frozen=True, eq=False):
    """inputs: (n, D) for the network; at: (n, K, 2) pixels across and along off the window's foot
    where each kind fits best;
    gain: (n, K) how much better than the empty board"""

    inputs: np.ndarray
    at: np.ndarray
    gain: np.ndarray


class Searcher(msgspec.Struct, eq=False):
    """looks: how kinds look; frame: the windows'; slop: pixels that things are looked for off the
    middle; side: pixels of a site"""

    looks: Looks
    frame: Frame
    slop: int
    side: float
    closeup: Closeup

    def search(self, seen: Seen, kept: dict[int, Model] | None = None) -> Found:
        """What each kind explains; kept: the looks worked out so far, for who searches again and
        again"""
        kept = {} if kept is None else kept
        parts: list[tuple[np.ndarray, Found]] = []
        for b in np.unique(seen.bins):
            mine = np.flatnonzero(seen.bins == b)
            model = kept.get(int(b)) or kept.setdefault(
                int(b), Model.of(self.looks, int(b), self.slop)
            )
            few = max(AT_ONCE * STEP**2 // (model.colour[0].size * (self.slop + 1) ** 2), 1)
            for a in range(0, len(mine), few):
                pick = mine[a : a + few]
                parts.append((pick, self._same_lean(seen.rows(pick), int(b), model)))
        order = np.argsort(np.concatenate([p for p, _ in parts]))
        return Found(
            *(
                np.concatenate([getattr(f, name) for _, f in parts])[order]
                for name in Found.__struct_fields__
            )
        )

    def _same_lean(self, seen: Seen, b: int, model: Model) -> Found:
        s, n, kinds = self.slop, len(seen.open), len(model.part)
        height = model.part.shape[1] + 2 * s
        layers = (
            np.moveaxis(seen.window[:, :height], -1, 1),
            seen.bare[:, :height],
            seen.open[:, :height],
        )
        cut = Seen(
            *(np.ascontiguousarray(a, np.float32) for a in layers),
            seen.empty,
            seen.bins,
            seen.banned,
            seen.close,
            seen.lean,
        )
        place = self._places(cut, model)
        which, kind = np.repeat(np.arange(n), kinds), np.tile(np.arange(kinds), n)
        told = self._tried(cut, model, which, kind, place.reshape(-1, 2))
        best = np.argsort(-told[:, WHOLE].reshape(n, -1), 1)[:, :CLOSER]
        pairs = (np.arange(n)[:, None] * kinds + best).ravel()
        place = place.reshape(-1, 2)
        for step in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            to = np.clip(place[pairs] + step, 0, 2 * s)
            again = self._tried(cut, model, which[pairs], kind[pairs], to)
            better = again[:, WHOLE] > told[pairs, WHOLE]
            told[pairs[better]], place[pairs[better]] = again[better], to[better]
        gain = told[:, WHOLE].reshape(n, -1)
        mine = np.minimum(told[:, WHOLE], UNTRIED)
        mine[pairs] = self._as_men(cut, model, which[pairs], kind[pairs], place[pairs], b)
        at = place.reshape(n, -1, 2)
        inputs = [
            squashed(told.reshape(n, -1)),
            squashed(mine.reshape(n, -1)),
            squashed(gain - gain.max(1, keepdims=True)),
            *self._patch(seen, at[np.arange(n), gain.argmax(1)]),
            np.full((n, 1), self.looks.leans[b]),
        ]
        foot = (at[np.arange(n), gain.argmax(1)] - s) / self.frame.scale
        inputs.append(
            self.closeup.seen(seen.close, seen.window, seen.empty, seen.open, foot, seen.lean)
        )
        return Found(np.hstack(inputs).astype(np.float32), (at - s).astype(float), gain)

    def _places(self, seen: Seen, model: Model) -> np.ndarray:
        """(n, K, 2) pixels (x, y) of the upper left of the window's inner part where each kind
        explains most"""
        n, kinds = len(seen.open), len(model.part)
        # of the pixels too, both ways
        every = ..., slice(None, None, STEP), slice(None, None, STEP)
        if _places:
            here = [np.ascontiguousarray(a[every]) for a in (seen.window, seen.bare, seen.open)]
            looks = [
                np.ascontiguousarray(a[every], np.float32)
                for a in (model.colour, model.weight, model.diffuse, model.part >= 0)
            ]
            (h, w), (th, tw) = here[1].shape[1:], looks[2].shape[1:]
            gain = np.empty((n, (h - th + 1) * (w - tw + 1), kinds), np.float32)
            _places(
                *here,
                n,
                h,
                w,
                *looks,
                boxed(looks[3]),
                kinds,
                th,
                tw,
                1 / (STEP * LEVEL) ** 2,
                gain,
            )
            return self._best(gain)
        part, diffuse = model.part[every], model.diffuse[every]
        tv, tu = part.shape[1:]

        def spread(values: np.ndarray) -> np.ndarray:
            """(n * places, channels * tv * tu) of (n, channels, V, U)"""
            view = slid(values[every], (tv, tu), (2, 3)).transpose(0, 2, 3, 1, 4, 5)
            return np.ascontiguousarray(view, np.float32).reshape(
                n * view.shape[1] * view.shape[2], -1
            )

        w = model.weight[every].reshape(kinds, -1).T
        m = model.colour[every].reshape(kinds, -1).T
        pixels = tv * tu
        x = spread(seen.window * seen.open[:, None])
        e = -2 * (x @ (w * m))
        light = x[:, :pixels] @ w[:pixels]
        e += spread(np.square(seen.window) * seen.open[:, None]) @ w
        x = spread(seen.open[:, None])
        e += x @ ((w * m * m).reshape(-1, pixels, kinds).sum(0) + diffuse.reshape(kinds, -1).T)
        light -= x @ (w * m)[:pixels]
        e -= np.square(light) / (x @ w[:pixels] + 1 / (STEP * LEVEL) ** 2)
        inside = (part >= 0).reshape(kinds, -1).T.astype(np.float32)
        return self._best(
            (spread((seen.bare * seen.open)[:, None]) @ inside - e).reshape(n, -1, kinds)
        )

    def _best(self, gain: np.ndarray) -> np.ndarray:
        """(n, K, 2) places of the largest of (n, places, K) sums"""
        s = self.slop
        gain = gain * (STEP**2 / TOGETHER)
        k = int(np.sqrt(gain.shape[1]))
        t = np.arange(k) * STEP - s
        gain -= (0.5 * (t[None] ** 2 + t[:, None] ** 2) / (HANDS * self.side) ** 2).reshape(
            1, -1, 1
        )
        best = gain.argmax(1)
        return np.stack([best % k, best // k], -1) * STEP

    def _tried(
        self, seen: Seen, model: Model, which: np.ndarray, kind: np.ndarray, to: np.ndarray
    ) -> np.ndarray:
        """(m, T) how much better kinds (m,) explain windows (m,) at places (m, 2) than the empty
        board: foot, body, head, all, then what is left unexplained around them, and how far off the
        middle that is"""
        _, tv, tu = model.part.shape
        off = 0.5 * np.square(to - self.slop).sum(1) / (HANDS * self.side) ** 2
        if _tried:
            sums, free = (
                np.empty((len(which), WHOLE + 1), np.float32),
                np.empty(len(which), np.float32),
            )
            _tried(
                seen.window,
                seen.bare,
                seen.open,
                *seen.bare.shape[1:],
                model.colour,
                model.weight,
                model.diffuse,
                model.layers,
                model.box,
                tv,
                tu,
                *(np.ascontiguousarray(a, np.int64) for a in (which, kind, to)),
                len(which),
                1 / LEVEL**2,
                LEVEL,
                sums,
                free,
            )
            around, sums = sums[:, WHOLE] / np.maximum(free, 1), sums[:, :WHOLE] / TOGETHER
            return np.column_stack([sums, sums.sum(1) - off, around, off])
        x, y = to.T
        view = slid(seen.window, (tv, tu), (2, 3))[which, :, y, x]
        bare, free = (slid(a, (tv, tu), (1, 2))[which, y, x] for a in (seen.bare, seen.open))
        view = view - model.colour[kind]
        weight = model.weight[kind]
        leveled(view, weight[:, 0] * free)
        view *= view
        view *= weight
        e = np.minimum(view.sum(1) + model.diffuse[kind], WORST)
        bare *= free
        better = (bare - e * free).reshape(len(which), -1)
        shares = np.moveaxis(model.layers[kind].reshape(len(which), WHOLE + 1, -1), 1, 2)
        sums = np.einsum("mp,mpq->mq", better, shares[..., :-1]) / TOGETHER
        rim = shares[..., -1]
        around = (bare.reshape(len(which), -1) * rim).sum(1) / np.maximum(
            (free.reshape(len(which), -1) * rim).sum(1), 1
        )
        return np.column_stack([sums, sums.sum(1) - off, around, off])

    def _as_men(
        self, seen: Seen, model: Model, which: np.ndarray, kind: np.ndarray, to: np.ndarray, b: int
    ) -> np.ndarray:
        """(m,) how much better than the empty board the best single man of kinds (m,) explains what
        is seen there"""
        _, tv, tu = model.part.shape
        out = np.full(len(which), UNTRIED)
        views, bares, opens = (
            slid(seen.window, (tv, tu), (2, 3)),
            slid(seen.bare, (tv, tu), (1, 2)),
            slid(seen.open, (tv, tu), (1, 2)),
        )
        for k in np.unique(kind):
            men = np.flatnonzero(self.looks.kinds == k)
            (y, x), look = model.men.get(int(k)) or model.men.setdefault(
                int(k), self._men(model.part[k] >= 0, men, b)
            )
            mine = np.flatnonzero(kind == k)
            if _men:
                gain = np.empty((len(mine), len(men) * 2), np.float32)
                _men(
                    seen.window,
                    seen.bare,
                    seen.open,
                    *seen.bare.shape[1:],
                    (y * seen.bare.shape[2] + x).astype(np.int32),
                    len(y),
                    look,
                    len(men) * 2,
                    SHARP,
                    np.ascontiguousarray(which[mine], np.int64),
                    np.ascontiguousarray(to[mine], np.int64),
                    len(mine),
                    1 / (SPARSE * LEVEL**2),
                    LEVEL,
                    gain,
                )
                gain = gain.reshape(len(mine), len(men), 2).max(2) * (SPARSE / TOGETHER)
                out[mine] = np.where(seen.banned[which[mine], None] == men, UNTRIED, gain).max(1)
                continue
            few = max(AT_ONCE // look.size, 1)
            for rows in (mine[a : a + few] for a in range(0, len(mine), few)):
                at, (left, up) = which[rows], to[rows].T
                picture = views[at[:, None], :, up[:, None], left[:, None], y, x].transpose(0, 2, 1)
                bare, free = (
                    a[at[:, None], up[:, None], left[:, None], y, x] for a in (bares, opens)
                )
                d = picture[:, None, None] - look
                weight = np.broadcast_to(free[:, None, None], (*d.shape[:3], len(y))).reshape(
                    -1, len(y)
                )
                d = d.reshape(-1, CHANNELS, len(y))
                leveled(d, weight, SPARSE)
                d *= d
                e = np.minimum(np.tensordot(d, SHARP, (1, 0)), WORST)
                gain = ((bare[:, None] - e.reshape(len(rows), -1, len(y))) * free[:, None]).sum(
                    2
                ) * (SPARSE / TOGETHER)
                gain = gain.reshape(len(rows), len(men), 2).max(2)
                out[rows] = np.where(seen.banned[at, None] == men, UNTRIED, gain).max(1)
        return out

    def _men(
        self, there: np.ndarray, men: np.ndarray, b: int
    ) -> tuple[tuple[np.ndarray, np.ndarray], np.ndarray]:
        """((y, x) of some of the pixels where a kind is seen, (men, 2, CHANNELS, p) what its men
        are there, plain and mirrored)"""
        y, x = (a[::SPARSE] for a in np.nonzero(there))
        return (y, x), np.array([self._both_ways(e, b, there, (y, x)) for e in men], np.float32)

    def _both_ways(
        self, man: int, b: int, there: np.ndarray, at: tuple[np.ndarray, np.ndarray]
    ) -> np.ndarray:
        """(2, CHANNELS, p) one man who leans so at places of his kind's part; and mirrored: he may
        be turned, and the light from the other side"""
        plain = np.zeros((*there.shape, CHANNELS), np.float32)
        plain[there] = self.looks.sprite(man, b)
        return np.stack([plain[at], plain[:, ::-1][at]]).transpose(0, 2, 1)

    def _patch(self, seen: Seen, at: np.ndarray) -> list[np.ndarray]:
        """What is seen where the likeliest kind stands, small: how unlike the empty board, and as
        it is"""
        s = self.slop
        n, v, u = seen.open.shape
        diff, plain = [], []
        for row, (x, y) in enumerate(at):
            part = slice(y, y + v - 2 * s), slice(x, x + u - 2 * s)
            free = seen.open[row][part][..., None]
            small = [
                cv2.resize(
                    np.ascontiguousarray(a * free), PATCH[::-1], interpolation=cv2.INTER_AREA
                ).ravel()
                for a in (
                    seen.window[row][part] - seen.empty[row][part],
                    seen.window[row][part][..., ::3],
                )
            ]
            diff.append(small[0])
            plain.append(small[1])
        return [np.array(diff) * 2, np.array(plain)]


class Model(msgspec.Struct, frozen=True, eq=False):
    """How kinds look at one lean, channels first. colour, weight: (K, CHANNELS, tv, tu); part: (K,
    tv, tu); diffuse: (K, tv, tu);
    layers: (K, len(PARTS) + 1, tv, tu) one in each of the parts, and just outside; box: (K, 4) what
    boxed() says of them; men: what Searcher._men() says of kinds, once asked"""

    colour: np.ndarray
    weight: np.ndarray
    part: np.ndarray
    diffuse: np.ndarray
    layers: np.ndarray
    box: np.ndarray
    men: dict[int, tuple]

    @classmethod
    def of(cls, looks: Looks, b: int, s: int) -> Model:
        """Without s pixels all round, and no further down than anything is seen"""
        v, u = looks.part.shape[2:]
        # little leans need few rows
        lowest = int((looks.part[:, b] >= 0).any((0, 2)).nonzero()[0].max())
        inner = slice(s, min(lowest + 3, v - s)), slice(s, u - s)
        usual = zip(*(looks.usual(k, b) for k in range(len(looks.part))))
        colour, weight = (
            np.ascontiguousarray(np.moveaxis(np.array(a)[:, *inner], -1, 1)) for a in usual
        )
        part = looks.part[:, b][:, *inner]
        diffuse = DIFFUSE * -np.log(
            np.where(weight > 0, weight * np.square(FLOOR)[:, None, None], 1)
        ).sum(1)
        shares = [(part >= a * SLICES) & (part < z * SLICES) for a, z in PARTS]
        shares.append(
            np.stack([cv2.dilate((p >= 0).astype(np.uint8), np.ones((5, 5))) for p in part])
            > (part >= 0)
        )
        layers = np.stack(shares, 1).astype(np.float32)
        return cls(
            colour, weight, part, diffuse.astype(np.float32), layers, boxed(layers.any(1)), {}
        )


def boxed(there: np.ndarray) -> np.ndarray:
    """(K, 4) int32 from which row and column to which, the last not among them, pictures (K, h, w)
    show something"""
    out = np.zeros((len(there), 4), np.int32)
    for row, picture in zip(out, there):
        y, x = (np.flatnonzero(picture.any(axis)) for axis in (1, 0))
        row[:] = (y[0], x[0], y[-1] + 1, x[-1] + 1) if len(y) else 0
    return out


def leveled(d: np.ndarray, weight: np.ndarray, every: int = 1) -> None:
    """Takes out of differences (m, 3, ...), in place, by how much all of a thing is darker or
    brighter; weight: (m, ...); every: so many pixels each stands for"""
    rows = len(d)
    w, first = weight.reshape(rows, -1), d[:, 0].reshape(rows, -1)
    shift = np.einsum("mp,mp->m", first, w) / (w.sum(1) + 1 / (every * LEVEL**2))
    d[:, 0] -= np.clip(shift, -LEVEL, LEVEL).reshape(rows, *[1] * (d.ndim - 2))


def squashed(values: np.ndarray) -> np.ndarray:
    """Gains of any size on a scale where small ones count"""
    return np.sign(values) * np.log1p(np.abs(values))
