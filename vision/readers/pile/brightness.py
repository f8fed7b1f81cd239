"""How bright pieces of a kind are beside each other: a grey paper's outline may be a white stone's.
Its value: Evenly."""

from __future__ import annotations

import math

import msgspec
import numpy as np

from vision.geometry.site_groups import nearest_others
from vision.readers.pile.features import STEP
from vision.readers.pile.fit_statistics import MANY, MORE_HERE, RARELY_HERE, STEEP
from vision.readers.pile.hidden_print import Shown

INNER = 0.6  # of a straightened piece's half side: where its brightness is taken
FEW = 4  # pieces that tell as much of how evenly bright they are as the samplers do
NEAR = 8  # sites around, which tell of shadows and lamps
# log odds at most for something else: the network has seen how bright it is, and was not surprised
BEST = 2 * MORE_HERE


class Bright(msgspec.Struct, frozen=True, eq=False):
    """How much brighter places are than what they are taken for, as logarithms. centres: (n, 2) mm;
    low, middle, high: (n,) of a quarter, half and three quarters of it"""

    centres: np.ndarray
    low: np.ndarray
    middle: np.ndarray
    high: np.ndarray

    @classmethod
    def of(
        cls,
        pictures: np.ndarray,
        row: np.ndarray,
        models: np.ndarray,
        piece: np.ndarray,
        centres: np.ndarray,
    ) -> Bright:
        """pictures: (m, P, P, 3) straightened pieces, row: (n,) those meant; models: (E, P, P, 3)
        cut-outs, piece: (n,) those they are taken for"""
        more = inner(pictures, row) - inner(models, piece)
        cuts = [more.shape[1] * q // 4 for q in (1, 2, 3)]
        return cls(centres, *np.partition(more, cuts, axis=1)[:, cuts].T)


class Evenly(msgspec.Struct, frozen=True):
    """off: by how much cut-outs of a look differ in brightness, a logarithm, on average"""

    off: float

    @classmethod
    def of(cls, pictures: np.ndarray, look: np.ndarray) -> Evenly | None:
        """By cut-outs (E, P, P, 3) and the look of each; None where no look has two"""
        bright = np.median(inner(pictures, np.arange(len(look))), 1)
        each = [bright[look == k] for k in np.unique(look)]
        off = [
            np.abs(b - np.median(b)) * math.sqrt(len(b) / (len(b) - 1)) for b in each if len(b) > 1
        ]
        return cls(float(np.concatenate(off).mean())) if off else None

    def here(self, pieces: Bright, look: np.ndarray, around: Shown, looks: int) -> Lit | None:
        """What is usual in a picture, by what surely are pieces of looks (n,); around: sites that
        seem empty; looks: how many there are. None where too few tell it"""
        if len(look) < FEW:
            return None
        mean = np.median(pieces.middle)
        usual = np.full(looks, mean)
        for k in np.unique(look):
            own = pieces.middle[look == k]
            usual[k] = (np.median(own) * len(own) + mean * FEW) / (len(own) + FEW)
        off = pieces.middle - usual[look]
        many, few = np.quantile(np.abs(off), (MANY, (1 + MANY) / 2))
        known = len(off) / (len(off) + FEW)
        fall = max(known * (few - many) / math.log(2) + (1 - known) * self.off, self.off / 3)
        most = max(many, self.off) + fall * math.log((1 - MANY) / RARELY_HERE)
        lit = around.lit - np.median(around.lit) if len(around.lit) else around.lit
        return Lit(
            usual,
            most,
            fall,
            np.concatenate([pieces.centres, around.centres]),
            np.concatenate([off, lit]),
        )


class Lit(msgspec.Struct, frozen=True, eq=False):
    """How bright pieces are in a picture. usual: (looks,) logarithms, beside their cut-outs; most:
    by how much the brightest and darkest are off that; fall: by how much more e times as few are;
    centres: (m, 2) mm of sites there, off: (m,) by how much they are"""

    usual: np.ndarray
    most: float
    fall: float
    centres: np.ndarray
    off: np.ndarray

    def stranger(self, pieces: Bright, look: np.ndarray) -> np.ndarray:
        """(n,) log odds, 0 at least, by which what was taken for looks (n,) is something else for
        how bright it is. What is as dark or as bright as anything near lies in a shadow or under a
        lamp, and so does what is in part as it should be"""
        low, high = pieces.low - self.usual[look], pieces.high - self.usual[look]
        out = np.zeros(len(look))
        for i in np.flatnonzero(np.maximum(low, -high) > self.most):
            near = self.off[nearest_others(self.centres, pieces.centres[i], NEAR)]
            if len(near) >= FEW:
                beyond = max(low[i] - max(near.max(), 0), min(near.min(), 0) - high[i])
                out[i] = np.clip(STEEP * (beyond - self.most) / self.fall, 0, BEST)
        return out


def inner(pictures: np.ndarray, which: np.ndarray) -> np.ndarray:
    """(n, q): the brightness of some of pictures (m, P, P, 3), which: (n,), over their middles"""
    size = pictures.shape[1]
    at = np.arange(0, size, STEP)
    off = at + 0.5 - size / 2
    places = (at[:, None] * size + at)[np.hypot(off[:, None], off) < INNER * size / 2]
    return pictures.reshape(len(pictures), -1)[which[:, None], 3 * places]
