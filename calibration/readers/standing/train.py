"""Pictures of things that stand, made from a copy's few photos, and what is learnt from them. Its
values: examples, taught."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import msgspec
import numpy as np

from vision.readers import mlp
from vision.readers.standing.lean_geometry import Frame, coarse
from vision.readers.standing.occlusion_masks import placing
from vision.readers.standing.shape_model import CHANNELS, Looks, misfit
from vision.readers.standing.shape_search import Searcher, Seen

PICTURES = 4000
AGAIN = -3  # stands for what a photo shows; one less: in the mirror
AT_ONCE = 32  # of them are in memory at once
ASIDE = 0.2  # log units by which light from another side changes a thing's sides
GLEAMS = 0.7  # spots on a thing that shine or are dull in another light
NETS = 3  # networks whose answers are taken together
RIM = 2  # pixels round a thing's outline
KNOWN = 0.85  # how often what stands around is known
Outline = tuple[slice, slice, np.ndarray, np.ndarray]
# a man, another kind he can be shown as, and (3,) what that adds to his colours
Lent = tuple[int, int, np.ndarray]


class Place(msgspec.Struct, frozen=True, eq=False):
    """A site as a photo shows it, and its neighbours. window, empty, weight: (V, U, 3); lean: mm a
    mm; around: (m, 4) of the sites
    near by: mm across, mm along, degrees that things there lean off the way they lean here, how far
    they lean; before, behind: (V, U) bool what something before the site hides, and what shows
    something behind it; label: the kind that stands there, and
    man: which, -1: none"""

    window: np.ndarray
    empty: np.ndarray
    weight: np.ndarray
    lean: float
    around: np.ndarray
    before: np.ndarray
    behind: np.ndarray
    label: int = -1
    man: int = -1

    def mirrored(self) -> Place:
        """The same seen in a mirror beside it"""
        flipped = {
            f: np.ascontiguousarray(getattr(self, f)[:, ::-1])
            for f in ("window", "empty", "weight", "before", "behind")
        }
        return msgspec.structs.replace(self, around=self.around * (-1, 1, -1, 1), **flipped)


class Maker:
    """Makes windows in which kinds stand, others around them."""

    def __init__(
        self,
        looks: Looks,
        frame: Frame,
        places: list[Place],
        side: float,
        lent: Sequence[Lent] = (),
        seed: int = 1,
    ) -> None:
        """lent: men after those of the looks, made of these"""
        self.looks, self.frame, self.side = looks, frame, side
        self.kinds = np.concatenate([looks.kinds, [kind for _, kind, _ in lent]]).astype(int)
        self.likeness = np.concatenate(
            [np.arange(len(looks.kinds)), [man for man, _, _ in lent]]
        ).astype(int)
        self.shift = np.array(
            [np.zeros(3)] * len(looks.kinds) + [by for _, _, by in lent], np.float32
        )
        self.outlines: dict[tuple[int, int], Outline] = {}
        self.bare = [p for p in places if p.label < 0]
        self.full = [p for p in places if p.label >= 0]
        self.rng = np.random.default_rng(seed)
        self.noise = self.rng.standard_normal(
            (2 * frame.shape[0], 2 * frame.shape[1], 3), np.float32
        )

    def stand(
        self, window: np.ndarray, man: int, lean: float, at: tuple[float, float], turn: float
    ) -> np.ndarray:
        """Puts a man into a window (V, U, 3), in place; -> (V, U) how much of each pixel he
        hides"""
        b = int(self.looks.nearest(np.array([lean]))[0])
        rows, columns, inside, _ = self.outline(man, b)
        m = placing(self.frame, at, turn + self.rng.normal(0, 2.0), self.rng.normal(1, 0.02))
        (v, u), left, up = inside.shape, columns.start, rows.start
        corners = np.array([[x, y, 1] for x in (left, left + u) for y in (up, up + v)]) @ m.T
        low = np.maximum(np.floor(corners.min(0)).astype(int) - 1, 0)
        high = np.minimum(np.ceil(corners.max(0)).astype(int) + 2, window.shape[1::-1])
        alpha = np.zeros(window.shape[:2], np.float32)
        if (high > low).all():  # else he stands beside what the window shows
            m[:, 2] += m[:, :2] @ (left, up) - low
            put = cv2.warpAffine(self.seen_as(man, b), m, tuple(int(n) for n in high - low))
            part = slice(low[1], high[1]), slice(low[0], high[0])
            window[part] += (put[..., :3] - window[part]) * put[..., 3:]
            alpha[part] = put[..., 3]
        return alpha

    def seen_as(self, man: int, b: int) -> np.ndarray:
        """(v, u, 4) colours of a man who leans so, in a light of his own or mirrored, and how much
        of each pixel he hides, where outline() says"""
        rng, looks = self.rng, self.looks
        _, _, inside, some = self.outline(man, b)
        seen = np.zeros((*inside.shape, CHANNELS), np.float32)
        seen[inside] = looks.sprite(self.likeness[man], b)
        solid = np.ascontiguousarray(seen[..., 3])
        seen[..., :3] *= solid[..., None]
        out = cv2.blur(seen, (3, 3))
        out[..., :3] /= np.maximum(out[..., 3:], 0.05)
        np.copyto(out, seen, where=(solid > 0.99)[..., None])
        out[..., :3] += self.shift[man] + np.float32(
            [*rng.normal(0, 0.08, 1), *rng.normal(0, 0.03, 2)]
        )
        out[..., 0] += self.gleam(solid, some)
        out[..., 3] = cv2.GaussianBlur(solid, (0, 0), 0.5)
        return out[:, :: rng.choice([1, -1])]

    def outline(self, man: int, b: int) -> Outline:
        """(rows and columns of a window in which a man is seen that leans so, a few more all round;
        (v, u) bool where; (p, 2) y and x of these)"""
        kind = int(self.looks.kinds[self.likeness[man]])
        if (kind, b) not in self.outlines:
            inside = self.looks.part[kind, b] >= 0
            rows, columns = (
                slice(max(at[0] - RIM, 0), at[-1] + RIM + 1)
                for at in (np.flatnonzero(inside.any(a)) for a in (1, 0))
            )
            there = inside[rows, columns].copy()
            self.outlines[kind, b] = rows, columns, there, np.argwhere(there).astype(np.int16)
        return self.outlines[kind, b]

    def shade(
        self, window: np.ndarray, feet: list[np.ndarray], light: tuple[np.ndarray, float, float]
    ) -> None:
        """The shadows of things that stand there"""
        way, depth, soft = light
        dark, broad = (
            np.zeros(window.shape[:2], np.float32),
            max(int(0.3 * self.side * self.frame.scale), 1),
        )
        for at in feet:
            foot = (np.array([self.frame.wide, self.frame.back]) + at) * self.frame.scale - 0.5
            end = foot + way * self.frame.scale
            cv2.line(dark, tuple(int(v) for v in foot), tuple(int(v) for v in end), 1.0, broad)
        window[..., 0] -= cv2.GaussianBlur(dark, (0, 0), soft * self.frame.finer) * depth

    def man_of(self, kind: int, lean: float) -> int:
        """One of the men of a kind, likelier one who was photographed leaning alike"""
        men = np.flatnonzero(self.kinds == kind)
        share = (
            self.looks.shown[self.likeness[men], self.looks.nearest(np.array([lean]))[0]] ** 2
            + 0.02
        )
        return int(self.rng.choice(men, p=share / share.sum()))

    def gleam(self, solid: np.ndarray, some: np.ndarray) -> np.ndarray:
        """(V, U) log units by which light from another side changes something of that outline;
        some: (p, 2) y and x of what is his"""
        rng, (v, u) = self.rng, solid.shape
        y, x = np.arange(v, dtype=np.float32), np.arange(u, dtype=np.float32)
        many = np.maximum(solid.sum(1), 1)
        middle = solid @ x / many
        out = np.float32(rng.normal(0, ASIDE)) * np.clip(
            (x - middle[:, None]) * (2 / many)[:, None], -1, 1
        )
        for _ in range(rng.poisson(GLEAMS) if len(some) else 0):
            (b, a), wide = (
                some[rng.integers(len(some))],
                rng.uniform(0.015, 0.09) * self.side * self.frame.scale,
            )
            down, across = (
                np.exp((t - c) ** 2 * np.float32(-0.5 / wide**2)) for t, c in ((y, b), (x, a))
            )
            out += np.float32(rng.uniform(-0.4, 1.0)) * down[:, None] * across
        return out

    def off(self) -> np.ndarray:
        """(2,) mm that something is put off its site's middle"""
        return np.clip(self.rng.normal(0, 0.09, 2), -0.17, 0.17) * self.side

    def make(self, label: int, p: Place) -> tuple[Place, np.ndarray, np.ndarray, np.ndarray, int]:
        """A window of a bare place with that kind (-1: nothing, -2: something foreign) on it:
        (place, window, (V, U) what stands before hides, (V, U) what stands behind shows, the man it
        was made of)"""
        rng = self.rng
        p = p if rng.random() < 0.5 else p.mirrored()
        window = p.window.astype(np.float32)
        busy = rng.choice([0.0, 0.3, 0.7])
        a = rng.uniform(0, 2 * np.pi)
        light = (
            rng.uniform(0, 0.9) * self.side * np.array([np.cos(a), np.sin(a)]),
            rng.uniform(0, 0.8),
            rng.uniform(1.0, 4.0),
        )
        stand: list[tuple[float, int, float, np.ndarray, float]] = []
        for x, y, turn, lean in p.around:
            if rng.random() < busy:
                stand.append(
                    (
                        lean,
                        int(rng.integers(len(self.kinds))),
                        lean,
                        np.array([x, y]) + self.off(),
                        turn,
                    )
                )
        mine = -1
        if label >= 0:
            mine = self.man_of(label, p.lean)
            stand.append((p.lean, mine, p.lean * rng.uniform(0.95, 1.05), self.off(), 0.0))
        if stand:
            self.shade(window, [s[3] for s in stand], light)
        known = rng.random() < KNOWN
        before, behind = (m.astype(np.float32) * known for m in (p.before, p.behind))
        # what leans most is farthest: it stands behind
        for order, man, lean, at, turn in sorted(stand, key=lambda s: -s[0]):
            alpha = self.stand(window, man, lean, at, turn)
            if known and not (man == mine and order == p.lean):
                hides = before if order < p.lean else behind
                np.maximum(
                    hides,
                    cv2.resize(alpha, hides.shape[::-1], interpolation=cv2.INTER_AREA),
                    out=hides,
                )
        if label == -2:
            self.strange(window)
        return p, self.relit(window), before, behind, mine

    def again(
        self, p: Place, mirrored: bool
    ) -> tuple[Place, np.ndarray, np.ndarray, np.ndarray, int]:
        """What a photo shows, as make() gives it"""
        p = p.mirrored() if mirrored else p
        return p, self.relit(p.window), p.before, p.behind, p.man

    def strange(self, window: np.ndarray) -> None:
        """Something that is none of the kinds, about the foot"""
        rng, (v, u) = self.rng, window.shape[:2]
        foot = (
            np.array([self.frame.wide, self.frame.back]) * self.frame.scale
            + rng.normal(0, 0.2, 2) * self.side * self.frame.scale
        )
        size = rng.uniform(0.25, 1.2) * self.side * self.frame.scale
        x, y = np.meshgrid(np.arange(u), np.arange(v))
        a = rng.uniform(0, np.pi)
        dx, dy = x - foot[0], y - foot[1]
        along, across = dx * np.cos(a) + dy * np.sin(a), dy * np.cos(a) - dx * np.sin(a)
        along = along / rng.uniform(1, 4)
        far = (
            np.hypot(along, across)
            if rng.random() < 0.5
            else np.maximum(np.abs(along), np.abs(across))
        )
        alpha = 0.5 - 0.5 * np.tanh((far - size / 2) * rng.uniform(0.35, 1.5))
        colour = np.array([rng.uniform(3, 5.4), *rng.normal(0, 0.35, 2)])
        rough = cv2.resize(
            rng.normal(0, 1, (6, 4)).astype(np.float32), (u, v), interpolation=cv2.INTER_CUBIC
        )
        window += ((colour + rough[..., None] * (rng.uniform(0, 0.3), 0, 0)) - window) * alpha[
            ..., None
        ]

    def relit(self, window: np.ndarray) -> np.ndarray:
        """In another light, with the noise of another picture"""
        rng, (v, u) = self.rng, window.shape[:2]
        y, x = (
            np.linspace(-1, 1, v, dtype=np.float32)[:, None],
            np.linspace(-1, 1, u, dtype=np.float32),
        )
        light = (np.float32(v) for v in rng.normal(0, (0.07, 0.05, 0.05)))
        bright = next(light) + next(light) * x + next(light) * y
        if rng.random() < 0.25:
            a = rng.uniform(0, 2 * np.pi)
            across = (
                np.float32(np.cos(a)) * x
                + np.float32(np.sin(a)) * y
                - np.float32(rng.uniform(-0.8, 0.8))
            )
            bright -= np.float32(rng.uniform(0.05, 0.4)) * (
                1 + np.tanh(across / np.float32(rng.uniform(0.05, 0.8)))
            )
        out = window.astype(np.float32)
        out[..., 0] += bright
        out[..., 1:] += rng.normal(0, 0.025, 2).astype(np.float32)
        if rng.random() < 0.6:
            out = cv2.GaussianBlur(out, (0, 0), rng.uniform(0.2, 0.9) * self.frame.finer)
        noise = np.float32([rng.uniform(0.01, 0.06), 0.03, 0.03])
        up, left = rng.integers(0, (v, u))
        out += self.noise[up : up + v, left : left + u] * noise
        return out


