"""How badly what a site is told to show may fit and still be that: learnt from what is made to
learn from. Its value: Usual."""

from __future__ import annotations

import math

import msgspec
import numpy as np

MANY = 0.8  # share of pieces beyond which what fits worse tells how badly the rarest do
RARELY = 0.007  # share of pieces that fit so badly that their fit tells nothing
RARELY_HERE = 0.01  # the same where other pieces of the picture tell how pieces fit in it
STEEP = 4.0  # how many times as fast as pieces get rarer doubt grows
# log odds by which a fit may tell against something else, and for it: alone it does not
LESS, MORE = -8.0, 3.0
MORE_HERE = 6.0  # and for it where the picture's pieces tell
LEAST = 1e-3  # what is left unexplained at least
# pieces in a picture that tell as much of how badly they fit in its light as all that was learnt
FEW = 4
EVEN = 3.0  # times as even as learnt at most is taken to be how pieces fit in a picture


class Usual(msgspec.Struct, frozen=True, eq=False):
    """medians: (looks,) of the logarithm of what a look's own cut-outs leave unexplained of its
    pieces, inf where nothing is known;
    most: by how much RARELY pieces exceed theirs; fall: by how much more e times as few do; more:
    log odds at most for something else; less: the same against it: none where kinds are not shown,
    which may fit as those that they resemble."""

    medians: np.ndarray
    most: float
    fall: float
    more: float = MORE
    less: float = LESS

    @classmethod
    def of(
        cls, left: np.ndarray, whose: np.ndarray, known: np.ndarray, unshown: bool = False
    ) -> Usual:
        """left: (n,) what cut-outs of a look left unexplained of its pieces, none of itself; whose:
        (n,) the look;
        known: (looks,) bool, of which there is more than one cut-out, so that left tells anything;
        unshown: whether there are kinds that no photo shows"""
        logs = np.log(np.maximum(left, LEAST))
        known = known & (np.bincount(whose, minlength=len(known)) > 0)
        medians = np.array(
            [np.median(logs[whose == k]) if known[k] else -np.inf for k in range(len(known))]
        )
        medians[~known] = medians.max() if known.any() else np.inf
        worse = (logs - medians[whose])[known[whose]]
        many = float(np.quantile(worse, MANY)) if len(worse) else 0.0
        fall = max(float((worse[worse >= many] - many).mean()), LEAST) if len(worse) else 1.0
        return cls(
            medians.astype(np.float32),
            many + fall * math.log((1 - MANY) / RARELY),
            fall,
            less=0.0 if unshown else LESS,
        )

    def shifted(self, left: np.ndarray, look: np.ndarray) -> Usual:
        """What is usual in a picture in which pieces told without doubt leave so much unexplained,
        (n,), of looks (n,): a light none was made in makes all fit worse, some looks more than
        others, and one like the calibration's lets all fit better"""
        worse = np.log(np.maximum(left, LEAST)) - self.medians[look]
        worse, look = worse[np.isfinite(worse)], look[np.isfinite(worse)]
        if not len(worse):
            return self
        own = np.bincount(look, minlength=len(self.medians))
        shift = np.full(len(self.medians), np.median(worse) * len(worse) / (len(worse) + FEW))
        for k in np.flatnonzero(own):
            shift[k] = (np.median(worse[look == k]) * own[k] + shift[k] * FEW) / (own[k] + FEW)
        known = len(worse) / (len(worse) + FEW)
        return Usual(
            self.medians + shift.astype(np.float32),
            self.most,
            self.fall,
            known * MORE_HERE + (1 - known) * MORE,
            self.less,
        )

    def here(self, left: np.ndarray, look: np.ndarray) -> Usual:
        """The same, and how evenly they fit in it: what was made to learn from varies more than a
        picture does"""
        mean = self.shifted(left, look)
        worse = np.log(np.maximum(left, LEAST)) - mean.medians[look]
        worse = worse[np.isfinite(worse)]
        if not len(worse):
            return self
        known, many = len(worse) / (len(worse) + FEW), np.quantile(worse, MANY)
        # not the mean: things may be among them
        rarer = np.quantile(worse, 1 - (1 - MANY) / 2) - many
        fall = min(
            max(known * rarer / math.log(2) + (1 - known) * self.fall, self.fall / EVEN), self.fall
        )
        most = known * (many + fall * math.log((1 - MANY) / RARELY_HERE)) + (1 - known) * self.most
        return Usual(mean.medians, float(min(most, self.most)), fall, mean.more, self.less)

    def stranger(self, left: np.ndarray, look: np.ndarray) -> np.ndarray:
        """(n,) log odds by which what was taken for a look (n,) is likelier to be something else
        than it seemed, as its best cut-out leaves so much unexplained; negative where it fits as
        its pieces do"""
        worse = np.log(np.maximum(left, LEAST)) - self.medians[look]
        return np.where(
            np.isfinite(worse),
            np.clip(STEEP * (worse - self.most) / self.fall, self.less, self.more),
            0.0,
        )
