"""Which card lies on a site, by what shows of it between the pieces on it: how each looks is laid on
what is seen there, the pieces that were found left out. Its central value: CardBank."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import cv2
import msgspec
import numpy as np

from vision.learned.groups import EMPTY
from vision.storage import model_file

# along the longest card's side: with 32 no other card is told
# (docs/lab/2026-11-27-cards-by-their-looks-and-odd-light.md)
CARD_SAMPLES = 20
CARD_ASTRAY = 2  # samples by which a card may lie off its site's middle: 4 mm of 40
RIM_SAMPLES = 1  # at a card's rim that are left out: there it is seen mixed with the ground
# of its width that a piece hides about its middle: between a square's side and its diagonal
HIDING_WIDTH = 1.25
LEAST_SHOWN = 0.04  # of a card that must be seen for it to be told
# log units by which the light of a card may differ from its look's, somebody's shadow, and its
# colour: from 0.08 to 0.2 cards are told alike, with 0.04 worse
# (docs/lab/2026-11-28-how-cards-are-compared.md)
LIGHT_LEFT, COLOUR_LEFT = 1.0, 0.12
# of a print's contrast by which it may differ from its look's, in a veil of light
CONTRAST_LEFT = 0.3
WORST_MISFIT = 3.0  # standard deviations: what is farther off is something else that lies there
LEAST_SPREAD = 1e-4  # log units squared of a picture's noise
GAUSSIAN_MEDIAN = 2.37  # of the sum of three squared standard deviates
# samples by which prints lie off each other's places, whole samples apart: half of one at most
FRACTION_ASTRAY = 0.3
# log units squared over three colours by which prints must differ in a sample for it to tell them
# apart: so much do looks of one print
TELLING_APART = 0.1
# of the samples so few count, for neighbours err alike: on eight copies 0.1 to 0.2 tell cards as
# well (docs/lab/2026-11-28-how-cards-are-compared.md)
SAMPLES_COUNT = 0.2
CARD_ERRING = math.log(1e-3)  # the most that is held against a card
LEAST_PLACED = 0.3  # of a card that must be seen for it to be told how it lies
AROUND_CARD = 8  # px of the canvas by which it may then still be moved: 5 mm of 40
MOST_ASKEW = 0.2  # radians by which cards are turned at most, four times what made-up ones are
ALIGNING = (cv2.TERM_CRITERIA_EPS | cv2.TERM_CRITERIA_COUNT, 15, 1e-3)  # rounds, gain
LIKELY_CARDS = 8  # that fit best by plain squares: of these alone the misfits are looked at closely


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
    """Cards as they lie. classes: (n,); pictures: (n, h, w, 3) log; squares, sums: (h * w, n) of their
    colours"""

    classes: np.ndarray
    pictures: np.ndarray
    squares: np.ndarray
    sums: np.ndarray

    @classmethod
    def of(cls, classes: np.ndarray, pictures: np.ndarray) -> TurnedLooks:
        """Of these pictures"""
        flat = np.ascontiguousarray(pictures).reshape(len(pictures), -1, 3)
        return cls(classes, pictures, (flat**2).sum(2).T, flat.sum(2).T)


@lru_cache(64)  # each site of a picture asks for the same
def turn_cards_by(looks: CardLooks, turn: int) -> TurnedLooks:
    """Cards that lie turned clockwise by so many quarters; each in all ways"""
    ways = looks.ways_of(turn)
    turned = [np.rot90(looks.pictures, -q, (1, 2)) for q in ways]
    return TurnedLooks.of(np.tile(looks.classes, len(ways)), np.concatenate(turned))


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
    tried = [lay_looks(scene, at, turn_cards_by(looks, turn)) for looks in bank.looks]
    laid = [cards for cards in tried if cards is not None]
    out = np.full(classes, np.nan)
    if not laid:
        return out
    out[[EMPTY, *bank.known_classes()]] = -np.inf
    for cards in laid:
        out[cards.classes] = np.maximum(out[cards.classes], cards.tell_apart())
    return np.maximum(out - np.nanmax(out), CARD_ERRING)


class Spots(msgspec.Struct, frozen=True, eq=False):
    """All places where a card of one shape may lie, the site's middle first. corners: (p, 2) samples,
    y, x; seen: (p, h, w, 3) log; shown: (p, h, w) 0 where a piece hides it, else 1"""

    corners: np.ndarray
    seen: np.ndarray
    shown: np.ndarray


def cut_spots(scene: CardScene, at: np.ndarray, shape: tuple[int, int]) -> Spots | None:
    """Of a site about (2,) samples; None where too little shows"""
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
    return Spots(np.array(corners)[enough], seen[enough], shown[enough])


def fit_squares(spots: Spots, looks: TurnedLooks) -> np.ndarray:
    """(p, n) how badly cards fit what shows at each place: mean squares, whatever the light"""
    places = len(spots.seen)
    weights = spots.shown.reshape(places, -1)
    seen = spots.seen * spots.shown[..., None]
    plain = looks.pictures.reshape(len(looks.pictures), -1)
    square = weights @ looks.squares - 2 * seen.reshape(places, -1) @ plain.T
    square += (seen * spots.seen).sum((1, 2, 3))[:, None]
    count = 3 * weights.sum(1, keepdims=True)
    lighter = seen.sum((1, 2, 3))[:, None] - weights @ looks.sums  # in other light it may lie
    return (square - lighter**2 / count) / count


class LaidCards(msgspec.Struct, frozen=True, eq=False):
    """The likeliest cards of one shape, the best look of each, and the empty board, where a card of
    that shape fits best. classes: (c,), the last EMPTY; prints: (c, n, 3) log of what would show;
    misfits: (c, n) as of `misfit_of`; edges: (n,) squares of the change over a sample"""

    classes: np.ndarray
    prints: np.ndarray
    misfits: np.ndarray
    edges: np.ndarray

    def tell_apart(self) -> np.ndarray:
        """(c,) log-likelihoods, nothing's 0: by the samples in which a card differs from the one that
        fits best, for the others only tell how well each look was cut out"""
        spread = max(np.median(self.misfits, 1).min() / GAUSSIAN_MEDIAN, LEAST_SPREAD)
        squares = self.misfits / (spread + FRACTION_ASTRAY**2 * self.edges)
        squares = np.minimum(squares, 3 * WORST_MISFIT**2)
        best = squares.sum(1).argmin()
        apart = np.stack([misfit_of(one, self.prints[best]) for one in self.prints])
        telling = apart / (apart + TELLING_APART)
        logs = -0.5 * SAMPLES_COUNT * (telling * (squares - squares[best])).sum(1)
        return logs - logs[-1]


def lay_looks(scene: CardScene, at: np.ndarray, looks: TurnedLooks) -> LaidCards | None:
    """These cards on what is seen about (2,) samples; None where too little shows"""
    spots = cut_spots(scene, at, looks.pictures.shape[1:3])
    if spots is None:
        return None
    square = fit_squares(spots, looks)
    place = np.unravel_index(square.argmin(), square.shape)[0]
    order = np.argsort(square[place])
    first = order[np.sort(np.unique(looks.classes[order], return_index=True)[1])][:LIKELY_CARDS]
    here, seen = spots.shown[place] > 0, spots.seen[place]
    y, x = spots.corners[place]
    bare = scene.empty[y : y + seen.shape[0], x : x + seen.shape[1]]
    prints = np.stack([v[here] for v in (*looks.pictures[first], bare)])
    misfits = np.stack([misfit_of(seen[here], v) for v in prints])
    down, across = np.gradient(seen, axis=(0, 1))
    edges = ((down**2 + across**2).sum(2) / 3)[here]
    classes = np.append(looks.classes[first], EMPTY)
    return LaidCards(classes, prints, misfits, edges)


def place_card(
    bank: CardBank, scene: CardScene, at: np.ndarray, turn: int, label: int
) -> tuple[np.ndarray, np.ndarray] | None:
    """(its picture as the canvas shows it, (2,) samples of its middle) of the card of this class where
    it fits best on a site, as of `weigh_cards`; None where too little shows to say how it lies"""
    best = math.inf, None
    for looks in bank.looks:
        mine = looks.classes == label
        for way in looks.ways_of(turn) if mine.any() else ():
            pictures = np.rot90(looks.pictures[mine], -way, (1, 2))
            spots = cut_spots(scene, at, pictures.shape[1:3])
            if spots is None or spots.shown[0].mean() < LEAST_PLACED:
                continue
            square = fit_squares(spots, TurnedLooks.of(looks.classes[mine], pictures))
            place, n = np.unravel_index(square.argmin(), square.shape)
            if square[place, n] < best[0]:
                middle = (spots.corners[place] + np.array(pictures.shape[1:3]) / 2)[::-1]
                best = square[place, n], (np.rot90(looks.fine[mine][n], -way), middle)
    return best[1]


def draw_card(
    ground: np.ndarray, seen: np.ndarray, shown: np.ndarray, fine: np.ndarray, middle: np.ndarray
) -> None:
    """Draws a card, its picture (h, w, 3) log, on the ground, a log canvas, about (2,) px of it, counted
    from its corner, moved and turned a little as it fits what is seen (H, W, 3). shown: (H, W)
    0 where a piece hides it"""
    h, w = fine.shape[:2]
    corner = middle - (w / 2, h / 2)
    low = np.clip(np.floor(corner).astype(int) - AROUND_CARD, 0, None)
    high = np.floor(corner).astype(int) + np.array([w, h]) + AROUND_CARD
    part = np.s_[low[1] : high[1], low[0] : high[0]]
    rough = np.float32([[1, 0, corner[0] - low[0]], [0, 1, corner[1] - low[1]]])
    fine = np.ascontiguousarray(fine, np.float32)
    greys = fine.mean(2), seen[part].mean(2)
    try:  # Evangelidis and Psarakis 2008: whatever the light and the contrast
        _, exact = cv2.findTransformECC(
            *greys,
            rough.copy(),
            cv2.MOTION_EUCLIDEAN,
            ALIGNING,
            (shown[part] > 0).astype(np.uint8),
            5,
        )
    except cv2.error:  # they are not alike
        exact = rough
    off = (exact - rough) @ (w / 2, h / 2, 1.0)
    if not (abs(exact[1, 0]) <= MOST_ASKEW and np.abs(off).max() <= AROUND_CARD):  # or is no number
        exact = rough
    into = ground[part]
    size = into.shape[1::-1]
    mask = np.zeros((h, w), np.float32)
    mask[1:-1, 1:-1] = 1
    face, mask = (
        cv2.warpAffine(v, exact, size, flags=cv2.INTER_LINEAR, borderMode=border)
        for v, border in ((fine, cv2.BORDER_REPLICATE), (mask, cv2.BORDER_CONSTANT))
    )
    into += (face - into) * mask[..., None]


def misfit_of(seen: np.ndarray, look: np.ndarray) -> np.ndarray:
    """(n,) squares of what is left of differences between what is seen (n, 3) and a picture, once light
    and contrast are undone"""
    half = len(seen) // 2
    middle = np.partition(look, half, 0)[half]  # `np.median` takes three times as long
    off = seen - look
    usual = np.partition(off, half, 0)[half]
    grey = usual.sum() / 3
    light = min(max(grey, -LIGHT_LEFT), LIGHT_LEFT)
    left = off - (np.clip(usual - grey, -COLOUR_LEFT, COLOUR_LEFT) + light)
    mark = look - middle
    more = float(np.vdot(left, mark)) / (float(np.vdot(mark, mark)) + 1e-6)
    left -= min(max(more, -CONTRAST_LEFT), CONTRAST_LEFT) * mark
    return np.einsum("nc,nc->n", left, left)