def seen_of(made: list[tuple], looks: Looks) -> Seen:
    """The windows of Maker.make() as they are to be explained"""
    window = np.array([coarse(m[1]) for m in made], np.float32)
    empty = np.array([m[0].empty for m in made])
    bare = misfit(window, empty, np.array([m[0].weight for m in made]))
    before, behind = (np.array([m[n] > 0.5 for m in made]) for n in (2, 3))
    return Seen.among(
        window,
        empty,
        bare,
        before,
        behind,
        looks.nearest(np.array([m[0].lean for m in made])),
        np.array([m[4] for m in made]),
        np.array([m[1][..., 0] for m in made]),
        np.array([m[0].lean for m in made]),
    )


def examples(
    searcher: Searcher, maker: Maker, effort: float = 1.0
) -> tuple[np.ndarray, np.ndarray]:
    """((n, D) float16 what Searcher.search() says of windows, (n,) what stands there: kinds,
    something else, nothing), in any order"""
    kinds, rng, count = len(searcher.looks.part), maker.rng, round(PICTURES * effort)
    labels = [n % kinds for n in range(count)] + [-1] * (count // 3) + [-2] * (count // 10)
    jobs = [(label, maker.bare[rng.integers(len(maker.bare))]) for label in labels]
    jobs += [(AGAIN - n % 2, p) for p in maker.full for n in range(8)] + [
        (AGAIN, p) for p in maker.bare
    ]
    bins = searcher.looks.nearest(np.array([p.lean for _, p in jobs]))
    rows = rng.permutation(len(jobs))
    x, y = np.zeros((0, 0), np.float16), np.zeros(len(jobs), int)
    # one lean after another: what is worked out for each takes some megabytes
    for b in np.unique(bins):
        mine, kept = np.flatnonzero(bins == b), {}
        for part in (mine[a : a + AT_ONCE] for a in range(0, len(mine), AT_ONCE)):
            made = [
                maker.again(p, label < AGAIN) if label <= AGAIN else maker.make(label, p)
                for label, p in (jobs[n] for n in part)
            ]
            inputs = searcher.search(seen_of(made, searcher.looks), kept).inputs
            if not len(x):
                x = np.empty((len(jobs), inputs.shape[1]), np.float16)
            x[rows[part]] = inputs
            shown = [p.label if label <= AGAIN else label for label, p in (jobs[n] for n in part)]
            y[rows[part]] = [label if label >= 0 else kinds + 2 + label for label in shown]
    return x, y


def taught(x: np.ndarray, y: np.ndarray, classes: int, seed: int = 1) -> mlp.Net:
    """A network that tells from what examples() gives what stands there"""
    held = len(x) // 10
    found = mlp.together(
        [
            mlp.train(x[held:].copy(), y[held:], classes, 96, seed + n, epochs=14)
            for n in range(NETS)
        ]
    )
    return mlp.sharpened(found, x[:held].astype(np.float32), y[:held], doubt=1)
