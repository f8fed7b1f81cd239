"""Which card lies on a site, by what shows of it between the pieces on it: how each looks is laid on
what is seen there, the pieces that were found left out. Its central value: CardBank."""

from __future__ import annotations

import math

import cv2
import msgspec
import numpy as np

from vision.learned.groups import EMPTY
from vision.storage import model_file

CARD_SAMPLES = 20  # along the longest card's side: with 32 no other card is told (docs/learned.md)
CARD_ASTRAY = 2  # samples by which a card may lie off its site's middle: 4 mm of 40
RIM_SAMPLES = 1  # at a card's rim that are left out: there it is seen mixed with the ground
# of its width that a piece hides about its middle: between a square's side and its diagonal
HIDING_WIDTH = 1.25
LEAST_SHOWN = 0.04  # of a card that must be seen for it to be told
# log units by which the light of a card may differ from its look's, somebody's shadow, and its colour:
# twice what is left of that on photos once the light is undone (docs/learned.md)
LIGHT_LEFT, COLOUR_LEFT = 1.0, 0.04
WORST_MISFIT = 3.0  # standard deviations: what is farther off is something else that lies there
LEAST_SPREAD = 1e-4  # log units squared of a picture's noise
GAUSSIAN_MEDIAN = 2.37  # of the sum of three squared standard deviates
# of the samples so few count, for neighbours err alike. From 0.01 to 1 no card of photos-2 is told
# otherwise (docs/learned.md)
SAMPLES_COUNT = 0.02
CARD_ERRING = math.log(1e-3)  # the most that is held against a card
LIKELY_CARDS = 8  # that fit best by plain squares: of these alone the misfits are looked at closely


class CardLooks(msgspec.Struct, frozen=True, eq=False):
    """Cards of one size as they lie straight. classes: (n,) each one's number among its group's
    classes; pictures: (n, h, w, 3) log; quarters: whether they may lie turned by any quarter"""

    classes: np.ndarray
    pictures: np.ndarray
    quarters: bool

    def turned_by(self, turn: int) -> tuple[np.ndarray, np.ndarray]:
        """(classes, pictures) of cards that lie turned clockwise by so many quarters; each in all
        ways, as long as all are of one shape"""
        h, w = self.pictures.shape[1:3]
        ways = [turn]
        if self.quarters:
            ways += [turn + 2, *([turn + 1, turn + 3] if h == w else [])]
        turned = [np.rot90(self.pictures, -q, (1, 2)) for q in ways]
        return np.tile(self.classes, len(ways)), np.concatenate(turned)


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
                f"{n}/pictures": looks.pictures.astype(np.float16),
                f"{n}/quarters": np.array(looks.quarters),
            }
        return out

    @classmethod
    def unpack(cls, arrays: model_file.Arrays) -> CardBank:
        """Raises KeyError where something is missing"""
        looks: list[CardLooks] = []
        while part := model_file.strip_prefix(str(len(looks)), arrays):
            pictures = part["pictures"].astype(np.float32)
            looks.append(CardLooks(part["classes"], pictures, bool(part["quarters"])))
        return cls(float(arrays["samples"]), tuple(looks))


class CardScene(msgspec.Struct, frozen=True, eq=False):
    """What is seen of a board at a bank's fineness. seen: (h, w, 3) log; empty: the same of the empty
    board; shown: (h, w) 0 where a piece hides what lies under it, else 1"""

    seen: np.ndarray
    empty: np.ndarray
    shown: np.ndarray

    @classmethod
    def of(
        cls,
        seen: np.ndarray,
        empty: np.ndarray,
        zoom: float,
        feet: np.ndarray,
        tops: np.ndarray,
        widths: np.ndarray,
    ) -> CardScene:
        """seen, empty: log canvases; zoom: samples a pixel of it; feet, tops: (n, 2) px of pieces that lie
        there; widths: (n,) px"""
        small, bare = (
            cv2.resize(v, None, fx=zoom, fy=zoom, interpolation=cv2.INTER_AREA)
            for v in (seen, empty)
        )
        shown = np.ones(small.shape[:2], np.uint8)
        parts = 1 << 4  # of a pixel that lines are drawn by
        ends = np.rint((np.stack([feet, tops]) + 0.5) * zoom * parts - 0.5 * parts).astype(int)
        # and half a sample about it, which shows some of the piece too
        thick = np.rint(widths * zoom * HIDING_WIDTH + 1).astype(int)
        for a, b, n in zip(*ends, thick):
            cv2.line(shown, a.tolist(), b.tolist(), 0, int(n), cv2.LINE_8, 4)
        return cls(small, bare, shown.astype(np.float32))


