"""A camera's tone: by what power one picture's grey levels are those of another, as cameras
brighten what is dark or deepen it."""

from __future__ import annotations

from functools import lru_cache

import cv2
import numpy as np

from vision.photometry.room_light import sampled_basis

RELUCTANT = 0.003  # variance of a board's brightness (log units squared) that tells a tone half
# logarithm of a power that is worth undoing: light that no plane describes looks like up to 0.07
TONE_WORTH_UNDOING = 0.1
TONE_ROUNDS = 6  # of leaving out what lies on the board
MOST_TONE = 0.6  # ... beyond which it is no tone


def sample_views(
    seen: np.ndarray, empty: np.ndarray, size: tuple[float, float], step: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Every `step`th pixel of two small views (h, w, 3), both (N, 3), and the smooth functions
    (N, 6) of their places"""
    basis = sampled_basis(*empty.shape[:2], size, step)
    seen, empty = (np.ascontiguousarray(v[::step, ::step].reshape(-1, 3)) for v in (seen, empty))
    return seen, empty, basis


def log_slope(ratio: np.ndarray, known: np.ndarray, light: np.ndarray, usable: np.ndarray) -> float:
    """By how much a (N,) ratio of what is seen to what is known, log, grows with what is known
    (N,), in light made of functions (N, 6); usable: (N,) weights. Outliers do not count, and where
    hardly anything is printed it is 0"""
    basis = np.vstack([light.T, known - np.median(known)]).astype(np.float32)
    weights = np.zeros(7, np.float32)
    weights[0] = np.median(ratio[usable > 0])
    held = np.diag(np.array([1e-6, *[1e-5] * 5, RELUCTANT], np.float32))
    scale = 0.3
    for _ in range(TONE_ROUNDS):
        good = usable / np.square(1 + np.square((ratio - weights @ basis) / scale))
        a = basis * good
        weights = np.linalg.solve(a @ basis.T + good.sum() * held, a @ ratio)
        scale = max(0.6 * scale, 0.06)
    return float(weights[6])


def worth_undoing(tone: float) -> float:
    """The power whose logarithm was told; 1 where it is not worth undoing"""
    return (
        float(np.exp(np.clip(tone, -MOST_TONE, MOST_TONE)))
        if abs(tone) > TONE_WORTH_UNDOING
        else 1.0
    )


def undo_power(levels: np.ndarray, power: float) -> np.ndarray:
    """Grey levels with a power undone, that of white left as it is"""
    return 255 * (levels / 255) ** (1 / power)


@lru_cache(8)
def power_curve(power: float) -> np.ndarray:
    """(256,) uint8: the same of every grey level"""
    return np.rint(undo_power(np.arange(256), power)).astype(np.uint8)


def apply_power(image: np.ndarray, power: float) -> np.ndarray:
    """An image uint8 as it would be without a tone of that power; itself where there is none"""
    return image if power == 1 else cv2.LUT(image, power_curve(power))
