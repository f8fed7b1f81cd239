"""How a piece lies: turns by rings, all at once, then a fine fit that moves and turns a cut-out until it fits best."""

from __future__ import annotations

import cv2
import msgspec
import numpy as np

from vision.cutout import ASKEW, Exemplar, Lies, footprint_mask, turned
from vision.field import Field, WindowField, opponent
from vision.slide import FLOOR

RINGS, ANGLES = 12, 64
GRID = 22                                             # points along a footprint for the fine fit
ONE = np.zeros(1, int)


def cut_field(e: Exemplar, soft: float = 0.0) -> WindowField:
    """A cut-out as a field of one site; soft: pixels it is blurred by"""
    picture = opponent(e.picture)
    return WindowField((cv2.GaussianBlur(picture, (0, 0), soft) if soft > 0 else picture)[None], e.scale)


def still(offsets: np.ndarray, field: WindowField) -> np.ndarray:
    """(P, 3) of the field's only site at offsets (R, C, 2) mm"""
    return field.sample(ONE, np.zeros((1, 2)), np.zeros(1), offsets).reshape(-1, 3)


def ring_points(radius: float) -> np.ndarray:
    """(RINGS, ANGLES, 2) offsets, in the radius' unit, clockwise as seen from x to y"""
    r = (np.arange(RINGS) + 0.5) / RINGS * radius
    a = np.arange(ANGLES) * 2 * np.pi / ANGLES
    return np.stack([np.outer(r, np.cos(a)), np.outer(r, np.sin(a))], -1)


