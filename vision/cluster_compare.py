"""Looks held against what a scene shows at many places: the kernel of polar patches, and numpy's way to the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vision.cluster_cut import is_canvas, is_whole
from vision.cluster_polar import UNBURNT, Patch, Rings, Table
from vision.cluster_scene import Scene
from vision.kernels import Kernel
from vision.light import CLIPPED, too_bright

if TYPE_CHECKING:
    from vision.cluster_fit import Fine

ANYTHING = np.array([-1])
SCENE = "BBffnnnn"
_compare = Kernel("compare_polar", SCENE + "dnfnnffnffl" + "fnx" + "flB")
_judge = Kernel("judge_polar", SCENE + "dnfnnffn" + "llBn" + "fff")
_slide = Kernel("slide_polar", SCENE + "dnfnnfff" + "llBxd")




def compared(scene: Scene, rings: Rings, table: Table, at: np.ndarray, only: np.ndarray | None = None, least: float | None = None
             ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Table.gains() at (N, 2) canvas mm, and (N,) bool where a camera cannot show looks as bright as they are; only: (N,) the one look
    that matters at each place, of the others anything may be told; least: where no gain is above it, only that is told"""
    if not by_kernel(scene):
        patch = look_at(scene, rings, at)
        return *table.gains(patch), patch.burnt(table.most)
    show(scene, rings, at)
    hopes = None if least is None or not table.plain else least
    gain = np.full((len(at), len(table.looks)), 0 if hopes is None else min(hopes, 0), np.float32)
    turn = np.zeros((len(at), len(table.looks)), np.int64)
    burnt = np.zeros(len(at), np.uint8)
    groups = [(UNBURNT, np.arange(len(at)))]
    if too_bright(table.most, CLIPPED * scene.light.min((0, 1))).any():
        limit = scene.limit_at(at).astype(np.float32)
        groups = table.lights(limit, too_bright(table.most, limit).any(1))
    for key, which in groups:
        if len(groups) == 1:
            run(scene, rings, table, at, only, key, gain, turn, burnt, hopes)
        else:
            some = gain[which], turn[which], burnt[which]
            run(scene, rings, table, at[which], None if only is None else only[which], key, *some, hopes)
            gain[which], turn[which], burnt[which] = some
    return gain, turn, burnt > 0


def run(scene: Scene, rings: Rings, table: Table, at: np.ndarray, only: np.ndarray | None, dim: tuple[int, ...],
        gain: np.ndarray, turn: np.ndarray, burnt: np.ndarray, least: float | None = None) -> None:
    """Fills in (N, K) gains and turns, and (N,) uint8 where looks are brighter than the camera shows: there they are taken as
    Table.packed(dim); least: see compared()"""
    _compare(*parts(scene), scene.frame.to_px(at), len(at), rings.pixels(scene.frame.scale), len(rings.r), rings.angles,
             table.packed(), table.packed(dim), gain.shape[1], table.bases, table.most,
             ANYTHING if only is None else np.ascontiguousarray(only),
             *((None, False, 0.0) if least is None else (table.bounds, True, least)), gain, turn, burnt)


def judged_at(scene: Scene, fine: Fine, at: np.ndarray, kinds: np.ndarray | None, top: int
              ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """judged() of cluster_fit.py by the kernel, with its arguments: (N, K) gains, (N,) of perfect matches and if nothing covered them,
    (N, K) turns; kinds: (N,) to judge these only"""
    gains, turns, burnt = compared(scene, fine.rings, fine.table, at, kinds)
    perfect, whole = np.empty(len(at), np.float32), np.empty(len(at), np.float32)
    only = ANYTHING if kinds is None else np.ascontiguousarray(kinds)
    _judge(*parts(scene), scene.frame.to_px(at), len(at), fine.rings.pixels(scene.frame.scale), *fine.area.shape, fine.planes,
           fine.area, len(fine.looks), turns, only, burnt.astype(np.uint8), top, gains, perfect, whole)
    return gains, perfect, whole, turns


def steps_at(scene: Scene, fine: Fine, at: np.ndarray, kinds: np.ndarray, turns: np.ndarray, burnt: np.ndarray, spread: float
             ) -> np.ndarray:
    """(N, 2) mm along their own axes by which pieces of (N,) kinds at (N, 2) canvas mm, turned by (N,) steps, would fit better, as
    slid() of cluster_fit.py works it out"""
    out = np.empty((len(at), 2))
    show(scene, fine.rings, at)
    _slide(*parts(scene), scene.frame.to_px(at), len(at), fine.rings.pixels(scene.frame.scale), *fine.area.shape, fine.planes,
           fine.slope_planes, fine.area, np.ascontiguousarray(kinds), np.ascontiguousarray(turns), burnt.astype(np.uint8), spread, out)
    return out


def look_at(scene: Scene, rings: Rings, at: np.ndarray) -> Patch:
    """What shows at (N, 2) canvas mm, for numpy"""
    show(scene, rings, at)
    return rings.look_at(scene.frame, scene.seen, scene.ground, scene.weight, at, scene.light_at(at))


def show(scene: Scene, rings: Rings, at: np.ndarray) -> None:
    """Makes sure that a blurred scene is there around (N, 2) canvas mm"""
    if scene.soft:
        scene.near(scene.frame.to_px(at), (rings.radius + rings.step) * scene.frame.scale)


def by_kernel(scene: Scene) -> bool:
    """Whether there are kernels, and a scene's pictures lie in memory as they want them"""
    pictures = is_canvas(scene.seen) and is_canvas(scene.ground)
    planes = scene.weight, scene.light
    return bool(_compare) and pictures and is_whole(*planes) and all(a.dtype == np.float32 for a in planes)


def parts(scene: Scene) -> tuple[np.ndarray | int, ...]:
    """A scene as kernels take it"""
    return scene.seen, scene.ground, scene.weight, scene.light, *scene.weight.shape, *scene.light.shape[:2]
