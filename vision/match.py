"""Where on a site a piece lies and how it is turned: coarse search, turns by rings, then a fine fit.

Colours are compared as (brightness, blue, red): the logarithm's mean, and blue and red against green. Three steps:
`Coarse` slides each look's mean over the window; `Rings` compares circles round the place found, all turns at once;
`refine` moves the cut-out that fits best until its differences are least.
"""

from __future__ import annotations

import cv2
import msgspec
import numpy as np

from vision.cutout import ASKEW, Exemplar, Lies, footprint_mask

OPPONENT = np.array([[1 / 3, 1 / 3, 1 / 3], [1, -1, 0], [0, -1, 1]], np.float32)
FLOOR = np.array([0.15, 0.08, 0.08], np.float32)     # log units: what light and noise alone change
STRANGER = 16.0                                       # misfit of a pixel beyond which it is just not the board
RINGS, ANGLES = 12, 64
GRID = 24                                             # points along a footprint for the fine fit


def opponent(logs: np.ndarray) -> np.ndarray:
    """(..., 3) B G R logarithms -> (brightness, blue, red)"""
    shape = logs.shape
    flat = np.ascontiguousarray(logs, np.float32).reshape(-1, 1, 3)
    return cv2.transform(flat, OPPONENT).reshape(shape)


def turned(picture: np.ndarray, angle: float, zoom: float, side: int) -> np.ndarray:
    """(side, side, C): a cut-out turned by `angle` degrees (clockwise as seen), `zoom` times as large"""
    m = len(picture)
    soft = picture if zoom >= 0.8 else cv2.GaussianBlur(picture, (0, 0), 0.4 / zoom)
    a = np.deg2rad(angle)
    inverse = np.array([[np.cos(a), np.sin(a)], [-np.sin(a), np.cos(a)]]) / zoom
    shift = m / 2 - 0.5 - inverse @ np.array([side / 2 - 0.5, side / 2 - 0.5])
    return cv2.warpAffine(soft, np.column_stack([inverse, shift]).astype(np.float32), (side, side),
                          flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP, borderMode=cv2.BORDER_REPLICATE)


