"""How far loose pieces fall short of a perfect match and still are pieces: as samplers' do, and
those of the same picture. Its central
value: Habits."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from vision.readers.loose.pieces.fit import PLENTY, PLENTY_BLOCK, SEEN, Piece
from vision.readers.loose.scene.polar_patches import Form
from vision.readers.loose.usual_fit import LESS, MORE, MORE_HERE, Usual

ENOUGH = 4  # pieces of a form from which it can be told how they fit
# nats a mm² by which any print falls short: noise, and that it lies between the canvas' pixels
SOFT = 0.5
# log odds against something strange: only the picture's own pieces can tell it
DOUBT = (MORE + MORE_HERE) / 2


class Habit(msgspec.Struct, frozen=True, eq=False):
    """forms: those of which enough was seen; usual: how far pieces of each fall short"""

    forms: tuple[Form, ...]
    usual: Usual

    @classmethod
    def of(cls, pieces: Sequence[Piece]) -> Habit | None:
        """By pieces known to be right; None where there are too few of any form"""
        pieces = [p for p in pieces if tells(p)]
        every = [p.form for p in pieces]
        forms = tuple(f for f in dict.fromkeys(every) if every.count(f) >= ENOUGH)
        pieces = [p for p in pieces if p.form in forms]
        if not forms:
            return None
        return cls(forms, Usual.of(short(pieces), whose(pieces, forms)))

    def here(self, pieces: Sequence[Piece]) -> Habit:
        """What is usual in a picture that shows these, some of which may be something else"""
        told = [p for p in pieces if tells(p) and p.form in self.forms]
        return msgspec.structs.replace(
            self, usual=self.usual.shifted(short(told), whose(told, self.forms))
        )

    def strange(self, pieces: Sequence[Piece]) -> np.ndarray:
        """(n,) probability that what was taken for each is something else that looks a little like
        it"""
        return 1 / (1 + np.exp(DOUBT - self.odds(pieces, self.usual)))

    def doubtful(self, pieces: Sequence[Piece]) -> list[Piece]:
        """Those that surely were something else if all in the picture fitted as learnt"""
        odds = self.odds(pieces, msgspec.structs.replace(self.usual, more=MORE_HERE))
        return [pieces[i] for i in np.flatnonzero(odds >= MORE_HERE)]

    def odds(self, pieces: Sequence[Piece], usual: Usual) -> np.ndarray:
        """(n,) log odds by which pieces are likelier something else than they seem"""
        out, told = (
            np.full(len(pieces), LESS),
            [i for i, p in enumerate(pieces) if tells(p) and p.form in self.forms],
        )
        some = [pieces[i] for i in told]
        out[told] = usual.stranger(short(some), whose(some, self.forms))
        return out


class Habits(msgspec.Struct, frozen=True, eq=False):
    """lying: how flat pieces and figures fit; blocks: those that may stand side by side, which hide
    and shade each other: how they fit tells of something strange no more than besides what else
    does. None: too few were seen"""

    lying: Habit | None = None
    blocks: Habit | None = None

    @classmethod
    def of(cls, pieces: Sequence[Piece]) -> Habits:
        """By pieces known to be right"""
        return cls(
            Habit.of([p for p in pieces if p.framed is None]),
            Habit.of([p for p in pieces if p.framed is not None]),
        )

    def here(self, pieces: Sequence[Piece]) -> Habits:
        """What is usual in a picture that shows these, some of which may be something else"""
        return Habits(*(h and h.here(pieces) for h in (self.lying, self.blocks)))

    def doubtful(self, pieces: Sequence[Piece]) -> list[Piece]:
        """Those of which only the other pieces in the picture could tell whether they are something
        else"""
        return self.lying.doubtful(pieces) if self.lying else []

    def foreign(self, pieces: Sequence[tuple[Piece, float]], other: float) -> float:
        """Probability of something strange on a site. other: by all else that tells; pieces: with
        the probability that each stands there"""
        every = [p for p, _ in pieces]
        there = np.array([p.chance * here for p, here in pieces])
        if self.lying and pieces:
            other = 1 - (1 - other) * (1 - float((self.lying.strange(every) * there).max()))
        if self.blocks and pieces:
            more = float((self.blocks.odds(every, self.blocks.usual).clip(0, MORE) * there).max())
            other = other / (other + (1 - other) * np.exp(-more))
        return float(other)


UNTOLD = Habits()


def tells(p: Piece) -> bool:
    """Whether a piece is surely there, and shows enough of it to tell how it fits"""
    return (
        p.chance > 0.5
        and p.ideal > (PLENTY if p.framed is None else PLENTY_BLOCK)
        and p.ideal >= SEEN * p.whole
    )


def short(pieces: Sequence[Piece]) -> np.ndarray:
    """(n,) nats a mm² of what shows of pieces by which they fall short of a perfect match. Not the
    share of one: where pieces stand out little from the ground, noise is a large share"""
    return np.array(
        [SOFT + max(p.ideal - p.gain, 0) * p.whole / (p.ideal * p.form.area) for p in pieces]
    )


def whose(pieces: Sequence[Piece], forms: Sequence[Form]) -> np.ndarray:
    """(n,) which of the forms each has"""
    return np.array([forms.index(p.form) for p in pieces], int)
