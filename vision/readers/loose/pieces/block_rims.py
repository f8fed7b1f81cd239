"""Whether a block's outline shows all around: a shadow or a sign has no sides of its own. Its
value: framed."""

from __future__ import annotations

import numpy as np

from vision.photometry.canvas import sample_canvas
from vision.readers.loose.scene.polar_patches import Form
from vision.readers.loose.scene.scene import Scene

POINTS = np.linspace(-0.8, 0.8, 9)  # of half a side: where it is looked at
ACROSS = np.arange(-1.25, 1.3, 0.25)  # mm outwards, at which
EDGE = 4  # of those that an edge is wide
OPEN = 0.5  # share of a side that must not be covered to be judged
HIDDEN = 0.3  # what is taken for the share that shows of an outline that is covered all around
LEVELS = 3.0  # grey levels that noise alone may differ by across an edge


def framed(
    form: Form, scene: Scene, at: np.ndarray, turn: np.ndarray, tone: np.ndarray
) -> np.ndarray:
    """(N,) 0..1: how much of the step in colour from the tops of N blocks to the ground beside them
    is seen along their sides, all along each and beyond what the ground shows there anyway; HIDDEN
    where all sides are covered.

    at: (N, 2) canvas mm; turn: (N,) radians; tone: (N, 3) colours of their tops"""
    px = scene.frame.to_px(across_sides(form, at, turn))  # (N, 4, P, O, 2)
    ground = sample_canvas(scene.ground, px)
    off = sample_canvas(scene.seen, px) * scene.light_at(at)[:, None, None, None] - ground
    clear = sample_canvas(scene.weight, px)[..., 0] > 0
    both = clear[..., EDGE:] & clear[..., :-EDGE]
    step = ((off[..., EDGE:, :] - off[..., :-EDGE, :]) * both[..., None]).sum(2)
    points = both.sum(2)
    seen = np.where(
        points >= OPEN * len(POINTS), np.linalg.norm(step, axis=-1) / np.maximum(points, 1), 0
    ).max(2)
    wanted = np.linalg.norm(ground[..., -1, :].mean(2) - tone[:, None], axis=-1)
    judged = (points.max(2) >= OPEN * len(POINTS)).sum(1)
    share = (seen / (wanted + LEVELS * np.sqrt(3))).clip(0, 1).sum(1) / np.maximum(judged, 1)
    return np.where(judged > 0, share, HIDDEN)


def across_sides(form: Form, at: np.ndarray, turn: np.ndarray) -> np.ndarray:
    """(N, 4, P, O, 2) canvas mm: O places on a line across each of P points of the four sides of N
    tops"""
    w, d = np.array(form.size) / 2
    one = np.ones_like(POINTS)
    if form.disc:
        a = np.arange(4)[:, None] * np.pi / 2 + POINTS * np.pi / 4
        out = np.stack([np.cos(a), np.sin(a)], -1)  # (4, P, 2)
        sides = w * out
    else:
        sides = np.stack(
            [
                np.stack(p, -1)
                for p in (
                    (w * one, POINTS * d),
                    (-w * one, POINTS * d),
                    (POINTS * w, d * one),
                    (POINTS * w, -d * one),
                )
            ]
        )
        out = np.repeat(np.array([[1, 0], [-1, 0], [0, 1], [0, -1.0]])[:, None], len(POINTS), 1)
    places = sides[:, :, None] + ACROSS[:, None] * out[:, :, None]
    c, s = np.cos(turn)[:, None, None, None], np.sin(turn)[:, None, None, None]
    x, y = places[..., 0], places[..., 1]
    return at[:, None, None, None] + np.stack([x * c - y * s, x * s + y * c], -1)
