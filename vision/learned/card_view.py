"""What is seen where a card lies, pixel by pixel, and how likely each shows it, or something that hides it.
Its central value: CardView."""

from __future__ import annotations

import math
from collections.abc import Sequence

import cv2
import msgspec
import numpy as np

# of a piece's breadth that surely hides what lies under it; of its diagonal that may, for it may lie
# turned and be found a little astray
SURELY_HIDDEN, PERHAPS_HIDDEN = 0.95, 1.06
# chances that something hides a pixel: there; there; and anywhere else, such as a grain or a hand. Of the
# constants from here on and in cards.py docs/lab/2026-11-29-slivers-of-cards.md says what others did
NEARLY_ALWAYS, PERHAPS, SELDOM = 0.97, 0.5, 0.02
SHOWN_PLAINLY = 0.25  # a pixel's chance to be hidden, below which light is told by it
AROUND_CARD = 8  # pixels of the canvas about which a card is looked for: 5 mm of 40
# log units of a pixel's noise, and by how much of the change over a pixel a print may lie astray
PIXEL_NOISE, PIXEL_ASTRAY = 0.06, 0.3
# log units that shadows of pieces take, and how often
SHADOWS = ((0.0, 0.7), (-0.2, 0.1), (-0.4, 0.1), (-0.7, 0.1))
# log units by which what hides a card differs from what shows of the pieces elsewhere; pixels of these
# that it is compared with
HIDING_NOISE, HIDING_PIXELS = 0.12, 60
# how often something else hides it, and how densely its colours, any, lie in log units cubed
OTHER_SHARE, OTHER_DENSITY = 0.05, 0.2
# log units by which the light of a card may differ from its look's, somebody's shadow, and its
# colour: from 0.08 to 0.2 cards are told alike, with 0.04 worse
# (docs/lab/2026-11-28-how-cards-are-compared.md)
LIGHT_LEFT, COLOUR_LEFT = 1.0, 0.12
# of a print's contrast by which it may differ from its look's, in a veil of light
CONTRAST_LEFT = 0.3
# log units squared a pixel in favour of none: a thin print laid half a pixel astray is no veil
CONTRAST_PRIOR = 0.1
LIGHT_PIXELS = 500  # that light and contrast are told by at most: in a third of the time of all


class CardScene(msgspec.Struct, frozen=True, eq=False):
    """What is seen of a board. seen, empty: (H, W, 3) log canvases, of the board and of it empty; hidden:
    (H, W) the chance that a piece hides what lies there; small: (h, w, 3) seen at a bank's fineness;
    shown: (h, w) 0 where a piece may hide it, else 1; zoom: its samples a pixel"""

    seen: np.ndarray
    empty: np.ndarray
    hidden: np.ndarray
    small: np.ndarray
    shown: np.ndarray
    zoom: float

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
        """feet, tops: (n, 2) px of pieces that lie there; widths: (n, 2) px across them, the least and the
        most"""
        hidden = np.full(seen.shape[:2], SELDOM, np.float32)
        for chance, wide in (
            (PERHAPS, PERHAPS_HIDDEN * widths[:, 1]),
            (NEARLY_ALWAYS, SURELY_HIDDEN * widths[:, 0]),
        ):
            for foot, top, width in zip(feet, tops, wide):
                draw_piece(hidden, foot, top, width, chance)
        small, shown = (
            cv2.resize(v, None, fx=zoom, fy=zoom, interpolation=cv2.INTER_AREA)
            for v in (seen, (hidden < PERHAPS).astype(np.float32))
        )
        return cls(seen, empty, hidden, small, np.floor(shown + 1e-3), zoom)


def draw_piece(
    canvas: np.ndarray, foot: np.ndarray, top: np.ndarray, width: float, value: float
) -> None:
    """Draws what a piece hides that stands at (2,) px, is so wide, and of which the highest part is seen at
    (2,) px"""
    sixteenths = [np.rint(16 * v).astype(int).tolist() for v in (foot, top)]
    cv2.line(canvas, *sixteenths, value, max(round(width), 1), cv2.LINE_8, 4)


class Lie(msgspec.Struct, frozen=True):
    """How a card lies. x, y: of its middle, pixels of the canvas; askew: degrees clockwise"""

    x: float
    y: float
    askew: float = 0.0

    def moved_by(self, px: np.ndarray) -> Lie:
        """The same on a canvas that begins so many (2,) pixels earlier"""
        return Lie(self.x + float(px[0]), self.y + float(px[1]), self.askew)

    def window_around(self, shape: Sequence[int], beyond: float) -> tuple[slice, slice]:
        """The part of the canvas that shows a card (h, w) and so many pixels about it, however it is turned"""
        reach = np.hypot(*shape) / 2 + beyond
        return tuple(
            slice(max(int(np.floor(v - reach)), 0), int(np.ceil(v + reach)))
            for v in (self.y, self.x)
        )


