"""Pieces alike but for what is printed on them: faces slid over a site, told by their pattern and
not by how strong the light makes it. Its central value: Faces."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from vision.evidence.site_evidence import Contents
from vision.kernels import Kernel
from vision.photometry.colour_sampling import Field
from vision.readers.pile.coarse_search import FLOOR
from vision.readers.pile.exemplar import Exemplar, footprint_mask
from vision.readers.pile.features import strength
from vision.readers.pile.fine_match import cut_field

SIDE = 19  # pixels along the inner part of a footprint, which holds the print
INNER = 0.8  # of the footprint: its edge and what lies beside it say nothing of the face
REACH = 3  # pixels either way that faces are slid
STEP = 8.0  # degrees: how finely turns are tried
LITTLE = np.float32(np.radians(STEP))
FAINT = 0.03  # what a print of another strength costs, as a share of it: gloss leaves a fifth of it
PALEST = 0.3  # of a kind's clearest print that a cut-out of it may show: it is taken to be as clear
# log units that a piece as a whole may differ by, in another light
TONE = np.float32([1.2, 0.7, 0.7])
ROWS = 96  # sites at a time
AT_ONCE = 16  # and what is cut out of them: it stays near the processor

_patches, _best = Kernel("face_patches", "fnnnxfff"), Kernel("face_best", "fffxnnnffif")


class Faces(msgspec.Struct, frozen=True, eq=False):
    """The cut-outs of one footprint. prints: (SIDE * SIDE, E) brightness about its mean, in units
    of FLOOR, nought outside the mask; squares: (E,); tones: (E, 3) mean colour; mask: (SIDE *
    SIDE,); half: mm, of the part looked at; turns: (T,) radians that are tried, then STEP to either
    side of the best; faint: as FAINT was when the model was made."""

    prints: np.ndarray
    squares: np.ndarray
    tones: np.ndarray
    mask: np.ndarray
    half: float
    turns: np.ndarray
    faint: float = 0.5

    @classmethod
    def fit(cls, pieces: list[Exemplar]) -> Faces:
        first = pieces[0]
        half = INNER * min(first.size) / 2
        mask = (
            (footprint_mask((2 * half, 2 * half), first.disc, SIDE, SIDE / (2 * half)) > 0.5)
            .astype(np.float32)
            .ravel()
        )
        one, zero = np.zeros(1, int), np.zeros(1)
        soft = 0.35 * 2 * half / SIDE
        seen = np.array(
            [
                cut_field(e, soft * e.scale)
                .sample(one, np.zeros((1, 2)), zero, grid(half))[0]
                .reshape(-1, 3)
                for e in pieces
            ]
        )
        tones = mask @ seen / mask.sum()
        seen = seen[..., 0] / FLOOR[0]
        prints = (seen - (seen @ mask)[:, None] / mask.sum()) * mask
        prints *= clearer(np.sqrt(np.square(prints).sum(1)), [e.contents for e in pieces])[:, None]
        return cls(
            np.ascontiguousarray(prints.T, np.float32),
            np.square(prints).sum(1).astype(np.float32),
            tones.astype(np.float32),
            mask,
            half,
            turns_of(first.lies),
            FAINT,
        )

    def compare(
        self, field: Field, site: np.ndarray, middle: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(misfit (n, E), place (n, E, 2) mm, turn (n, E) radians) of each cut-out where it fits
        best round `middle` (n, 2) mm"""
        parts = [
            self._compare(field, site[a : a + ROWS], middle[a : a + ROWS])
            for a in range(0, len(site), ROWS)
        ]
        return tuple(np.concatenate(p) for p in zip(*parts))

    def _compare(
        self, field: Field, site: np.ndarray, middle: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        n, k, area = len(site), 2 * REACH + 1, self.mask.sum()
        wide = grid(self.half, REACH)
        best = np.full((n, self.prints.shape[1]), np.inf, np.float32)
        at, turn = np.zeros(best.shape, np.int32), np.zeros(best.shape, np.float32)
        inner = field.sample(site, middle, np.zeros(n), grid(self.half)).reshape(n, -1, 3)
        tone = np.einsum("npc,p->nc", inner, self.mask) / area
        tried = [np.full(n, t, np.float32) for t in self.turns]
        for number in range(len(self.turns) + 2):
            # then a little to either side of where each site's best turned out to lie
            if number == len(self.turns):
                likeliest = turn[np.arange(n), best.argmin(1)]
                tried += [likeliest - LITTLE, likeliest + LITTLE]
            seen = field.sample(site, middle, tried[number], wide)
            for a in range(0, n, AT_ONCE):
                part = slice(a, a + AT_ONCE)
                self._improve(seen[part], tried[number][part], best[part], at[part], turn[part])
        off = np.stack([at % k, at // k], -1) - REACH
        off = off * (2 * self.half / SIDE)
        c, s = np.cos(turn), np.sin(turn)
        place = middle[:, None] + np.stack(
            [c * off[..., 0] - s * off[..., 1], s * off[..., 0] + c * off[..., 1]], -1
        )
        return best / area + np.square((tone[:, None] - self.tones) / TONE).sum(2), place, turn

    def _improve(
        self,
        seen: np.ndarray,
        turned: np.ndarray,
        best: np.ndarray,
        at: np.ndarray,
        turn: np.ndarray,
    ) -> None:
        """Sets the misfit best, place at and turn (n, E) where some place in what is seen (n, W, W,
        3), turned by (n,), is better"""
        patches, total = self.patches(seen)
        like = patches @ self.prints
        if _best:
            _best(
                like,
                total,
                self.squares,
                self.faint,
                len(seen),
                len(total) // len(seen),
                len(self.squares),
                turned,
                best,
                at,
                turn,
            )
            return
        much = strength(like, self.squares, self.faint)
        misfit = (
            total[:, None]
            + much * (much * self.squares - 2 * like)
            + self.faint * self.squares * (much - 1) ** 2
        )
        misfit = misfit.reshape(len(seen), -1, len(self.squares))
        lowest = misfit.argmin(1)
        least = np.take_along_axis(misfit, lowest[:, None], 1)[:, 0]
        better = least < best
        best[better], at[better] = least[better], lowest[better]
        turn[better] = np.broadcast_to(turned[:, None], turn.shape)[better]

    def patches(self, seen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """((n * places, SIDE * SIDE) brightness at every place in what is seen (n, W, W, 3), (n *
        places,) squares about its mean)"""
        n, wide = seen.shape[:2]
        k = wide - SIDE + 1
        if _patches:
            patches, total = (
                np.empty((n * k * k, SIDE * SIDE), np.float32),
                np.empty(n * k * k, np.float32),
            )
            _patches(seen, n, wide, SIDE, float(FLOOR[0]), self.mask, patches, total)
            return patches, total
        patches = np.lib.stride_tricks.sliding_window_view(
            seen[..., 0] / FLOOR[0], (SIDE, SIDE), (1, 2)
        ).reshape(n * k * k, -1)
        return patches, np.square(patches) @ self.mask - np.square(
            patches @ self.mask
        ) / self.mask.sum()


def clearer(strong: np.ndarray, contents: Sequence[Contents]) -> np.ndarray:
    """(E,) how many times as strong each cut-out's print (E,) is in the clearest of its kind: one
    that gloss made pale is near to whatever else is"""
    clearest: dict[Contents, float] = {}
    for c, s in zip(contents, strong):
        clearest[c] = max(clearest.get(c, 0.0), float(s))
    most = np.array([clearest[c] for c in contents], np.float32)
    return np.minimum(most / np.maximum(strong, 1e-6), 1 / PALEST)


def grid(half: float, more: int = 0) -> np.ndarray:
    """(R, R, 2) mm: the middles of SIDE pixels over a square of this half side, and `more` beyond
    on each side"""
    t = (np.arange(-more, SIDE + more) + 0.5) / SIDE * 2 * half - half
    return np.stack(np.meshgrid(t, t), -1).astype(np.float32)


def turns_of(lies: str) -> np.ndarray:
    """(T,) radians to try for pieces that lie so"""
    if lies == "any":
        return np.radians(np.arange(0, 360, 2 * STEP))
    return np.radians((0.0, 90.0, 180.0, 270.0) if lies == "quarters" else (0.0,))
