"""Paints a copy's pieces on a log canvas of its board. Its central values: Look, Evening, Painter."""

from __future__ import annotations

from typing import Literal

import cv2
import msgspec
import numpy as np

from calibration.cutouts.specimens import fill_mask, footprint_polygon, place_patch, seen_sides
from calibration.cutouts.standing import StandingLook, fold_lean, outline_of
from calibration.synthesis.prism import draw_prism, stands_square
from vision.learned.canvas import Canvas
from vision.plan import Piece

# log units by which pieces of a kind are brighter than one another, and of other colours: specimens of
# three copies differ by 0.017 and 0.003 to 0.012
PIECE_TONE, PIECE_TINT = 0.03, 0.01
# pixels and degrees by which known cards are laid astray in the ground
KNOWN_ASTRAY, KNOWN_ASKEW = 0.5, 0.3
SHOWN_PART = 0.35  # of what lies there must be seen of a piece that is to be found
SIDELIGHT = 0.3  # log units that another lamp may make one side of what stands lighter
TURNED_ABOUT = 0.7  # of those that stand on a square foot are turned otherwise than in samplers
# mm and degrees by which pieces that are laid with care lie off where they belong, one standard deviation
TIDY_ASTRAY, TIDY_ASKEW = 1.0, 4.0
Lies = Literal["any", "quarters", "upright"]
Scalar = tuple[float, ...]


class Look(msgspec.Struct, frozen=True, eq=False):
    """How a kind looks from above: patch (h, w, 3) log, `scale` pixels a mm; mask (h, w) 0..1;
    side: (3,) its colour from the side;
    turned: degrees to turn it by to lie as its
    kind does on a site where the turn tells kinds apart; None where that is not known"""

    piece: Piece
    patch: np.ndarray
    mask: np.ndarray
    side: np.ndarray
    scale: float
    lies: Lies
    turned: float | None = None


class Evening(msgspec.Struct, frozen=True, eq=False):
    """How one made-up picture is lit and seen. camera: (3,) mm where it stands; lean: (2,) mm a mm of
    height by which what lies leans otherwise;
    shade: (2,) mm of shadow a mm of height; soft: mm of its edge; dark: log units; sides: log units
    by which sides differ from tops; slope: (2,) log units by which those are lighter that face there;
    astray, askew: mm and degrees by which pieces lie otherwise than they belong, one standard deviation"""

    lean: np.ndarray
    camera: np.ndarray
    shade: np.ndarray
    soft: float
    dark: float
    sides: float
    slope: np.ndarray
    astray: float = TIDY_ASTRAY
    askew: float = TIDY_ASKEW