def weigh_cards(
    bank: CardBank, scene: CardScene, at: np.ndarray, turn: int, classes: int
) -> np.ndarray:
    """(classes,) log-likelihoods of what lies about (2,) samples, turned clockwise by so many
    quarters, or of nothing, the highest 0; nan where no look is known, everywhere where too little
    shows"""
    found: list[tuple[int, np.ndarray]] = []
    for looks in bank.looks:
        which, pictures = looks.turned_by(turn)
        spots = cut_spots(scene, at, pictures.shape[1:3])
        if spots is not None:
            seen, shown, empty = spots
            found += lay_looks(seen, shown, which, pictures)
            bare = shown[0] > 0  # the board does not move
            found.append((EMPTY, misfit_of(seen[0][bare] - empty[bare])))
    out = np.full(classes, np.nan)
    if not found:
        return out
    out[[EMPTY, *bank.known_classes()]] = -np.inf
    spread = min(np.median(misfit) for _, misfit in found) / GAUSSIAN_MEDIAN
    spread = max(spread, LEAST_SPREAD)
    count = SAMPLES_COUNT * np.mean([len(misfit) for _, misfit in found])
    for c, misfit in found:
        bounded = np.minimum(misfit / spread, 3 * WORST_MISFIT**2)
        out[c] = max(out[c], -0.5 * count * bounded.mean())
    return np.maximum(out - np.nanmax(out), CARD_ERRING)


def cut_spots(
    scene: CardScene, at: np.ndarray, shape: tuple[int, int]
) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """What is seen (p, h, w, 3) and what of it shows (p, h, w) at all places where a card of this shape
    may lie, the site's middle first, and the empty board (h, w, 3) there; None where too little shows"""
    h, w = shape
    first = np.rint(at - (w / 2 - 0.5, h / 2 - 0.5)).astype(int)[::-1]
    astray = range(-CARD_ASTRAY, CARD_ASTRAY + 1)
    moves = sorted(
        np.ndindex(len(astray), len(astray)), key=lambda m: abs(astray[m[0]]) + abs(astray[m[1]])
    )
    most = np.array(scene.shown.shape) - shape
    corners = [first + (astray[y], astray[x]) for y, x in moves]
    corners = [c for c in corners if (c >= 0).all() and (c <= most).all()]
    if not corners or (corners[0] != first).any():
        return None
    inner = np.zeros((h, w), np.float32)
    inner[RIM_SAMPLES : h - RIM_SAMPLES, RIM_SAMPLES : w - RIM_SAMPLES] = 1
    shown = np.stack([scene.shown[y : y + h, x : x + w] * inner for y, x in corners])
    enough = shown.mean((1, 2)) > LEAST_SHOWN
    if not enough[0]:
        return None
    seen = np.stack([scene.seen[y : y + h, x : x + w] for y, x in corners])
    y, x = first
    return seen[enough], shown[enough], scene.empty[y : y + h, x : x + w]


def lay_looks(
    seen: np.ndarray, shown: np.ndarray, which: np.ndarray, pictures: np.ndarray
) -> list[tuple[int, np.ndarray]]:
    """Of the likeliest classes the best look of each where it fits best: (class, (n,) squared misfits of
    what shows, in log units squared, over three colours). As of `cut_spots` and `CardLooks.turned_by`"""
    weights = np.repeat(shown.reshape(len(shown), -1), 3, 1)
    flat = seen.reshape(len(seen), -1) * weights
    plain = pictures.reshape(len(pictures), -1)
    square = weights @ (plain**2).T - 2 * flat @ plain.T
    square += (flat * seen.reshape(len(seen), -1)).sum(1, keepdims=True)
    count = weights.sum(1, keepdims=True)
    lighter = flat.sum(1, keepdims=True) - weights @ plain.T  # in other light it may lie
    square = (square - lighter**2 / count) / count
    spots, best = square.argmin(0), square.min(0)
    order = np.argsort(best)
    first = order[np.sort(np.unique(which[order], return_index=True)[1])]  # of each class
    out = []
    for n in first[:LIKELY_CARDS]:
        here = shown[spots[n]] > 0
        out.append((int(which[n]), misfit_of(seen[spots[n]][here] - pictures[n][here])))
    return out


def misfit_of(off: np.ndarray) -> np.ndarray:
    """(n,) squares of what is left, once the light is undone, of differences (n, 3)"""
    middle = np.median(off, 0)
    light = np.clip(middle.mean(), -LIGHT_LEFT, LIGHT_LEFT)
    colour = np.clip(middle - middle.mean(), -COLOUR_LEFT, COLOUR_LEFT)
    return ((off - light - colour) ** 2).sum(1)
