"""Loose pieces seen from above in polar patches: a turn is then a shift, and all turns cost one
FFT."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property

import cv2
import msgspec
import numpy as np

from vision.photometry.canvas import Frame, sample_canvas
from vision.photometry.room_light import CLIPPED, HARDLY, too_bright

ANGLES = 64
LIGHTS = 16  # of such places kept ready
UNBURNT = (0, 0, 0)
BRIGHTER = 0.1  # steps of the logarithm of brightness in which burnt places are told apart
DARKEST = 1000  # more such steps than a light can be from another
PITCH = 1.25  # canvas pixels between rings
# grey levels: prints that vary more along a ring hardly exclude anything by their colours
PLAIN = 40.0
SCORE_NOISE = 12.0  # grey levels by which a piece's look may differ from the learned one


class Form(msgspec.Struct, frozen=True):
    """A size and height that kinds share. size: (w, d) mm, equal for a disc."""

    size: tuple[float, float]
    height: float
    disc: bool

    @property
    def inner(self) -> float:
        """mm: radius of the largest disc inside"""
        return min(self.size) / 2

    @property
    def outer(self) -> float:
        """mm: radius of the smallest disc around"""
        return self.inner if self.disc else math.hypot(*self.size) / 2

    @property
    def area(self) -> float:
        """mm²"""
        return math.pi * self.inner**2 if self.disc else self.size[0] * self.size[1]

    def inside(self, xy: np.ndarray, more: float = 0.0) -> np.ndarray:
        """how many mm (..., 2) offsets lie inside the outline grown by `more`, negative outside"""
        if self.disc:
            x, y = xy[..., 0], xy[..., 1]
            return self.inner + more - np.sqrt(x * x + y * y)  # numpy is slow along short axes
        return np.minimum(
            self.size[0] / 2 + more - np.abs(xy[..., 0]),
            self.size[1] / 2 + more - np.abs(xy[..., 1]),
        )

    def outline(self, at: np.ndarray, turn: float, grown: float = 0.0) -> np.ndarray:
        """(n, 2) mm: the outline at a place"""
        if self.disc:
            a = np.linspace(0, 2 * np.pi, 24, endpoint=False)
            return at + (self.inner + grown) * np.stack([np.cos(a), np.sin(a)], -1)
        w, d = self.size[0] / 2 + grown, self.size[1] / 2 + grown
        c, s = np.cos(turn), np.sin(turn)
        box = np.array([[-w, -d], [w, -d], [w, d], [-w, d]])
        return at + box @ np.array([[c, s], [-s, c]])


class Rings:
    """A polar grid: (R, A, 2) mm offsets, (R, A) mm² around each; out to `radius` mm, rings `pitch`
    mm apart."""

    def __init__(self, radius: float, pitch: float, angles: int = ANGLES) -> None:
        n = max(int(np.ceil(radius / pitch)), 3)
        self.angles, self.radius, self.step = angles, radius, radius / n
        self.in_pixels: dict[float, np.ndarray] = {}
        self.r = ((np.arange(n) + 0.5) * self.step).astype(np.float32)
        self.a = (np.arange(angles) * 2 * np.pi / angles).astype(np.float32)
        self.offsets = np.stack(
            [self.r[:, None] * np.cos(self.a), self.r[:, None] * np.sin(self.a)], -1
        )
        self.cell = np.broadcast_to(
            self.r[:, None] * self.step * 2 * np.pi / angles, (n, angles)
        ).astype(np.float32)

    @classmethod
    def around(cls, form: Form, scale: float) -> Rings:
        """As fine as the canvas, for pieces of one form"""
        return cls(form.outer, PITCH / scale)

    def area(self, form: Form) -> np.ndarray:
        """(R, A) mm² of each cell that lie inside a form's outline"""
        return self.cell * (form.inside(self.offsets) / self.step + 0.5).clip(0, 1).astype(
            np.float32
        )

    def look_at(
        self,
        frame: Frame,
        canvas: np.ndarray,
        ground: np.ndarray,
        weight: np.ndarray,
        centres: np.ndarray,
        light: np.ndarray,
    ) -> Patch:
        """Patches at (N, 2) canvas mm; light: (N, 3) factors"""
        px = self.places(frame, centres)
        signed = sample_canvas(weight, px)[..., 0]
        return Patch(
            lit(sample_canvas(canvas, px), light),
            sample_canvas(ground, px),
            np.maximum(signed, 0),
            np.abs(signed),
            CLIPPED * light.astype(np.float32),
        )

    def seen_at(
        self, frame: Frame, canvas: np.ndarray, centres: np.ndarray, light: np.ndarray
    ) -> np.ndarray:
        """(N, R, A, 3) colours at (N, 2) canvas mm in even light; light: (N, 3) factors"""
        return lit(sample_canvas(canvas, self.places(frame, centres)), light)

    def places(self, frame: Frame, centres: np.ndarray) -> np.ndarray:
        """(N, R, A, 2) pixels of the canvas"""
        # many times quicker than a short axis
        px = np.tile(frame.to_px(centres).astype(np.float32), self.cell.size)
        px += (self.offsets * np.float32(frame.scale)).ravel()
        return px.reshape(-1, *self.offsets.shape)

    def pixels(self, scale: float) -> np.ndarray:
        """(2, R A) float32, x and y: the offsets in pixels of a canvas"""
        if scale not in self.in_pixels:
            self.in_pixels[scale] = np.ascontiguousarray(
                (self.offsets * np.float32(scale)).reshape(-1, 2).T, np.float32
            )
        return self.in_pixels[scale]

    def resampled(self, looks: np.ndarray, other: Rings) -> np.ndarray:
        """(K, R, A, 3) looks on this grid, from those on a finer one"""
        r = (self.r / other.step - 0.5).clip(0, len(other.r) - 1)
        lo = np.floor(r).astype(int)
        hi = np.minimum(lo + 1, len(other.r) - 1)
        part = (r - lo)[None, :, None, None]
        rings = looks[:, lo] * (1 - part) + looks[:, hi] * part
        fold = other.angles // self.angles
        wide = (
            np.concatenate([rings[:, :, -(fold // 2) :], rings], 2)[:, :, : other.angles]
            if fold > 1
            else rings
        )
        return (
            wide.reshape(len(looks), len(self.r), self.angles, fold, 3).mean(3).astype(np.float32)
        )


class Patch(msgspec.Struct, frozen=True, eq=False):
    """What N places show: seen, ground (N, R, A, 3) in even light, weight (N, R, A): 1 / grey
    levels², 0 where something covers them; free: the weight they would have if nothing did; limit:
    (N, 3) how bright a camera can show anything there."""

    seen: np.ndarray
    ground: np.ndarray
    weight: np.ndarray
    free: np.ndarray
    limit: np.ndarray | None = None

    def of(self, rows: Sequence[int]) -> Patch:
        """Of these places"""
        limit = None if self.limit is None else self.limit[rows]
        return Patch(self.seen[rows], self.ground[rows], self.weight[rows], self.free[rows], limit)

    def burnt(self, most: np.ndarray) -> np.ndarray:
        """(N,) bool: places that show something as bright as the camera can, where looks whose
        brightest colour is `most` (3,) would be brighter"""
        if self.limit is None:
            return np.zeros(len(self.seen), bool)
        out = too_bright(most, self.limit).any(1)
        if out.any():
            out[out] = (self.seen[out] >= HARDLY * self.limit[out, None, None]).any((1, 2, 3))
        return out

    @property
    def uncovered(self) -> bool:
        """Whether nothing found covers any of it"""
        return bool(np.array_equal(self.weight, self.free))


ONES = np.ones((1, 3), np.float32)


def lit(colours: np.ndarray, light: np.ndarray) -> np.ndarray:
    """Colours (N, R, A, 3), changed in place, in the light that (N, 3) factors make"""
    # a short axis is slow
    colours *= np.tile(light.astype(np.float32), colours.size // light.size).reshape(colours.shape)
    return colours


def dot(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """(...) products of (..., 3) colours; many times quicker than a sum over so short an axis"""
    product = np.ascontiguousarray(a * b, np.float32)
    if not product.size:
        return np.zeros(product.shape[:-1], np.float32)
    return cv2.transform(product.reshape(-1, product.shape[-2], 3), ONES).reshape(
        product.shape[:-1]
    )


class Table:
    """Looks of K kinds, ready to be compared with patches in every turn at once."""

    def __init__(self, rings: Rings, looks: np.ndarray, areas: np.ndarray) -> None:
        """looks: (K, R, A, 3) float32; areas: (K, R, A) mm² that count"""
        self.rings, self.looks, self.areas = rings, looks, areas
        self.most = looks.max((0, 1, 2))
        # by how many steps of BRIGHTER nothing is brighter
        self.spectra: dict[tuple[int, ...], np.ndarray] = {}
        self.packed_spectra: dict[tuple[int, ...], np.ndarray] = {}
        self.rests: dict[tuple[int, ...], np.ndarray] = {}
        waves = np.fft.rfft(np.eye(rings.angles, dtype=np.float32), axis=1).astype(np.complex64)
        self.waves = waves.view(np.float32)  # (A, 2 F): real and imaginary in turn

    def gains(self, patch: Patch) -> tuple[np.ndarray, np.ndarray]:
        """(N, K) how much better each kind explains a patch than bare ground does, in its best
        turn, and (N, K) that turn.

        In mm² of squared, weighted grey levels, a mean over the colours. Where the picture is too
        bright for some looks, they are taken as the camera shows them."""
        n, r, a, _ = patch.seen.shape
        w = patch.weight / 3
        planes = np.empty((n, r, 5, a), np.float32)
        planes[:, :, 0] = w * dot(patch.ground, 2 * patch.seen - patch.ground)
        for c in range(3):
            np.multiply(w, patch.seen[..., c], out=planes[:, :, 1 + c])
        planes[:, :, 4] = w
        # a product is quicker than numpy's transforms
        f = (planes.reshape(-1, a) @ self.waves).view(np.complex64)
        f = np.ascontiguousarray(f.T).reshape(-1, n, 5 * r)
        burnt = patch.burnt(self.most)
        if burnt.any():
            like = np.empty((len(f), n, len(self.looks)), np.complex64)
            for key, which in self.lights(patch.limit, burnt):
                like[:, which] = f[:, which] @ self.no_brighter(key)
        else:
            like = f @ self.no_brighter(UNBURNT)
        gain = np.fft.irfft(np.ascontiguousarray(like.transpose(1, 2, 0)), a, axis=2)
        turn = gain.argmax(2)
        return np.take_along_axis(gain, turn[..., None], 2)[..., 0].astype(np.float32), turn

    @cached_property
    def bases(self) -> np.ndarray:
        """(2, F + 1, F) float32 cosines and sines that waves are made of"""
        f = self.rings.angles // 2
        turn = np.arange(f + 1)[:, None] * np.arange(f) * np.pi / f
        return np.stack([np.cos(turn), np.sin(turn)]).astype(np.float32)

    @cached_property
    def bounds(self) -> np.ndarray:
        """(K, R, 7) float32: the lowest and highest of each colour on each ring of a look, which
        says nothing (0, inf) where not all of the ring counts, and the most mm² that a point of it
        counts with"""
        most = self.areas.max(2)
        low, high = self.looks.min(2), self.looks.max(2)
        partly = self.areas.min(2) < 0.999 * self.rings.cell[:, 0]
        low[partly], high[partly] = 0, np.inf
        return np.ascontiguousarray(np.concatenate([low, high, most[..., None]], 2), np.float32)

    @cached_property
    def plain(self) -> bool:
        """Whether the looks are so plain that their colours alone tell where none of them lies"""
        low, high = self.bounds[..., :3], self.bounds[..., 3:6]
        whole = np.isfinite(high)
        return bool(whole.any() and (high - low)[whole].mean() < PLAIN)

    def lights(
        self, limit: np.ndarray, burnt: np.ndarray
    ) -> list[tuple[tuple[int, ...], np.ndarray]]:
        """Places grouped by what no_brighter() takes: (key, (M,) their numbers) each. limit: (N,
        3); burnt: (N,) bool"""
        if not burnt.any():
            return [(UNBURNT, np.arange(len(burnt)))]
        steps = np.zeros((len(burnt), 3), int)
        steps[burnt] = np.round(np.log(np.minimum(limit[burnt] / self.most, 1)) / BRIGHTER)
        keys = steps @ (DARKEST**2, DARKEST, 1)
        return [
            (tuple(steps[(keys == key).argmax()].tolist()), np.flatnonzero(keys == key))
            for key in np.unique(keys)
        ]

    def no_brighter(self, steps: tuple[int, ...]) -> np.ndarray:
        """The spectrum of the looks, none brighter than so many steps of BRIGHTER beyond the
        brightest"""
        if steps not in self.spectra:
            limit = self.most * np.exp(BRIGHTER * np.array(steps, np.float32))
            keep(self.spectra, steps, spectrum_of(np.minimum(self.looks, limit), self.areas))
        return self.spectra[steps]

    def packed(self, steps: tuple[int, ...] = UNBURNT) -> np.ndarray:
        """(K, F / 8, 5 R, 3, 8) float32: such a spectrum as vision/kernels/polar.h takes it, F half
        as many as angles: real parts, imaginary parts, and real parts again with the highest
        frequency's in the constant one's place"""
        if steps not in self.packed_spectra:
            limit = self.most * np.exp(BRIGHTER * np.array(steps, np.float32))
            some = spectrum_of(np.minimum(self.looks, limit), self.areas)  # (F + 1, R 5, K)
            f, r = len(some) - 1, len(self.rings.r)
            some = some.reshape(f + 1, r, 5, -1).transpose(3, 2, 1, 0).reshape(-1, 5 * r, f + 1)
            out = np.stack([some.real[..., :f], some.imag[..., :f], some.real[..., :f]], 2)
            out[:, :, 1, 0], out[:, :, 2, 0] = 0, some.real[..., f]
            out = out.reshape(-1, 5 * r, 3, f // 8, 8).transpose(0, 3, 1, 2, 4)
            keep(self.packed_spectra, steps, np.ascontiguousarray(out, np.float32))
        return self.packed_spectra[steps]

    def rest(self, steps: tuple[int, ...] = UNBURNT) -> np.ndarray:
        """(K, 5 R) float32: the root of what the frequencies from the eighth on make up of each row
        of such a spectrum"""
        if steps not in self.rests:
            keep(self.rests, steps, np.sqrt((self.packed(steps)[:, 1:, :, :2] ** 2).sum((1, 3, 4))))
        return self.rests[steps]

    def unlike(self, patch: Patch) -> np.ndarray:
        """(N, K) misfit with each look in its best turn, whatever the ground"""
        seen = Patch(patch.seen, np.zeros_like(patch.seen), patch.weight, patch.free)
        bare = (
            np.einsum("nra,nrac,kra->nk", patch.weight, patch.seen**2, self.areas, optimize=True)
            / 3
        )
        return bare - self.gains(seen)[0]


def keep(
    spectra: dict[tuple[int, ...], np.ndarray], steps: tuple[int, ...], spectrum: np.ndarray
) -> None:
    """Remembers a spectrum, and no more than LIGHTS of them"""
    if len(spectra) > LIGHTS:
        del spectra[next(k for k in spectra if any(k))]
    spectra[steps] = spectrum


def turned(patches: np.ndarray, steps: np.ndarray) -> np.ndarray:
    """(N, R, A, ...) patches rolled back by (N,) steps of angle: pieces turned so by `steps` then
    lie straight"""
    return every_turn(patches)[np.arange(len(patches)), -np.asarray(steps) % patches.shape[2]]


def spectrum_of(looks: np.ndarray, areas: np.ndarray) -> np.ndarray:
    """(F, 5 R, K) complex64: what the waves of patches are multiplied with to compare them with
    looks (K, R, A, 3) in every turn;
    areas: (K, R, A) mm² that count"""
    # (K, R, A, 5)
    planes = np.concatenate(
        [-areas[..., None], 2 * looks * areas[..., None], -((looks**2).sum(-1) * areas)[..., None]],
        -1,
    )
    f = np.conj(np.fft.rfft(planes, axis=2))  # (K, R, F, 5)
    return np.ascontiguousarray(f.transpose(2, 1, 3, 0).reshape(f.shape[2], -1, len(looks))).astype(
        np.complex64
    )


def every_turn(patches: np.ndarray) -> np.ndarray:
    """(K, A, R, A, ...) patches (K, R, A, ...) rolled on by each number of steps of angle, as a
    view that takes no room"""
    twice = np.concatenate([patches, patches], 2)
    k, r, a = patches.shape[:3]
    one, ring, step, *_ = twice.strides
    return np.lib.stride_tricks.as_strided(
        twice[:, :, a:],
        (k, a, r, *patches.shape[2:]),
        (one, -step, ring, *twice.strides[2:]),
        writeable=False,
    )


def slopes(rings: Rings, looks: np.ndarray) -> np.ndarray:
    """(K, R, A, 3, 3): how looks change per mm to the right, per mm down and per radian of turn"""
    dr = np.gradient(looks, rings.step, axis=1)
    da = (np.roll(looks, -1, 2) - np.roll(looks, 1, 2)) / (2 * (2 * np.pi / rings.angles))
    c, s, r = (
        np.cos(rings.a)[None, None, :, None],
        np.sin(rings.a)[None, None, :, None],
        rings.r[None, :, None, None],
    )
    return np.stack([c * dr - s / r * da, s * dr + c / r * da, da], -1).astype(np.float32)
