"""Which card lies on a site, by what shows of it between the pieces on it: looks are laid as the card
lies, and told apart by every pixel in which they differ."""

from __future__ import annotations

import math
from collections.abc import Sequence

import cv2
import msgspec
import numpy as np

from vision.learned.card_bank import CardBank, TurnedLooks, turn_cards_by
from vision.learned.card_view import (
    AROUND_CARD,
    SHOWN_PLAINLY,
    CardScene,
    CardView,
    Lie,
    explain_pixels,
    place_pixels,
    relight_look,
)
from vision.learned.groups import EMPTY
from vision.learned.piece_view import Ground

CARD_ASTRAY = 2  # samples by which a card may lie off its site's middle: 4 mm of 40
# at a card's rim that are left out, for there it is seen mixed with the ground: samples, pixels
RIM_SAMPLES, RIM_PIXELS = 1, 3
LEAST_SHOWN = 0.01  # of a card that must be seen for it to be told
LEAST_PLACED = 0.1  # of a card that must be seen for it to be drawn
WHOLLY_DRAWN = 0.9  # of a pixel that a card covers, for it to show the card
# chance of a card, and how many times the mean squares of any other must be its own, from which it is told
# at once: half of all doubtful cards are, none of 2018 was wrong (docs/lab/2026-11-29-pixels-of-pieces.md)
LIKELY_CARD, PLAIN_FIT = math.log(0.8), 1.4
LIKELY_CARDS = 4  # that fit best, and as many that are held likeliest beforehand: these are laid
# by which a card is moved and turned until it fits best: pixels, degrees, and pixels between those that
# are looked at; how often by each at most
ALIGNING, ALIGN_ROUNDS = ((3.0, 4.0, 3), (1.5, 2.0, 3), (0.75, 1.0, 3), (0.4, 0.5, 2)), 2
ALIGN_AGAIN = ALIGNING[-1:]  # of a card that was laid before
MOST_ASKEW = 12.0  # degrees by which cards are turned at most
# log-likelihood of a pixel that shows, on the average, below which no card fits: of 373 that were told
# right ten had less than 2 (docs/lab/2026-11-29-slivers-of-cards.md)
WORST_FIT = 1.0
PRINT_ASTRAY = 1  # pixels by which looks may be cut out astray
# log units squared over three colours by which prints must differ in a pixel for it to tell them
# apart: so much do looks of one print
TELLING_APART = 0.1
SQUARES_COUNT = 0.2  # of the square millimetres so few count, for neighbours err alike
CARD_ERRING = math.log(1e-3)  # the most that is held against a card


def weigh_cards(
    bank: CardBank,
    scene: CardScene,
    at: np.ndarray,
    turn: int,
    logs: np.ndarray,
    known: Lie | None = None,
) -> tuple[np.ndarray, Lie | None]:
    """((classes,) log-likelihoods of what lies about (2,) samples, turned clockwise by so many quarters,
    or of nothing, the highest 0; nan where no look is known, everywhere where too little shows or nothing
    fits. How the likeliest lies). logs: (classes,) how likely each is held beforehand; known: how what
    lies there was laid before"""
    out, best = np.full(len(logs), np.nan), None
    count = SQUARES_COUNT * (scene.zoom / bank.samples) ** 2  # of a pixel
    shapes = [f for v in bank.looks if (f := fit_coarsely(scene, at, turn_cards_by(v, turn)))]
    plain = plain_card(shapes, logs)
    if plain is not None:
        out[[*bank.known_classes(), EMPTY]], out[plain] = CARD_ERRING, 0.0
        return out, None
    for shape in shapes:
        likely, lie = lay_likely(shape, logs)
        fine = np.stack([shape.looks.fine_picture(n) for n in likely])
        begin, scales = (lie, ALIGNING) if known is None else (known, ALIGN_AGAIN)
        view = CardView.about(scene, begin, fine.shape[1:3])
        lie = align_card(view, fine[0], begin, scales)
        told = tell_apart(view, lie, fine)
        if told is None:
            continue
        if np.isnan(out).all():
            out[bank.known_classes()], out[EMPTY] = -np.inf, 0.0
        if best is None or count * told.max() > np.nanmax(out):
            best = lie
        np.maximum.at(out, shape.looks.classes[likely], count * told)
    return np.maximum(out - np.nanmax(out, initial=-np.inf), CARD_ERRING), best


