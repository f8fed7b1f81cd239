"""Tiles and cards: the pieces that lie below the loose ones, nearly straight on their site. Finds
and names them."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import msgspec
import numpy as np

from vision.kernels import Kernel
from vision.photometry.canvas import Frame
from vision.photometry.room_light import CLIPPED, too_bright
from vision.readers.loose.scene.resampling import cut, in_pixels, is_canvas

LOOSE_MM, LOOSE_DEG = 5.0, 9.0  # how sloppily a card may lie on its site
NOISE = 10.0  # grey levels a good match is off by, print and light together
SHAKE = 0.25  # mm by which a card may still lie off after settling, or its print differ
AT_ONCE = 8  # cards worked on together: what they take stays near the processor
TINT = 1.12  # by which one card's light may be of another colour than that around it
CAP = 9.0  # squared misfit (in NOISE) above which a pixel shows something else
UPPER = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))  # rows and columns of a symmetric matrix
WHOLE = np.array([[0, 1, 2], [1, 3, 4], [2, 4, 5]])  # where each of its numbers is among those

_settle, _misfits = (
    Kernel("settle_cards", "Bnnldnfnfffffnxxxxx"),
    Kernel("misfit_cards", "Bnndnfnffnffxlf"),
)


class Sheet(msgspec.Struct, frozen=True, eq=False, dict=True):
    """How all base kinds of one size look: (K, h, w, 3) float32 in the empty board's light, `scale`
    pixels a mm."""

    size: tuple[float, float]
    height: float
    scale: float
    kinds: tuple[str, ...]
    looks: np.ndarray

    @cached_property
    def prints(self) -> dict[tuple[int, float], Any]:
        """What paint() of cluster_scene.py has made ready: number of the kind, pixels a mm of the
        canvas -> Print"""
        return {}

    def grid(self, step: int = 1) -> np.ndarray:
        """(h, w, 2) mm offsets from the middle, for every `step`-th pixel"""
        return grid_of(self.size, self.scale, step)


def grid_of(size: tuple[float, float], scale: float, step: int = 1) -> np.ndarray:
    """(h, w, 2) mm offsets from a rectangle's middle"""
    w, h = max(int(round(size[0] * scale)), 4), max(int(round(size[1] * scale)), 4)
    x = ((np.arange(w) + 0.5) / w - 0.5) * size[0]
    y = ((np.arange(h) + 0.5) / h - 0.5) * size[1]
    if step > 1:
        x, y = (
            x[: w // step * step].reshape(-1, step).mean(1),
            y[: h // step * step].reshape(-1, step).mean(1),
        )
    return np.stack(np.meshgrid(x, y), -1).astype(np.float32)


def planar(a: np.ndarray) -> np.ndarray:
    """(N, 3, h w) of (N, h, w, 3): arithmetic with one colour at a time is several times as
    quick"""
    # of no cards too
    return np.ascontiguousarray(a.reshape(len(a), math.prod(a.shape[1:-1]), 3).transpose(0, 2, 1))


def halved(a: np.ndarray, step: int) -> np.ndarray:
    """(N, h, w, c) averaged over step x step pixels"""
    n, h, w, c = a.shape
    h2, w2 = h // step, w // step
    return a[:, : h2 * step, : w2 * step].reshape(n, h2, step, w2, step, c).mean((2, 4))


class Level:
    """Looks (K, h, w, 3) of cards of one size, thinned to every `step`-th pixel, with what shifting
    and turning changes"""

    def __init__(
        self, looks: np.ndarray, size: tuple[float, float], scale: float, step: int = 1
    ) -> None:
        self.grid = grid_of(size, scale, step)
        self.looks = halved(looks, step) if step > 1 else looks
        k = len(looks)
        pitch = float(np.abs(self.grid[0, 1, 0] - self.grid[0, 0, 0]))
        gy, gx = np.gradient(self.looks, pitch, axis=(1, 2))
        gt = gy * self.grid[..., 0][None, ..., None] - gx * self.grid[..., 1][None, ..., None]
        edge = (gx**2 + gy**2).mean(-1) * SHAKE**2
        self.surety = (1 / (NOISE**2 + edge)).astype(np.float32)  # (K, h, w): 1 / grey levels²
        J = np.stack([gx, gy, gt], -1).astype(np.float32)  # (K, h, w, 3, 3)
        self.planes = planar(self.looks)
        # (K, 3 ways of 3 colours, h w)
        self.slopes = np.ascontiguousarray(J.transpose(0, 4, 3, 1, 2).reshape(k, 9, -1))
        # (K, 6, h w)
        self.squares = np.stack(
            [(J[..., i] * J[..., j]).sum(-1).reshape(k, -1) for i, j in UPPER], 1
        )

    def offsets(self, scale: float) -> np.ndarray:
        """(2, h w) float32: the grid in pixels of a canvas"""
        return np.ascontiguousarray((self.grid * np.float32(scale)).reshape(-1, 2).T)

    def misfits_at(
        self, canvas: np.ndarray, frame: Frame, pose: np.ndarray, light: np.ndarray
    ) -> np.ndarray:
        """misfits() of what a canvas shows at (N, 3) poses"""
        if not (_misfits and is_canvas(canvas)):
            return self.misfits(cut(canvas, frame, self.grid, pose, light), light)
        light = np.ascontiguousarray(light, np.float32)
        limit = np.float32(CLIPPED) * light
        limit[~too_bright(self.planes.max((0, 2)), limit).any(1)] = np.inf
        out = np.empty((len(pose), len(self.looks)), np.float32)
        _misfits(
            canvas,
            *canvas.shape[:2],
            in_pixels(frame, pose),
            len(pose),
            self.offsets(frame.scale),
            self.planes.shape[2],
            self.planes,
            self.surety,
            len(self.looks),
            light,
            limit,
            CAP,
            np.array([-1]),
            out,
        )
        return out

    def misfits(self, got: np.ndarray, light: np.ndarray) -> np.ndarray:
        """(N, K) how badly each kind explains (N, h, w, 3) patches in (N, 3) factors of light, a
        pixel's share held below CAP"""
        out = np.empty((len(got), len(self.looks)), np.float32)
        most = self.planes.max((0, 2))
        for i, one in enumerate(planar(got)):
            limit = (CLIPPED * light[i]).astype(np.float32)
            r = one - (
                np.minimum(self.planes, limit[:, None])
                if too_bright(most, limit).any()
                else self.planes
            )
            off = np.einsum("kcp,kcp->kp", r, r) * (self.surety / 3).reshape(len(r), -1)
            out[i] = np.minimum(off, CAP).mean(1)
        return out

    @cached_property
    def alike(self) -> np.ndarray:
        """(K, K) bool: kinds of which one seen as it was learnt would hardly speak against the
        other"""
        return self.misfits(self.looks, np.full((len(self.looks), 3), np.inf)) < 0.5 * CAP

    @cached_property
    def unlike(self) -> np.ndarray:
        """Numbers of kinds none of which is like another, one for each of all"""
        out: list[int] = []
        for k, like in enumerate(self.alike):
            if not like[out].any():
                out.append(k)
        return np.array(out)

    def settle(
        self,
        canvas: np.ndarray,
        frame: Frame,
        kinds: np.ndarray,
        pose: np.ndarray,
        rounds: int,
        light: np.ndarray | None = None,
        reach: float = LOOSE_MM,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Shifts and turns (N, 3) poses until the canvas shows look kinds[n] there; what covers it
        is outlier.

        Returns poses and (N, 3) factors of light left over."""
        if light is None:
            light = np.ones_like(pose)
        if _settle and is_canvas(canvas):
            px, gain, scale = in_pixels(frame, pose), np.ones(pose.shape, np.float32), frame.scale
            _settle(
                canvas,
                *canvas.shape[:2],
                np.ascontiguousarray(kinds),
                px,
                len(px),
                self.offsets(scale),
                self.planes.shape[2],
                self.planes,
                self.slopes,
                self.squares,
                np.ascontiguousarray(light, np.float32),
                gain,
                rounds,
                scale,
                reach * scale,
                np.radians(LOOSE_DEG),
                NOISE,
                TINT,
            )
            return np.column_stack([frame.to_mm(px[:, :2]), px[:, 2]]), gain
        parts = [slice(i, i + AT_ONCE) for i in range(0, len(pose), AT_ONCE)]
        done = [
            self.settle_few(canvas, frame, kinds[p], pose[p].astype(float), rounds, light[p], reach)
            for p in parts
        ]
        if not done:
            return pose.astype(float), np.ones(pose.shape, np.float32)
        return np.concatenate([p for p, _ in done]), np.concatenate([g for _, g in done])

    def settle_few(
        self,
        canvas: np.ndarray,
        frame: Frame,
        kinds: np.ndarray,
        pose: np.ndarray,
        rounds: int,
        light: np.ndarray,
        reach: float,
    ) -> tuple[np.ndarray, np.ndarray]:
        """settle() for no more than the processor has at hand at once"""
        start = pose
        n = len(pose)
        looks, slopes, squares = self.planes[kinds], self.slopes[kinds], self.squares[kinds]
        gain = np.ones((n, 3), np.float32)
        whole, limit = looks, CLIPPED * light[..., None].astype(np.float32)
        most = whole.max((0, 2))[:, None]
        for i in range(rounds):
            # the print as a camera shows it that sees nothing brighter
            if too_bright(most, limit).any():
                looks = np.minimum(whole, limit * gain[..., None])
            got = planar(cut(canvas, frame, self.grid, pose)) * light[..., None].astype(np.float32)
            tau = NOISE * (3.0 if i < rounds / 2 else 2.0)
            for _ in range(2 if i == 0 else 1):
                r = got * gain[..., None] - looks
                w = 1 / (1 + np.einsum("ncp,ncp->np", r, r) / (3 * tau**2)) ** 2
                wg = w[:, None] * got
                gain = plausible(
                    np.einsum("ncp,ncp->nc", wg, looks) / (np.einsum("ncp,ncp->nc", wg, got) + 1)
                )
            r = got * gain[..., None] - looks
            A = (squares @ w[..., None])[:, WHOLE, 0]
            b = slopes.reshape(n, 3, -1) @ (w[:, None] * r).reshape(n, -1, 1)
            A = A + np.eye(3) * (1e-3 * A + 1e-3)
            d = -np.linalg.solve(A, b)[..., 0]
            d = d.clip((-1.5, -1.5, -0.05), (1.5, 1.5, 0.05))
            c, s = np.cos(pose[:, 2]), np.sin(pose[:, 2])
            pose = pose + np.stack(
                [c * d[:, 0] - s * d[:, 1], s * d[:, 0] + c * d[:, 1], d[:, 2]], -1
            )
            turn = np.radians(LOOSE_DEG)
            pose = start + (pose - start).clip((-reach, -reach, -turn), (reach, reach, turn))
        return pose, gain


def plausible(
    gain: np.ndarray, tones: tuple[float, float] = (0.7, 1.4), tint: float = TINT
) -> np.ndarray:
    """(N, 3) factors of light that one card may need: brighter or darker, but hardly of another
    colour: that makes stone of sand"""
    tone = np.exp(np.log(gain.clip(0.2, 5)).mean(1, keepdims=True))
    return (tone.clip(*tones) * (gain / tone).clip(1 / tint, tint)).astype(np.float32)
