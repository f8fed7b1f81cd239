"""Stacks of pieces alike, told by how far their side is seen to reach."""

from __future__ import annotations

import cv2
import numpy as np

from vision.photometry.colour_sampling import WindowField
from vision.readers.pile.exemplar import Exemplar
from vision.readers.pile.stack_height import Heights, centred, stacks

SCALE, SIDE, RADIUS, HIGH = 1.5, 96, 15.0, 8.0


def window(
    rng: np.random.Generator, top: np.ndarray, lean: np.ndarray, height: float
) -> np.ndarray:
    """A disc that high, seen with its top's middle there, mm off the window's: opponent colours"""
    out = np.full((SIDE, SIDE, 3), (4.0, 0.1, 0.2), np.float32)
    base, colour = SIDE / 2 - 0.5 + top * SCALE, 4.6 + rng.normal(0, 0.1)
    for down in np.linspace(height, 0, 40):
        at = base - lean * down * SCALE
        value = (colour - (0.35 if down else 0.0), 0.0, 0.1)
        cv2.circle(
            out,
            tuple(int(v) for v in np.rint(at * 8)),
            int(RADIUS * SCALE * 8),
            value,
            -1,
            cv2.LINE_AA,
            3,
        )
    return out + rng.normal(0, 0.03, out.shape).astype(np.float32)


def test_a_stack_is_told_from_a_single_piece_by_its_side():
    rng = np.random.default_rng(3)
    heights = Heights(0, [("white",), ("?", "white")], np.array([HIGH, 2 * HIGH]), RADIUS)
    empty = WindowField(np.full((1, 40, 40, 3), (4.0, 0.1, 0.2), np.float32), 40 * SCALE / SIDE)

    def some(n: int) -> tuple[np.ndarray, np.ndarray]:
        which = rng.integers(0, 2, n)
        a = rng.uniform(0, 2 * np.pi, n)
        lean = rng.uniform(0.15, 0.5, n)[:, None] * np.stack([np.cos(a), np.sin(a)], 1)
        top = rng.uniform(-3, 3, (n, 2))
        seen = np.array([window(rng, t, v, HIGH * (1 + w)) for t, v, w in zip(top, lean, which)])
        near = top + rng.normal(0, 0.3, (n, 2))
        return heights.features(
            WindowField(seen, SCALE), np.arange(n), empty, np.zeros(n, int), near, lean
        ), which

    taught = heights.taught(*some(400), seed=1)
    inputs, which = some(100)
    assert (taught.tells.answer(inputs).argmax(1) == which).mean() > 0.9


def test_a_cut_out_drawn_aside_by_its_shadow_is_put_right():
    y, x = np.mgrid[0:60, 0:60]
    # its middle is at (33.5, 28.5), the picture's at (29.5, 29.5)
    far = np.hypot(x - 33.5, y - 28.5)
    grey = np.where(
        far < 22, 5.0 - 0.3 * (np.abs(far - 10) < 1.5) - 0.3 * (np.abs(far - 17) < 1.5), 4.0
    )
    picture = np.repeat(grey[..., None], 3, 2).astype(np.float32)
    e = Exemplar(("white",), (30.0, 30.0), True, picture, 60 / 40, "a1", 0, lies="any")
    ring = centred(e).picture[..., 0] < 4.85
    ys, xs = np.nonzero(ring & (np.hypot(x - 29.5, y - 29.5) < 19))
    assert abs(xs.mean() - 29.5) < 0.8 and abs(ys.mean() - 29.5) < 0.8


def test_what_is_shown_stacked_of_one_kind_goes_for_all_of_its_size():
    looks = {("?", "white"), ("black",), ("tile", "cube"), ("white",), ("cube",), ("?", "union")}
    size = {"white": (30, 30), "black": (30, 30), "cube": (8, 8), "union": (24, 24)}.__getitem__
    assert stacks(looks, size) == {
        ("white",): [("white",), ("?", "white")],
        ("black",): [("black",), ("?", "black")],
    }
