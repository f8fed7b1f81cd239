"""What things that stand hide of the windows round their neighbours' sites."""

from __future__ import annotations

import cv2
import numpy as np

from vision.readers.standing.lean_geometry import (
    Frame,
    across_of,
)
from vision.readers.standing.shape_model import (
    Outlines,
)


def hidden(
    frame: Frame,
    looks: Outlines,
    centres: np.ndarray,
    along: np.ndarray,
    lean: np.ndarray,
    sites: np.ndarray,
    kinds: np.ndarray,
    feet: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Two of (N, V, U) bool: what of the windows round centres (N, 2) is hidden by something before
    them, and what shows something behind them. sites, kinds, feet: (m,), (m,), (m, 2) of what
    stands there"""
    across = across_of(along)
    before, behind = np.zeros((2, len(centres), *frame.shape), bool)
    bins = looks.nearest(lean)
    reach = frame.front + frame.wide
    for j, kind, foot in zip(sites, kinds, feet):
        solid = looks.solid(kind, bins[j])
        off = foot - centres
        u, v = (off * across).sum(1), (off * along).sum(1)
        for i in np.flatnonzero(
            (np.abs(u) < reach) & (np.abs(v) < reach) & (np.arange(len(off)) != j)
        ):
            turn = float(turned_from(along[i], along[j]))
            there = placed(solid, frame, (u[i], v[i]), turn) > 0.5
            (before if lean[j] < lean[i] else behind)[i] |= there
    return before, behind


def turned_from(along: np.ndarray, other: np.ndarray) -> np.ndarray:
    """(...) degrees that unit vectors `other` (..., 2) are turned from `along` (2,)"""
    return np.degrees(np.arctan2(-(other @ across_of(along)), other @ along))


def placed(
    picture: np.ndarray, frame: Frame, at: tuple[float, float], turn: float = 0.0, zoom: float = 1.0
) -> np.ndarray:
    """A window's picture (V, U, ...) with its foot elsewhere in it, mm across and along, turned by
    degrees"""
    return cv2.warpAffine(picture, placing(frame, at, turn, zoom), frame.shape[::-1])


def placing(frame: Frame, at: tuple[float, float], turn: float, zoom: float) -> np.ndarray:
    """(2, 3) what warpAffine needs for that"""
    a = np.radians(turn)
    c, s = np.cos(a) * zoom, np.sin(a) * zoom
    foot = np.array([frame.wide, frame.back]) * frame.scale - 0.5
    m = np.array([[c, -s], [s, c]])
    return np.column_stack([m, foot + np.array(at) * frame.scale - m @ foot])