class CardView(msgspec.Struct, frozen=True, eq=False):
    """The surroundings of a card. corner: (2,) pixels of the canvas; seen, empty: (h, w, 3) log; planes:
    (h, w, 4) the chance that a pixel is hidden, the log-likelihoods that what is seen there hides it and
    that it shows a card that fits exactly, and half the inverse variance of what shows"""

    corner: np.ndarray
    seen: np.ndarray
    empty: np.ndarray
    planes: np.ndarray

    @classmethod
    def about(cls, scene: CardScene, lie: Lie, shape: Sequence[int]) -> CardView:
        """Of a card (h, w) that about lies so"""
        part = rows, columns = lie.window_around(shape, AROUND_CARD)
        seen, hidden = scene.seen[part], scene.hidden[part]
        hides = np.log(hidden * hiding_density(seen, hidden))
        planes = weigh_plainly(seen, hides)
        planes[..., 0] = hidden
        planes[..., 2] += np.log1p(-hidden)
        corner = np.float32([columns.start, rows.start])
        return cls(corner, seen, scene.empty[part], planes)

    def sample(self, plane: np.ndarray, places: np.ndarray) -> np.ndarray:
        """(lies, pixels, c) of a plane (h, w, c) at pixels of the canvas, as of `place_pixels`"""
        at = (places - self.corner).reshape(-1, *places.shape[2:])
        found = cv2.remap(plane, at, None, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        return found.reshape(len(places), -1, found.shape[-1])


def weigh_plainly(seen: np.ndarray, hides: np.ndarray) -> np.ndarray:
    """(h, w, 4) planes as of a `CardView` of what is seen (h, w, 3) where nothing may hide it but what is as likely as
    hides (h, w)"""
    down, across = np.gradient(seen, axis=(0, 1))
    edges = (down**2 + across**2).sum(2) / 3
    spread = PIXEL_NOISE**2 + PIXEL_ASTRAY**2 * edges
    shows = -1.5 * np.log(2 * math.pi * spread)
    planes = [np.zeros_like(hides), hides, shows, 0.5 / spread]
    return np.stack(planes, -1).astype(np.float32)


def place_pixels(lies: Sequence[Lie], shape: Sequence[int], step: int = 1) -> np.ndarray:
    """(lies, h, w, 2) float32 pixels of the canvas at which those of a card (h, w) lie, every `step`"""
    ys, xs = (np.arange(0, n, step, dtype=np.float32) - (n - 1) / 2 for n in shape)
    middles = np.float32([(lie.x, lie.y) for lie in lies])
    askew = np.radians(np.float32([lie.askew for lie in lies]))
    along = np.stack([np.cos(askew), np.sin(askew)], 1)
    down = np.stack([-along[:, 1], along[:, 0]], 1)
    rows = middles[:, None] + ys[:, None] * down[:, None]
    return rows[:, :, None] + xs[:, None] * along[:, None, None]


def hiding_density(seen: np.ndarray, hidden: np.ndarray) -> np.ndarray:
    """(h, w) how dense colours like those seen (h, w, 3) are among those of what hides: what is seen where
    a piece surely does, or anything. hidden: (h, w) chances"""
    out = np.full(hidden.shape, OTHER_SHARE * OTHER_DENSITY, np.float32)
    core, perhaps = seen[hidden > (NEARLY_ALWAYS + PERHAPS) / 2], hidden >= PERHAPS
    out[perhaps] = colour_density(seen[perhaps], core)
    return out


def colour_density(colours: np.ndarray, known: np.ndarray) -> np.ndarray:
    """(n,) how dense colours like those (n, 3) are among known ones (m, 3), or anything"""
    if not len(known):
        return np.full(len(colours), OTHER_SHARE * OTHER_DENSITY, np.float32)
    known = known[np.linspace(0, len(known) - 1, min(HIDING_PIXELS, len(known))).astype(int)]
    away = (colours**2).sum(1)[:, None] - 2 * colours @ known.T + (known**2).sum(1)
    like = np.exp(-0.5 / HIDING_NOISE**2 * np.maximum(away, 0)).mean(1)
    dense = like / (math.sqrt(2 * math.pi) * HIDING_NOISE) ** 3
    return OTHER_SHARE * OTHER_DENSITY + (1 - OTHER_SHARE) * dense


def explain_pixels(left: np.ndarray, planes: np.ndarray) -> np.ndarray:
    """(...,) log-likelihoods of pixels: of a card, in a shadow or not, of which so much (..., 3) is left,
    or of what hides it, whichever is likelier. planes: as of a `CardView`"""
    _, hides, shows, sharpness = np.moveaxis(planes, -1, 0)
    square, grey = np.einsum("...c,...c->...", left, left), left @ np.ones(3, np.float32)
    misfit = np.full(square.shape, np.inf, np.float32)
    for dark, chance in SHADOWS:
        shaded = sharpness * (square - 2 * dark * grey + 3 * dark**2) - math.log(chance)
        np.minimum(misfit, shaded, out=misfit)
    return np.maximum(shows - misfit, hides)


def relight_look(
    seen: np.ndarray, look: np.ndarray, plain: np.ndarray, most: float = LIGHT_LEFT
) -> np.ndarray:
    """(n, 3) a picture (n, 3) in the light and the contrast in which it is seen (n, 3) where it shows
    plainly (n,); as it is where none does. most: log units by which its light may differ"""
    shows = np.flatnonzero(plain)
    if not len(shows):
        return look
    shows = shows[:: -(-len(shows) // LIGHT_PIXELS)]
    print_ = look[shows]
    off = seen[shows] - print_
    usual, middle = middle_colour(off), middle_colour(print_)
    grey = usual.sum() / 3
    light = min(max(grey, -most), most)
    shift = np.clip(usual - grey, -COLOUR_LEFT, COLOUR_LEFT) + light
    mark, shown = look - middle, print_ - middle
    strength = float(np.vdot(shown, shown)) + CONTRAST_PRIOR * len(shown)
    more = float(np.vdot(off - shift, shown)) / strength
    return look + shift + min(max(more, -CONTRAST_LEFT), CONTRAST_LEFT) * mark


def middle_colour(colours: np.ndarray) -> np.ndarray:
    """(3,) the medians of (n, 3); `np.median` takes three times as long"""
    half = len(colours) // 2
    return np.partition(colours, half, 0)[half]
