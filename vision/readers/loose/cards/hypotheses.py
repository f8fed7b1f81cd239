"""Cards laid as they may lie to see which kind fits what shows: roughly, finely, another way round;
and how the bare ground fits."""

from __future__ import annotations

import msgspec
import numpy as np

from vision.kernels import Kernel
from vision.readers.loose.cards.card_level import CAP, NOISE, TINT, Level, planar, plausible
from vision.readers.loose.cards.coarse_search import Rough
from vision.readers.loose.scene.resampling import cut, in_pixels, is_canvas
from vision.readers.loose.scene.scene import Scene

BARE = 1.0  # misfit of the ground below which no card lies there that does not fit at once
STARTS = 3  # kinds unlike each other that a card is first taken for
# misfit above which a card may be another: pieces hide more than about a fifth of it
DOUBTFUL = 2.0
CROOKED = 1.5  # misfit above which a card may lie another way round
TURNED = 0.6  # of a card's misfit, that turning it round must leave at most
# by how much ground may be darker or brighter than the light around it; more would make it a card
DIM = 0.87, 1.15
CLOSE = 1.2  # misfit by which a kind may be worse than the best before its place is worked out
_bare = Kernel("bare_cards", "BBnndnfnfxxxxxf")


class Tries(msgspec.Struct, frozen=True, eq=False):
    """How each of K kinds fits best so far near each of N places. misfit: (N, K); poses: (N, K, 3);
    own: (N, K, 3) factors of light"""

    misfit: np.ndarray
    poses: np.ndarray
    own: np.ndarray

    @classmethod
    def none(cls, n: int, k: int) -> Tries:
        return cls(
            np.full((n, k), np.inf, np.float32), np.zeros((n, k, 3)), np.ones((n, k, 3), np.float32)
        )

    def better(
        self, rows: np.ndarray, each: np.ndarray, poses: np.ndarray, own: np.ndarray
    ) -> None:
        """Takes over what fits better than before: (n, K) misfits each of all kinds at (n, 3)
        poses, a row of these each"""
        for row, one, at, light in zip(rows, each, poses, own):
            mine = one < self.misfit[row]
            self.misfit[row, mine], self.poses[row, mine], self.own[row, mine] = (
                one[mine],
                at,
                light,
            )


def attempts(
    scene: Scene, looks: Rough, level: Level, home: np.ndarray, light: np.ndarray
) -> Tries:
    """How each kind fits near (N, 3) poses home in (N, 3) light.

    Where none fits well, nor the ground itself, a few kinds that look different are tried, the
    likeliest first: a card full of pieces may seem another at first, and the light that makes it so
    is wrong for all that are like what it really is."""
    n, k = len(light), len(level.looks)
    tries, untried = Tries.none(n, k), np.ones((n, k), bool)
    soft, rows = softly(scene, looks, home), np.arange(n)
    for i in range(STARTS):
        if i == 1:
            rows = rows[bareness(scene, level, home[rows], light[rows]) > BARE]
        rows = rows[untried[rows].any(1)]
        if not len(rows):
            break
        kinds = attempt(
            scene,
            looks.search(soft, scene.frame, home[rows], light[rows], untried[rows]),
            level,
            tries,
            rows,
            light,
        )
        untried[rows] &= ~level.alike[kinds]
        rows = rows[tries.misfit[rows].min(1) > DOUBTFUL]
    # what lies further off, or more turned: again from where it was found
    rows = ill_fitting(scene, level, tries, light)
    at = tries.poses[rows, tries.misfit[rows].argmin(1)]
    for around in (at, np.column_stack([at[:, :2], home[rows, 2]])) if len(rows) else ():
        attempt(
            scene,
            looks.search(softly(scene, looks, around), scene.frame, around, light[rows]),
            level,
            tries,
            rows,
            light,
        )
    return tries


def attempt(
    scene: Scene,
    found: tuple[np.ndarray, np.ndarray],
    level: Level,
    tries: Tries,
    rows: np.ndarray,
    light: np.ndarray,
) -> np.ndarray:
    """(n,) the kinds that fit best roughly at (n,) rows of tries, which take over what fits better
    where these are laid finely; found: of these rows the (n, K, 3) poses and (n, K) costs of
    Rough.search(); light: (N, 3)"""
    rough, cost = found
    kinds = cost.argmin(1)
    pose, gain = level.settle(
        scene.seen, scene.frame, kinds, rough[np.arange(len(rows)), kinds], 7, light[rows]
    )
    tries.better(
        rows, level.misfits_at(scene.seen, scene.frame, pose, light[rows] * gain), pose, gain
    )
    return kinds


def ill_fitting(scene: Scene, level: Level, tries: Tries, light: np.ndarray) -> np.ndarray:
    """Numbers of the places where neither a kind fits well nor the bare ground, in (N, 3) light"""
    rows = np.flatnonzero(tries.misfit.min(1) > CROOKED)
    return (
        rows[
            bareness(scene, level, tries.poses[rows, tries.misfit[rows].argmin(1)], light[rows])
            > BARE
        ]
        if len(rows)
        else rows
    )