def plain_card(shapes: Sequence[CoarseFit], logs: np.ndarray) -> int | None:
    """The class of the card that is held likely beforehand and fits far better than any other; None where
    none does. logs: (classes,)"""
    best, likeliest = np.full(len(logs), np.inf), int(logs.argmax())
    for shape in shapes:
        np.minimum.at(best, shape.looks.classes, shape.square.min(0))
    others = np.delete(best, likeliest).min()
    plain = logs[likeliest] > LIKELY_CARD and best[likeliest] * PLAIN_FIT < others < np.inf
    return likeliest if plain else None


def lay_likely(shape: CoarseFit, logs: np.ndarray) -> tuple[list[int], Lie]:
    """(numbers of the looks of a shape that are likeliest, the one that fits best first, how it about
    lies): the best looks of the cards that fit best, and of those held likeliest beforehand. logs:
    (classes,)"""
    square, looks = shape.square, shape.looks
    place = np.unravel_index(square.argmin(), square.shape)[0]
    order = np.argsort(square[place])
    ways = np.arange(len(looks.classes)) // len(looks.upright.classes)
    which = np.column_stack([looks.classes, ways])[order]
    best = order[np.sort(np.unique(which, axis=0, return_index=True)[1])]
    likeliest = best[np.argsort(-logs[looks.classes[best]], kind="stable")]
    likely = list(dict.fromkeys([*best[:LIKELY_CARDS], *likeliest[:LIKELY_CARDS]]))
    return likely, shape.lie_at(place)


def align_card(
    view: CardView,
    look: np.ndarray,
    lie: Lie,
    scales: Sequence[tuple[float, float, int]] = ALIGNING,
) -> Lie:
    """How a card that looks so (h, w, 3) lies where it fits best, near to this. scales: as of
    `ALIGNING`"""
    first = lie
    for far, turned, step in scales:
        print_ = look[::step, ::step].reshape(-1, 3)
        moves = np.vstack([np.zeros(3), *(m * np.diag([far, far, turned]) for m in (1, -1))])
        for _ in range(ALIGN_ROUNDS):
            tried = [Lie(lie.x + x, lie.y + y, lie.askew + a) for x, y, a in moves.tolist()]
            tried = [t for t in tried if is_near(t, first)]
            places = place_pixels(tried, look.shape[:2], step)
            seen, planes = view.sample(view.seen, places), view.sample(view.planes, places)
            relit = relight_look(seen[0], print_, planes[0, :, 0] < SHOWN_PLAINLY)
            best = int(explain_pixels(seen - relit, planes).mean(1).argmax())
            lie = tried[best]
            if not best:
                break
    return lie


def is_near(lie: Lie, first: Lie) -> bool:
    """Whether a card that lies so may be the one that was found lying as the first"""
    astray = max(abs(lie.x - first.x), abs(lie.y - first.y))
    return astray <= AROUND_CARD and abs(lie.askew) <= MOST_ASKEW


