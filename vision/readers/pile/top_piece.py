"""Whether a small piece lies on a larger one: looked for wherever on it it may lie. Its central
value: Top."""

from __future__ import annotations

import cv2
import msgspec
import numpy as np

from vision.photometry.colour_sampling import to_opponent
from vision.readers import mlp
from vision.readers.mlp import Net
from vision.readers.pile.coarse_search import FLOOR
from vision.readers.pile.exemplar import Patch
from vision.readers.pile.features import WIDER

MOST = 16.0  # misfit of a pixel beyond which it is just something else
HIDDEN = 12
SHADES = (0.0, -0.35)  # log units: the upper piece in the light, and in the shadow


class Top(msgspec.Struct, frozen=True, eq=False):
    """An upper piece and what it lies on. base, whole: the looks without and with it; colours: (n,
    3) opponent, of its cut-outs; spread: (3,) round them; reach: its side as a share of the lower
    piece's; tells: features -> without, with."""

    base: int
    whole: int
    colours: np.ndarray
    spread: np.ndarray
    reach: float
    tells: Net | None = None

    @classmethod
    def fit(cls, base: int, whole: int, patches: list[Patch], radius: float) -> Top:
        """patches: the upper piece's cut-outs; radius: mm, half the lower piece's side"""
        seen = []
        for p in patches:
            inside = cv2.erode((p.alpha > 0.9).astype(np.uint8), np.ones((3, 3), np.uint8)) > 0
            pixels = to_opponent(p.picture)[inside if inside.any() else p.alpha > 0.9]
            seen.append((np.median(pixels, 0), pixels.std(0)))
        return cls(
            base,
            whole,
            np.array([m for m, _ in seen], np.float32),
            np.sqrt(np.mean([s**2 for _, s in seen], 0) + FLOOR**2).astype(np.float32),
            patches[0].radius / radius,
        )

    def features(self, pictures: np.ndarray, models: np.ndarray) -> np.ndarray:
        """(n, F): how much better than the lower piece alone the upper one explains the best spot,
        and what is left.

        pictures: (n, P, P, 3) opponent, laid straight as the lower piece's cut-outs `models`,
        likewise, are"""
        n, p = pictures.shape[:2]
        if not n:
            return np.zeros((0, 8), np.float32)
        left = pictures - models
        left[..., 0] -= np.median(left[..., 0].reshape(n, -1), 1)[:, None, None]
        bare = np.minimum(cv2.transform(np.square(least(left)), 1 / FLOOR[None] ** 2), MOST)
        same = self.unlike(pictures)
        side = max(round(p / WIDER * self.reach), 3)
        disc = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (side | 1, side | 1)).astype(np.float32)
        disc /= disc.sum()
        a, b = (cv2.filter2D(m, cv2.CV_32F, disc).reshape(n, p, p) for m in (bare, same))
        edge = round(p * (1 - 1 / WIDER) / 2 + 0.35 * side)
        gain = (a - b)[:, edge:-edge, edge:-edge].reshape(n, -1)
        best = gain.argmax(1)
        rows = np.arange(n)
        inner = [m[:, edge:-edge, edge:-edge].reshape(n, -1) for m in (a, b)]
        return np.stack(
            [
                gain[rows, best],
                inner[0][rows, best],
                inner[1][rows, best],
                inner[0].max(1),
                inner[1].min(1),
                np.sort(gain, 1)[:, -max(gain.shape[1] // 20, 1)],
                np.median(inner[0], 1),
                inner[0].mean(1),
            ],
            1,
        )

    def unlike(self, pictures: np.ndarray) -> np.ndarray:
        """(n * P, P): how far each pixel of (n, P, P, 3) is from the nearest of the upper piece's
        colours"""
        tall = pictures.reshape(-1, *pictures.shape[2:])
        colours = (
            np.concatenate([self.colours + np.float32([s, 0, 0]) for s in SHADES]) / self.spread
        )
        # |a - b|^2 by its products
        products = np.column_stack([colours / self.spread, -np.square(colours).sum(1) / 2])
        nearest = cv2.transform(tall, products[:1])
        for row in products[1:]:
            cv2.max(nearest, cv2.transform(tall, row[None]), nearest)
        return np.clip(
            cv2.transform(np.square(tall), 1 / self.spread[None] ** 2) - 2 * nearest, 0, MOST
        )

    def taught(self, inputs: np.ndarray, there: np.ndarray, seed: int) -> Top:
        """inputs: (n, F) features of examples; there: (n,) bool"""
        held = len(inputs) // 8
        tells = mlp.train(
            inputs[held:], there[held:].astype(int), 2, HIDDEN, seed, epochs=30, batch=64, drop=0.0
        )
        return msgspec.structs.replace(
            self, tells=mlp.sharpened(tells, inputs[:held], there[:held].astype(int))
        )


def least(left: np.ndarray) -> np.ndarray:
    """(n * P, P, 3): of what differs (n, P, P, 3), the least within a pixel, so that edges not
    quite in place do not count"""
    tall = left.reshape(-1, *left.shape[2:])
    near = np.ones((3, 3), np.uint8)
    out = np.maximum(cv2.erode(tall, near), 0)
    out += np.minimum(cv2.dilate(tall, near), 0)
    return out
