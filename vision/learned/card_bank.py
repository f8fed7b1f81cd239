"""How the cards of a copy look. Its central value: CardBank."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import cv2
import msgspec
import numpy as np

from vision.storage import model_file

# along the longest card's side, by which it is found about where a card lies: with 32 no other is
# (docs/lab/2026-11-27-cards-by-their-looks-and-odd-light.md)
CARD_SAMPLES = 20


class CardLooks(msgspec.Struct, frozen=True, eq=False):
    """Cards of one size as they lie straight. classes: (n,) each one's number among its group's
    classes; pictures: (n, h, w, 3) log, as fine as they are compared; fine: (n, H, W, 3) as the canvas
    shows them; quarters: whether they may lie turned by any quarter"""

    classes: np.ndarray
    pictures: np.ndarray
    fine: np.ndarray
    quarters: bool

    @classmethod
    def of(
        cls, classes: np.ndarray, fine: np.ndarray, size: Sequence[int], quarters: bool
    ) -> CardLooks:
        """size: (w, h) of the pictures to compare"""
        small = [cv2.resize(p, tuple(size), interpolation=cv2.INTER_AREA) for p in fine]
        return cls(classes, np.stack(small), fine, quarters)

    def ways_of(self, turn: int) -> list[int]:
        """By how many quarters clockwise cards may be turned where they usually are by `turn`; all
        that are of one shape"""
        h, w = self.pictures.shape[1:3]
        if not self.quarters:
            return [turn]
        return [turn, turn + 2, *([turn + 1, turn + 3] if h == w else [])]


class TurnedLooks(msgspec.Struct, frozen=True, eq=False):
    """Cards of one size as they lie, each in all ways. classes: (n,); pictures: (n, h, w, 3) log;
    squares, sums: (h * w, n) of their colours; upright: as they lie straight; ways: (n,) quarters
    clockwise"""

    classes: np.ndarray
    pictures: np.ndarray
    squares: np.ndarray
    sums: np.ndarray
    upright: CardLooks
    ways: tuple[int, ...]

    def fine_picture(self, n: int) -> np.ndarray:
        """(h, w, 3) one as the canvas shows it"""
        count = len(self.upright.classes)
        return np.rot90(self.upright.fine[n % count], -self.ways[n // count])


@lru_cache(64)  # each site of a picture asks for the same
def turn_cards_by(looks: CardLooks, turn: int) -> TurnedLooks:
    """Cards that lie turned clockwise by so many quarters"""
    ways = tuple(looks.ways_of(turn))
    pictures = np.concatenate([np.rot90(looks.pictures, -q, (1, 2)) for q in ways])
    flat = np.ascontiguousarray(pictures).reshape(len(pictures), -1, 3)
    squares, sums = (flat**2).sum(2).T, flat.sum(2).T
    return TurnedLooks(np.tile(looks.classes, len(ways)), pictures, squares, sums, looks, ways)


class CardBank(msgspec.Struct, frozen=True, eq=False):
    """How the cards of one group look. samples: a millimetre"""

    samples: float
    looks: tuple[CardLooks, ...]

    def known_classes(self) -> np.ndarray:
        """The numbers of the classes whose looks are known, ascending"""
        return np.unique(np.concatenate([v.classes for v in self.looks]))

    def pack(self) -> model_file.Arrays:
        """As arrays for the model file"""
        out = {"samples": np.array(self.samples)}
        for n, looks in enumerate(self.looks):
            out |= {
                f"{n}/classes": looks.classes,
                f"{n}/fine": looks.fine.astype(np.float16),
                f"{n}/size": np.array(looks.pictures.shape[2:0:-1]),
                f"{n}/quarters": np.array(looks.quarters),
            }
        return out

    @classmethod
    def unpack(cls, arrays: model_file.Arrays) -> CardBank:
        """Raises KeyError where something is missing"""
        looks: list[CardLooks] = []
        while part := model_file.strip_prefix(str(len(looks)), arrays):
            fine = part["fine"].astype(np.float32)
            looks.append(
                CardLooks.of(part["classes"], fine, part["size"].tolist(), bool(part["quarters"]))
            )
        return cls(float(arrays["samples"]), tuple(looks))
