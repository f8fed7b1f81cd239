"""Pieces about as high as they are wide: their sides show too, towards the camera, and tell a block
from a patch of colour."""

from __future__ import annotations

from functools import cache

import numpy as np

from vision.kernels import Kernel
from vision.photometry.canvas import sample_canvas
from vision.readers.loose.pieces.fit_compare import SCENE, by_kernel, parts
from vision.readers.loose.scene.polar_patches import Form, dot, lit
from vision.readers.loose.scene.scene import Scene

LEVELS = np.array([0.12, 0.37, 0.62, 0.87])  # of the height at which sides are looked at
AROUND = 28  # points around the outline
CAP = 9.0
SHADES = 0.35, 1.7  # of the top's brightness: so dark and so bright may sides be at all
_sides = Kernel("sides_polar", SCENE + "dddnffdndnxxnxff")
UNUSUAL = 0.25  # logarithm of brightness by which sides may well differ from all that samplers show


def is_block(form: Form) -> bool:
    """Is it a body (a cube, a figure) rather than a disc or a card?"""
    return form.height > 0.4 * 2 * form.inner


def is_tall(form: Form) -> bool:
    """Seen more from the side than from above"""
    return form.height > 1.6 * 2 * form.inner


@cache
def rim(form: Form, inset: float = 0.4) -> np.ndarray:
    """(AROUND, 2) mm: points along the outline, a little inside"""
    if form.disc:
        a = np.arange(AROUND) * 2 * np.pi / AROUND
        return (form.inner - inset) * np.stack([np.cos(a), np.sin(a)], -1)
    t = (np.arange(AROUND // 4) + 0.5) / (AROUND // 4) * 2 - 1
    w, d = form.size[0] / 2 - inset, form.size[1] / 2 - inset
    one = np.ones_like(t)
    return np.concatenate(
        [
            np.stack(p, -1)
            for p in ((t * w, -d * one), (t * w, d * one), (-w * one, t * d), (w * one, t * d))
        ]
    )


def sides(
    form: Form, scene: Scene, foot: np.ndarray, turn: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Where the visible sides of N blocks show: (N, M, 2) canvas pixels and (N, M) mm² that each
    point stands for"""
    lean = scene.lean.shift(foot, form.height)
    c, s = np.cos(turn), np.sin(turn)
    R = np.stack([np.stack([c, s], -1), np.stack([-s, c], -1)], 1)
    along = (lean[:, None] @ R.transpose(0, 2, 1))[:, 0]  # the lean along the block's own axes
    own = (
        (rim(form) + (LEVELS[:, None, None] - 1) * along[:, None, None])
        .reshape(len(foot), -1, 2)
        .astype(np.float32)
    )
    seen = form.inside(own) < -0.3
    px = own @ (R * scene.frame.scale).astype(np.float32) + scene.frame.to_px(foot + lean)[
        :, None
    ].astype(np.float32)
    u = np.abs(along)
    area = (
        2 * form.inner * np.linalg.norm(lean, axis=1)
        if form.disc
        else u[:, 0] * form.size[1] + u[:, 1] * form.size[0]
    )
    return px, seen * (area / np.maximum(seen.sum(1), 1))[:, None].astype(np.float32)


def side_gain(
    form: Form,
    scene: Scene,
    foot: np.ndarray,
    turn: np.ndarray,
    top: np.ndarray,
    shades: np.ndarray,
    lean: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """(N,) how much better than bare ground sides explain what shows where they should, and (N,)
    what perfect ones would.

    top: (N, 3) colours of the tops; shades: (N, 2) how much darker, at most and at least, sides
    are; lean: (N, 2) mm by which the tops are seen beside the feet, if that is known."""
    if scene.soft:
        tops = foot + (scene.lean.shift(foot, form.height) if lean is None else lean)
        scene.near(scene.frame.to_px(np.vstack([foot, tops])), (form.outer + 1) * scene.frame.scale)
    if by_kernel(scene):
        lean = scene.lean.shift(foot, form.height) if lean is None else lean
        more, most = np.empty(len(foot), np.float32), np.empty(len(foot), np.float32)
        _sides(
            *parts(scene),
            scene.frame.to_px(foot + lean),
            np.ascontiguousarray(lean),
            np.ascontiguousarray(turn, float),
            len(foot),
            np.ascontiguousarray(top, np.float32),
            np.ascontiguousarray(shades, np.float32),
            rim(form),
            AROUND,
            LEVELS,
            len(LEVELS),
            *form.size,
            form.disc,
            scene.frame.scale,
            more,
            most,
        )
        return more, most
    px, area = sides(form, scene, foot, turn)
    seen, ground = (
        lit(sample_canvas(scene.seen, px), scene.light_at(foot)),
        sample_canvas(scene.ground, px),
    )
    weight = np.maximum(sample_canvas(scene.weight, px)[..., 0], 0) / 3
    top = np.minimum(top, scene.limit_at(foot)).astype(np.float32)
    tt = (top**2).sum(-1, keepdims=True)
    st, gt = ((colours @ top[..., None])[..., 0] for colours in (seen, ground))
    ss, sg, gg = dot(seen, seen), dot(seen, ground), dot(ground, ground)
    tone = (st / tt).clip(*SHADES)
    unusual = np.log(tone / tone.clip(shades[:, :1], shades[:, 1:])) / UNUSUAL
    middle = shades.mean(1, keepdims=True)
    bare, cost, most = (
        np.minimum(weight * off, CAP)
        for off in (
            ss - 2 * sg + gg,
            ss - tone * (2 * st - tone * tt),
            gg - middle * (2 * gt - middle * tt),
        )
    )
    cost = np.minimum(cost + unusual**2, CAP)  # the lamp may stand where samplers did not have it
    return ((bare - cost) * area).sum(1), (most * area).sum(1)


def learn_shades(
    form: Form, scene: Scene, foot: np.ndarray, turn: float, top: np.ndarray
) -> tuple[np.ndarray, float]:
    """Of one block in a sampler: (n,) shades of its sides, and how much better than bare ground
    they explain it, 0..1"""
    px, area = sides(form, scene, foot[None], np.array([turn]))
    seen = lit(sample_canvas(scene.seen, px), scene.light_at(foot[None]))
    ground = sample_canvas(scene.ground, px)
    weight = np.maximum(sample_canvas(scene.weight, px)[..., 0], 0)
    use = area[0] > 0
    tone = (seen @ top) / (top**2).sum()
    off = weight * ((seen - tone[..., None] * top) ** 2).sum(-1) / 3
    bare = weight * ((seen - ground) ** 2).sum(-1) / 3
    good = use & (off[0] < CAP)
    return tone[0][good], float(
        (np.minimum(bare, CAP) - np.minimum(off, CAP))[0][use].mean() / CAP
    ) if use.any() else 0.0