class Painter:
    """Lays pieces on a part of a log canvas. origin: its upper left pixel on the whole one; ground: the same
    part of the empty board, where known cards are drawn too"""

    def __init__(
        self,
        canvas: np.ndarray,
        view: Canvas,
        origin: tuple[int, int],
        evening: Evening,
        rng: np.random.Generator,
        ground: np.ndarray | None = None,
    ) -> None:
        self.ground = ground
        self.canvas, self.view, self.origin, self.evening, self.rng = (
            canvas,
            view,
            np.array(origin),
            evening,
            rng,
        )
        self.tone = rng.normal(0, 0.05)
        # what is yet to be put up: its foot, mm beneath it, kind, number among loose pieces if it is
        self.upright: list[tuple[np.ndarray, float, str, int | None]] = []
        # which of the pieces laid shows at each pixel, how many there are, and loose ones' numbers
        self.owner = np.zeros(canvas.shape[:2], np.uint16)
        self.laid = 0
        self.marks: dict[int, int] = {}

    def shows_piece(self, mark: int, at: tuple[float, float], radius: float) -> bool:
        """Whether enough of a laid piece about its top's middle `at`, whole canvas' px, is seen"""
        x, y = np.array(at) - self.origin
        low_x, high_x = (int(np.clip(x + s * radius, 0, self.owner.shape[1])) for s in (-1, 1))
        low_y, high_y = (int(np.clip(y + s * radius, 0, self.owner.shape[0])) for s in (-1, 1))
        part = self.owner[low_y : high_y + 1, low_x : high_x + 1]
        return part.size == 0 or float((part == mark).mean()) > SHOWN_PART

    def lay_piece(
        self,
        look: Look,
        foot: np.ndarray,
        base: float,
        lean: np.ndarray,
        loose: bool = False,
        turn: float = 0.0,
        anyhow: bool = False,
        known: Look | None = None,
        step: int = 90,
        careful: bool = False,
    ) -> tuple[float, float]:
        """Lays a look where its foot is at (2,) mm, `base` mm above the board, turned by some `turn`
        degrees where it is known how it lies, anyhow: by any quarter; known: as the ground shows it;
        step: 180 where it only fits lengthwise; careful: whether nobody is in a hurry; -> its top's
        middle as it appears, whole canvas' px"""
        rng, view, piece = self.rng, self.view, look.piece
        self.laid += 1
        tells = look.turned is not None and not loose  # whoever lays it minds how it is turned
        turn += rng.normal(0, TIDY_ASKEW if careful or tells else self.evening.askew)
        if tells:
            turn += look.turned + 90 * rng.integers(4)  # nobody says to which side it is turned
        elif look.lies == "any" or loose and look.lies == "quarters" and rng.random() < 0.8:
            turn += rng.uniform(0, 360)
        elif look.lies == "quarters" or anyhow:
            turn += step * rng.integers(4)
        top, ground = foot + lean * (base + piece.height), foot + lean * base
        at = view.to_px(top)
        outline = footprint_polygon(piece.footprint, piece.disc, turn) * view.scale
        shadow = self.evening.shade * piece.height * view.scale
        soft = self.evening.soft * view.scale
        low = np.floor(
            np.minimum(at, view.to_px(ground))
            - np.hypot(*piece.footprint) / 2 * view.scale
            - np.abs(shadow)
            - 3 * soft
            - 2
        )
        high = np.ceil(
            np.maximum(at, view.to_px(ground))
            + np.hypot(*piece.footprint) / 2 * view.scale
            + np.abs(shadow)
            + 3 * soft
            + 3
        )
        (xa, ya), (xb, yb) = (
            np.clip(v - self.origin, 0, self.canvas.shape[1::-1]).astype(int) for v in (low, high)
        )
        if xb - xa < 2 or yb - ya < 2:
            return float(at[0]), float(at[1])
        part, off = self.canvas[ya:yb, xa:xb], self.origin + (xa, ya)
        mine = self.owner[ya:yb, xa:xb]
        shape = part.shape[:2]
        middles = view.to_px(ground) - off, at - off
        foot_px, top_px = (middle + outline for middle in middles)
        if self.evening.dark:
            cast = fill_mask(convex_hull(np.vstack([foot_px, foot_px + shadow])), shape)
            cast = cv2.GaussianBlur(cast, (0, 0), max(soft, 0.5))
            cast_shadow(part, self.evening.dark, cast)
        tone = self.tone + rng.normal(0, PIECE_TONE) + rng.normal(0, PIECE_TINT, 3)
        if piece.height > 3:
            body = fill_mask(convex_hull(np.vstack([foot_px, top_px])), shape)
            mine[body > 0.5] = self.laid
            side = look.side + tone + self.evening.sides + rng.normal(0, 0.2)
            blend_face(part, as_scalar(side), body)
            for _, quad, facing in () if piece.disc else seen_sides(foot_px, top_px):
                lit = side + facing @ self.evening.slope
                blend_face(part, as_scalar(lit), fill_mask(quad, shape))
            # the top ends sharply: looks are cut out a little within their edge
            blend_face(part, as_scalar(look.side + tone), fill_mask(top_px, shape))
        face, mask = self.turn_face(look, at - off, turn, shape)
        blend_face(part, cv2.add(face, as_scalar(tone)), mask)
        mine[mask > 0.5] = self.laid
        if known is not None and self.ground is not None:
            astray = at - off + rng.normal(0, KNOWN_ASTRAY, 2)
            blend_face(
                self.ground[ya:yb, xa:xb],
                *self.turn_face(known, astray, turn + rng.normal(0, KNOWN_ASKEW), shape),
            )
        return float(at[0]), float(at[1])

    def turn_face(
        self, look: Look, at: np.ndarray, turn: float, shape: tuple[int, int]
    ) -> tuple[np.ndarray, np.ndarray]:
        """((h, w, 3) log, (h, w) 0..1) a look, turned by so many degrees, about (2,) px of a picture of this
        shape, and its mask"""
        m = place_patch(at, turn, look.patch.shape, self.view.scale / look.scale)
        size, linear = shape[::-1], cv2.INTER_LINEAR
        face = cv2.warpAffine(look.patch, m, size, flags=linear, borderMode=cv2.BORDER_REPLICATE)
        return face, cv2.warpAffine(look.mask, m, size, flags=linear)

    def stand_piece(self, look: StandingLook, foot: np.ndarray, shift: np.ndarray) -> None:
        """Puts up a look with its foot where (2,) mm is seen, its top `shift` (2,) mm off"""
        rng, view, evening = self.rng, self.view, self.evening
        self.laid += 1
        cast = evening.shade * look.piece.height
        around = look.beside + 3 * evening.soft
        ends = np.stack([foot, foot + shift, foot + cast])
        low, high = (
            np.floor(view.to_px(ends.min(0) - around)),
            np.ceil(view.to_px(ends.max(0) + around)),
        )
        (xa, ya), (xb, yb) = (
            np.clip(v - self.origin, 0, self.canvas.shape[1::-1]).astype(int) for v in (low, high)
        )
        if xb - xa < 2 or yb - ya < 2:
            return
        part, off = self.canvas[ya:yb, xa:xb], self.origin + (xa, ya)
        if evening.dark:
            dark = fill_mask(view.to_px(foot + outline_of(look.piece, cast)) - off, part.shape[:2])
            soft = max(evening.soft * view.scale, 0.5)
            cast_shadow(part, evening.dark, cv2.GaussianBlur(dark, (0, 0), soft))
        xs, ys = np.meshgrid(np.arange(xb - xa), np.arange(yb - ya))
        mm = view.to_mm(np.stack([xs, ys], -1) + off) - foot
        if stands_square(look.piece) and rng.random() < TURNED_ABOUT:
            at, scale = view.to_px(foot) - off, view.scale
            face, mask = draw_prism(rng, look, at, shift * scale, scale, part.shape[:2])
        else:
            face, mask = fold_lean(look, mm, shift, bool(rng.random() < 0.5))
        tone = self.tone + rng.normal(0, 0.08) + rng.normal(0, PIECE_TINT, 3)
        # light from another side than in the sampler
        slope = rng.normal(0, SIDELIGHT, 2) / (max(look.piece.footprint) + np.hypot(*shift))
        lit = (mm @ slope).astype(np.float32)
        blend_face(part, cv2.add(face, as_scalar(tone)) + cv2.merge((lit, lit, lit)), mask)
        self.owner[ya:yb, xa:xb][mask > 0.5] = self.laid

    def draw_foreign(self) -> np.ndarray:
        """Paints something foreign; -> (h, w) 0..1 where"""
        rng, (h, w) = self.rng, self.canvas.shape[:2]
        at = rng.uniform((0, 0), (w, h))
        radius = np.exp(rng.uniform(np.log(6), np.log(75))) * self.view.scale
        shape = rng.integers(4)
        if shape == 0:  # a coin, a cup
            mask = np.zeros((h, w), np.uint8)
            cv2.circle(mask, tuple(int(v) for v in at), int(radius), 255, -1, cv2.LINE_AA)
            mask = mask.astype(np.float32) / 255
        elif shape == 1:  # paper, a card, a box
            mask = fill_mask(
                at
                + footprint_polygon(
                    (2 * radius, 2 * radius * rng.uniform(0.4, 1)), False, rng.uniform(0, 180)
                ),
                (h, w),
            )
        elif shape == 2:  # an arm across
            a = rng.uniform(0, np.pi)
            mask = fill_mask(
                at + footprint_polygon((6 * w, 2 * radius), False, np.degrees(a)), (h, w)
            )
        else:  # anything
            t = np.sort(rng.uniform(0, 2 * np.pi, 9))
            blob = (
                at + np.column_stack([np.cos(t), np.sin(t)]) * rng.uniform(0.5, 1, (9, 1)) * radius
            )
            mask = np.zeros((h, w), np.uint8)
            cv2.fillPoly(mask, [blob.astype(np.int32)], 255, cv2.LINE_AA)
            mask = mask.astype(np.float32) / 255
        soft = cv2.GaussianBlur(mask, (0, 0), rng.uniform(0.5, 2))
        shade = cv2.GaussianBlur(np.roll(mask, tuple(rng.integers(-8, 9, 2)), (0, 1)), (0, 0), 4)
        colour = rng.uniform(3.2, 5.5) + rng.normal(0, 0.3, 3)
        few = max(int(rng.integers(4, 24)), 2)
        rough = cv2.resize(
            rng.normal(0, rng.uniform(0.02, 0.35), (few, few)).astype(np.float32),
            (w, h),
            interpolation=cv2.INTER_LINEAR,
        )
        self.canvas -= (rng.uniform(0, 0.4) * shade)[..., None]
        self.canvas += soft[..., None] * (
            (colour + rough[..., None]).astype(np.float32) - self.canvas
        )
        return mask


def blend_face(part: np.ndarray, face: np.ndarray | Scalar, mask: np.ndarray) -> None:
    """Lays a face, or one colour, over (h, w, 3) as far as a mask (h, w) says; float32, by OpenCV, in
    a third of NumPy's time"""
    part += cv2.multiply(cv2.subtract(face, part), cv2.merge((mask, mask, mask)))


def cast_shadow(part: np.ndarray, dark: float, cast: np.ndarray) -> None:
    """Darkens (h, w, 3) by so many log units where a shadow (h, w) falls"""
    part -= cv2.merge((cast, cast, cast)) * np.float32(dark)


def as_scalar(colour: np.ndarray) -> Scalar:
    """(3,) as OpenCV takes a colour beside a picture"""
    return (*map(float, colour), 0.0)


def convex_hull(points: np.ndarray) -> np.ndarray:
    return cv2.convexHull(points.astype(np.float32)).reshape(-1, 2)
