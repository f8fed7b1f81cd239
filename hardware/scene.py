"""What a simulated camera films, as plain data: things on a table, the camera's position and the
light.

Millimetres on the board: x right, y down, z up from the board's plane; (0, 0) is the board's upper
left corner.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import cv2
import numpy as np
from numpy.typing import ArrayLike

Tier = Mapping[str, Any]
"""{"z": [bottom, top], "outline": [[x, y], ...], "disc": bool, "side": "#rrggbb", "top": [drawing
primitive, ...]}"""


@dataclass(frozen=True)
class Thing:
    """A piece lying at `at` (its middle, mm), turned clockwise by `turn` degrees, its underside at
    height z.

    look: the name of its look in the scene's `looks`.
    """

    look: str
    at: tuple[float, float]
    turn: float = 0.0
    z: float = 0.0


@dataclass(frozen=True)
class Scene:
    """A table with a board on it. Two scenes with the same `base` differ only in `over`.

    size: (width, height) of the board, mm; board: its print as drawing primitives, [] if it has
    none. looks: name -> tiers; things: pieces; over: what is held above or put on the table for a
    moment: hands, cups. cards: (x, y, turn) of the middle of the four marker cards with ids 0 to 3;
    () without. table: "wood", "cloth" or "plain", tinted and varied by `seed`; paper, grain: how
    mottled the print of the board and of the pieces is: 0 not at all, 1 like good print, 5 like a
    painting.
    """

    size: tuple[float, float]
    board: Sequence[Mapping[str, Any]]
    looks: Mapping[str, Sequence[Tier]]
    things: tuple[Thing, ...] = ()
    over: tuple[Thing, ...] = ()
    cards: tuple[tuple[float, float, float], ...] = ()
    table: str = "wood"
    tint: str = "#8a6248"
    paper: float = 0.5
    grain: float = 0.0
    seed: int = 0


CARD = 36.0  # mm, the side of a marker's black square
CARD_GAP = 8.0  # mm from the board's corner to the square's nearest corner, in x and in y


def card_places(size: Sequence[float]) -> list[tuple[float, float]]:
    """The middle of each marker's square: ids 0 to 3 at the corners (0, 0) (w, 0) (w, h) (0, h)."""
    w, h = size
    out = CARD_GAP + CARD / 2
    return [(-out, -out), (w + out, -out), (w + out, h + out), (-out, h + out)]


@dataclass(frozen=True)
class Light:
    """lamp: (x, y, z) mm, relative to the board's middle; size: the lamp's width, mm: the wider,
    the softer its shadows.

    warmth: 0 neutral, 1 candlelight, -1 blue daylight; shadow: how dark shadows are, 0 to 1; gloss:
    strength of the lamp's reflection on the board, 0 to 1.
    """

    lamp: tuple[float, float, float] = (-350.0, -500.0, 900.0)
    size: float = 160.0
    ambient: float = 0.55
    exposure: float = 1.0
    warmth: float = 0.0
    shadow: float = 0.45
    gloss: float = 0.12
    falloff: float = 0.6


_keys = iter(range(1 << 62))


@dataclass(frozen=True, eq=False)
class View:
    """A camera: K (3, 3), dist (n,) as OpenCV has them; rvec, tvec from board to camera (its z
    points into the table)."""

    K: np.ndarray
    dist: np.ndarray
    rvec: np.ndarray
    tvec: np.ndarray
    size: tuple[int, int] = (1640, 1232)
    vignette: float = 0.25
    blur: float = 0.7
    noise: float = 2.0
    key: int = field(default_factory=lambda: next(_keys))

    def to_px(self, points: ArrayLike, height: float | np.ndarray = 0.0) -> np.ndarray:
        """(N, 2) board mm at a height -> (N, 2) pixels"""
        flat = np.asarray(points, float).reshape(-1, 2)
        z = np.broadcast_to(-np.asarray(height, float), (len(flat),))
        xyz = np.column_stack([flat, z])
        return cv2.projectPoints(xyz, self.rvec, self.tvec, self.K, self.dist)[0].reshape(-1, 2)

    @property
    def eye(self) -> np.ndarray:
        """(3,) the camera's position: board mm, z up"""
        p = -cv2.Rodrigues(self.rvec)[0].T @ self.tvec.ravel()
        return np.array([p[0], p[1], -p[2]])

    def moved(self, turn: ArrayLike, shift: ArrayLike) -> View:
        """The same camera after a knock: turned by (rx, ry, rz) degrees about itself, shifted by
        (x, y, z) mm."""
        R = cv2.Rodrigues(np.radians(np.asarray(turn, float)))[0]
        rvec = cv2.Rodrigues(R @ cv2.Rodrigues(self.rvec)[0])[0].ravel()
        return View(
            self.K,
            self.dist,
            rvec,
            R @ self.tvec + np.asarray(shift, float),
            self.size,
            self.vignette,
            self.blur,
            self.noise,
        )


def look_down(
    size: Sequence[float],
    resolution: tuple[int, int] = (1640, 1232),
    tilt: float = 8.0,
    azimuth: float = 90.0,
    turn: float = 0.0,
    fill: float = 0.8,
    field_of_view: float = 62.0,
    k1: float = 0.0,
    margin: float = 0.0,
    vignette: float = 0.25,
    blur: float = 0.7,
    noise: float = 2.0,
) -> View:
    """A camera whose picture shows a board of `size` mm and `margin` mm around it.

    tilt: degrees off the vertical; azimuth: from which side, 0 from the right, 90 from the lower
    edge; turn: the rotation of the picture, 180 for a camera on the opposite side; fill: the share
    of the picture that board and margin take up.
    """
    w, h = size
    focal = resolution[0] / 2 / math.tan(math.radians(field_of_view / 2))
    K = np.array([[focal, 0, resolution[0] / 2], [0, focal, resolution[1] / 2], [0, 0, 1.0]])
    dist = np.array([k1, 0.0, 0.0, 0.0, 0.0])
    t, a = math.radians(tilt), math.radians(azimuth)
    away = np.array([math.sin(t) * math.cos(a), math.sin(t) * math.sin(a), -math.cos(t)])
    down = -away
    right = np.array([math.cos(math.radians(turn)), math.sin(math.radians(turn)), 0.0])
    right -= down * (right @ down)
    right /= np.linalg.norm(right)
    R = np.stack([right, np.cross(down, right), down])
    corners = np.array(
        [[-margin, -margin], [w + margin, -margin], [w + margin, h + margin], [-margin, h + margin]]
    )
    aim = np.array([w / 2, h / 2, 0.0])
    half = np.array(resolution) / 2
    for _ in range(6):
        low, high = 50.0, 20000.0
        for _ in range(30):
            distance = (low + high) / 2
            tvec = -R @ (aim + away * distance)
            view = View(
                K, dist, cv2.Rodrigues(R)[0].ravel(), tvec, resolution, vignette, blur, noise
            )
            p = view.to_px(corners)
            behind = (np.column_stack([corners, np.zeros(4)]) @ R.T + tvec)[:, 2].min() < 10
            low, high = (
                (distance, high)
                if behind or (np.ptp(p, axis=0) / 2 / half).max() > fill
                else (low, distance)
            )
        # The middle of what is shown is moved to the middle of the picture.
        off = ((p.min(0) + p.max(0)) / 2 - half) * distance / focal
        aim = aim + off[0] * right + off[1] * np.cross(down, right)
        aim[2] = 0.0
    return view
