"""Cards that look the same but for a small sign: told by what little shows of it beside the pieces.
Its value: Signs."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from vision.kernels import Kernel
from vision.photometry.canvas import Frame, sample_canvas
from vision.photometry.room_light import CLIPPED
from vision.readers.loose.cards.card_level import CAP, NOISE, grid_of, planar
from vision.readers.loose.scene.polar_patches import Form, dot
from vision.readers.loose.scene.resampling import is_canvas

TELLS = 0.4  # of the most by which prints differ anywhere: where they do so they tell cards apart
OFF = 0.5  # mm by which a card may lie otherwise than it is thought to
SHIFTS = np.array([[0, 0], [1, 0], [-1, 0], [0, 1], [0, -1], [1, 1], [1, -1], [-1, 1], [-1, -1]])
EDGE = 1.0  # mm within a card's edge: what shows there may be the neighbour's
BESIDE = 1.2  # mm around a piece that may show it: its blur, its side
DIM = (1.0, 0.85, 0.7, 0.55)  # of its light that is left in a piece's shadow
KEPT = 40  # sets of kinds of which it is kept where they differ
SHADOW = 4.0  # what it costs to say so, times how dark
_misfits = Kernel("misfit_signs", "Bnnfndnffnfnxiinfnxxf")
SIDES = (1.1, 0.95, 0.8, 0.65, 0.5, 0.35)  # how bright a piece's sides may be, of its top's colours


class Cover(msgspec.Struct, frozen=True, eq=False):
    """A piece that hides a part of a card. at, foot: (2,) mm of its top as seen and of where it
    stands; colour: (3,) that most of its top has, None for a figure, which shows its sides"""

    form: Form
    at: np.ndarray
    foot: np.ndarray
    turn: float
    colour: np.ndarray | None

    def inside(self, mm: np.ndarray, grown: float = 0.0, steps: int = 1) -> np.ndarray:
        """(...) bool: which (..., 2) canvas mm its top hides, or with more steps its sides down to
        where it stands too"""
        c, s = np.cos(self.turn), np.sin(self.turn)
        R, way = np.array([[c, -s], [s, c]]), np.subtract(self.foot, self.at)
        flat = mm.reshape(-1, 2) - self.at
        reach = self.form.outer + 1.5 * grown + (np.hypot(*way) if steps > 1 else 0.0)
        near = np.flatnonzero((np.abs(flat[:, 0]) < reach) & (np.abs(flat[:, 1]) < reach))
        out = np.zeros(len(flat), bool)
        if len(near):
            at = flat[near] @ R
            down = np.linspace(0, 1, steps)[:, None, None] * (way @ R)
            out[near] = (self.form.inside(at - down, grown) > 0).any(0)
        return out.reshape(mm.shape[:-1])


class Signs:
    """Prints (K, h, w, 3) of cards of one size, to be told apart by where they differ"""

    def __init__(self, prints: np.ndarray, size: tuple[float, float], scale: float) -> None:
        self.prints, self.grid, self.size = prints, grid_of(size, scale), size
        self.pixel = float(np.prod(size)) / np.prod(self.grid.shape[:2])
        self.kept: dict[bytes, tuple[np.ndarray, np.ndarray]] = {}

    def told_by(self, kinds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Where (n,) kinds of a card differ: (M, 2) mm from its middle, and (n, M, 3) what they
        look like there; kept, as the same kinds are in question again and again"""
        key = kinds.tobytes()
        if key not in self.kept:
            prints = self.prints[kinds]
            inner = (np.abs(self.grid) < np.array(self.size) / 2 - EDGE).all(-1)
            differ = np.sqrt(((prints.max(0) - prints.min(0)) ** 2).mean(-1)) * inner
            where = differ > max(TELLS * differ.max(), NOISE)
            if len(self.kept) >= KEPT:
                self.kept.clear()
            self.kept[key] = self.grid[where], prints[:, where]
        return self.kept[key]

    def misfits(
        self,
        canvas: np.ndarray,
        frame: Frame,
        kinds: np.ndarray,
        pose: np.ndarray,
        light: np.ndarray,
        covers: Sequence[Cover],
    ) -> np.ndarray:
        """(n,) mm² of misfit of (n,) kinds of a card at (3,) pose, in (3,) factors of light, where
        they differ and it shows.

        Beside a piece's top its sides may show, or not where it is stepped: what has the piece's
        colours there tells nothing."""
        grid, looks = self.told_by(kinds)
        c, s = np.cos(pose[2]), np.sin(pose[2])
        mm = grid @ np.array([[c, s], [-s, c]]) + pose[:2]
        reach = np.hypot(*self.size) / 2
        away = (
            np.abs(np.array([(p.at, p.foot) for p in covers]).reshape(-1, 2, 2) - pose[:2])
            .max(2)
            .min(1)
        )
        near = [p for p, d in zip(covers, away) if d < reach + p.form.outer]
        open_ = np.ones(len(mm), bool)
        for p in near:
            open_ &= ~(p.inside(mm) if p.colour is not None else p.inside(mm, BESIDE, 8))
        looks, mm = np.minimum(looks[:, open_], CLIPPED * light.astype(np.float32)), mm[open_]
        if not len(mm):
            return np.zeros(len(kinds))
        beside = [
            (which, p.colour * np.array(SIDES)[:, None])
            for p in near
            if p.colour is not None and len(which := np.flatnonzero(p.inside(mm, BESIDE, 8)))
        ]
        if _misfits and is_canvas(canvas):
            return self.quick(canvas, frame, looks, mm, light, beside)
        square = dot(looks, looks)
        out = np.full(len(kinds), np.inf)
        for shift in SHIFTS * OFF:
            seen = sample_canvas(canvas, frame.to_px(mm + shift)) * light.astype(np.float32)
            most = np.full(len(seen), CAP, np.float32)
            for which, tones in beside:
                most[which] = np.minimum(most[which], unlike(seen[which, None], tones).min(1))
            own, both = dot(seen[None], seen[None]), dot(looks, np.broadcast_to(seen, looks.shape))
            for dim in DIM:
                most = np.minimum(
                    most,
                    (own - dim * (2 * both - dim * square)) / (3 * NOISE**2) + (1 - dim) * SHADOW,
                )
            out = np.minimum(out, most.sum(1) * self.pixel)
        return out

    def quick(
        self,
        canvas: np.ndarray,
        frame: Frame,
        looks: np.ndarray,
        mm: np.ndarray,
        light: np.ndarray,
        beside: Sequence[tuple[np.ndarray, np.ndarray]],
    ) -> np.ndarray:
        """misfits() by the kernel. looks: (n, M, 3) at (M, 2) canvas mm; beside: which of these
        show a piece's (T, 3) tones perhaps"""
        spots = np.concatenate([which for which, _ in beside]) if beside else np.zeros(0)
        whose = np.repeat(np.arange(len(beside)), [len(which) for which, _ in beside])
        tones = np.array([tones for _, tones in beside], np.float32).reshape(-1, 3)
        out = np.empty(len(looks), np.float32)
        _misfits(
            canvas,
            *canvas.shape[:2],
            frame.to_px(mm).astype(np.float32),
            len(mm),
            SHIFTS * (OFF * frame.scale),
            len(SHIFTS),
            light.astype(np.float32),
            planar(looks),
            len(looks),
            np.array(DIM, np.float32),
            len(DIM),
            SHADOW,
            spots.astype(np.int32),
            whose.astype(np.int32),
            len(spots),
            tones,
            len(SIDES),
            CAP,
            1 / (3 * NOISE**2),
            out,
        )
        return out * self.pixel


def unlike(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """(...) squares of how far colours (..., 3) are off each other, in NOISE"""
    off = a - b
    return np.einsum("...c,...c->...", off, off) / (3 * NOISE**2)
