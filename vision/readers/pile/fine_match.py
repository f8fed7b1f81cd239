"""How a piece lies: turns by rings, all at once, then a fine fit that moves and turns a cut-out
until it fits best."""

from __future__ import annotations

from functools import cache, cached_property

import cv2
import msgspec
import numpy as np

from vision.geometry.site_windows import window_products
from vision.kernels import Kernel
from vision.photometry.colour_sampling import Field, PictureField, WindowField, to_opponent
from vision.readers.pile.coarse_search import FLOOR
from vision.readers.pile.exemplar import ASKEW, Exemplar, Lies, footprint_mask, turned
from vision.readers.pile.features import PIXELS, straight, straight_grid

RINGS, ANGLES = 12, 64
GRID = 22  # points along a footprint for the fine fit
ROUNDS = 2  # of moving and turning
PRINT = 0.88  # of a footprint, that lays what is told by its print: nearer its edge are others
BEYOND = 3  # a difference larger than so many steps is something else's
ROWS = 64  # sites at a time: what is known of them stays near the processor
ONE = np.zeros(1, int)


def cut_field(e: Exemplar, soft: float = 0.0) -> WindowField:
    """A cut-out as a field of one site; soft: pixels it is blurred by"""
    picture = to_opponent(e.picture)
    return WindowField(
        (cv2.GaussianBlur(picture, (0, 0), soft) if soft > 0 else picture)[None], e.scale
    )


def still(offsets: np.ndarray, field: WindowField) -> np.ndarray:
    """(P, 3) of the field's only site at offsets (R, C, 2) mm"""
    return field.sample(ONE, np.zeros((1, 2)), np.zeros(1), offsets).reshape(-1, 3)


def ring_points(radius: float) -> np.ndarray:
    """(ANGLES, RINGS, 2) offsets, in the radius' unit, clockwise as seen from x to y"""
    r = (np.arange(RINGS) + 0.5) / RINGS * radius
    a = np.arange(ANGLES) * 2 * np.pi / ANGLES
    return np.stack([np.outer(np.cos(a), r), np.outer(np.sin(a), r)], -1)


def level(values: np.ndarray) -> np.ndarray:
    """(n, R * C, 3) of (n, R, C, 3), which is changed: the mean brightness of each taken out (half
    a shadow must not decide), in units of FLOOR"""
    n, rows, columns, _ = values.shape
    brightness = np.tile(np.float32([1, 0, 0]), columns)
    # whole rows: numpy is slow where only three numbers lie together
    lines = values.reshape(n, rows, columns * 3)
    lines -= ((lines @ brightness).mean(1) / columns)[:, None, None] * brightness
    lines *= np.tile(1 / FLOOR, columns)
    return values.reshape(n, rows * columns, 3)


