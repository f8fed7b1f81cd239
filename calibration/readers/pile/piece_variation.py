"""What pieces of one kind differ in: wood grain, wear, gloss. It tells no kind, so pictures to
learn from are given others' too."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import msgspec
import numpy as np

from vision.readers.pile.exemplar import Exemplar, Patch, footprint_mask
from vision.readers.pile.features import WIDER
from vision.readers.pile.fine_match import ONE, PRINT, Fine, cut_field

MOST = 0.25  # log units: more than that is print laid a little aside, and no grain
SOFT = 0.03  # of a picture's side over which it fades towards the rim


def grains(fine: Fine, pieces: Sequence[Exemplar], owner: Sequence[int]) -> list[np.ndarray]:
    """(P, P) float32 log brightness each: of every two cut-outs of a look, laid alike, what the one
    is brighter than the other by, where neither has print; P: as the pictures of `fine`"""
    out = []
    side = fine.pictures.shape[1]
    for a, mine in enumerate(pieces):
        for b, other in enumerate(pieces[:a]):
            if owner[b] != owner[a] or (other.size, other.disc) != (mine.size, mine.disc):
                continue
            seen = fine.straightened(
                cut_field(other), ONE, np.array([a]), np.zeros((1, 2)), np.zeros(1)
            )[2][0, ..., 0]
            inner = footprint_mask(
                tuple(PRINT * s for s in mine.size),
                mine.disc,
                side,
                side / (WIDER * max(mine.size)),
            )
            left = seen - fine.pictures[a, ..., 0]
            left -= np.median(left[inner > 0.5])
            printed = np.maximum(steep(seen), steep(fine.pictures[a, ..., 0]))
            usual = np.median(printed[inner > 0.5]) + 1e-6
            left *= inner / (1 + np.square(printed / (4 * usual)))
            out.append(
                cv2.GaussianBlur(np.clip(left, -MOST, MOST), (0, 0), SOFT * side / 2).astype(
                    np.float32
                )
            )
    # one piece may lie in both photos: it has its own grain twice
    usual = np.median([o.std() for o in out]) if out else 0.0
    return [o for o in out if o.std() >= usual]


def steep(picture: np.ndarray) -> np.ndarray:
    """(P, P): how steep brightness is within a pixel or two"""
    return cv2.dilate(
        np.hypot(cv2.Sobel(picture, cv2.CV_32F, 1, 0), cv2.Sobel(picture, cv2.CV_32F, 0, 1)),
        np.ones((3, 3)),
    )


def grained(rng: np.random.Generator, patch: Patch, found: Sequence[np.ndarray]) -> Patch:
    """The same with another's grain besides its own, this way or that"""
    one = found[rng.integers(len(found))][:: rng.choice([-1, 1]), :: rng.choice([-1, 1])]
    one = one * np.float32(rng.uniform(0.3, 1.3) * rng.choice([-1, 1]))
    m = len(patch.picture)
    wide = max(round(2 * patch.radius * WIDER * patch.scale), 1)
    more = cv2.resize(np.ascontiguousarray(one), (wide, wide), interpolation=cv2.INTER_CUBIC)
    shift = np.float32([[1, 0, (m - wide) / 2], [0, 1, (m - wide) / 2]])
    return msgspec.structs.replace(
        patch, picture=patch.picture + cv2.warpAffine(more, shift, (m, m))[..., None]
    )
