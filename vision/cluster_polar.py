"""Loose pieces of one size, seen from above in polar patches: a turn is then a shift, and all turns cost one FFT."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from vision.cluster_canvas import Frame, sample

ANGLES = 64
SCORE_NOISE = 12.0      # grey levels by which a piece's look may differ from the learned one


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
        return self.inner if self.disc else float(np.hypot(*self.size) / 2)

    @property
    def area(self) -> float:
        """mm²"""
        return float(np.pi * self.inner ** 2) if self.disc else float(np.prod(self.size))

    def inside(self, xy: np.ndarray, more: float = 0.0) -> np.ndarray:
        """how many mm (..., 2) offsets lie inside the outline grown by `more`, negative outside"""
        if self.disc:
            return self.inner + more - np.linalg.norm(xy, axis=-1)
        return np.minimum(self.size[0] / 2 + more - np.abs(xy[..., 0]), self.size[1] / 2 + more - np.abs(xy[..., 1]))

    def outline(self, at: np.ndarray, turn: float) -> np.ndarray:
        """(n, 2) mm: the outline at a place"""
        if self.disc:
            a = np.linspace(0, 2 * np.pi, 24, endpoint=False)
            return at + self.inner * np.stack([np.cos(a), np.sin(a)], -1)
        w, d = self.size[0] / 2, self.size[1] / 2
        c, s = np.cos(turn), np.sin(turn)
        box = np.array([[-w, -d], [w, -d], [w, d], [-w, d]])
        return at + box @ np.array([[c, s], [-s, c]])


class Rings:
    """The polar grid of a form: (R, A, 2) mm offsets and (R, A) areas in mm² of what lies inside the outline."""

    def __init__(self, form: Form, scale: float, grow: float = 1.0, angles: int = ANGLES, pitch: float = 1.25) -> None:
        self.form, self.angles = form, angles
        n = max(int(np.ceil(form.outer * scale / pitch)), 3)
        dr = form.outer / n
        r = (np.arange(n) + 0.5) * dr
        a = np.arange(angles) * 2 * np.pi / angles
        self.offsets = np.stack([r[:, None] * np.cos(a), r[:, None] * np.sin(a)], -1).astype(np.float32)
        soft = (form.inside(self.offsets) / dr + 0.5).clip(0, 1)
        self.area = (soft * (r[:, None] * dr * 2 * np.pi / angles)).astype(np.float32)
        self.grow = grow

    def px(self, frame: Frame, centres: np.ndarray) -> np.ndarray:
        """(N, R, A, 2) canvas pixels around (N, 2) mm"""
        step = self.offsets * np.float32(frame.scale * self.grow)
        return frame.to_px(centres).astype(np.float32)[:, None, None, :] + step


class Patch(msgspec.Struct, frozen=True, eq=False):
    """What N places show: seen, ground (N, R, A, 3) in even light, weight (N, R, A): 1 / grey levels²."""

    seen: np.ndarray
    ground: np.ndarray
    weight: np.ndarray


def look_at(rings: Rings, frame: Frame, canvas: np.ndarray, ground: np.ndarray, weight: np.ndarray,
            centres: np.ndarray, light: np.ndarray) -> Patch:
    """Patches at (N, 2) mm; light: (N, 3) factors"""
    px = rings.px(frame, centres)
    seen = sample(canvas, px) * light[:, None, None, :].astype(np.float32)
    return Patch(seen, sample(ground, px), sample(weight, px)[..., 0])


class Looks:
    """Templates of K kinds of a form, ready to be compared in every turn at once."""

    def __init__(self, rings: Rings, kinds: Sequence[str], looks: np.ndarray) -> None:
        """looks: (K, R, A, 3) float32"""
        self.rings, self.kinds, self.looks = rings, tuple(kinds), looks
        m = rings.area[None]
        k = len(kinds)
        planes = np.concatenate([np.broadcast_to(m, (k, *m.shape[1:]))[..., None], -2 * looks * m[..., None],
                                 ((looks ** 2).sum(-1) * m)[..., None]], -1)          # (K, R, A, 5)
        f = np.fft.rfft(planes, axis=2)                                                # (K, R, F, 5)
        self.spectrum = np.ascontiguousarray(np.conj(f).transpose(2, 1, 3, 0).reshape(f.shape[2], -1, k)).astype(np.complex64)
        self.mask = np.ascontiguousarray(np.conj(np.fft.rfft(m[0], axis=1)).T).astype(np.complex64)     # (F, R)

    def compare(self, patch: Patch) -> tuple[np.ndarray, np.ndarray]:
        """(N, K, A) misfits with each kind in each turn and (N, A) or (N, 1) with the bare ground, both in mm² of
        squared, weighted grey levels (a mean over the colours)."""
        n, r, a, _ = patch.seen.shape
        w = patch.weight / 3
        planes = np.empty((n, r, a, 5), np.float32)
        planes[..., 0] = w * (patch.seen ** 2).sum(-1)
        planes[..., 1:4] = w[..., None] * patch.seen
        planes[..., 4] = w
        f = np.fft.rfft(planes, axis=2).astype(np.complex64)
        f = f.transpose(2, 0, 1, 3).reshape(f.shape[2], n, -1)
        cost = np.fft.irfft((f @ self.spectrum).transpose(1, 2, 0), a, axis=2).astype(np.float32)
        bare = w * ((patch.seen - patch.ground) ** 2).sum(-1)
        if self.rings.form.disc:
            none = (bare * self.rings.area).sum((1, 2))[:, None]
        else:
            g = np.fft.rfft(bare, axis=2).astype(np.complex64)
            none = np.fft.irfft(np.einsum("nrf,fr->nf", g, self.mask), a, axis=1).astype(np.float32)
        return cost, none


def turned(looks: np.ndarray, steps: np.ndarray) -> np.ndarray:
    """(N, R, A, 3) patches rolled back by (N,) steps of angle, so that they lie as the look they were compared with"""
    n, r, a, c = looks.shape
    index = (np.arange(a)[None, :] + steps[:, None]) % a
    return np.take_along_axis(looks, index[:, None, :, None], 2)
