"""A camera's colours: how much more vivid or paler one picture is than another, as cameras do by
scene, light and software.

What undoes it keeps greys as they are. Light's colour is no matter of this: it changes greys
too."""

from __future__ import annotations

import cv2
import numpy as np

from vision.photometry.room_light import BLACK, CLIPPED, LOG_LEVELS, from_logs, to_logs
from vision.photometry.tone_response import MOST_TONE, log_slope, worth_undoing

FEWEST_PIXELS = 50  # pixels that tell anything
LUMA = np.array([0.114, 0.587, 0.299], np.float32)  # of B, G, R: the grey that cameras keep
# of undoing what was told and looking again: a logarithm grows faster than colour does
UNDOING_ROUNDS = 4
OUTER = (0, 2)  # colours that tell it, against all three


def estimate_chroma(seen: np.ndarray, known: np.ndarray, light: np.ndarray) -> float:
    """How many times as far from grey the colours of pixels are as those known of them, (N, 3) log
    both, in a light made of functions (N, 6); 1 where that cannot be told or is not worth undoing.
    Pieces are outliers and do not count."""
    usable = (
        (np.maximum(seen, known).max(1) < LOG_LEVELS[CLIPPED])
        & (np.minimum(seen, known).min(1) > LOG_LEVELS[BLACK])
    ).astype(np.float32)
    if usable.sum() < FEWEST_PIXELS:
        return 1.0
    before, grey, told = chroma_planes(known), from_logs(seen), 0.0
    spread = before[usable > 0].var(0) + 1e-9
    for turn in range(UNDOING_ROUNDS):
        off = (
            chroma_planes(to_logs(scale_chroma(grey, np.exp(told)).clip(0, 255)) if turn else seen)
            - before
        )
        more = np.average(
            [log_slope(off[:, i], before[:, i], light, usable) for i in range(len(OUTER))],
            weights=spread,
        )
        told = float(np.clip(told + np.log(max(1 + more, 0.1)), -MOST_TONE, MOST_TONE))
        if not turn and worth_undoing(told) == 1:
            break
    return worth_undoing(told)


def chroma_planes(logs: np.ndarray) -> np.ndarray:
    """(N, 2): how far from grey (N, 3) log grey levels are"""
    return logs[:, OUTER] - (logs @ np.full(3, 1 / 3, np.float32))[:, None]


def scale_chroma(grey: np.ndarray, chroma: float) -> np.ndarray:
    """(..., 3) grey levels with colours that many times as far from grey brought back"""
    middle = (grey @ LUMA)[..., None]
    return middle + (grey - middle) / np.float32(chroma)


def undo_chroma(image: np.ndarray, chroma: float) -> np.ndarray:
    """An image uint8 with that undone; itself where there is nothing to undo"""
    if chroma == 1:
        return image
    return cv2.transform(image, (np.eye(3) / chroma + (1 - 1 / chroma) * LUMA).astype(np.float32))
