"""Lays pieces of a sampler in their own middle: the edges around them are their outline. Its
values: outlined, rimmed, middled."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from calibration.readers.loose.locate_samples import Found
from vision.photometry.canvas import Frame
from vision.readers.loose.pieces.blocks import is_block
from vision.readers.loose.pieces.outline_slopes import across, sides_of, slopes_of
from vision.readers.loose.scene.polar_patches import Form
from vision.readers.loose.scene.resampling import cut
from vision.readers.loose.scene.scene import Scene

PIXEL = 0.25  # mm of the pictures in which edges are looked at
NET = np.arange(-1.75, 1.8, 0.35)  # mm by which a piece may have been learnt off its middle
WIDE = np.arange(-2.8, 2.9, 0.35)  # where only shapes told so far
TURNS = np.radians(np.arange(-45, 45, 4.5))
CLEAR = 0.75  # of how clear the rims of a form's pieces usually are, below which one tells nothing
SLIGHT = 0.05  # of the logarithm of steepness that a mm further off must gain
FAR = 0.4  # grey levels a pixel that edges must be steeper to be believed a mm further off


def outlined(
    found: Sequence[Found], shots: Sequence[int], scenes: Sequence[Scene], frame: Frame
) -> None:
    """Shifts and turns each block until the edges around its top are its outline: shadows and sides
    mislead by shape alone.
    shots: per group its photo"""
    for f in (f for f in found if is_block(f.form)):
        turns, shifts = tries(f.form, WIDE)
        put(
            f,
            *best_of(
                f.form,
                steepness(f.form, f, scenes[shots[f.group]], frame, turns, shifts),
                turns,
                shifts,
            ),
        )


def rimmed(
    found: Sequence[Found], shots: Sequence[int], scenes: Sequence[Scene], frame: Frame
) -> None:
    """Shifts each flat disc until there are edges all along its rim: a shadow on one side misleads
    by shape alone. One that hardly stands out from what it lies on stays where it is. shots: per
    group its photo"""
    for form in {f.form for f in found if f.form.disc and not is_block(f.form)}:
        mine = [f for f in found if f.form == form]
        told = [rim_of(f, scenes[shots[f.group]], frame) for f in mine]
        clear = CLEAR * float(np.median([edge for _, edge in told]))
        for f, (by, edge) in zip(mine, told):
            if edge > clear:
                f.at = f.at + by


def rim_of(f: Found, scene: Scene, frame: Frame) -> tuple[np.ndarray, float]:
    """(2,) mm by which a disc lies off, and how clear edges are there all along its rim"""
    shifts = tries(f.form, WIDE)[1]
    n = int(np.ceil((f.form.inner + np.abs(WIDE).max() * 1.5) / PIXEL)) + 2
    x = np.arange(-n, n + 1) * PIXEL
    grid, pose = np.stack(np.meshgrid(x, x), -1).astype(np.float32), np.array([[*f.at, 0.0]])
    at, out = (v.reshape(-1, 2) for v in sides_of(f.form))
    places = (shifts[:, None] + at) / PIXEL + n
    steep = []
    for view in (
        cut(scene.seen, frame, grid, pose, scene.light_at(f.at[None]))[0],
        cut(scene.ground, frame, grid, pose)[0],
    ):
        steep.append(across(slopes_of(view), places, out))
    # all along rather than strong on one side
    edge = np.log1p((steep[0] - steep[1]).clip(0)).mean(1)
    best = int((edge - SLIGHT * np.linalg.norm(shifts, axis=1)).argmax())
    return shifts[best], float(edge[best])


def middled(
    found: Sequence[Found], shots: Sequence[int], scenes: Sequence[Scene], frame: Frame
) -> None:
    """The same with blocks of a kind that lie alike already: first all alike, then each by itself
    near there"""
    for form in {f.form for f in found if is_block(f.form)}:
        turns, shifts = tries(form, NET)
        for kind in {f.kind for f in found if f.form == form}:
            mine = [f for f in found if f.form == form and f.kind == kind]
            edges = [steepness(form, f, scenes[shots[f.group]], frame, turns, shifts) for f in mine]
            common = best_of(form, np.mean(edges, 0), turns, shifts)
            for f, own in zip(mine, edges):
                put(f, *best_of(form, own, turns, shifts, common))


def tries(form: Form, net: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(T,) radians and (N, 2) mm to try"""
    return np.zeros(1) if form.disc else TURNS, np.stack(np.meshgrid(net, net), -1).reshape(-1, 2)


def put(f: Found, by: np.ndarray, turn: float) -> None:
    """Moves a piece found by `by` (2,) mm of its own axes and turns it by `turn` radians."""
    f.at, f.turn = f.at + turned(by, f.turn), f.turn + turn


def turned(by: np.ndarray, turn: float) -> np.ndarray:
    """A vector (2,) turned by `turn` radians."""
    c, s = np.cos(turn), np.sin(turn)
    return np.array([c * by[0] - s * by[1], s * by[0] + c * by[1]])


def steepness(
    form: Form, f: Found, scene: Scene, frame: Frame, turns: np.ndarray, shifts: np.ndarray
) -> np.ndarray:
    """(T, N, S): how steep edges are along each side of an outline that would lie there instead,
    turned and shifted"""
    n = int(np.ceil((form.outer + np.abs(shifts).max() * 1.5) / PIXEL)) + 2
    x = np.arange(-n, n + 1) * PIXEL
    view = cut(
        scene.seen,
        frame,
        np.stack(np.meshgrid(x, x), -1).astype(np.float32),
        np.array([[*f.at, f.turn]]),
        scene.light_at(f.at[None]),
    )[0]
    c, s = np.cos(turns), np.sin(turns)
    # (T, 2, 2), for rows of points
    turn = np.stack([np.stack([c, s], -1), np.stack([-s, c], -1)], 1)
    at, out = (np.einsum("spi,tij->tspj", v, turn) for v in sides_of(form))
    places = (at[:, None] + shifts[None, :, None, None]) / PIXEL + n  # (T, N, S, P, 2)
    return across(slopes_of(view), places, out[:, None]).mean(-1)


def best_of(
    form: Form,
    edges: np.ndarray,
    turns: np.ndarray,
    shifts: np.ndarray,
    near: tuple[np.ndarray, float] = (np.zeros(2), 0.0),
) -> tuple[np.ndarray, float]:
    """((2,) mm, radians) where (T, N, S) edges are steepest on all sides, for a side face has two
    of them too; `near` rather than far"""
    away = (
        np.linalg.norm(shifts - near[0], axis=1)[None]
        + form.inner * np.abs(turns - near[1])[:, None]
    )
    score = np.exp(np.log(np.maximum(edges, 0.1)).mean(-1)) - FAR * away
    t, i = np.unravel_index(score.argmax(), score.shape)
    return shifts[i], float(turns[t])
