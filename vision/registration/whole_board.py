"""Compares a picture with the whole board and its rim, to decide which of several look-alike
placements explains it best."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import cv2
import msgspec
import numpy as np

from vision.geometry.pose import Pose
from vision.geometry.symmetry import SQUARES_ASTRAY
from vision.photometry.room_light import DARK
from vision.plan import Plan
from vision.registration.print_map import Picture, at_level, compose_board, fitting_level
from vision.storage.image_array import decode_image, halve_image

VIEW_PX = 450  # longer side of the view, pixels
# margin of table included around the board, and around loose tiles, as shares of the longer side
RIM, TABLE = 0.04, 0.15
SCALES = (0.8, 2.0, 5.0)  # pixels; finer detail is noise, coarser is light
# tolerance within which a spot counts as explained, as a share of the print's variation
NARROW = 0.5
MOST_DIFFERENCE = 0.5  # cap on the difference of a spot from the board, log units
# least visible share of what differs between two placements for distinguishing them
SEEN = 0.1
JUDGED_CELLS = 12  # cells along each side, for measuring how much of the board supports a judgement
# rough placements tried, and their least distance, in longer sides
PEAKS, PEAKS_APART = 6, 0.02
MESH_PX = 8
CONTRAST_LOGS = np.log(np.arange(256, dtype=np.float32) + DARK)
DEGREES_TRIED = (0.0, -2.5, 2.5, -5.0, 5.0)  # rotations tried for that


class WholeBoard(msgspec.Struct, frozen=True, eq=False, dict=True):
    """canvas: (h, w) uint8 grey, the empty board from above with some of the table; known: (h, w)
    bool where photos show it bare; px_per_mm: its scale; origin: (2,) mm of its upper left."""

    canvas: np.ndarray
    known: np.ndarray
    px_per_mm: float
    origin: np.ndarray

    @classmethod
    def of(
        cls,
        plan: Plan,
        images: Sequence[np.ndarray],
        poses: Sequence[Pose],
        layouts: Sequence[dict],
        rim: float = RIM,
        raised: bool = False,
    ) -> WholeBoard:
        """From the calibration photos and their poses; rim: the margin of table included, as a
        share of the longer side; raised: whether the board's rim is above its sites, so that it is
        not where poses put it"""
        canvas, bare, scale, origin = compose_board(
            plan, images, poses, layouts, rim * max(plan.size)
        )
        small = VIEW_PX / max(canvas.shape)
        size = round(canvas.shape[1] * small), round(canvas.shape[0] * small)
        barest = poses[min(range(len(layouts)), key=lambda n: sum(map(len, layouts[n].values())))]
        (x0, y0), (x1, y1) = origin, np.array(plan.size) - origin
        a, b = barest.rectify_map(x0, y0, x1, y1, scale)
        w, h = barest.size
        inside = ((a > 1) & (a < w - 2) & (b > 1) & (b < h - 2))[: bare.shape[0], : bare.shape[1]]
        known = cv2.resize(
            (bare & inside).astype(np.uint8), size, interpolation=cv2.INTER_NEAREST
        ).astype(bool)
        if raised:
            outlines = np.vstack([o for s in plan.site for o in s.outlines])
            known &= rectangle_mask(outlines, known.shape, scale * small, origin) > 0
        return cls(
            cv2.resize(canvas, size, interpolation=cv2.INTER_AREA), known, scale * small, origin
        )

    def pack(self) -> dict[str, np.ndarray]:
        """As arrays for the model file"""
        both = np.dstack([self.canvas, self.known * np.uint8(255), self.canvas])
        return {
            "whole": cv2.imencode(".png", both)[1].ravel(),
            "whole_frame": np.array([self.px_per_mm, *self.origin]),
        }

    @classmethod
    def unpack(cls, arrays: dict[str, np.ndarray]) -> WholeBoard:
        """The inverse of pack(); raises KeyError if something is missing"""
        both = decode_image(arrays["whole"], cv2.IMREAD_COLOR)
        scale, x, y = map(float, arrays["whole_frame"])
        return cls(np.ascontiguousarray(both[..., 0]), both[..., 1] > 0, scale, np.array([x, y]))

    @cached_property
    def traits(self) -> list[np.ndarray]:
        """contrast_scales() of the map"""
        return contrast_scales(self.canvas)

    @cached_property
    def reach(self) -> list[float]:
        """Per scale, the largest difference at which a spot counts as explained at all"""
        return [
            NARROW * max(float(np.sqrt(np.mean(t[self.known] ** 2))), 0.01) for t in self.traits
        ]

    def rectified(
        self, picture: Picture, pose: Pose, around_mm: float = 0.0, half: int = 1
    ) -> tuple[np.ndarray, np.ndarray]:
        """(h, w) uint8 of a picture rectified to the canvas (half: 2 for half the size) with a
        margin, and (h, w) bool where it is inside the picture"""
        h, w = (side // half for side in self.canvas.shape)
        s = self.px_per_mm / half
        more = round(around_mm * s)
        a, b = coarse_map(pose, self.origin - more / s, (w + 2 * more, h + 2 * more), s)
        start, end = pose.to_px(np.array([[0.0, 0.0], [1.0, 0.0]]))
        k = min(fitting_level(float(np.hypot(*(end - start))) / s), 4)
        pw, ph = picture.size
        inside = (a > 0) & (a < pw - 1) & (b > 0) & (b < ph - 1)
        maps = at_level(a, k), at_level(b, k)
        seen = cv2.remap(picture.level(k), *maps, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        return seen, inside

    @cached_property
    def halved(self) -> tuple[np.ndarray, np.ndarray]:
        """Canvas and known mask at half the size"""
        h, w = (side // 2 * 2 for side in self.canvas.shape)
        return halve_image(self.canvas[:h, :w]), self.known[:h:2, :w:2]

    def explained(self, picture: Picture, pose: Pose) -> np.ndarray:
        """(h, w) float32, 0 to 1: how well each spot of the canvas is explained; 0 where pieces
        hide it, or outside the picture"""
        seen, inside = self.rectified(picture, pose)
        out = np.zeros(self.canvas.shape, np.float32)
        for mine, theirs, reach in zip(self.traits, contrast_scales(seen), self.reach):
            out += 1 - np.minimum(((theirs - mine) / reach) ** 2, 1)
        return np.where(inside & self.known, out / len(SCALES), 0)

    def rather(
        self, plan: Plan, picture: Picture, here: Pose, there: Pose, back: np.ndarray
    ) -> float:
        """How much better a picture agrees with the board at one pose than at another, in standard
        deviations of chance: only differences between the two count, such as words and grain; 0 if
        almost none of these is visible, as when the canvas has only noise there; back: (2, 3) from
        canvas pixels here to those there"""
        # the table's grain differs there
        field = rectangle_mask(plan.corners, self.canvas.shape, self.px_per_mm, self.origin)
        mine, off = self.traits[0], []
        for pose in (here, there):
            seen, inside = self.rectified(picture, pose)
            apart = np.minimum(np.abs(local_contrast(seen, SCALES[0]) - mine), MOST_DIFFERENCE)
            off.append(np.where(inside & self.known, apart, np.float32(-1)))
        other = moved_back(off[1], back)
        visible = (off[0] >= 0) & (other >= 0)
        unlike = np.minimum(np.abs(mine - moved_back(mine, back)), MOST_DIFFERENCE)
        counts = unlike * field * visible
        worse = (other - off[0]) * counts
        if abs(float(worse.sum())) < SEEN * float((counts**2).sum()):
            return 0.0
        return chance_units(worse / max(float(counts.mean()), 1e-6))

    def between(self, here: np.ndarray, there: np.ndarray) -> np.ndarray:
        """(2, 3): from canvas pixels at one placement to those at another, given (4, 2) mm of the
        same four points in both"""
        here, there = (
            (np.asarray(mm) - self.origin) * self.px_per_mm - 0.5 for mm in (here, there)
        )
        return np.linalg.lstsq(np.column_stack([here, np.ones(4)]), there, rcond=None)[0].T

    def squares_off(
        self, picture: Picture, pose: Pose, step: np.ndarray
    ) -> list[tuple[float, np.ndarray]]:
        """For a board of squares `step` (2,) mm apart: possible shifts in mm, (2,) each, with how
        well each explains the picture, the best first"""
        canvas, known = self.halved
        mine, reach = local_contrast(canvas, SCALES[1] / 2), self.reach[1]
        seen, inside = self.rectified(picture, pose, SQUARES_ASTRAY * float(step.max()), 2)
        wide = np.where(inside, local_contrast(seen, SCALES[1] / 2), np.float32(9))
        h, w = mine.shape
        first = (np.array(wide.shape[::-1]) - (w, h)) / 2
        out = []
        for x in range(-SQUARES_ASTRAY, SQUARES_ASTRAY + 1):
            for y in range(-SQUARES_ASTRAY, SQUARES_ASTRAY + 1):
                off = np.array([x, y]) * step
                at = first + off * self.px_per_mm / 2
                cut = cv2.warpAffine(
                    wide,
                    np.array([[1, 0, at[0]], [0, 1, at[1]]]),
                    (w, h),
                    flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP,
                    borderValue=9,
                )
                cut -= mine
                missed = float(np.minimum(cut[known] ** 2, reach**2).mean()) / reach**2
                out.append((1 - missed, off))
        return sorted(out, key=lambda o: -o[0])

    def roughly(self, plan: Plan, picture: Picture, pose: Pose) -> list[Pose]:
        """Poses near this one, slightly shifted and rotated, at which the board fits roughly, the
        best first"""
        canvas, known = self.halved
        scale, reach = SCALES[2] / 2, self.reach[2]
        half = limit_contrast(local_contrast(canvas, scale), reach) * known
        found = []
        for turn in DEGREES_TRIED:
            R = cv2.Rodrigues(np.array([0, 0, np.radians(turn)]))[0]
            R0, middle = cv2.Rodrigues(pose.rvec)[0], np.array([*np.array(plan.size) / 2, 0])
            turned = msgspec.structs.replace(
                pose,
                rvec=cv2.Rodrigues(R0 @ R)[0].ravel(),
                tvec=pose.tvec + R0 @ (middle - R @ middle),
            )
            seen, inside = self.rectified(picture, turned, 0.25 * max(plan.size), 2)
            wide = limit_contrast(local_contrast(seen, scale), reach) * inside
            fits = cv2.matchTemplate(wide, half, cv2.TM_CCORR)
            middle_px = (np.array(fits.shape[::-1]) - 1) / 2
            for _ in range(PEAKS // 2):
                _, best, _, at = cv2.minMaxLoc(fits)
                mm = (np.array(at) - middle_px) * 2 / self.px_per_mm
                tvec = turned.tvec + R0 @ R @ np.array([*mm, 0])
                found.append((best, msgspec.structs.replace(turned, tvec=tvec)))
                cv2.circle(fits, at, round(PEAKS_APART * VIEW_PX / 2), float(fits.min()), -1)
        found.sort(key=lambda f: -f[0])
        return [p for _, p in found[:PEAKS]]


def rectangle_mask(
    mm: np.ndarray, shape: tuple[int, int], scale: float, origin: np.ndarray
) -> np.ndarray:
    """(h, w) float32: 1 well inside the bounding rectangle of (N, 2) mm, otherwise 0"""
    out, at = np.zeros(shape, np.float32), (mm - origin) * scale
    low, high = (c.astype(int).tolist() for c in (at.min(0) + MESH_PX / 2, at.max(0) - MESH_PX / 2))
    cv2.rectangle(out, low, high, 1, -1)
    return out


def coarse_map(
    pose: Pose, origin: np.ndarray, size: tuple[int, int], scale: float
) -> tuple[np.ndarray, np.ndarray]:
    """Pose.rectify_map for (width, height) pixels, computed at every eighth pixel: many times
    faster"""
    w, h = (-(-side // MESH_PX) + 2 for side in size)
    step = MESH_PX / scale
    x0, y0 = origin - step
    maps = pose.rectify_map(x0, y0, x0 + w * step, y0 + h * step, 1 / step)
    a, b = (cv2.resize(m, (w * MESH_PX, h * MESH_PX), interpolation=cv2.INTER_LINEAR) for m in maps)
    inner = np.s_[MESH_PX : MESH_PX + size[1], MESH_PX : MESH_PX + size[0]]
    return a[inner], b[inner]


def contrast_scales(grey: np.ndarray) -> list[np.ndarray]:
    """Per scale, (h, w) float32: how much lighter or darker each spot is than its surroundings"""
    return [local_contrast(grey, s) for s in SCALES]


def local_contrast(grey: np.ndarray, scale: float) -> np.ndarray:
    """The same at one scale, in pixels"""
    logs = CONTRAST_LOGS[grey]
    wide = (2 * int(2.5 * scale) + 1,) * 2
    return cv2.GaussianBlur(logs, (0, 0), scale) - cv2.blur(cv2.blur(logs, wide), wide)


def limit_contrast(trait: np.ndarray, reach: float) -> np.ndarray:
    """The trait, clipped to the range in which differences count"""
    return np.clip(trait / reach, -2, 2)


def explanation_lead(here: np.ndarray, there: np.ndarray, back: np.ndarray) -> float:
    """By how much one placement explains a picture better than another, in standard deviations of
    chance.

    here, there: (h, w) from WholeBoard.explained; back: (2, 3) from pixels of `here` to those of
    `there`, so that the same spot of the picture is compared."""
    other = moved_back(there, back)
    return chance_units(np.where(other >= 0, here - other, 0).astype(np.float32))


def moved_back(there: np.ndarray, back: np.ndarray) -> np.ndarray:
    """(h, w) values at the spots of another placement; -1 where it has none. back: (2, 3) from
    pixels here to those there"""
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    return cv2.warpAffine(there, back, there.shape[::-1], flags=flags, borderValue=-1)


def chance_units(off: np.ndarray) -> float:
    """The mean of (h, w) values, in standard deviations of chance"""
    cells = cv2.resize(off, (JUDGED_CELLS, JUDGED_CELLS), interpolation=cv2.INTER_AREA).ravel()
    return float(cells.mean() / (cells.std() / JUDGED_CELLS + 1e-4))
