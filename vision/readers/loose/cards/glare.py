"""Lamps and windows mirrored by varnished cards: light added to their print, grey and smooth over a
card. It is told by the print and taken off the picture. Its values: Veil, taken_off, veiled_as,
veiled_unlike."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec
import numpy as np

from vision.photometry.room_light import CLIPPED
from vision.readers.loose.cards.card_level import CAP, TINT, Level, plausible
from vision.readers.loose.cards.hypotheses import Tries, ill_fitting
from vision.readers.loose.scene.resampling import cut
from vision.readers.loose.scene.scene import Scene

# grey levels of a picture are about this root of light: what a lamp adds, it adds to light
GAMMA = 2.2
# grey levels from which a pixel shows something else than a veiled print
NARROW = 30.0, 20.0, 14.0, 14.0
DARK = 12.0  # grey levels below which noise is as large in light as there
# of all pixels' weight: how firmly a card's light is held to that of the room, and a veil to
# nothing:
SWAY = 0.05
STIFF = 0.1, 0.3, 0.3, 0.3, 0.3, 0.3  # each term of it
TONES = 0.5, 2.0  # times as much light as around that may fall on a card
LEAST = 0.1  # of white, which a veil adds somewhere at least
CLEARER = 0.88  # of a card's misfit, that a veil must leave at most
THIN = 2  # every second pixel of a coarse card is enough to tell it
BESIDE = 1.0  # mm around a card from which it is taken off too


class Veil(msgspec.Struct, frozen=True, eq=False):
    """terms: (6,) of a quadratic over a card, of white; pose: (3,) where it lies; half: (2,) mm,
    half its size"""

    terms: np.ndarray
    pose: np.ndarray
    half: np.ndarray

    def off(self, scene: Scene) -> None:
        """Takes it off what a scene shows"""
        reach = self.half + BESIDE
        c, s = np.cos(self.pose[2]), np.sin(self.pose[2])
        corners = (
            np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)]) * reach @ np.array([[c, s], [-s, c]])
            + self.pose[:2]
        )
        px = scene.frame.to_px(corners)
        lo = np.floor(px.min(0)).astype(int).clip(0)
        hi = np.minimum(np.ceil(px.max(0)).astype(int) + 1, scene.seen.shape[1::-1])
        if (hi <= lo).any():
            return
        mm = (
            scene.frame.to_mm(np.stack(np.meshgrid(*map(np.arange, lo, hi)), -1).reshape(-1, 2))
            - self.pose[:2]
        )
        inner = mm @ np.array([[c, -s], [s, c]])
        there = scene.seen[lo[1] : hi[1], lo[0] : hi[0], :3]
        on = (np.abs(inner) < reach).all(1).reshape(there.shape[:2])
        more = (quadratic(inner / self.half) @ self.terms).clip(0).reshape(there.shape[:2])
        there[on] = (
            levels(lit(there[on].astype(np.float32)) - more[on][:, None]).round().astype(np.uint8)
        )


def taken_off(scene: Scene, veils: Iterable[Veil]) -> None:
    """Takes veils off a scene"""
    for veil in veils:
        veil.off(scene)
    scene.softened.clear()


def lit(grey: np.ndarray) -> np.ndarray:
    """Light, of white, of grey levels"""
    return (grey.clip(0) / 255) ** GAMMA


def levels(light: np.ndarray) -> np.ndarray:
    """The reverse"""
    return 255 * light.clip(0, 1) ** (1 / GAMMA)


def quadratic(at: np.ndarray) -> np.ndarray:
    """(..., 6) of (..., 2) places, -1 to 1"""
    x, y = at[..., 0], at[..., 1]
    return np.stack([np.ones_like(x), x, y, x * y, x * x - 1 / 3, y * y - 1 / 3], -1)


def fitted(
    grid: np.ndarray, seen: np.ndarray, looks: np.ndarray, surety: np.ndarray, light: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Veils (M, 6) that make (M, h, w, 3) prints, of (M, h, w) surety, look most like what a
    picture shows, (M, h, w, 3), in about (M, 3) factors of light; and (M,) misfits left, and
    without any veil"""
    m = len(seen)
    basis = quadratic(grid / half_of(grid)).reshape(-1, 6).astype(np.float32)
    products = (basis[:, :, None] * basis[:, None]).reshape(len(basis), 36)
    own, prints = (
        np.ascontiguousarray(a.reshape(m, -1, 3).transpose(0, 2, 1), np.float32)
        for a in (seen, looks)
    )
    paper, bright = lit(prints), lit(own)
    room = ((1 / light.clip(0.05)) ** GAMMA).astype(np.float32)
    even = (np.maximum(own, DARK) ** (2 - 2 * GAMMA) * (own < CLIPPED)).astype(np.float32)
    held = SWAY * np.concatenate(
        [np.tile((paper**2).mean((1, 2))[:, None], 3), np.tile(STIFF, (m, 1))], 1
    )
    misfits = []
    for n in (3, 9):  # its light in each colour; the veil too
        gain, veil = room, np.zeros((m, 6), np.float32)
        for narrow in NARROW:
            off = own - levels(gain[..., None] * paper + added(basis, veil))
            w = even / (1 + (off * off).sum(1, keepdims=True) / (3 * narrow**2)) ** 2
            wp, prior = w * paper, held * w.sum((1, 2))[:, None]
            A, b = np.zeros((m, 9, 9)), np.zeros((m, 9))
            A[:, :3, :3] = (wp * paper).sum(2)[:, :, None] * np.eye(3)
            b[:, :3] = (wp * bright).sum(2) + prior[:, :3] * room
            if n > 3:
                A[:, 3:, 3:] = (w.sum(1) @ products).reshape(m, 6, 6)
                A[:, :3, 3:] = wp @ basis
                A[:, 3:, :3] = A[:, :3, 3:].transpose(0, 2, 1)
                b[:, 3:] = (w * bright).sum(1) @ basis
            A += prior[:, :, None] * np.eye(9)
            gain = room * plausible(
                np.linalg.solve(A[:, :n, :n], b[:, :n, None])[:, :3, 0] / room, TONES, TINT**GAMMA
            )
            if n > 3:  # what the light may not be is the veil's
                rest = (w * (bright - gain[..., None] * paper)).sum(1) @ basis
                veil = np.linalg.solve(A[:, 3:, 3:], rest[..., None])[..., 0].astype(np.float32)
        clear = levels(bright - added(basis, veil)) * (gain ** (-1 / GAMMA))[..., None] - prints
        misfits.append(np.minimum((clear * clear).sum(1) * surety.reshape(m, -1) / 3, CAP).mean(1))
    return veil, misfits[1], misfits[0]


