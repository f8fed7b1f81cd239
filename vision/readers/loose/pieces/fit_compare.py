"""Looks held against what a scene shows at many places: the kernel of polar patches, and numpy's
way to the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import cv2
import numpy as np

from vision.kernels import Kernel
from vision.photometry.room_light import CLIPPED, too_bright
from vision.readers.loose.scene.polar_patches import UNBURNT, Patch, Rings, Table
from vision.readers.loose.scene.resampling import is_canvas, is_whole
from vision.readers.loose.scene.scene import Scene

if TYPE_CHECKING:
    from vision.readers.loose.pieces.fit import Fine

ANYTHING = np.array([-1])
SCENE = "BBffnnnn"
_compare = Kernel("compare_polar", SCENE + "dnfnnffnff" + "lflB")
_best = Kernel("best_polar", SCENE + "dnfnnffnff" + "fffxln" + "fllB")
_judge = Kernel("judge_polar", SCENE + "dnfnnffn" + "llBn" + "fff")
_slide = Kernel("slide_polar", SCENE + "dnfnnfff" + "llBxd")


def compared(
    scene: Scene, rings: Rings, table: Table, at: np.ndarray, only: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Table.gains() at (N, 2) canvas mm, and (N,) bool where a camera cannot show looks as bright
    as they are; only: (N,) the one look that matters at each place, of the others anything may be
    told"""
    if not by_kernel(scene):
        patch = look_at(scene, rings, at)
        return *table.gains(patch), patch.burnt(table.most)
    show(scene, rings, at)
    shape = len(at), len(table.looks)
    found = np.zeros(shape, np.float32), np.zeros(shape, np.int64), np.zeros(len(at), np.uint8)
    for dim, some, told in in_each_light(scene, table, at, found):
        one = ANYTHING if only is None else np.ascontiguousarray(only[some])
        _compare(*asked(scene, rings, table, at[some], dim), one, *told)
    return found[0], found[1], found[2] > 0