def tell_apart(view: CardView, lie: Lie, looks: np.ndarray) -> np.ndarray | None:
    """(n,) log-likelihoods of cards of one shape that lie so, nothing's 0, by the pixels in which each
    differs from what fits best; None where nothing fits. looks: (n, h, w, 3)"""
    rim = min(RIM_PIXELS, (min(looks.shape[1:3]) - 1) // 2)
    prints = looks[:, rim : looks.shape[1] - rim, rim : looks.shape[2] - rim]
    shape = prints.shape[1:3]
    places = place_pixels([lie], shape)
    seen, bare, planes = (view.sample(v, places)[0] for v in (view.seen, view.empty, view.planes))
    plain = planes[:, 0] < SHOWN_PLAINLY
    relit = np.stack(
        [relight_look(seen, v, plain) for v in (*prints.reshape(len(looks), -1, 3), bare)]
    )
    logs = explain_pixels(seen - relit, planes)
    best = logs.sum(1).argmax()
    if not plain.any() or logs[best][plain].mean() < WORST_FIT:
        return None
    apart = np.square(beyond_reach(relit, relit[best], shape)).sum(2)
    told = (apart / (apart + TELLING_APART) * (logs - logs[best])).sum(1)
    return (told - told[-1])[:-1]


def beyond_reach(prints: np.ndarray, best: np.ndarray, shape: Sequence[int]) -> np.ndarray:
    """(n, pixels, 3) by how much more prints differ from the best than from what it shows within
    `PRINT_ASTRAY` pixels, where it may lie. prints: (n, pixels, 3); best: (pixels, 3) of a card (h, w)"""
    near = np.ones((2 * PRINT_ASTRAY + 1,) * 2, np.uint8)
    shown = best.reshape(*shape, 3)
    low, high = (f(shown, near).reshape(best.shape) for f in (cv2.erode, cv2.dilate))
    return np.maximum(np.maximum(low - prints, prints - high), 0)


class Spots(msgspec.Struct, frozen=True, eq=False):
    """All places where a card of one shape may lie, the site's middle first. corners: (p, 2) samples,
    y, x; seen: (p, h, w, 3) log; shown: (p, h, w) 0 where a piece hides it, else 1"""

    corners: np.ndarray
    seen: np.ndarray
    shown: np.ndarray


class CoarseFit(msgspec.Struct, frozen=True, eq=False):
    """How cards of one shape fit about a site. looks: of n cards; square: (p, n) how badly each fits at
    each of its spots; zoom: samples a pixel"""

    spots: Spots
    looks: TurnedLooks
    square: np.ndarray
    zoom: float

    def lie_at(self, place: int) -> Lie:
        """How a card lies at one of the spots"""
        middle = self.spots.corners[place] + np.array(self.spots.seen.shape[1:3]) / 2
        y, x = middle / self.zoom - 0.5
        return Lie(float(x), float(y))


def fit_coarsely(scene: CardScene, at: np.ndarray, looks: TurnedLooks) -> CoarseFit | None:
    """About (2,) samples; None where too little shows"""
    spots = cut_spots(scene, at, looks.pictures.shape[1:3])
    if spots is None:
        return None
    return CoarseFit(spots, looks, fit_squares(spots, looks), scene.zoom)


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
    seen = np.stack([scene.small[y : y + h, x : x + w] for y, x in corners])
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


def place_card(
    bank: CardBank,
    scene: CardScene,
    at: np.ndarray,
    turn: int,
    label: int,
    known: Lie | None = None,
) -> tuple[np.ndarray, Lie] | None:
    """(its picture as the canvas shows it, how it lies) of the card of this class where it fits best on
    a site, as of `weigh_cards`; None where too little shows to say"""
    best: tuple[float, np.ndarray, Lie] | None = None
    for looks in bank.looks:
        turned = turn_cards_by(looks, turn)
        mine = np.flatnonzero(turned.classes == label)
        shape = fit_coarsely(scene, at, turned) if len(mine) else None
        if shape is None or shape.spots.shown[0].mean() < LEAST_PLACED:
            continue
        square = shape.square[:, mine]
        place, n = np.unravel_index(square.argmin(), square.shape)
        if best is None or square[place, n] < best[0]:
            best = square[place, n], turned.fine_picture(int(mine[n])), shape.lie_at(place)
    if best is None:
        return None
    _, fine, lie = best
    if known is not None:
        return fine, known
    return fine, align_card(CardView.about(scene, lie, fine.shape[:2]), fine, lie)


def draw_card(ground: Ground, fine: np.ndarray, lie: Lie) -> None:
    """Draws a card, its picture (h, w, 3) log, as it lies on the ground"""
    h, w = fine.shape[:2]
    part = rows, columns = lie.window_around((h, w), 1)
    into = ground.picture[part]
    turn = cv2.getRotationMatrix2D(((w - 1) / 2, (h - 1) / 2), -lie.askew, 1.0)
    turn[:, 2] += lie.x - columns.start - (w - 1) / 2, lie.y - rows.start - (h - 1) / 2
    mask = np.zeros((h, w), np.float32)
    mask[1:-1, 1:-1] = 1
    face, mask = (
        cv2.warpAffine(v, turn, into.shape[1::-1], flags=cv2.INTER_LINEAR, borderMode=border)
        for v, border in ((fine, cv2.BORDER_REPLICATE), (mask, cv2.BORDER_CONSTANT))
    )
    into += (face - into) * mask[..., None]
    ground.cards[part][mask > WHOLLY_DRAWN] = ground.cards.max() + 1
