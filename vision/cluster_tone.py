"""A camera's tone told by printed tiles, where there is no printed board to tell it by: their prints are known."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from vision.cluster_base import Level
from vision.cluster_canvas import BLENDED
from vision.cluster_cut import cut
from vision.cluster_first import Firsts, Tried
from vision.cluster_scene import Scene
from vision.light import CLIPPED
from vision.tone import worth_undoing

FEWEST = 4           # tiles that tell it: one may be full of pieces, or taken for another
PLENTY = 18          # ... and so many are told it by quickly enough
PRINTED = 0.02       # variance of log brightness that a tile's print has at least, to tell a tone by
ENOUGH = 0.25        # share of it that is neither too dark nor too bright
DARKEST = 8          # grey levels below which a camera's black says nothing
ROUNDS, NARROW = 6, 0.06        # of leaving out what lies on a tile; by how much the logarithm may be off in the end


def power_by_tiles(scenes: Iterable[tuple[Scene, list[Tried]]], firsts: Firsts) -> float:
    """The power by which a picture's grey levels are those of the tiles' prints, 1 where that cannot be told or is not worth
    undoing. scenes: with the tiles found in each, the kind of each that fits alone"""
    told = [np.zeros(0)]
    for scene, tiles in scenes:
        for sheet in firsts.sheets:
            mine = [t for t in tiles if t.sheet is sheet]
            mine = mine[::-(-len(mine) // PLENTY) or 1]
            if mine:
                kinds, poses = (np.concatenate(a) for a in zip(*((t.kinds, t.poses) for t in mine)))
                told.append(powers(scene, firsts.levels(sheet)[2], kinds, poses))
    logs = np.concatenate(told)
    if len(logs) < FEWEST:
        return 1.0
    return worth_undoing(float(np.median(logs)))


def powers(scene: Scene, level: Level, kinds: np.ndarray, poses: np.ndarray) -> np.ndarray:
    """(M,) logarithms of the power that tiles tell, of kinds (N,) at (N, 3) poses; none of one whose print is all of one brightness"""
    n = len(kinds)
    seen, known = (np.ascontiguousarray(v.reshape(n, -1, 3).transpose(2, 0, 1)) for v in (      # numpy is slow along short axes
        cut(scene.seen, scene.frame, level.grid, poses), level.looks[kinds]))
    dark, light = np.minimum(seen, known).min(0), np.maximum(seen, known).max(0)
    usable = ((dark > DARKEST) & (light < CLIPPED - BLENDED)).astype(np.float32)
    print_ = np.log(known.clip(1).prod(0)) / 3
    bright = print_ - ((usable * print_).sum(1) / usable.sum(1).clip(1))[:, None]
    ratio = np.log(seen.clip(1).prod(0)) / 3 - print_
    good = (usable.mean(1) > ENOUGH) & ((usable * bright ** 2).sum(1) > PRINTED * usable.sum(1))
    usable, bright, ratio = usable[good], bright[good], ratio[good]
    across, down = (level.grid[..., i].ravel() / np.abs(level.grid).max() for i in (0, 1))
    basis = np.empty((len(bright), 4, bright.shape[1]), np.float32)
    basis[:, 0], basis[:, 1], basis[:, 2], basis[:, 3] = 1, across, down, bright
    weights = np.zeros((len(bright), 4), np.float32)
    weights[:, 0] = np.median(ratio, 1)
    scale = 0.4
    for _ in range(ROUNDS):
        off = ratio - (weights[:, None].astype(np.float32) @ basis)[:, 0]
        a = basis * (usable / np.square(1 + np.square(off / scale)))[:, None]
        weights = np.linalg.solve(a @ basis.transpose(0, 2, 1) + 1e-4 * np.eye(4), a @ ratio[..., None])[..., 0]
        scale = max(0.6 * scale, NARROW)
    return np.log((1 + weights[:, 3]).clip(0.1))