def best_at(
    scene: Scene,
    rings: Rings,
    table: Table,
    at: np.ndarray,
    owner: np.ndarray | None = None,
    least: float | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """At (N, 2) canvas mm the best of the looks of each owner: (N, P) gains as by Table.gains(),
    which looks, in which turns, and (N,) bool as by compared(). owner: (K,) whose each look is, in
    order, else they all are one's; least: where the gain of the best is not above it, only that is
    told"""
    owner = np.zeros(len(table.looks), np.int64) if owner is None else owner
    count = int(owner[-1]) + 1
    if not by_kernel(scene):
        patch = look_at(scene, rings, at)
        gains, turns = table.gains(patch)
        which = np.stack([np.where(owner == p, gains, -np.inf).argmax(1) for p in range(count)], 1)
        return (
            np.take_along_axis(gains, which, 1),
            which,
            np.take_along_axis(turns, which, 1),
            patch.burnt(table.most),
        )
    show(scene, rings, at)
    bounds = table.bounds if least is not None and table.plain else None
    least = -np.inf if least is None else least
    found = (
        np.full((len(at), count), least, np.float32),
        np.zeros((len(at), count), np.int64),
        np.zeros((len(at), count), np.int64),
        np.zeros(len(at), np.uint8),
    )
    for dim, some, told in in_each_light(scene, table, at, found):
        _best(
            *asked(scene, rings, table, at[some], dim),
            table.rest(),
            table.rest(dim),
            bounds,
            least,
            owner,
            count,
            *told,
        )
    return *found[:3], found[3] > 0


def in_each_light(
    scene: Scene, table: Table, at: np.ndarray, found: Sequence[np.ndarray]
) -> Iterator[tuple[tuple[int, ...], slice | np.ndarray, Sequence[np.ndarray]]]:
    """(key, which of the places, their rows of `found` to write into) of each group of
    lights_of()"""
    for dim, some in lights_of(scene, table, at):
        if some is None:
            yield dim, slice(None), found
        else:
            told = [v[some] for v in found]
            yield dim, some, told
            for v, its in zip(found, told):
                v[some] = its


def lights_of(
    scene: Scene, table: Table, at: np.ndarray
) -> list[tuple[tuple[int, ...], np.ndarray | None]]:
    """(N, 2) canvas mm grouped by what Table.no_brighter() takes: (key, (M,) their numbers, or
    None: all) each"""
    # numpy is slow along short axes
    darkest = cv2.reduce(scene.light.reshape(-1, 3), 0, cv2.REDUCE_MIN)[0]
    if not too_bright(table.most, CLIPPED * darkest).any():
        return [(UNBURNT, None)]
    limit = scene.limit_at(at).astype(np.float32)
    groups = table.lights(limit, too_bright(table.most, limit).any(1))
    return groups if len(groups) > 1 else [(groups[0][0], None)]


def asked(
    scene: Scene, rings: Rings, table: Table, at: np.ndarray, dim: tuple[int, ...]
) -> tuple[np.ndarray | int, ...]:
    """What kernels that compare are given first; dim: where looks are brighter than the camera
    shows, they are taken as Table.packed(dim)"""
    return (
        *parts(scene),
        scene.frame.to_px(at),
        len(at),
        rings.pixels(scene.frame.scale),
        len(rings.r),
        rings.angles,
        table.packed(),
        table.packed(dim),
        len(table.looks),
        table.bases,
        table.most,
    )


def judged_at(
    scene: Scene, fine: Fine, at: np.ndarray, kinds: np.ndarray | None, top: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """judged() of fit.py by the kernel, with its arguments: (N, K) gains, (N,) of perfect
    matches and if nothing covered them, (N, K) turns; kinds: (N,) to judge these only; of the
    others, as of all but the best where top is 1, nothing is told"""
    if top == 1 and kinds is None:
        best, which, turn, burnt = best_at(scene, fine.rings, fine.table, at)
        n, kinds = np.arange(len(at)), which[:, 0]
        gains, turns = (
            np.zeros((len(at), len(fine.looks)), np.float32),
            np.zeros((len(at), len(fine.looks)), np.int64),
        )
        gains[n, kinds], turns[n, kinds] = best[:, 0], turn[:, 0]
    else:
        gains, turns, burnt = compared(scene, fine.rings, fine.table, at, kinds)
    perfect, whole = np.empty(len(at), np.float32), np.empty(len(at), np.float32)
    only = ANYTHING if kinds is None else np.ascontiguousarray(kinds)
    _judge(
        *parts(scene),
        scene.frame.to_px(at),
        len(at),
        fine.rings.pixels(scene.frame.scale),
        *fine.area.shape,
        fine.planes,
        fine.area,
        len(fine.looks),
        turns,
        only,
        burnt.astype(np.uint8),
        top,
        gains,
        perfect,
        whole,
    )
    return gains, perfect, whole, turns


def steps_at(
    scene: Scene,
    fine: Fine,
    at: np.ndarray,
    kinds: np.ndarray,
    turns: np.ndarray,
    burnt: np.ndarray,
    spread: float,
) -> np.ndarray:
    """(N, 2) mm along their own axes by which pieces of (N,) kinds at (N, 2) canvas mm, turned by
    (N,) steps, would fit better, as slid() of fit.py works it out"""
    out = np.empty((len(at), 2))
    show(scene, fine.rings, at)
    _slide(
        *parts(scene),
        scene.frame.to_px(at),
        len(at),
        fine.rings.pixels(scene.frame.scale),
        *fine.area.shape,
        fine.planes,
        fine.slope_planes,
        fine.area,
        np.ascontiguousarray(kinds),
        np.ascontiguousarray(turns),
        burnt.astype(np.uint8),
        spread,
        out,
    )
    return out


def look_at(scene: Scene, rings: Rings, at: np.ndarray) -> Patch:
    """What shows at (N, 2) canvas mm, for numpy"""
    show(scene, rings, at)
    return rings.look_at(
        scene.frame, scene.seen, scene.ground, scene.weight, at, scene.light_at(at)
    )


def show(scene: Scene, rings: Rings, at: np.ndarray) -> None:
    """Makes sure that a blurred scene is there around (N, 2) canvas mm"""
    if scene.soft:
        scene.near(scene.frame.to_px(at), (rings.radius + rings.step) * scene.frame.scale)


def by_kernel(scene: Scene) -> bool:
    """Whether there are kernels, and a scene's pictures lie in memory as they want them"""
    pictures = is_canvas(scene.seen) and is_canvas(scene.ground)
    planes = scene.weight, scene.light
    return (
        bool(_compare)
        and pictures
        and is_whole(*planes)
        and all(a.dtype == np.float32 for a in planes)
    )


def parts(scene: Scene) -> tuple[np.ndarray | int, ...]:
    """A scene as kernels take it"""
    return (
        scene.seen,
        scene.ground,
        scene.weight,
        scene.light,
        *scene.weight.shape,
        *scene.light.shape[:2],
    )