class Rings(msgspec.Struct, frozen=True, eq=False, dict=True):
    """Circles round the middle of every cut-out of one footprint, as Fourier series along the
    circle.
    series: (F, R*3, E) complex64; squares: (E,); radius: mm; allowed: (ANGLES,) bool, turns in
    which it may lie."""

    series: np.ndarray
    squares: np.ndarray
    radius: float
    allowed: np.ndarray

    @classmethod
    def fit(cls, pieces: list[Exemplar]) -> Rings:
        radius = min(pieces[0].size) / 2
        fields = [cut_field(e, max(0.35 * radius / RINGS * e.scale, 0.3)) for e in pieces]
        parts, squares = series_of(np.stack([still(ring_points(radius), f) for f in fields]))
        series = (parts[:, :, 0] - 1j * parts[:, :, 1]).transpose(0, 2, 1)
        return cls(
            np.ascontiguousarray(series, np.complex64),
            squares,
            radius,
            turns_allowed(pieces[0].lies),
        )

    @cached_property
    def products(self) -> np.ndarray:
        """(F, 2, 2*R*3, E): what the real and imaginary parts of a series are multiplied by for
        those of its product with the series"""
        re, im = self.series.real, self.series.imag
        return np.ascontiguousarray(
            np.stack([np.concatenate([re, -im], 1), np.concatenate([im, re], 1)], 1), np.float32
        )

    def likeness(
        self, field: Field, site: np.ndarray, middle: np.ndarray, turns: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """((T, n, E) products of each cut-out, turned by each of the angles turns (T,), with what
        is seen round `middle` (n, 2) mm; (n, E) the squares of both)"""
        n = len(site)
        parts, squares = series_of(
            field.sample(site, middle, np.zeros(n), ring_points(self.radius))
        )
        product = np.matmul(parts.reshape(len(parts), 1, n, -1), self.products)  # (F, 2, n, E)
        like = turn_waves()[turns] @ product.reshape(2 * len(parts), -1)
        return like.reshape(len(turns), n, len(self.squares)), squares[:, None] + self.squares

    def compare(self, field: Field, site: np.ndarray, middle: np.ndarray) -> np.ndarray:
        """(n, E, ANGLES): how badly each cut-out, turned by each angle, fits round `middle` (n, 2)
        mm; mean square"""
        like, squares = self.likeness(field, site, middle, np.arange(ANGLES))
        return (squares - 2 * like).transpose(1, 2, 0)

    def best(
        self, field: Field, site: np.ndarray, middle: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """((n, E) the least of compare() in the turns that are allowed, (n, E) radians of that
        turn)"""
        turns, parts = np.flatnonzero(self.allowed), []
        for a in range(0, len(site), ROWS):
            like, squares = self.likeness(field, site[a : a + ROWS], middle[a : a + ROWS], turns)
            most, at = largest(like)
            parts.append((squares - 2 * most, turns[at] * (2 * np.pi / ANGLES)))
        return tuple(np.concatenate(p) for p in zip(*parts))


_ring_series, _largest = Kernel("ring_series", "fnfff"), Kernel("largest", "fnnfi")


def series_of(seen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """((F, n, 2, R * 3) real and imaginary parts of the Fourier series of what is at ring_points(),
    (n, ANGLES, RINGS, 3), levelled, each ring by its weight; (n,) the squares of all that)"""
    n = len(seen)
    if _ring_series:
        out, squares = (
            np.empty((ANGLES // 2 + 1, n, 2, RINGS * 3), np.float32),
            np.empty(n, np.float32),
        )
        _ring_series(np.ascontiguousarray(seen), n, ring_weights() / FLOOR, out, squares)
        return out, squares
    values = level(seen.reshape(n, ANGLES, RINGS, 3)).reshape(n, ANGLES, RINGS, 3) * ring_weights()
    series = np.fft.rfft(values.reshape(n, ANGLES, RINGS * 3), axis=1)
    return np.stack([series.real, series.imag], 2).transpose(1, 0, 2, 3).astype(
        np.float32
    ), np.square(values).sum((1, 2, 3))


def largest(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of (T, ...): (...) the largest, (...) its number"""
    if _largest:
        most, at = np.empty(values.shape[1:], np.float32), np.empty(values.shape[1:], np.int32)
        _largest(values, len(values), most.size, most, at)
        return most, at
    at = values.argmax(0)
    return np.take_along_axis(values, at[None], 0)[0], at


@cache
def turn_waves() -> np.ndarray:
    """(ANGLES, F * 2): what the real and imaginary parts of a series are multiplied by for its
    value at an angle"""
    waves = np.arange(ANGLES // 2 + 1)
    around = np.outer(np.arange(ANGLES), waves) * (2 * np.pi / ANGLES)
    share = np.where(waves % (ANGLES // 2), 2, 1) / ANGLES
    return (
        np.stack([np.cos(around) * share, -np.sin(around) * share], 2)
        .reshape(ANGLES, -1)
        .astype(np.float32)
    )


def ring_weights() -> np.ndarray:
    """(RINGS, 1): the square root of the area each point stands for"""
    r = np.arange(RINGS) + 0.5
    return np.sqrt(r / r.sum() / ANGLES)[:, None].astype(np.float32)


def turns_allowed(lies: Lies) -> np.ndarray:
    """(ANGLES,) bool: the turns in which a piece may lie, some degrees askew included"""
    a = np.arange(ANGLES) * 360 / ANGLES
    period = {"any": 1e-9, "quarters": 90, "upright": 360}[lies]
    return np.abs((a + period / 2) % period - period / 2) <= ASKEW


_moves, _misfit = Kernel("fine_moves", "fnnfflff"), Kernel("fine_misfit", "fnnflfBf")
_straighten = Kernel("straighten", "Bnnndxfdllnffff" + "fnfnn" + "ddf")


class Fine(msgspec.Struct, frozen=True, eq=False):
    """For every cut-out: its values on a grid and how these change as it is moved and turned.
    values: (E, G*G, 3) levelled; step: (E, 3, G*G*3): differences -> (x, y mm, radians) to move;
    half: (E,) mm;
    pictures: (E, P, P, 3) opponent, as the classifier sees them."""

    values: np.ndarray
    step: np.ndarray
    half: np.ndarray
    pictures: np.ndarray

    @classmethod
    def fit(cls, pieces: list[Exemplar], pixels: int, wider: float, part: float = 1.0) -> Fine:
        """pixels, wider: a side of `pictures`, and how much of what surrounds the footprint is in
        them; part: of the footprint, that decides where it lies"""
        values, steps, halves, pictures = [], [], [], []
        for e in pieces:
            half = max(e.size) / 2
            field, at, d = cut_field(e, 0.5), grid_points(half), 1 / e.scale
            gx, gy = (
                (still(at + s, field) - still(at - s, field)) / (2 * d) / FLOOR
                for s in ((d, 0), (0, d))
            )
            x, y = at.reshape(-1, 2, 1).transpose(1, 0, 2)
            inside = footprint_mask(
                (part * e.size[0], part * e.size[1]), e.disc, GRID, GRID / (2 * half)
            ).reshape(-1, 1)
            j = (np.stack([gx, gy, gy * x - gx * y], 0) * inside).reshape(3, -1)
            normal = j @ j.T
            normal += np.diag(np.diag(normal)) * 0.02 + np.diag([4.0, 4.0, 200.0])
            steps.append(np.linalg.solve(normal, j))
            values.append(level(field.sample(ONE, np.zeros((1, 2)), np.zeros(1), at))[0])
            halves.append(half)
            pictures.append(
                turned(to_opponent(e.picture), 0, pixels / (2 * half * wider * e.scale), pixels)
            )
        return cls(*(np.array(v, np.float32) for v in (values, steps, halves, pictures)))

    def refine(
        self,
        field: Field,
        site: np.ndarray,
        piece: np.ndarray,
        middle: np.ndarray,
        turn: np.ndarray,
        rounds: int = ROUNDS,
    ) -> tuple[np.ndarray, np.ndarray]:
        """(middle (n, 2) mm, turn (n,) radians) after moving the cut-outs `piece` (n,) to fit
        best"""
        start_m, start_t = middle, turn
        grid, half = grid_points(1.0), self.half[piece]
        for _ in range(rounds):
            move = np.clip(
                self.moves(field.sample(site, middle, turn, grid, half), piece),
                [-1, -1, -0.12],
                [1, 1, 0.12],
            )
            c, s = np.cos(turn), np.sin(turn)
            middle = middle + np.stack(
                [c * move[:, 0] - s * move[:, 1], s * move[:, 0] + c * move[:, 1]], 1
            )
            turn = turn + move[:, 2]
        return start_m + np.clip(middle - start_m, -1.5, 1.5), start_t + np.clip(
            turn - start_t, -0.2, 0.2
        )

    def straightened(
        self,
        field: Field,
        site: np.ndarray,
        piece: np.ndarray,
        middle: np.ndarray,
        turn: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(middle (n, 2) mm, turn (n,) radians, pictures (n, P, P, 3)) of sites (n,) with the
        cut-outs `piece` (n,) refined from about where they lie, laid straight"""
        if not (
            _straighten and isinstance(field, PictureField) and field.picture.flags.c_contiguous
        ):
            middle, turn = self.refine(field, site, piece, middle, turn)
            return middle, turn, straight(field, site, middle, turn, self.half[piece])
        n, middle, turn = len(site), np.array(middle, float), np.array(turn, float)
        out = np.empty((n, PIXELS, PIXELS, 3), np.float32)
        places, wide = places_of(GRID), places_of(PIXELS)
        _straighten(
            field.picture,
            *field.picture.shape[:2],
            field.level,
            field.pose.camera,
            field.plane,
            field.tones,
            np.ascontiguousarray(field.centres, float),
            np.asarray(site, np.int64),
            np.asarray(piece, np.int64),
            n,
            self.half,
            self.values,
            self.step,
            FLOOR,
            places,
            places.shape[1],
            wide,
            wide.shape[1],
            ROUNDS,
            middle,
            turn,
            out,
        )
        return middle, turn, out

    def moves(self, seen: np.ndarray, piece: np.ndarray) -> np.ndarray:
        """(n, 3): x, y mm and radians by which the cut-outs `piece` (n,) would fit better what is
        seen on their grids (n, G, G, 3)"""
        n = len(seen)
        if _moves:
            out = np.empty((n, 3), np.float32)
            _moves(
                seen,
                n,
                GRID * GRID,
                self.values,
                self.step,
                np.asarray(piece, np.int64),
                FLOOR,
                out,
            )
            return out
        left = level(seen)
        left -= self.values[piece]
        np.clip(left, -BEYOND, BEYOND, out=left)
        return -np.matmul(self.step[piece], left.reshape(n, self.step.shape[-1], 1))[..., 0]

    def misfit(
        self,
        field: Field,
        site: np.ndarray,
        piece: np.ndarray,
        middle: np.ndarray,
        turn: np.ndarray,
        part: float = 1.0,
    ) -> np.ndarray:
        """(n,) how badly the cut-outs `piece` (n,), so laid, fit within the circle round their
        middles, or a part of it: mean square, in units of FLOOR"""
        grid = grid_points(1.0)
        seen = field.sample(site, middle, turn, grid, self.half[piece])
        inside = np.linalg.norm(grid.reshape(-1, 2), axis=1) < part
        if _misfit:
            out = np.empty(len(site), np.float32)
            _misfit(
                seen,
                len(site),
                GRID * GRID,
                self.values,
                np.asarray(piece, np.int64),
                FLOOR,
                inside.view(np.uint8),
                out,
            )
            return out
        left = level(seen) - self.values[piece]
        return (np.clip(left[:, inside], -BEYOND, BEYOND) ** 2).sum((1, 2)) / inside.sum()


@cache
def places_of(side: int) -> np.ndarray:
    """(3, side * side) float32, as `windows.placed` has them: of grid_points(1.0) or of
    straight_grid()"""
    grid = grid_points(1.0) if side == GRID else straight_grid()
    return window_products(np.zeros((1, 2)), np.eye(2)[None], grid)[1]


def grid_points(half: float) -> np.ndarray:
    """(GRID, GRID, 2) offsets over a square of half side `half`"""
    t = ((np.arange(GRID) + 0.5) / GRID * 2 - 1) * half
    x, y = np.meshgrid(t, t)
    return np.stack([x, y], -1)
