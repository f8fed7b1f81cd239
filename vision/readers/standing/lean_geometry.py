"""Things that stand on the board and lean away from the camera: where each height of them is seen.
Its values: Seat, Sheet, Form."""

from __future__ import annotations

from functools import cached_property

import cv2
import msgspec
import numpy as np

from vision.geometry.coarse_grid import grid_nodes, node_maps
from vision.geometry.pose import Pose
from vision.geometry.site_windows import Pyramid, scale_at
from vision.photometry.colour_sampling import to_opponent
from vision.photometry.room_light import DARK, RoomLight, light_basis

FINE = 48  # pixels along a site of a window
SLICES = 24  # heights at which the form of a thing is known
FINER = 2  # times as fine as that things are looked at close up
MESH = 12  # pixels between places of a sheet that are worked out exactly
EDGE, FAINT = 0.3, 0.05  # how edges count beside colours; the log units a pixel of a faint one
NEAR = 1.0  # mm from the point below the camera within which nothing leans any way


class Seat(msgspec.Struct, frozen=True, eq=False):
    """Where the camera is: nadir (2,) mm, the place of the board's plane below it; height: mm above
    the board."""

    nadir: np.ndarray
    height: float

    @classmethod
    def of(cls, pose: Pose) -> Seat:
        place = -cv2.Rodrigues(pose.rvec)[0].T @ np.asarray(pose.tvec, float).ravel()
        return cls(place[:2], float(-place[2]))

    def leaning(self, feet: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """((n, 2) unit vectors: the way things at feet (n, 2) mm lean; (n,) how far, mm a mm of
        height near the board)"""
        off = feet - self.nadir
        far = np.linalg.norm(off, axis=1)
        along = np.where(far[:, None] > NEAR, off / np.maximum(far, NEAR)[:, None], (0.0, 1.0))
        return along, far / self.height


def across_of(along: np.ndarray) -> np.ndarray:
    """(..., 2) unit vectors a quarter turn from `along`"""
    return np.stack([along[..., 1], -along[..., 0]], -1)


class Sheet(msgspec.Struct, frozen=True, dict=True, eq=False):
    """The board and a margin as a picture seen from above. origin: (2,) mm of its upper left;
    scale: pixels a mm; shape: (h, w)."""

    origin: np.ndarray
    scale: float
    shape: tuple[int, int]

    @classmethod
    def of(cls, low: np.ndarray, high: np.ndarray, scale: float) -> Sheet:
        """What shows the rectangle from low (2,) to high (2,) mm"""
        w, h = np.ceil((high - low) * scale).astype(int)
        return cls(low, scale, (int(h), int(w)))

    @cached_property
    def close(self) -> Sheet:
        """The same with pixels FINER times as fine"""
        return Sheet(
            self.origin, self.scale * FINER, (self.shape[0] * FINER, self.shape[1] * FINER)
        )

    def px(self, mm: np.ndarray) -> np.ndarray:
        """(..., 2) pixels of (..., 2) mm"""
        return (mm - self.origin) * self.scale - 0.5

    @cached_property
    def _mesh(self) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray]]:
        """Board mm (h', w', 2) of the places worked out, and remap's coordinates among them"""
        return (grid_nodes(self.shape, MESH) + 0.5) / self.scale + self.origin, node_maps(
            self.shape, MESH
        )

    def see(self, pyramid: Pyramid, pose: Pose, light: RoomLight) -> np.ndarray:
        """(h, w, 3) float32: opponent colours in the reference light"""
        mm, fine = self._mesh
        flat = mm.reshape(-1, 2)
        level = max(int(np.log2(max(scale_at(pose, flat[::17]) / self.scale, 1.0)) + 0.25), 0)
        places = ((pose.to_px(flat) + 0.5) / 2**level - 0.5).reshape(mm.shape).astype(np.float32)
        lit = (
            (light_basis(np.clip(flat, 0, light.size), light.size) @ light.weights)
            .reshape(*mm.shape[:2], 3)
            .astype(np.float32)
        )
        at = cv2.remap(places, *fine, cv2.INTER_LINEAR)
        seen = cv2.remap(
            pyramid.level(level), at, None, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
        ).astype(np.float32)
        return to_opponent(
            np.log(seen * np.exp(-cv2.remap(lit, *fine, cv2.INTER_LINEAR)) + np.float32(DARK))
        )


