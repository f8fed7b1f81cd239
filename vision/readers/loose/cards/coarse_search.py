"""Cards roughly: where each of many looks fits best near the place of a site. Its value: Rough."""

from __future__ import annotations

from copy import copy

import cv2
import numpy as np

from vision.kernels import Kernel
from vision.photometry.canvas import Frame
from vision.photometry.room_light import CLIPPED
from vision.readers.loose.scene.polar_patches import dot
from vision.readers.loose.scene.resampling import cut, in_pixels, is_canvas

ASKEW = (-np.radians(5.0), 0.0, np.radians(5.0))  # radians by which cards are tried turned
REACH = 2  # pixels to either side that the kernel looks at
_search = Kernel("search_cards", "Bnndndnfnnfnfn" + "Blf")


class Rough:
    """Looks (K, h, w, 3) of cards of one size, `pitch` mm a pixel: roughly where each of them fits
    best"""

    def __init__(self, looks: np.ndarray, size: tuple[float, float], pitch: float = 1.8) -> None:
        self.size, self.pitch, self.reach = size, pitch, int(round(4.0 / pitch))
        w, h = self.pixels = tuple(int(round(s / pitch)) for s in size)
        self.small = np.stack(
            [cv2.resize(k, (w, h), interpolation=cv2.INTER_AREA) for k in looks]
        ).reshape(len(looks), -1)
        x = (np.arange(-self.reach, w + self.reach) + 0.5 - w / 2) * size[0] / w
        y = (np.arange(-self.reach, h + self.reach) + 0.5 - h / 2) * size[1] / h
        self.grid = np.stack(np.meshgrid(x, y), -1).astype(np.float32)
        self.planes = np.ascontiguousarray(
            self.small.reshape(-1, h * w, 3).transpose(0, 2, 1), np.float32
        )
        self.shifts = np.array(
            [(i, j) for i in range(2 * self.reach + 1) for j in range(2 * self.reach + 1)]
        )

    def only(self, some: np.ndarray) -> Rough:
        """The same of some looks"""
        out = copy(self)
        out.small, out.planes = self.small[some], self.planes[some]
        return out

    def blur(self, frame: Frame) -> int:
        """Pixels over which a canvas is to be averaged before it is searched"""
        return max(int(self.pitch * frame.scale), 1)

    def far(self, frame: Frame) -> float:
        """Pixels from a card's middle within which search() looks at a canvas"""
        return float(np.abs(self.grid).sum(-1).max()) * frame.scale + 1

    def search(
        self,
        blurred: np.ndarray,
        frame: Frame,
        centre: np.ndarray,
        light: np.ndarray,
        among: np.ndarray | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """(N, K, 3) poses near (N, 3) ones at which each look fits best, and its (N, K) mean
        squared misfits there. blurred: a canvas, averaged over blur() pixels; light: (N, 3)
        factors; among: (N, K) bool, only the one of these that fits best is asked for, which is
        quicker; misfits of others may be infinite, and their poses are then worth nothing"""
        found = self.quick if _search and is_canvas(blurred) and self.reach == REACH else self.plain
        best, cost = found(blurred, frame, centre, light, among)
        t, q = np.divmod(best, len(self.shifts))
        off = (self.shifts[:, ::-1] - self.reach) * (np.array(self.size) / self.pixels)
        pose = np.repeat(centre[:, None, :], len(self.small), 1)
        pose[..., 2] += np.array(ASKEW)[t]
        c, s = np.cos(pose[..., 2]), np.sin(pose[..., 2])
        pose[..., 0] += c * off[q, 0] - s * off[q, 1]
        pose[..., 1] += s * off[q, 0] + c * off[q, 1]
        return pose, cost

    def quick(
        self,
        blurred: np.ndarray,
        frame: Frame,
        centre: np.ndarray,
        light: np.ndarray,
        among: np.ndarray | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """(N, K) which turn and shift fits best, and the misfits, by the kernel"""
        n, (w, h) = len(centre), self.pixels
        best, cost = (
            np.empty((n, len(self.small)), np.int64),
            np.empty((n, len(self.small)), np.float32),
        )
        grid = np.ascontiguousarray((self.grid * np.float32(frame.scale)).reshape(-1, 2).T)
        _search(
            blurred,
            *blurred.shape[:2],
            in_pixels(frame, centre),
            n,
            np.array(ASKEW),
            len(ASKEW),
            grid,
            w,
            h,
            self.planes,
            len(self.planes),
            np.ascontiguousarray(light, np.float32),
            among is not None,
            None if among is None else np.ascontiguousarray(among).view(np.uint8),
            best,
            cost,
        )
        return best, cost

    def plain(
        self,
        blurred: np.ndarray,
        frame: Frame,
        centre: np.ndarray,
        light: np.ndarray,
        among: np.ndarray | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """The same by numpy"""
        n, (w, h), small, shifts = len(centre), self.pixels, self.small, self.shifts
        squares, burnt = (small * small).sum(1), clipped_parts(small, light, (h, w))
        cost = np.empty((n, len(ASKEW), len(shifts), len(small)), np.float32)
        for t, turn in enumerate(ASKEW):
            got = cut(blurred, frame, self.grid, centre + (0, 0, turn), light)
            own, twice = dot(got, got), np.ascontiguousarray(-2 * small.T)
            for q, (i, j) in enumerate(shifts):
                cost[:, t, q] = got[:, i : i + h, j : j + w].reshape(n, -1) @ twice
                cost[:, t, q] += own[:, i : i + h, j : j + w].sum((1, 2))[:, None] + squares
            for b, (y, x, colour), over, less in burnt:
                cost[b, t] += got[b, shifts[:, :1] + y, shifts[:, 1:] + x, colour] @ over - less
        flat = cost.reshape(n, -1, len(small)) / small.shape[1]
        best = flat.argmin(1)
        least = np.take_along_axis(flat, best[:, None], 1)[:, 0]
        return best, least if among is None else np.where(among, least, np.inf)


def clipped_parts(
    small: np.ndarray, light: np.ndarray, size: tuple[int, int]
) -> list[tuple[int, tuple[np.ndarray, ...], np.ndarray, np.ndarray]]:
    """Where looks (K, h w 3) are brighter than a camera shows in (N, 3) lights. Per card that has
    such places: its number, their (M,) rows, columns and colours, and what mends squared misfits:
    (M, K) to weigh what is seen there with, and (K,) to take away"""
    out = []
    for b, limit in enumerate(np.tile(CLIPPED * light, small.shape[1] // 3).astype(np.float32)):
        where = np.flatnonzero((small > limit).any(0))
        if len(where):
            looks, shown = small[:, where], np.minimum(small[:, where], limit[where])
            out.append(
                (
                    b,
                    np.unravel_index(where, (*size, 3)),
                    2 * (looks - shown).T,
                    (looks**2 - shown**2).sum(1),
                )
            )
    return out
