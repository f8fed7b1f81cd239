"""Looks held against what a scene shows at many places: the kernel of polar patches, and numpy's way to the same."""

from __future__ import annotations

import numpy as np

from vision.cluster_polar import UNBURNT, Rings, Table
from vision.cluster_scene import Scene
from vision.kernels import Kernel

ANYTHING = np.array([-1])
SCENE = "BBffnnnn"
_compare = Kernel("compare_polar", SCENE + "dnfnnfnffl" + "flB")


def compared(scene: Scene, rings: Rings, table: Table, at: np.ndarray, only: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Table.gains() at (N, 2) canvas mm; only: (N,) the one look that matters at each place, of the others anything may be told"""
    if not (_compare and whole(scene)):
        return table.gains(rings.look_at(scene.frame, scene.seen, scene.ground, scene.weight, at, scene.light_at(at)))
    gain, turn = np.zeros((len(at), len(table.looks)), np.float32), np.zeros((len(at), len(table.looks)), np.int64)
    burnt = run(scene, rings, table, at, only, UNBURNT, gain, turn)
    if burnt.any():
        which = np.flatnonzero(burnt)
        for key, some in table.lights(scene.limit_at(at[which]).astype(np.float32), burnt[which]):
            now = which[some]
            part = np.zeros((len(now), gain.shape[1]), np.float32), np.zeros((len(now), gain.shape[1]), np.int64)
            run(scene, rings, table, at[now], None if only is None else only[now], key, *part)
            gain[now], turn[now] = part
    return gain, turn


def run(scene: Scene, rings: Rings, table: Table, at: np.ndarray, only: np.ndarray | None, key: tuple[int, ...],
        gain: np.ndarray, turn: np.ndarray) -> np.ndarray:
    """Fills in (N, K) gains and turns by one of Table.packed() -> (N,) bool: where another was needed"""
    burnt = np.zeros(len(at), np.uint8)
    _compare(*parts(scene), scene.frame.to_px(at), len(at), rings.pixels(scene.frame.scale), len(rings.r), rings.angles,
             table.packed(key), gain.shape[1], table.bases, table.most, ANYTHING if only is None else np.ascontiguousarray(only),
             gain, turn, burnt)
    return burnt > 0


def whole(scene: Scene) -> bool:
    """Whether a scene's pictures lie in memory as kernels want them"""
    return all(a.flags.c_contiguous for a in (scene.seen, scene.ground, scene.weight, scene.light))


def parts(scene: Scene) -> tuple[np.ndarray | int, ...]:
    """A scene as kernels take it"""
    return scene.seen, scene.ground, scene.weight, scene.light, *scene.weight.shape, *scene.light.shape[:2]
