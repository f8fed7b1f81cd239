"""Detects an arm across the first photo. There is no earlier photo to compare with, but arms cross
the board's edge, and they were not in the picture a moment before."""

from __future__ import annotations

import cv2
import numpy as np

from vision.geometry.pose import Pose
from vision.geometry.site_groups import outline_mask
from vision.motion.hand_detector import match_lighting
from vision.photometry.small_picture import View
from vision.plan import Plan

PX_PER_MM = 0.5
AROUND, INSIDE = 70.0, 24.0  # mm examined of the table around the board, and of the board
# mm either side of the board's edge that are left out, as it is not known better; beyond them that
# an arm shows alike
GAP, NEAR = 8.0, 12.0
LEAST, MOST = 25.0, 200.0  # mm of the edge that an arm may cover
DEEP = 24.0  # mm of table next to the edge that must be in the picture
OTHER, NOISES = 16.0, 4.0  # least colour difference of an arm; in units of grain
ALIKE = 0.5  # share of it by which the two sides of the edge may differ where an arm crosses
MANY = 3  # this many are a pattern of the table, not arms
KEPT_PX = 640  # longer side of the pictures kept for comparison
STOOD = 3  # looks without movement after which a picture is used for comparison
# share of the board that an arm covers; more is a different board
LEAST_OF_BOARD, MOST_OF_BOARD = 0.015, 0.6
EVEN_PX, CAME = 3.0, 8.0  # blur against noise, pixels; grey levels above the remaining noise


class StillPictures:
    """The last picture that stood still for long, and the one that stands still now. An arm stays
    still for a shorter time than the table without it."""

    def __init__(self) -> None:
        self._before: tuple[np.ndarray, int] | None = None
        self._now: tuple[np.ndarray, int] | None = None

    def note(self, image: np.ndarray, stirs: bool) -> None:
        """Notes a picture, (h, w, 3) uint8 BGR. stirs: whether it differs from the one before."""
        if stirs:
            if self._now is not None and self._now[1] >= STOOD:
                self._before = self._now
            self._now = None
        elif self._now is not None:
            self._now = self._now[0], self._now[1] + 1
        else:
            scale = min(1.0, KEPT_PX / max(image.shape[:2]))
            small = cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
            self._now = small, 1

    def came_in(self, plan: Plan, view: View) -> bool:
        """Whether something now reaches over the board that was not there in the picture that stood
        still for longer."""
        if self._before is None or self._now is None or self._now[1] > self._before[1]:
            return False
        now, before = view.small, View.of(self._before[0], view.pose).small
        lit = match_lighting(before, now, np.ones(now.shape[:2], bool))
        blurred = (cv2.GaussianBlur(p.astype(np.float32), (0, 0), EVEN_PX) for p in (now, lit))
        changed = cv2.absdiff(*blurred).max(2) > CAME
        board = outline_mask([plan.corners], view.pose.to_px, changed.shape)
        labels = cv2.connectedComponents(changed.astype(np.uint8))[1]
        rim = np.ones(changed.shape, bool)
        rim[2:-2, 2:-2] = False
        shares = (
            float(((labels == n) & board).sum() / max(board.sum(), 1))
            for n in set(np.unique(labels[rim]).tolist()) - {0}
        )
        return any(LEAST_OF_BOARD < share < MOST_OF_BOARD for share in shares)


def arms_across_edge(image: np.ndarray, plan: Plan, pose: Pose) -> int:
    """How many things reach from the edge of a picture, (h, w, 3) uint8 BGR, over the edge of the
    board; 0 if there are so many that they are the table's pattern."""
    found = sum(_arms_across(strip, seen) for strip, seen in _edge_strips(image, plan, pose))
    return found if found < MANY else 0


def _edge_strips(image: np.ndarray, plan: Plan, pose: Pose) -> list[tuple[np.ndarray, np.ndarray]]:
    """For each side of the board, a strip along its edge, (depth, length, 3) float32 CIE Lab from
    the outermost row inwards, and (depth, length) bool where it is inside the picture."""
    w, h = plan.size
    height, width = image.shape[:2]
    whole = (-AROUND, -AROUND, w + AROUND, h + AROUND)
    x, y = pose.rectify_map(*whole, PX_PER_MM)
    seen = (x > 1) & (y > 1) & (x < width - 2) & (y < height - 2)
    picture = cv2.remap(image, x, y, cv2.INTER_AREA, borderMode=cv2.BORDER_REPLICATE)
    lab = cv2.cvtColor(picture.astype(np.float32) / 255, cv2.COLOR_BGR2Lab)
    lab = cv2.GaussianBlur(lab, (0, 0), 1.5)
    out, inside = round(AROUND * PX_PER_MM), round(INSIDE * PX_PER_MM)
    strips = []
    for turns in range(4):
        turned, known = np.rot90(lab, turns), np.rot90(seen, turns)
        rows = slice(0, out + inside)
        along = slice(out, turned.shape[1] - out)
        strips.append((turned[rows, along], known[rows, along]))
    return strips


def _arms_across(strip: np.ndarray, seen: np.ndarray) -> int:
    out, near, gap = (round(mm * PX_PER_MM) for mm in (AROUND, NEAR, GAP))
    table, known = strip[: out - gap], seen[: out - gap]
    if known.sum() < known.size // 8:
        return 0
    # light and shadow change the table's brightness more than its colour
    weight = np.array([0.5, 1.0, 1.0], np.float32)
    apart = np.linalg.norm((table - np.median(table[known], 0)) * weight, axis=2)
    other = known & (apart > max(OTHER, NOISES * float(np.median(apart[known]))))
    count, labels = cv2.connectedComponents(other.astype(np.uint8), connectivity=4)
    found = 0
    for n in range(1, count):
        part = labels == n
        at_edge = part[-near:].mean(0) > 0.8
        crossing = np.flatnonzero(at_edge)
        if not LEAST <= len(crossing) / PX_PER_MM <= MOST:
            continue
        # up to the picture's edge, or the end of the strip
        reaches = np.flatnonzero(part.any(1))[0]
        first = np.flatnonzero(known[:, crossing].any(1))[0]
        if reaches > first + 2 or (out - first) / PX_PER_MM < DEEP:
            continue
        here = np.median(table[-near:, crossing], 0)
        there = np.median(strip[out + gap :][:near, crossing], 0)
        alike = np.linalg.norm((here - there) * weight, axis=1)
        found += bool(np.median(alike) < ALIKE * np.median(apart[-near:, crossing]))
    return found
