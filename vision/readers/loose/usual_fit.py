"""How badly what is taken for a piece of some form may fit and still be one: as samplers' pieces
do. Its value: Usual."""

from __future__ import annotations

import math

import msgspec
import numpy as np

MANY = 0.8  # share of pieces beyond which what fits worse tells how badly the rarest do
RARELY = 0.007  # share of pieces that fit so badly that their fit tells nothing
STEEP = 4.0  # how many times as fast as pieces get rarer doubt grows
# log odds by which a fit may tell against something else, and for it: alone it does not
LESS, MORE = -8.0, 3.0
MORE_HERE = 6.0  # and for it where the picture's pieces tell
LEAST = 1e-3  # what is left unexplained at least
# pieces in a picture that tell as much of how badly they fit in its light as all that was learnt
FEW = 4


class Usual(msgspec.Struct, frozen=True, eq=False):
    """medians: (forms,) of the logarithm of what is left unexplained of a form's pieces; most: by
    how much RARELY pieces exceed theirs; fall: by how much more e times as few do; more: log odds
    at most for something else; less: the same against it"""

    medians: np.ndarray
    most: float
    fall: float
    more: float = MORE
    less: float = LESS

    @classmethod
    def of(cls, left: np.ndarray, whose: np.ndarray) -> Usual:
        """left: (n,) what was left unexplained of pieces; whose: (n,) the form of each, from 0 on,
        some of every form"""
        logs = np.log(np.maximum(left, LEAST))
        medians = np.array([np.median(logs[whose == k]) for k in range(whose.max() + 1)])
        worse = logs - medians[whose]
        many = float(np.quantile(worse, MANY))
        fall = max(float((worse[worse >= many] - many).mean()), LEAST)
        most = many + fall * math.log((1 - MANY) / RARELY)
        return cls(medians.astype(np.float32), most, fall)

    def shifted(self, left: np.ndarray, whose: np.ndarray) -> Usual:
        """What is usual in a picture in which pieces told without doubt leave so much unexplained,
        (n,), of forms (n,): a light none was seen in makes all fit worse, some forms more than
        others, and one like the calibration's lets all fit better"""
        worse = np.log(np.maximum(left, LEAST)) - self.medians[whose]
        if not len(worse):
            return self
        own = np.bincount(whose, minlength=len(self.medians))
        shift = np.full(len(self.medians), np.median(worse) * len(worse) / (len(worse) + FEW))
        for k in np.flatnonzero(own):
            shift[k] = (np.median(worse[whose == k]) * own[k] + shift[k] * FEW) / (own[k] + FEW)
        known = len(worse) / (len(worse) + FEW)
        return Usual(
            self.medians + shift.astype(np.float32),
            self.most,
            self.fall,
            known * MORE_HERE + (1 - known) * MORE,
            self.less,
        )

    def stranger(self, left: np.ndarray, whose: np.ndarray) -> np.ndarray:
        """(n,) log odds by which what was taken for a piece of a form (n,) is likelier to be
        something else than it seemed, as so much of it is left unexplained; negative where it fits
        as pieces do"""
        worse = np.log(np.maximum(left, LEAST)) - self.medians[whose]
        return np.clip(STEEP * (worse - self.most) / self.fall, self.less, self.more)
