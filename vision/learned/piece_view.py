"""Whether something lies on a card, a tile or an empty site, told by every pixel there: it shows what would lie
under it, or a thing like others that were found. Its central value: Ground."""

from __future__ import annotations

import math
from collections.abc import Sequence

import cv2
import msgspec
import numpy as np

from vision.learned.card_view import (
    LIGHT_LEFT,
    OTHER_DENSITY,
    PERHAPS_HIDDEN,
    SELDOM,
    SURELY_HIDDEN,
    colour_density,
    draw_piece,
    explain_pixels,
    relight_look,
    weigh_plainly,
)

# how often what a pixel says counts, on the average over a piece; how much one says at most; and by how much
# a card fits better than a piece in pixels in which both look alike. docs/lab/2026-11-29-pixels-of-pieces.md
# says what others did
PIECE_SAYS, PIXEL_SAYS, BOTH_ALIKE = 2.0, 4.0, 0.5
LIKELY_PIECE = 0.5  # chance from which a piece hides others, and shows how they look
# of a piece that must lie on the card, and under no other piece, for it to be told
LEAST_VISIBLE = 0.3
# the same of what fills a site, and by how much it fits better than nothing where nothing lies; log-density of
# its colours where none is known
FILLED_SAYS, ANYTHING_FITS, UNKNOWN_DENSITY = 1.0, 0.5, -2.0
# log units by which the light of an empty site may differ from the board's about it, but for shadows: with more
# a dark thing on plain ground is none
SITE_LIGHT = 0.3
MOSTLY_ON_CARD = 0.8  # of a piece that is sought on a card must lie on it


class Ground(msgspec.Struct, frozen=True, eq=False):
    """What lies under loose pieces. picture: (h, w, 3) log canvas; cards: (h, w) the number, from 1, of the
    card drawn there; 0 where none is"""

    picture: np.ndarray
    cards: np.ndarray

    @classmethod
    def without_cards(cls, empty: np.ndarray) -> Ground:
        """empty: (h, w, 3) log canvas"""
        return cls(empty.copy(), np.zeros(empty.shape[:2], np.int32))


class PieceSpot(msgspec.Struct, frozen=True, eq=False):
    """Where a piece may lie. kind: the likeliest; foot, top: (2,) px of the middles of its lowest and its
    highest part; widths: (2,) px across it, the least and the most"""

    kind: str
    chance: float
    foot: np.ndarray
    top: np.ndarray
    widths: np.ndarray

    def covered_pixels(self, corner: np.ndarray, shape: Sequence[int], width: float) -> np.ndarray:
        """(h, w) whether it hides pixels of a canvas that begins at (2,) px, if it is so many px wide"""
        out = np.zeros(shape, np.uint8)
        draw_piece(out, self.foot - corner, self.top - corner, width, 1)
        return out > 0


def weigh_pieces(spots: Sequence[PieceSpot], seen: np.ndarray, ground: Ground) -> np.ndarray:
    """(n,) chances that pieces lie there, by those that are held beforehand and by what is seen (h, w, 3)
    of cards under them"""
    chances = np.array([s.chance for s in spots])
    logits = np.log(chances) - np.log1p(-chances)
    reach = [s.widths[1] + np.hypot(*(s.top - s.foot)) for s in spots]
    for number in range(1, int(ground.cards.max()) + 1):
        drawn = ground.cards == number
        x, y, w, h = cv2.boundingRect(drawn.astype(np.uint8))
        part, corner = np.s_[y : y + h, x : x + w], np.array([x, y])
        near = [
            n
            for n, s in enumerate(spots)
            if (s.foot > corner - reach[n]).all() and (s.foot < corner + (w, h) + reach[n]).all()
        ]
        told = compare_pieces(
            [spots[n] for n in near], corner, seen[part], ground.picture[part], drawn[part]
        )
        logits[near] += PIECE_SAYS * told
    return 1 / (1 + np.exp(-logits))


def open_planes(seen: np.ndarray) -> np.ndarray:
    """(h, w, 4) planes as of a `CardView` of what is seen (h, w, 3), where anything may hide it, but seldom"""
    anything = np.full(seen.shape[:2], math.log(SELDOM * OTHER_DENSITY), np.float32)
    return weigh_plainly(seen, anything)


def card_logs(
    seen: np.ndarray,
    planes: np.ndarray,
    look: np.ndarray,
    plain: np.ndarray,
    light: float = LIGHT_LEFT,
) -> np.ndarray:
    """(h, w) log-likelihoods of pixels (h, w, 3) if they show a card (h, w, 3), in the light in which it is seen
    where it shows plainly (h, w). planes: as of `open_planes`; light: log units by which it may differ"""
    relit = relight_look(seen.reshape(-1, 3), look.reshape(-1, 3), plain.ravel(), light)
    return explain_pixels(seen - relit.reshape(seen.shape), planes)


def join_masks(masks: Sequence[np.ndarray], shape: Sequence[int]) -> np.ndarray:
    """(h, w) where any of these is; nowhere if there is none"""
    return np.any([np.zeros(shape, bool), *masks], 0)


