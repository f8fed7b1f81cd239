"""What kinds look like where nothing lies on them, put together from specimens of which others hide
parts. `looks_by_kind` is what teaching calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import cv2
import numpy as np

from calibration.cutouts.specimens import Specimen

CLEAR_PIXEL = 0.5  # of a pixel that must be clear for it to be believed
HALF_SEEN = 0.5  # of a look that must be seen for it to be one of its own beside the others'
STRAY = (0.12, 0.3)  # log units off what its kind shows: its own print up to, something else from
ENOUGH_WHOLE = 3  # specimens of a kind that nothing hides: others of it would show it worse
ANOTHER = 0.3  # of a specimen that is off its kind's look so far: it has a print of its own


def looks_by_kind(specimens: Sequence[Specimen]) -> Mapping[str, list[np.ndarray]]:
    """kind -> its looks (h, w, 3): of specimens that nothing hides, where there are enough; else of all,
    hidden parts replaced by what others of the kind show there"""
    by_kind: dict[str, list[Specimen]] = {}
    for s in specimens:
        by_kind.setdefault(s.kind, []).append(s)
    out: dict[str, list[np.ndarray]] = {}
    for kind, mine in by_kind.items():
        mine = [s for s in mine if s.look.shape == mine[0].look.shape]
        clear = [s for s in mine if s.clear.min() > CLEAR_PIXEL]
        mine = clear if len(clear) >= ENOUGH_WHOLE else mine
        whole = fill_hidden(*usual_look(mine))
        looks = [  # what nothing hides stays as it is: pieces of a kind may lie turned
            own_look(s, whole) if s.clear.min() < CLEAR_PIXEL else s.look
            for s in mine
            if s.clear.mean() > HALF_SEEN
        ]
        out[kind] = looks or [whole]
    return out


def usual_look(specimens: Sequence[Specimen]) -> tuple[np.ndarray, np.ndarray]:
    """((h, w, 3) what most specimens of a kind show, in the brightest light that at least half of
    them have there: others' shadows are no part of a print; (h, w) bool where any shows it)"""
    looks = np.stack([s.look for s in specimens])
    clear = np.stack([s.clear > CLEAR_PIXEL for s in specimens])
    first = looks[clear.mean((1, 2)).argmax()]
    for n in range(len(looks)):  # each in the light of the one that is seen best
        if clear[n].any():
            looks[n] = looks[n] - np.median((looks[n] - first)[clear[n]], 0)
    brightness = np.where(clear, looks.mean(-1), -np.inf)
    order = np.argsort(-brightness, 0)
    count = clear.sum(0)
    middle = np.take_along_axis(order, np.maximum((count - 1) // 2, 0)[None], 0)
    return np.take_along_axis(looks, middle[..., None], 0)[0], count > 0


def own_look(s: Specimen, whole: np.ndarray) -> np.ndarray:
    """(h, w, 3) one specimen as it would look with nothing on it. whole: its kind's look"""
    seen = s.clear > CLEAR_PIXEL
    tone = np.median((s.look - whole)[seen], 0)
    stray = cv2.blur(np.abs(s.look - tone - whole).max(-1), (5, 5))
    if (stray > STRAY[1])[seen].mean() > ANOTHER:
        stray[:] = 0
    keep = np.clip((STRAY[1] - stray) / (STRAY[1] - STRAY[0]), 0, 1) * seen
    keep = cv2.GaussianBlur(keep.astype(np.float32), (0, 0), 1.0) * (keep > 0)
    return (whole + tone + keep[..., None] * (s.look - tone - whole)).astype(np.float32)


def fill_hidden(usual: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """(h, w, 3) a kind's look, parts that none of its specimens shows filled in from their border"""
    left = np.uint8(~seen)
    if not left.any() or left.all():
        return usual
    low, high = usual.min(), usual.max()
    grey = np.uint8(np.clip((usual - low) / max(high - low, 1e-6) * 255, 0, 255))
    filled = cv2.inpaint(grey, left, 3, cv2.INPAINT_TELEA).astype(np.float32)
    return np.where(left[..., None] > 0, filled / 255 * (high - low) + low, usual)