def with_edges(colours: np.ndarray) -> np.ndarray:
    """(h, w, 4) of opponent colours (h, w, 3): with how steeply the brightness changes, whichever
    way, strong edges held down"""
    bright = np.ascontiguousarray(colours[..., 0])
    steep = cv2.magnitude(
        *(cv2.Sobel(bright, cv2.CV_32F, *way, ksize=3, scale=0.125) for way in ((1, 0), (0, 1)))
    )
    return np.dstack([colours, EDGE * np.log1p(steep / FAINT)])


def coarse(close: np.ndarray) -> np.ndarray:
    """(V, U, 4) a picture's colours (FINER V, FINER U, 3) with fewer pixels, and edges"""
    v, u = close.shape[:2]
    return with_edges(
        cv2.resize(
            np.ascontiguousarray(close, np.float32),
            (u // FINER, v // FINER),
            interpolation=cv2.INTER_AREA,
        )
    )


class Frame(msgspec.Struct, frozen=True, eq=False):
    """A window for something that stands and leans down the window. wide: mm on both sides of the
    foot; back: mm behind it;
    front: mm before it, the way things lean; scale: pixels a mm;
    finer: so many of them make one of the coarse frame's."""

    wide: float
    back: float
    front: float
    scale: float
    finer: int = 1

    @property
    def shape(self) -> tuple[int, int]:
        return tuple(
            self.finer * round(mm * self.scale / self.finer)
            for mm in (self.back + self.front, 2 * self.wide)
        )

    @property
    def close(self) -> Frame:
        """The same with pixels FINER times as fine"""
        return Frame(self.wide, self.back, self.front, self.scale * FINER, FINER)

    @property
    def ticks(self) -> tuple[np.ndarray, np.ndarray]:
        """(U,) mm across and (V,) mm along, off the foot, at which its pixels lie"""
        v, u = self.shape
        return (np.arange(u) + 0.5) / self.scale - self.wide, (
            np.arange(v) + 0.5
        ) / self.scale - self.back

    @property
    def places(self) -> tuple[np.ndarray, np.ndarray]:
        """Two of (V, U) mm: across and along, off the foot"""
        return np.meshgrid(*self.ticks)

    def cut(
        self, sheet: Sheet, view: np.ndarray, feet: np.ndarray, along: np.ndarray
    ) -> np.ndarray:
        """(n, V, U, ...) of a sheet's view, round feet (n, 2) mm, where things lean along (n, 2)"""
        x, y = (a[..., None] for a in self.places)
        out = np.empty((len(feet), *self.shape, *view.shape[2:]), view.dtype)
        # all places at once would fill the memory
        for one, foot, way, across in zip(out, feet, along, across_of(along)):
            at = sheet.px(foot + across * x + way * y).astype(np.float32)
            one[:] = cv2.remap(
                view, at, None, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
            ).reshape(one.shape)
        return out


def rises(height: float, lean: float, above: float) -> tuple[np.ndarray, np.ndarray]:
    """Of the slices of something of that height: two of (SLICES,): mm off its foot at which each is
    seen, and how much larger than on the board. above: mm that the camera is above the board."""
    z = (np.arange(SLICES) + 0.5) / SLICES * height
    larger = 1 / np.maximum(1 - z / above, 0.1)
    return lean * z * larger, larger


def needed(
    frame: Frame,
    height: float,
    lean: float,
    above: float,
    foot: np.ndarray | tuple[float, float] = (0.0, 0.0),
) -> np.ndarray:
    """(SLICES, V, U) float32: the radius that each slice would need to be seen at each place of a
    window; foot: mm across and along off the window's"""
    x, y = (a - at for a, at in zip(frame.ticks, foot))
    off, larger = rises(height, lean, above)
    across, down = (
        np.square(x / larger[:, None]).astype(np.float32),
        np.square((y - off[:, None]) / larger[:, None]).astype(np.float32),
    )
    far = down[:, :, None] + across[:, None]
    return np.sqrt(far, out=far)


def uppermost(need: np.ndarray, radii: np.ndarray) -> np.ndarray:
    """(V, U) int: the slice seen at each place, -1 where none is; slices (S, V, U) need, and have
    these radii (S,)"""
    there = need <= radii[:, None, None]
    return np.where(there.any(0), len(radii) - 1 - there[::-1].argmax(0), -1)
