"""Lays pieces of a sampler in their own middle: the edges that all pieces of a kind have in common are their outline."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np

from vision.cluster_base import cut
from vision.cluster_canvas import Frame
from vision.cluster_learn import Found
from vision.cluster_polar import Form
from vision.cluster_scene import Scene

PIXEL = 0.25            # mm
REACH = 1.75            # mm by which a kind may have been learnt off its middle, at most
TURNS = np.radians(np.arange(-45, 45, 3.0))
STEEP = 12.0            # grey levels a step beyond which an edge does not count for more
FAR = 0.4               # grey levels a step that edges must be steeper to be believed a mm further off


def middled(found: Sequence[Found], shots: Sequence[int], scenes: Sequence[Scene], frame: Frame) -> None:
    """Shifts and turns pieces until the edges around them are their outline: those of a kind all alike, as they lie alike
    already, then each by itself. shots: per group its photo"""
    for form in {f.form for f in found}:
        for kind in {f.kind for f in found if f.form == form}:
            mine = [f for f in found if f.form == form and f.kind == kind]
            for some in [mine, *([f] for f in mine)]:
                by, turn = off_middle(form, some, shots, scenes, frame)
                for f in some:
                    c, s = np.cos(f.turn + turn), np.sin(f.turn + turn)
                    f.at = f.at + (c * by[0] - s * by[1], s * by[0] + c * by[1])
                    f.turn += turn


def off_middle(form: Form, mine: Sequence[Found], shots: Sequence[int], scenes: Sequence[Scene], frame: Frame
               ) -> tuple[np.ndarray, float]:
    """((2,) mm in the turned frame, radians) from where pieces were taken to lie, all alike, to where they do"""
    reach = int(REACH / PIXEL)
    n = int(np.ceil((max(form.size) / 2 + REACH) / PIXEL)) + 2
    x = np.arange(-n, n + 1) * PIXEL
    grid = np.stack(np.meshgrid(x, x), -1).astype(np.float32)
    inner = slice(n - reach, n + reach + 1)
    away = np.hypot(*np.meshgrid(x[inner], x[inner]))
    best, by, turn = -np.inf, np.zeros(2), 0.0
    for a in [0.0] if form.disc else TURNS:
        across, down = steepness(mine, a, grid, shots, scenes, frame)
        score = on_outline(form, grid, across, down)[inner, inner] - FAR * (away + form.inner * abs(a))
        i = int(score.argmax())
        if score.flat[i] > best:
            y, x_ = divmod(i, score.shape[1])
            best, by, turn = float(score.flat[i]), np.array([x_ - reach, y - reach]) * PIXEL, float(a)
    return by, turn


def steepness(mine: Sequence[Found], turn: float, grid: np.ndarray, shots: Sequence[int], scenes: Sequence[Scene], frame: Frame
              ) -> tuple[np.ndarray, np.ndarray]:
    """(n, n) twice: how steep edges are on average, across and down, of pieces laid straight but for `turn`"""
    views = []
    for f in mine:
        scene = scenes[shots[f.group]]
        views.append(cut(scene.seen, frame, grid, np.array([[*f.at, f.turn + turn]]), scene.light_at(f.at[None]))[0])
    out = []
    for dx in (1, 0):
        edges = [np.abs(cv2.Scharr(v, cv2.CV_32F, dx, 1 - dx, scale=1 / 32)).max(-1) for v in views]
        out.append(np.mean(np.minimum(edges, STEEP), 0).astype(np.float32))
    return out[0], out[1]


def on_outline(form: Form, grid: np.ndarray, across: np.ndarray, down: np.ndarray) -> np.ndarray:
    """(n, n): how steep edges are along the outline of a form that would lie around each pixel"""
    if form.disc:
        kernel = (np.abs(form.inside(grid)) < PIXEL / 2).astype(np.float32)
        return cv2.filter2D(np.hypot(across, down), cv2.CV_32F, kernel / kernel.sum(), borderType=cv2.BORDER_REPLICATE)
    x, y, w, d = grid[..., 0], grid[..., 1], form.size[0] / 2, form.size[1] / 2
    out = np.zeros_like(across)
    for edges, off, along in ((across, x - w, y / d), (across, x + w, y / d), (down, y - d, x / w), (down, y + d, x / w)):
        kernel = ((np.abs(off) < PIXEL / 2) & (np.abs(along) < 0.85)).astype(np.float32)
        side = cv2.filter2D(edges, cv2.CV_32F, kernel / kernel.sum(), borderType=cv2.BORDER_REPLICATE)
        out += np.log(np.maximum(side, 0.1)) / 4        # all four must be there: a side face has two of them too
    return np.exp(out)