class Slide(msgspec.Struct, frozen=True, eq=False):
    """The looks of one footprint. looks: (K,) their numbers; mean: (K, m*m*3); weight: (K, m*m*3), nought outside the
    footprint; constant: (K,); mask: (m, m); free: (2,) pixels either way that a piece may lie without sticking out of its site;
    give: pixels beyond that cost one."""

    looks: np.ndarray
    mean: np.ndarray
    weight: np.ndarray
    constant: np.ndarray
    mask: np.ndarray
    free: np.ndarray
    give: float

    @classmethod
    def fit(cls, looks: dict[int, list[Exemplar]], scale: float, window: int, free: np.ndarray, give: float) -> Slide:
        """window: pixels of a window's side; free: (2,) mm that the site is larger than the footprint, halved; give: mm
        that a piece may stick out without surprise"""
        first = next(iter(looks.values()))[0]
        side = min(int(np.ceil(max(first.size) * scale)) + 1, window - 4)
        mask = footprint_mask(first.size, first.disc, side, scale, -0.4 / scale)
        mean, weight, constant = [], [], []
        for pieces in looks.values():
            turns = {"any": np.arange(16) * 22.5, "quarters": (0, 90, 180, 270), "upright": (0,)}[first.lies]
            views = np.stack([opponent(turned(e.picture, t, scale / e.scale, side)) for e in pieces for t in turns])
            variance = views.var(0) + FLOOR ** 2
            mean.append(views.mean(0).ravel())
            weight.append((mask[..., None] / variance).ravel())
            constant.append(float((mask[..., None] * np.log(variance)).sum()))
        return cls(np.array(list(looks)), np.array(mean, np.float32), np.array(weight, np.float32),
                   np.array(constant, np.float32), mask, free * scale, give * scale)

    def search(self, seen: np.ndarray, bare: np.ndarray, expected: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(gain (n, K), place (n, K, 2)) in (n, S, S, 3) windows; bare: (n, S, S) misfit of the empty site; expected:
        (n, K, 2) pixels off the middle where each look is seen when it lies in the middle of its site"""
        n, side, m, looks = len(seen), seen.shape[1], len(self.mask), len(self.mean)
        k = side - m + 1
        window = np.lib.stride_tricks.sliding_window_view
        before = window(bare, (m, m), (1, 2)).reshape(n * k * k, m * m) @ self.mask.ravel()
        patches = window(seen, (m, m), (1, 2)).transpose(0, 1, 2, 4, 5, 3).reshape(n * k * k, m * m * 3)
        wm = self.weight * self.mean
        misfit = -2 * (patches @ wm.T) + (wm * self.mean).sum(1) + self.constant
        np.square(patches, out=patches)
        misfit += patches @ self.weight.T
        gain = ((before[:, None] - misfit) / (2 * self.mask.sum())).reshape(n, k * k, looks)
        at = (np.arange(k) - (k - 1) / 2)[None, :, None]
        x, y = (np.maximum(np.abs(at - expected[:, None, :, d]) - self.free[d], 0) / self.give for d in (0, 1))
        gain -= (y[:, :, None] ** 2 + x[:, None] ** 2).reshape(n, k * k, looks).astype(np.float32)
        best = gain.argmax(1)                                                   # (n, K)
        top = np.take_along_axis(gain, best[:, None], 1)[:, 0]
        y, x = best // k, best % k
        grid = gain.reshape(n, k, k, looks)
        rows, cols = np.arange(n)[:, None], np.arange(looks)[None]
        dx = peak(grid[rows, y, np.maximum(x - 1, 0), cols], top, grid[rows, y, np.minimum(x + 1, k - 1), cols])
        dy = peak(grid[rows, np.maximum(y - 1, 0), x, cols], top, grid[rows, np.minimum(y + 1, k - 1), x, cols])
        middle = (k - 1) / 2
        return top, np.stack([x + dx - middle, y + dy - middle], -1)


def peak(before: np.ndarray, top: np.ndarray, after: np.ndarray) -> np.ndarray:
    """How far from its highest sample a parabola through three samples is highest, -0.5 to 0.5"""
    curve = np.minimum(before + after - 2 * top, -1e-6)
    return np.clip(0.5 * (before - after) / curve, -0.5, 0.5)


class Coarse(msgspec.Struct, frozen=True, eq=False):
    """Every look slid over small windows. slides: one a footprint; scale: pixels a millimetre; side: of a window, pixels."""

    slides: list[Slide]
    scale: float
    side: int

    @classmethod
    def fit(cls, looks: list[list[Exemplar]], shapes: list[tuple[tuple[float, float], bool]], scale: float, window: int,
            box: np.ndarray, give: float) -> Coarse:
        """looks: the cut-outs of each look; window: pixels of a window's side; box: (2,) mm of a site; give: mm that a
        piece may stick out without surprise"""
        by_shape: dict[int, dict[int, list[Exemplar]]] = {n: {} for n in range(len(shapes))}
        for k, pieces in enumerate(looks):
            by_shape[shapes.index((pieces[0].size, pieces[0].disc))][k] = pieces
        return cls([Slide.fit(by_shape[n], scale, window, np.maximum(box / 2 - np.array(shapes[n][0]) / 2, 0), give)
                    for n in sorted(by_shape)], scale, window)

    def search(self, seen: np.ndarray, empty: np.ndarray, spread: np.ndarray, expected: np.ndarray
               ) -> tuple[np.ndarray, np.ndarray]:
        """(gain (n, K), place (n, K, 2)): how much better than the empty site each look explains the window at its best
        place, log-likelihood a pixel of footprint; and that place, pixels off the window's middle (x, y).

        seen, empty, spread: (n, S, S, 3) opponent colours and the empty site's standard deviation; expected: (n, K, 2) mm
        off the middle where each look is seen when it lies in the middle of its site."""
        bare = np.minimum((((seen - empty) / spread) ** 2).sum(-1), STRANGER) + 2 * np.log(spread).sum(-1)
        looks = sum(len(s.looks) for s in self.slides)
        gain, place = np.empty((len(seen), looks), np.float32), np.empty((len(seen), looks, 2), np.float32)
        for s in self.slides:
            gain[:, s.looks], place[:, s.looks] = s.search(seen, bare, expected[:, s.looks] * self.scale)
        return gain, place


def ring_points(radius: float) -> np.ndarray:
    """(RINGS * ANGLES, 2) offsets, in the radius' unit, ring by ring, clockwise as seen from x to y"""
    r = (np.arange(RINGS) + 0.5) / RINGS * radius
    a = np.arange(ANGLES) * 2 * np.pi / ANGLES
    return np.stack([np.outer(r, np.cos(a)), np.outer(r, np.sin(a))], -1).reshape(-1, 2)


def sample(windows: np.ndarray, which: np.ndarray, points: np.ndarray) -> np.ndarray:
    """(n, P, C) values of windows (N, S, S, C)[which] at points (n, P, 2), pixels (x, y); outside: the edge's value"""
    n, p = points.shape[:2]
    side = windows.shape[1]
    tall = windows.reshape(-1, side, windows.shape[3])
    at = np.clip(points, 0, side - 1.001).astype(np.float32)
    at[..., 1] += (which * side).astype(np.float32)[:, None]
    out = np.empty((n, p, windows.shape[3]), np.float32)
    step = max(32000 // max(side, 1), 1)
    if len(windows) <= step and n <= 32000:
        out = cv2.remap(tall, at, None, cv2.INTER_LINEAR)
        return out.reshape(n, p, -1)
    for first in range(0, len(windows), step):                                  # remap's coordinates are 16 bit
        mine = np.flatnonzero((which >= first) & (which < first + step))
        if len(mine):
            part = at[mine].copy()
            part[..., 1] -= first * side
            out[mine] = cv2.remap(tall[first * side:(first + step) * side], part, None, cv2.INTER_LINEAR).reshape(
                len(mine), p, -1)
    return out


def level(values: np.ndarray) -> np.ndarray:
    """(n, P, 3) with the mean brightness of each row taken out: half a shadow must not decide; weighted by FLOOR"""
    out = values.copy()
    out[..., 0] -= out[..., 0].mean(1, keepdims=True)
    return out / FLOOR


class Rings(msgspec.Struct, frozen=True, eq=False):
    """Circles round the middle of every cut-out of one footprint, as Fourier series along the circle.
    series: (F, R*3, E) complex64; squares: (E,); radius: mm; allowed: (ANGLES,) bool, turns in which it may lie."""

    series: np.ndarray
    squares: np.ndarray
    radius: float
    allowed: np.ndarray

    @classmethod
    def fit(cls, pieces: list[Exemplar]) -> Rings:
        radius = min(pieces[0].size) / 2
        rows = []
        for e in pieces:
            picture = opponent(e.picture)[None]
            middle = picture.shape[1] / 2 - 0.5
            points = ring_points(radius * e.scale) + middle
            soft = cv2.GaussianBlur(picture[0], (0, 0), max(0.35 * radius / RINGS * e.scale, 0.3))[None]
            rows.append(sample(soft, np.zeros(1, int), points[None])[0])
        values = level(np.stack(rows)) * cls.weights()
        flat = values.reshape(len(pieces), RINGS, ANGLES, 3)
        series = np.fft.rfft(flat, axis=2).transpose(2, 1, 3, 0).reshape(ANGLES // 2 + 1, RINGS * 3, len(pieces))
        return cls(series.astype(np.complex64), (values ** 2).sum((1, 2)), radius, turns_allowed(pieces[0].lies))

    @staticmethod
    def weights() -> np.ndarray:
        """(RINGS * ANGLES, 1): the square root of the area each point stands for"""
        r = np.repeat((np.arange(RINGS) + 0.5) / RINGS, ANGLES)
        return np.sqrt(r / r.sum())[:, None].astype(np.float32)

    def compare(self, windows: np.ndarray, which: np.ndarray, middle: np.ndarray, scale: float, plain: bool = False
                ) -> np.ndarray:
        """(n, E, ANGLES): how badly each cut-out, turned by each angle, fits round `middle` (n, 2) px; mean square.

        windows: (N, S, S, 3) opponent; plain: B G R logarithms instead"""
        if plain:
            windows = opponent(windows)
        points = ring_points(self.radius * scale)[None] + middle[:, None]
        values = level(sample(windows, which, points)) * self.weights()
        n = len(which)
        series = np.fft.rfft(values.reshape(n, RINGS, ANGLES, 3), axis=2).transpose(2, 0, 1, 3).reshape(
            ANGLES // 2 + 1, n, RINGS * 3)
        product = np.matmul(series.astype(np.complex64), self.series.conj())     # (F, n, E)
        like = np.fft.irfft(product.transpose(1, 2, 0), n=ANGLES, axis=2)
        squares = (values ** 2).sum((1, 2))
        return squares[:, None, None] + self.squares[None, :, None] - 2 * like.astype(np.float32)


def turns_allowed(lies: Lies) -> np.ndarray:
    """(ANGLES,) bool: the turns in which a piece may lie, some degrees askew included"""
    a = np.arange(ANGLES) * 360 / ANGLES
    period = {"any": 1e-9, "quarters": 90, "upright": 360}[lies]
    return np.abs((a + period / 2) % period - period / 2) <= ASKEW


class Fine(msgspec.Struct, frozen=True, eq=False):
    """For every cut-out: its values on a grid and how these change as it is moved and turned.
    values: (E, G*G, 3) levelled; step: (E, 3, G*G*3): differences -> (x, y px, radians) to move; half: (E,) mm;
    pictures: (E, P, P, 3) opponent, as the classifier sees them."""

    values: np.ndarray
    step: np.ndarray
    half: np.ndarray
    pictures: np.ndarray

    @classmethod
    def fit(cls, pieces: list[Exemplar], scale: float, pixels: int, wider: float) -> Fine:
        """pixels, wider: a side of `pictures`, and how much of what surrounds the footprint is in them"""
        values, steps, halves, pictures = [], [], [], []
        for e in pieces:
            half = max(e.size) / 2
            picture = cv2.GaussianBlur(opponent(e.picture), (0, 0), 0.5)
            points = grid_points(half * e.scale)
            middle = picture.shape[0] / 2 - 0.5
            one = np.zeros(1, int)
            v, right, left, down, up = (sample(picture[None], one, (points + middle + d)[None])[0]
                                        for d in ((0, 0), (1, 0), (-1, 0), (0, 1), (0, -1)))
            gx, gy = (right - left) / 2 / FLOOR, (down - up) / 2 / FLOOR
            inside = np.clip(footprint_mask(e.size, e.disc, GRID, GRID / (2 * half)), 0, 1).reshape(-1, 1)
            turn = (gy * points[:, :1] - gx * points[:, 1:]) / e.scale * scale      # a turn about the middle, px of window
            j = np.stack([gx * e.scale / scale, gy * e.scale / scale, turn * (e.scale / scale)], 0) * inside
            j = j.reshape(3, -1)
            normal = j @ j.T
            normal += np.diag(np.diag(normal)) * 0.02 + np.diag([1.0, 1.0, 50.0])
            steps.append(np.linalg.solve(normal, j))
            values.append(level(v[None])[0])
            halves.append(half)
            pictures.append(turned(opponent(e.picture), 0, pixels / (2 * half * wider * e.scale), pixels))
        return cls(*(np.array(v, np.float32) for v in (values, steps, halves, pictures)))

    def refine(self, windows: np.ndarray, which: np.ndarray, piece: np.ndarray, middle: np.ndarray, angle: np.ndarray,
               scale: float, rounds: int = 2) -> tuple[np.ndarray, np.ndarray]:
        """(middle (n, 2) px, angle (n,) rad) after moving the cut-outs `piece` (n,) to fit best"""
        start_m, start_a = middle, angle
        for _ in range(rounds):
            values = level(sample(windows, which, posed(grid_points(1.0)[None] * (self.half[piece] * scale)[:, None, None],
                                                        middle, angle)))
            left = np.clip(values - self.values[piece], -3, 3).reshape(len(which), -1)
            move = -np.einsum("nkp,np->nk", self.step[piece], left)
            move = np.clip(move, [-2, -2, -0.12], [2, 2, 0.12])
            c, s = np.cos(angle), np.sin(angle)
            middle = middle + np.stack([c * move[:, 0] - s * move[:, 1], s * move[:, 0] + c * move[:, 1]], 1)
            angle = angle + move[:, 2]
        limit = 3.0
        middle = start_m + np.clip(middle - start_m, -limit, limit)
        return middle, start_a + np.clip(angle - start_a, -0.2, 0.2)


def grid_points(half: float) -> np.ndarray:
    """(GRID * GRID, 2) offsets over a square of half side `half`, row by row"""
    t = ((np.arange(GRID) + 0.5) / GRID * 2 - 1) * half
    x, y = np.meshgrid(t, t)
    return np.stack([x, y], -1).reshape(-1, 2)


def posed(points: np.ndarray, middle: np.ndarray, angle: np.ndarray) -> np.ndarray:
    """(n, P, 2): offsets (n or 1, P, 2) turned by angle (n,) radians and put round middle (n, 2)"""
    c, s = np.cos(angle)[:, None], np.sin(angle)[:, None]
    x, y = points[..., 0], points[..., 1]
    return np.stack([c * x - s * y + middle[:, :1], s * x + c * y + middle[:, 1:]], -1)
