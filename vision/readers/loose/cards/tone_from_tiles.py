"""A camera's tone and colours told by printed tiles, where there is no printed board to tell them
by: their prints are known."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec
import numpy as np

from vision.photometry.camera_response import NEUTRAL_RESPONSE, CameraResponse
from vision.photometry.canvas import BLENDED
from vision.photometry.colour_response import estimate_chroma
from vision.photometry.room_light import BLACK, CLIPPED, light_basis, to_logs
from vision.photometry.tone_response import undo_power, worth_undoing
from vision.readers.loose.cards.card_reader import Firsts, Place, Tried
from vision.readers.loose.scene.resampling import cut
from vision.readers.loose.scene.scene import Scene

FEWEST = 4  # tiles that tell it: one may be full of pieces, or taken for another
PLENTY = 18  # ... and so many are told it by quickly enough
PRINTED = 0.02  # variance of log brightness that a tile's print has at least, to tell a tone by
ENOUGH = 0.25  # share of it that is neither too dark nor too bright
COARSE = 4  # every fourth pixel either way is enough to tell the colours
# of leaving out what lies on a tile; by how much the logarithm may be off in the end
ROUNDS, NARROW = 6, 0.06


def rendition_by_tiles(
    scenes: Iterable[tuple[Scene, list[Tried]]], firsts: Firsts
) -> CameraResponse:
    """A picture's against the tiles' prints. scenes: with the tiles found in each, the kind of each
    that fits alone"""
    views = []
    for scene, tiles in scenes:
        for sheet in firsts.sheets:
            mine = [t for t in tiles if t.sheet is sheet]
            mine = mine[:: -(-len(mine) // PLENTY) or 1]
            if mine:
                kinds, poses = (np.concatenate(a) for a in zip(*((t.kinds, t.poses) for t in mine)))
                level = firsts.levels(sheet)[2]
                views.append(
                    (
                        level.grid,
                        poses,
                        cut(scene.seen, scene.frame, level.grid, poses),
                        level.looks[kinds],
                    )
                )
    logs = np.concatenate(
        [np.zeros(0), *(powers(grid, seen, known) for grid, _, seen, known in views)]
    )
    power = worth_undoing(float(np.median(logs))) if len(logs) >= FEWEST else 1.0
    if sum(len(poses) for _, poses, _, _ in views) < FEWEST:
        return CameraResponse(power)
    places = np.concatenate([poses[:, :2] for _, poses, _, _ in views])
    size = tuple(np.ptp(places, 0) + 1)
    seen, known, light = [], [], []
    for _, poses, one, look in views:
        few = np.s_[:, COARSE // 2 :: COARSE, COARSE // 2 :: COARSE]
        seen.append(undo_power(one[few].reshape(-1, 3).clip(0, 255), power))
        known.append(look[few].reshape(-1, 3))
        light.append(
            np.repeat(
                light_basis(poses[:, :2] - places.min(0), size), len(known[-1]) // len(poses), 0
            )
        )
    seen, known = (to_logs(np.concatenate(v).clip(0, 255)) for v in (seen, known))
    return CameraResponse(power, estimate_chroma(seen, known, np.concatenate(light)))


def renditions_among(
    placed: Sequence[Place], scenes: Sequence[Scene], firsts: Firsts
) -> list[CameraResponse]:
    """Each sampler's against the middle of all, by the tiles whose kinds the first one shows too;
    nobody knows which is right"""
    found = [NEUTRAL_RESPONSE]
    for n in range(1, len(scenes)):
        tiles, sheets = [], []
        for i, sheet in enumerate(firsts.sheets):
            first, mine = (
                [p for p in placed if p.shot == shot and p.sheet == i] for shot in (0, n)
            )
            kinds = sorted({p.kind for p in first} & {p.kind for p in mine})
            mine = [p for p in mine if p.kind in kinds]
            if mine:
                seen = cut(
                    scenes[0].seen, scenes[0].frame, sheet.grid(), np.array([p.pose for p in first])
                )
                looks = np.stack(
                    [
                        np.median([s for s, p in zip(seen, first) if p.kind == kind], 0)
                        for kind in kinds
                    ]
                )
                sheets.append(
                    msgspec.structs.replace(
                        sheet, kinds=tuple(kinds), looks=looks.astype(np.float32)
                    )
                )
                poses = np.array([p.pose for p in mine])
                tiles.append(
                    Tried(
                        sheets[-1],
                        np.array([kinds.index(p.kind) for p in mine]),
                        poses,
                        np.ones((len(mine), 3)),
                        poses[0],
                    )
                )
        found.append(
            rendition_by_tiles([(scenes[n], tiles)], Firsts(tuple(sheets), {}))
            if sheets
            else NEUTRAL_RESPONSE
        )
    power, chroma = (
        float(np.exp(np.mean(np.log(v))))
        for v in ([r.power for r in found], [r.chroma for r in found])
    )
    return [CameraResponse(r.power / power, r.chroma / chroma) for r in found]


def powers(grid: np.ndarray, seen: np.ndarray, known: np.ndarray) -> np.ndarray:
    """(M,) logarithms of the power that tiles tell, seen and known (N, h, w, 3) grey levels on a
    grid (h, w, 2) of places; none of one whose print is all of one brightness"""
    n = len(seen)
    seen, known = (
        np.ascontiguousarray(v.reshape(n, -1, 3).transpose(2, 0, 1))
        for v in (  # numpy is slow along short axes
            seen,
            known,
        )
    )
    dark, light = np.minimum(seen, known).min(0), np.maximum(seen, known).max(0)
    usable = ((dark > BLACK) & (light < CLIPPED - BLENDED)).astype(np.float32)
    print_ = np.log(known.clip(1).prod(0)) / 3
    bright = print_ - ((usable * print_).sum(1) / usable.sum(1).clip(1))[:, None]
    ratio = np.log(seen.clip(1).prod(0)) / 3 - print_
    good = (usable.mean(1) > ENOUGH) & ((usable * bright**2).sum(1) > PRINTED * usable.sum(1))
    usable, bright, ratio = usable[good], bright[good], ratio[good]
    across, down = (grid[..., i].ravel() / np.abs(grid).max() for i in (0, 1))
    basis = np.empty((len(bright), 4, bright.shape[1]), np.float32)
    basis[:, 0], basis[:, 1], basis[:, 2], basis[:, 3] = 1, across, down, bright
    weights = np.zeros((len(bright), 4), np.float32)
    weights[:, 0] = np.median(ratio, 1)
    scale = 0.4
    for _ in range(ROUNDS):
        off = ratio - (weights[:, None].astype(np.float32) @ basis)[:, 0]
        a = basis * (usable / np.square(1 + np.square(off / scale)))[:, None]
        weights = np.linalg.solve(
            a @ basis.transpose(0, 2, 1) + 1e-4 * np.eye(4), a @ ratio[..., None]
        )[..., 0]
        scale = max(0.6 * scale, NARROW)
    return np.log((1 + weights[:, 3]).clip(0.1))