def compare_pieces(
    spots: Sequence[PieceSpot],
    corner: np.ndarray,
    seen: np.ndarray,
    look: np.ndarray,
    card: np.ndarray,
) -> np.ndarray:
    """(n,) by how much likelier a pixel of each, on the average, shows a piece than a card (h, w, 3); 0 where too
    little shows. corner: (2,) px of the canvas of the first; seen: (h, w, 3); card: (h, w) where it lies"""
    shape, out = card.shape, np.zeros(len(spots))
    surely = [s.covered_pixels(corner, shape, SURELY_HIDDEN * s.widths[0]) for s in spots]
    perhaps = [s.covered_pixels(corner, shape, PERHAPS_HIDDEN * s.widths[1]) for s in spots]
    plain = card & ~join_masks(perhaps, shape)
    shows = card_logs(seen, open_planes(seen), look, plain)
    for n, spot in enumerate(spots):
        likely = [m for m, s in enumerate(spots) if m != n and s.chance > LIKELY_PIECE]
        before = [surely[m] for m in likely if spots[m].chance > spot.chance]
        mine = surely[n] & card & ~join_masks(before, shape)
        alike = [m for m in likely if spots[m].kind == spot.kind] or likely or [n]
        colours = seen[join_masks([surely[m] for m in alike], shape)]
        area = surely[n].sum()
        if mine.sum() <= LEAST_VISIBLE * area or not len(colours):
            continue
        hides = np.log(colour_density(seen[mine], colours))
        told = np.clip(hides - shows[mine], -PIXEL_SAYS, PIXEL_SAYS).mean() + BOTH_ALIKE
        out[n] = told if likely else min(told, 0.0)  # by its own colours anything may be a piece
    return out


def seek_piece(seen: np.ndarray, ground: Ground, colours: np.ndarray, width: float) -> float:
    """By how much a piece on the one card that is drawn is likelier than none (the logarithm), by the place where
    most of what is seen (h, w, 3) speaks for one. colours: (n, 3) of others; width: px across it, the least"""
    drawn = ground.cards > 0
    x, y, w, h = cv2.boundingRect(drawn.astype(np.uint8))
    part = np.s_[y : y + h, x : x + w]
    seen, card = seen[part], drawn[part]
    hides = np.log(colour_density(seen.reshape(-1, 3), colours)).reshape(h, w)
    shows = card_logs(seen, open_planes(seen), ground.picture[part], card)
    told = card * np.clip(hides - shows, -PIXEL_SAYS, PIXEL_SAYS)
    across = max(round(SURELY_HIDDEN * width), 1)
    shape = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (across, across)).astype(np.float32)
    total, area = (
        cv2.filter2D(v.astype(np.float32), -1, shape, borderType=cv2.BORDER_CONSTANT)
        for v in (told, card)
    )
    on = area >= MOSTLY_ON_CARD * shape.sum()
    if not on.any():
        return 0.0
    return PIECE_SAYS * (float((total[on] / area[on]).max()) + BOTH_ALIKE)


def piece_colours(spots: Sequence[PieceSpot], seen: np.ndarray) -> np.ndarray:
    """(n, 3) what is seen (h, w, 3) of pieces"""
    out = [np.zeros((0, 3), np.float32)]
    for spot in spots:
        ends = np.stack([spot.foot, spot.top])
        low, high = ends.min(0) - spot.widths[0], ends.max(0) + spot.widths[0]
        x, y = np.maximum(np.floor(low).astype(int), 0)
        x1, y1 = np.maximum(np.ceil(high).astype(int), 0)
        part = seen[y:y1, x:x1]
        width = SURELY_HIDDEN * spot.widths[0]
        out.append(part[spot.covered_pixels(np.array([x, y]), part.shape[:2], width)])
    return np.concatenate(out)


def weigh_filled(
    seen: np.ndarray, empty: np.ndarray, inside: np.ndarray, colours: np.ndarray
) -> float:
    """By how much something that fills a site is likelier than nothing (the logarithm), by what is seen of it
    (h, w, 3). empty: (h + 2, w + 2, 3) how it looks empty, a pixel farther all round, for it may be seen so much
    astray; inside: (h, w); colours: (n, 3) seen of such things elsewhere"""
    h, w = inside.shape
    if not inside.any():
        return 0.0
    planes = open_planes(seen)
    shows = [
        card_logs(seen, planes, empty[y : y + h, x : x + w], inside, SITE_LIGHT)[inside]
        for x, y in ((1, 1), (0, 1), (2, 1), (1, 0), (1, 2))
    ]
    unknown = np.full(int(inside.sum()), UNKNOWN_DENSITY)
    hides = np.log(colour_density(seen[inside], colours)) if len(colours) else unknown
    told = [np.clip(hides - v, -PIXEL_SAYS, PIXEL_SAYS).mean() for v in shows]
    return FILLED_SAYS * (min(told) - ANYTHING_FITS)