def added(basis: np.ndarray, veil: np.ndarray) -> np.ndarray:
    """(M, 1, P) light that (M, 6) veils add"""
    return (veil @ basis.T).clip(0)[:, None]


def half_of(grid: np.ndarray) -> np.ndarray:
    """(2,) mm: half a card's size, less half a pixel"""
    return np.abs(grid).max((0, 1))


def most_of(grid: np.ndarray, terms: np.ndarray) -> np.ndarray:
    """(M,) light that (M, 6) veils add where they add most"""
    return (terms @ quadratic(grid / half_of(grid)).reshape(-1, 6).T).max(1)


def veiled_as(scene: Scene, level: Level, tries: Tries, light: np.ndarray) -> dict[int, Veil]:
    """Number of a card -> what veils it, of those that as no kind fit well in (N, 3) light"""
    rows = ill_fitting(scene, level, tries, light)
    if not len(rows):
        return {}
    kinds = level.unlike
    grid, few = level.grid[::THIN, ::THIN], np.s_[:, ::THIN, ::THIN]
    pose = tries.poses[rows, tries.misfit[rows].argmin(1)]
    seen = np.repeat(cut(scene.seen, scene.frame, grid, pose), len(kinds), 0)
    looks, surety = (
        np.tile(a[kinds][few], (len(rows), *[1] * (a.ndim - 1)))
        for a in (level.looks, level.surety)
    )
    terms, left, without = fitted(grid, seen, looks, surety, np.repeat(light[rows], len(kinds), 0))
    best = left.reshape(len(rows), -1).argmin(1) + np.arange(len(rows)) * len(kinds)
    plain = (most_of(grid, terms[best]) > LEAST) & (
        left[best] < CLEARER * without.reshape(len(rows), -1).min(1)
    )
    return {
        int(rows[i]): Veil(terms[best[i]], pose[i], half_of(grid)) for i in np.flatnonzero(plain)
    }


def veiled_unlike(
    grid: np.ndarray,
    seen: np.ndarray,
    looks: np.ndarray,
    surety: np.ndarray,
    light: np.ndarray,
    kinds: Sequence[str],
) -> dict[int, np.ndarray]:
    """Number of a card -> the (6,) terms of what veils it, as most other photographed cards of its
    kind say, and the one that is most like it. seen: (N, h, w, 3) as photographed; looks: in the
    same light; surety: (N, h, w); light: (N, 3)"""
    pairs = np.array(
        [(i, j) for i, a in enumerate(kinds) for j, b in enumerate(kinds) if a == b and i != j]
    ).reshape(-1, 2)
    if not len(pairs):
        return {}
    i, j = pairs.T
    terms, left, _ = fitted(grid, seen[i], looks[j], surety[j], light[i])
    most, out = most_of(grid, terms), {}
    for n in np.unique(i):
        mine = np.flatnonzero(i == n)
        best = mine[left[mine].argmin()]
        if min(np.median(most[mine]), most[best]) > LEAST:
            out[int(n)] = terms[best]
    return out
