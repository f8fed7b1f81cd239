"""Places to take colours from: windows made up or cut before, and pictures as a camera gives them,
addressed alike in mm.

Colours are compared as (brightness, blue, red): the mean of the logarithms of paint, and blue and
red against green.
"""

from __future__ import annotations

from functools import cached_property
from typing import Protocol

import cv2
import msgspec
import numpy as np

from vision.geometry.pose import Pose
from vision.geometry.site_windows import Pyramid, Windows, scale_at, spread_grid, window_products
from vision.kernels import Kernel
from vision.photometry.room_light import RoomLight, to_reference_logs, tone_table

OPPONENT = np.array([[1 / 3, 1 / 3, 1 / 3], [1, -1, 0], [0, -1, 1]], np.float32)
ROWS = 32000  # remap's coordinates are 16 bit


def to_opponent(logs: np.ndarray) -> np.ndarray:
    """(..., 3) B G R logarithms -> (brightness, blue, red)"""
    shape = logs.shape
    if not logs.size:
        return logs
    return cv2.transform(
        np.ascontiguousarray(logs, np.float32).reshape(-1, 1, 3), OPPONENT
    ).reshape(shape)


def from_opponent(colours: np.ndarray) -> np.ndarray:
    """The reverse of opponent"""
    return colours @ np.linalg.inv(OPPONENT).T.astype(np.float32)


class Field(Protocol):
    """Sites numbered from nought, each with its own mm: x right, y down, off the site's middle."""

    def sample(
        self,
        site: np.ndarray,
        middle: np.ndarray,
        turn: np.ndarray,
        grid: np.ndarray,
        size: np.ndarray | float = 1.0,
    ) -> np.ndarray:
        """(n, R, C, 3) opponent colours at the places of a grid (R, C, 2), made so many mm large
        (n,) and turned by (n,) radians (clockwise as seen), round middle (n, 2) mm of the sites
        (n,)"""


def rotation_matrices(turn: np.ndarray) -> np.ndarray:
    """(n, 2, 2) matrices that turn (x, y) by (n,) radians"""
    c, s = np.cos(turn), np.sin(turn)
    return np.stack([np.stack([c, -s], -1), np.stack([s, c], -1)], -2)


class WindowField(msgspec.Struct, frozen=True, eq=False):
    """Sites as windows (N, S, S, 3), opponent colours, `scale` pixels a mm."""

    windows: np.ndarray
    scale: float

    def sample(
        self,
        site: np.ndarray,
        middle: np.ndarray,
        turn: np.ndarray,
        grid: np.ndarray,
        size: np.ndarray | float = 1.0,
    ) -> np.ndarray:
        """As Field has it, from the windows"""
        n, side, channels = len(site), self.windows.shape[1], self.windows.shape[3]
        x, y = np.clip(
            spread_grid(
                middle * self.scale + (side / 2 - 0.5),
                rotation_matrices(turn) * self.scale,
                grid,
                size,
            ),
            0,
            side - 1.001,
        )
        tall = self.windows.reshape(-1, side, channels)
        out = np.empty((n, x.shape[1], channels), np.float32)
        step = max(ROWS // side, 1)
        for first in range(0, len(self.windows), step):
            mine = np.flatnonzero((site >= first) & (site < first + step))
            if len(mine):
                down = y[mine] + ((site[mine] - first) * side).astype(np.float32)[:, None]
                out[mine] = cv2.remap(
                    tall[first * side : (first + step) * side], x[mine], down, cv2.INTER_LINEAR
                )
        return out.reshape(n, *grid.shape[:2], channels)


_sample = Kernel("sample_picture", "Bnnflnffnnf")


def window_colours(
    windows: Windows,
    pyramid: Pyramid,
    pose: Pose,
    light: RoomLight,
    which: np.ndarray,
    height: float,
) -> np.ndarray:
    """(n, side, side, 3): these windows in the plane `height` mm above the board, opponent colours
    in the reference light"""
    n, gain = len(which), light.at(windows.centres[which])
    if not _sample or not n:
        return to_opponent(to_reference_logs(windows.cut(pyramid, pose, which, height), gain))
    picture, points = windows.exact(pyramid, pose, which, height)
    out = np.empty((n, windows.side, windows.side, 3), np.float32)
    _sample(
        picture,
        *picture.shape[:2],
        tone_table(gain),
        np.arange(n),
        n,
        points,
        windows.basis,
        *windows.basis.shape,
        out,
    )
    return out


class PictureField(msgspec.Struct, frozen=True, eq=False, dict=True):
    """Sites in a picture. picture: (h, w, 3) uint8, its pyramid's level `level`; centres: (N, 2)
    mm; plane: mm above the board; gain: (N, 3) the light there."""

    picture: np.ndarray
    level: int
    pose: Pose
    centres: np.ndarray
    plane: float
    gain: np.ndarray

    @classmethod
    def of(
        cls,
        pyramid: Pyramid,
        pose: Pose,
        light: RoomLight,
        centres: np.ndarray,
        plane: float,
        scale: float,
    ) -> PictureField:
        """scale: pixels a mm that are needed; the nearest level of the pyramid is taken"""
        native = scale_at(pose, centres[:8], plane) if len(centres) else scale
        level = max(round(np.log2(native / scale)), 0)
        return cls(pyramid.level(level), level, pose, centres, plane, light.at(centres))

    @cached_property
    def tones(self) -> np.ndarray:
        """(N, 256, 3) the logarithms of paint that grey levels show at each site"""
        return tone_table(self.gain)

    def sample(
        self,
        site: np.ndarray,
        middle: np.ndarray,
        turn: np.ndarray,
        grid: np.ndarray,
        size: np.ndarray | float = 1.0,
    ) -> np.ndarray:
        """As Field has it, from the picture itself"""
        if not len(site):
            return np.zeros((0, *grid.shape[:2], 3), np.float32)
        mm = self.centres[site] + middle
        three = self.pose.to_px(np.vstack([mm, mm + (1, 0), mm + (0, 1)]), self.plane)
        base, right, down = ((three + 0.5) / 2**self.level - 0.5).reshape(3, -1, 2)
        rows, places = window_products(
            base,
            np.matmul(np.stack([right - base, down - base], -1), rotation_matrices(turn)),
            grid,
            size,
        )
        if _sample and self.picture.flags.c_contiguous:
            out = np.empty((len(site), *grid.shape[:2], 3), np.float32)
            _sample(
                self.picture,
                *self.picture.shape[:2],
                self.tones,
                np.asarray(site, np.int64),
                len(site),
                rows,
                places,
                3,
                places.shape[1],
                out,
            )
            return out
        x, y = rows.transpose(1, 0, 2) @ places
        cut = cv2.remap(self.picture, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        return to_opponent(
            to_reference_logs(cut.reshape(len(mm), *grid.shape[:2], 3), self.gain[site])
        )