def softly(scene: Scene, looks: Rough, pose: np.ndarray) -> np.ndarray:
    """What is seen as coarsely as looks are, where cards at (N, 3) poses are searched"""
    return scene.softly(looks.blur(scene.frame))[0].around(
        scene.frame.to_px(pose[:, :2]), looks.far(scene.frame)
    )


def settled(
    scene: Scene, level: Level, close: np.ndarray, tries: Tries, light: np.ndarray, margin: float
) -> None:
    """Works out finely where the likeliest kind of each card lies, and others of (N, K) close that
    may turn out likelier: those that are no more than `margin` worse as it lies, or were thought to
    lie elsewhere, and all where it fits badly. Changes tries;
    light: (N, 3)."""
    misfit = tries.misfit
    first = np.where(close, misfit, np.inf).argmin(1)
    n, start = np.arange(len(first)), tries.poses.copy()
    i, k = n, first
    misfit[close] = np.inf
    for rest in (True, False):
        if not len(i):
            return
        pose, gain = level.settle(scene.seen, scene.frame, k, start[i, k], 4, light[i], reach=2.5)
        tries.better(
            i, level.misfits_at(scene.seen, scene.frame, pose, light[i] * gain), pose, gain
        )
        if rest:
            least = misfit[n, first][:, None]
            apart = (start != start[n, first][:, None]).any(2)
            i, k = np.nonzero(
                close
                & (np.arange(close.shape[1]) != first[:, None])
                & ((misfit < least + margin) | apart | (least > DOUBTFUL))
            )


def turn_round(
    scene: Scene, looks: Rough, level: Level, home: np.ndarray, tries: Tries, light: np.ndarray
) -> None:
    """Turns cards that fit badly as they should lie and well a quarter or two further round: one
    whose print has no upper end is laid as it comes. Changes tries of the likeliest kinds; home:
    (N, 3) where cards belong; light: (N, 3) there."""
    misfit, poses = tries.misfit, tries.poses
    least = misfit.min(1)
    rows = np.flatnonzero(least > CROOKED)
    rows = rows[
        least[rows] < bareness(scene, level, poses[rows, misfit[rows].argmin(1)], light[rows])
    ]
    first = misfit[rows].argmin(1)
    others = np.where(level.alike[first], np.inf, misfit[rows])
    # upside down, another kind may seem likelier
    second = np.flatnonzero(others.min(1) < misfit[rows, first] + CLOSE)
    kinds = np.concatenate([first, others[second].argmin(1)])
    rows = np.concatenate([rows, rows[second]])
    some, which = np.unique(kinds, return_inverse=True)
    for quarter in (1, 2, 3) if len(rows) else ():
        start = home[rows] + (0, 0, quarter * np.pi / 2)
        rough, _ = looks.only(some).search(
            softly(scene, looks, start), scene.frame, start, light[rows]
        )
        pose, gain = level.settle(
            scene.seen, scene.frame, kinds, rough[np.arange(len(rows)), which], 6, light[rows]
        )
        each = level.misfits_at(scene.seen, scene.frame, pose, light[rows] * gain)
        for row, kind, at, left, off in zip(
            rows, kinds, pose, gain, each[np.arange(len(rows)), kinds]
        ):
            if off < TURNED * min(misfit[row, kind], least[row]):
                misfit[row, kind], poses[row, kind], tries.own[row, kind] = off, at, left


def bareness(
    scene: Scene,
    level: Level,
    pose: np.ndarray,
    light: np.ndarray,
) -> np.ndarray:
    """(N,) how badly the ground below explains what shows at (N, 3) poses, in a little light of its
    own, as cards are given more"""
    if _bare and is_canvas(scene.seen) and is_canvas(scene.ground):
        out = np.empty(len(pose), np.float32)
        _bare(
            scene.seen,
            scene.ground,
            *scene.ground.shape[:2],
            in_pixels(scene.frame, pose),
            len(out),
            level.offsets(scene.frame.scale),
            level.planes.shape[2],
            np.ascontiguousarray(light, np.float32),
            NOISE,
            *DIM,
            TINT,
            CAP,
            out,
        )
        return out
    got = planar(cut(scene.seen, scene.frame, level.grid, pose, light))
    ground = planar(cut(scene.ground, scene.frame, level.grid, pose))
    gain = np.ones((len(got), 3), np.float32)
    for _ in range(3):
        off = got * gain[..., None] - ground
        share = 1 / (1 + (off * off).sum(1, keepdims=True) / (12 * NOISE**2)) ** 2
        gain = plausible((share * got * ground).sum(2) / ((share * got * got).sum(2) + 1), DIM)
    off = got * gain[..., None] - ground
    return np.minimum((off * off).sum(1) / (3 * NOISE**2), CAP).mean(1)