def level(values: np.ndarray) -> np.ndarray:
    """(n, R * C, 3) of (n, R, C, 3), which is changed: the mean brightness of each taken out (half a shadow must not
    decide), in units of FLOOR"""
    n, rows, columns, _ = values.shape
    brightness = np.tile(np.float32([1, 0, 0]), columns)
    lines = values.reshape(n, rows, columns * 3)        # whole rows: numpy is slow where only three numbers lie together
    lines -= ((lines @ brightness).mean(1) / columns)[:, None, None] * brightness
    lines *= np.tile(1 / FLOOR, columns)
    return values.reshape(n, rows * columns, 3)


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
        fields = [cut_field(e, max(0.35 * radius / RINGS * e.scale, 0.3)) for e in pieces]
        values = np.stack([still(ring_points(radius), f) for f in fields]).reshape(-1, RINGS, ANGLES, 3)
        values = level(values) * ring_weights()
        flat = values.reshape(len(pieces), RINGS, ANGLES, 3)
        series = np.fft.rfft(flat, axis=2).transpose(2, 1, 3, 0).reshape(ANGLES // 2 + 1, RINGS * 3, len(pieces))
        return cls(np.ascontiguousarray(series.conj(), np.complex64), (values ** 2).sum((1, 2)), radius,
                   turns_allowed(pieces[0].lies))

    def likeness(self, field: Field, site: np.ndarray, middle: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """((n, E, ANGLES) products of each cut-out, turned by each angle, with what is seen round `middle` (n, 2) mm; (n, E) the
        squares of both)"""
        n = len(site)
        values = level(field.sample(site, middle, np.zeros(n), ring_points(self.radius))) * ring_weights()
        flat = np.ascontiguousarray(values.reshape(n, RINGS, ANGLES, 3).transpose(0, 1, 3, 2))
        series = np.fft.rfft(flat, axis=3).reshape(n, RINGS * 3, -1).transpose(2, 0, 1)
        product = np.matmul(np.ascontiguousarray(series, np.complex64), self.series)        # (F, n, E)
        like = np.fft.irfft(np.ascontiguousarray(product.transpose(1, 2, 0)), n=ANGLES, axis=2)
        return like, np.square(values).sum((1, 2))[:, None] + self.squares

    def compare(self, field: Field, site: np.ndarray, middle: np.ndarray) -> np.ndarray:
        """(n, E, ANGLES): how badly each cut-out, turned by each angle, fits round `middle` (n, 2) mm; mean square"""
        like, squares = self.likeness(field, site, middle)
        like *= -2
        like += squares[..., None]
        return like

    def best(self, field: Field, site: np.ndarray, middle: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """((n, E) the least of compare() in the turns that are allowed, (n, E) radians of that turn)"""
        like, squares = self.likeness(field, site, middle)
        if not self.allowed.all():
            like[:, :, ~self.allowed] = -np.inf
        turn = like.argmax(2)
        most = np.take_along_axis(like, turn[..., None], 2)[..., 0]
        return squares - 2 * most, turn * (2 * np.pi / ANGLES)


def ring_weights() -> np.ndarray:
    """(RINGS * ANGLES, 1): the square root of the area each point stands for"""
    r = np.repeat((np.arange(RINGS) + 0.5) / RINGS, ANGLES)
    return np.sqrt(r / r.sum())[:, None].astype(np.float32)


def turns_allowed(lies: Lies) -> np.ndarray:
    """(ANGLES,) bool: the turns in which a piece may lie, some degrees askew included"""
    a = np.arange(ANGLES) * 360 / ANGLES
    period = {"any": 1e-9, "quarters": 90, "upright": 360}[lies]
    return np.abs((a + period / 2) % period - period / 2) <= ASKEW


class Fine(msgspec.Struct, frozen=True, eq=False):
    """For every cut-out: its values on a grid and how these change as it is moved and turned.
    values: (E, G*G, 3) levelled; step: (E, 3, G*G*3): differences -> (x, y mm, radians) to move; half: (E,) mm;
    pictures: (E, P, P, 3) opponent, as the classifier sees them."""

    values: np.ndarray
    step: np.ndarray
    half: np.ndarray
    pictures: np.ndarray

    @classmethod
    def fit(cls, pieces: list[Exemplar], pixels: int, wider: float) -> Fine:
        """pixels, wider: a side of `pictures`, and how much of what surrounds the footprint is in them"""
        values, steps, halves, pictures = [], [], [], []
        for e in pieces:
            half = max(e.size) / 2
            field, at, d = cut_field(e, 0.5), grid_points(half), 1 / e.scale
            gx, gy = ((still(at + s, field) - still(at - s, field)) / (2 * d) / FLOOR for s in ((d, 0), (0, d)))
            x, y = at.reshape(-1, 2, 1).transpose(1, 0, 2)
            inside = np.clip(footprint_mask(e.size, e.disc, GRID, GRID / (2 * half)), 0, 1).reshape(-1, 1)
            j = (np.stack([gx, gy, gy * x - gx * y], 0) * inside).reshape(3, -1)
            normal = j @ j.T
            normal += np.diag(np.diag(normal)) * 0.02 + np.diag([4.0, 4.0, 200.0])
            steps.append(np.linalg.solve(normal, j))
            values.append(level(field.sample(ONE, np.zeros((1, 2)), np.zeros(1), at))[0])
            halves.append(half)
            pictures.append(turned(opponent(e.picture), 0, pixels / (2 * half * wider * e.scale), pixels))
        return cls(*(np.array(v, np.float32) for v in (values, steps, halves, pictures)))

    def refine(self, field: Field, site: np.ndarray, piece: np.ndarray, middle: np.ndarray, turn: np.ndarray,
               rounds: int = 2) -> tuple[np.ndarray, np.ndarray]:
        """(middle (n, 2) mm, turn (n,) radians) after moving the cut-outs `piece` (n,) to fit best"""
        start_m, start_t = middle, turn
        grid, half, values, step = grid_points(1.0), self.half[piece], self.values[piece], self.step[piece]
        for _ in range(rounds):
            left = level(field.sample(site, middle, turn, grid, half))
            left -= values
            np.clip(left, -3, 3, out=left)
            move = -np.matmul(step, left.reshape(len(site), -1, 1))[..., 0]
            move = np.clip(move, [-1, -1, -0.12], [1, 1, 0.12])
            c, s = np.cos(turn), np.sin(turn)
            middle = middle + np.stack([c * move[:, 0] - s * move[:, 1], s * move[:, 0] + c * move[:, 1]], 1)
            turn = turn + move[:, 2]
        return start_m + np.clip(middle - start_m, -1.5, 1.5), start_t + np.clip(turn - start_t, -0.2, 0.2)

    def misfit(self, field: Field, site: np.ndarray, piece: np.ndarray, middle: np.ndarray, turn: np.ndarray) -> np.ndarray:
        """(n,) how badly the cut-outs `piece` (n,), so laid, fit within the circle round their middles: mean square, in units of
        FLOOR"""
        grid = grid_points(1.0)
        left = level(field.sample(site, middle, turn, grid, self.half[piece])) - self.values[piece]
        inside = np.linalg.norm(grid.reshape(-1, 2), axis=1) < 1
        return (np.clip(left[:, inside], -3, 3) ** 2).sum((1, 2)) / inside.sum()


def grid_points(half: float) -> np.ndarray:
    """(GRID, GRID, 2) offsets over a square of half side `half`"""
    t = ((np.arange(GRID) + 0.5) / GRID * 2 - 1) * half
    x, y = np.meshgrid(t, t)
    return np.stack([x, y], -1)
