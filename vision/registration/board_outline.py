"""The board's outline anywhere in a picture: rough poses for boards whose print repeats itself
(squares, crossings)."""

from __future__ import annotations

from itertools import combinations

import cv2
import numpy as np

from vision.geometry.corners import corner_turns
from vision.geometry.lens import Lens
from vision.geometry.pose import Pose
from vision.photometry.small_picture import View
from vision.plan import Plan
from vision.registration.board_edges import board_edges
from vision.storage.image_array import reduce_image

OUTLINED_PX = 480  # longer side of the picture in which outlines are searched for
LEAST_SHARE = 0.04  # least share of the picture that a board covers
SHORTEST_LINE = 45  # least number of contour pixels on a straight line
# lines considered per contour, and their least distance from each other, pixels
LINES, LINES_APART = 9, 12
COVERED = 0.55  # least share of a quadrilateral's border that a contour follows
ALONG_OUTLINE = np.linspace(0.02, 0.98, 60)
MISFIT = 0.025  # largest error of four corners for a board of the plan's shape, in diagonals
MOST_OUTLINES = 6  # outlines tried
# distance of frames from the board, at most, and from each other, at least; in longer sides
FRAME_REACH, FRAMES_APART = 0.25, 0.02


def poses_by_outline(
    plan: Plan, lens: Lens, scene: View, image: np.ndarray, behind_men: bool = False
) -> list[Pose]:
    """Rough poses from quadrilateral outlines in the picture, up to a half turn (a square board:
    any turn); image BGR; behind_men: also outlines interrupted by standing pieces."""
    size = image.shape[1], image.shape[0]
    scale = OUTLINED_PX / max(size)
    small = reduce_image(image, (round(size[0] * scale), round(size[1] * scale)))
    found: list[np.ndarray] = []
    for mask in board_masks(plan, scene, small):
        for quad in find_quads(mask, behind_men):
            if all(np.abs(quad - q).max() > 6 for q in found):
                found.append(quad)
    out = []
    for quad in found:
        px = (quad + 0.5) / scale - 0.5
        for turn in range(2):
            try:
                pose, off = lens.pose(plan.corners, np.roll(px, turn, 0), size, "print")
            except ValueError:
                continue
            misfit = off.max() / np.linalg.norm(np.ptp(px, axis=0))
            if misfit < MISFIT:
                out.append((misfit, pose))
                break
    out.sort(key=lambda o: o[0])
    return [pose for _, pose in out[:MOST_OUTLINES]]


def scene_frames(plan: Plan, lens: Lens, scene: View) -> list[np.ndarray]:
    """(4, 2) mm each, in the order of the board's corners: the outlines seen in the scene, whose
    pose is known. A rim may be seen instead of the board, displaced if it is higher."""
    found: list[np.ndarray] = []
    for outline in poses_by_outline(plan, lens, scene, scene.small):
        mm = scene.pose.to_mm(outline.to_px(plan.corners))
        turn = min(range(4), key=lambda k: np.linalg.norm(np.roll(mm, k, 0) - plan.corners))
        mm = np.roll(mm, turn, 0)
        off = np.abs(mm - plan.corners).max() / max(plan.size)
        if off < FRAME_REACH and all(
            np.abs(mm - other).max() > FRAMES_APART * max(plan.size) for other in found
        ):
            found.append(mm)
    return found


def board_masks(plan: Plan, scene: View, small: np.ndarray) -> list[np.ndarray]:
    """(h, w) uint8 each: candidate areas of the board, by its colours in the scene, by brightness,
    by edges"""
    inside = np.zeros(scene.small.shape[:2], np.uint8)
    cv2.fillConvexPoly(inside, np.rint(scene.pose.to_px(plan.corners)).astype(np.int32), 1)
    lab, known = (
        cv2.cvtColor(cv2.GaussianBlur(i, (0, 0), 1), cv2.COLOR_BGR2Lab)
        for i in (small, scene.small)
    )
    histograms = [
        cv2.calcHist([known], [1, 2], m, [32, 32], [0, 256, 0, 256]).reshape(32, 32)
        for m in (inside, 1 - inside)
    ]
    board, table = (cv2.GaussianBlur(h / max(h.sum(), 1), (0, 0), 1.5) for h in histograms)
    likely = np.clip(255 * board / np.maximum(board + table, 1e-9), 0, 255).astype(np.uint8)
    by_colour = likely[lab[..., 1] // 8, lab[..., 2] // 8]
    out = [cv2.threshold(by_colour, 128, 255, cv2.THRESH_BINARY)[1]]
    for channel in cv2.split(lab):
        t, m = cv2.threshold(channel, 0, 255, cv2.THRESH_BINARY + cv2.THRESH_OTSU)
        out += [m, 255 - m]
    channels = cv2.split(cv2.GaussianBlur(small, (0, 0), 1))
    edges = np.max([cv2.Canny(c, 30, 90) for c in channels], axis=0)
    out.append(cv2.dilate(edges, np.ones((3, 3), np.uint8)))
    return out


def find_quads(mask: np.ndarray, behind_men: bool) -> list[np.ndarray]:
    """(4, 2) corners, clockwise, of the larger quadrilaterals in a mask"""
    mask = cv2.morphologyEx(mask, cv2.MORPH_CLOSE, np.ones((5, 5), np.uint8))
    broken = largest_contours(mask) if behind_men else []
    out = [q for c in broken if (q := fit_quad(c, mask.shape)) is not None]
    for c in largest_contours(cv2.morphologyEx(mask, cv2.MORPH_OPEN, np.ones((5, 5), np.uint8))):
        hull = cv2.convexHull(c)
        around = cv2.arcLength(hull, True)
        for loose in np.linspace(0.01, 0.06, 11):
            quad = cv2.approxPolyDP(hull, loose * around, True).reshape(-1, 2)
            if len(quad) <= 4:
                break
        if len(quad) == 4 and cv2.contourArea(quad) > 0.85 * cv2.contourArea(hull):
            quad = quad.astype(float)
            a, b = quad[1] - quad[0], quad[2] - quad[1]
            out.append(quad if a[0] * b[1] - a[1] * b[0] > 0 else quad[::-1])
    return out


def largest_contours(mask: np.ndarray) -> list[np.ndarray]:
    """The contours of the three largest shapes in a mask that may be a board"""
    contours, _ = cv2.findContours(mask, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
    largest = sorted(contours, key=cv2.contourArea, reverse=True)[:3]
    return [c for c in largest if cv2.contourArea(c) >= LEAST_SHARE * mask.size]


def fit_quad(contour: np.ndarray, shape: tuple[int, int]) -> np.ndarray | None:
    """(4, 2) corners, clockwise, of the four straight lines that most of a contour follows; tall
    men may project beyond the board"""
    drawn = np.zeros(shape, np.uint8)
    cv2.drawContours(drawn, [contour], -1, 255, 1)
    drawn[[0, -1]] = drawn[:, [0, -1]] = 0  # the picture's edge, not the board's
    seen = cv2.HoughLines(drawn, 1, np.pi / 180, SHORTEST_LINE)
    lines: list[np.ndarray] = []
    for rho, theta in seen[:200, 0] if seen is not None else ():
        line = np.array([np.cos(theta), np.sin(theta), -rho])
        if len(lines) < LINES and all(
            line_distance(line, other, shape) > LINES_APART for other in lines
        ):
            lines.append(line)
    near = cv2.distanceTransform(255 - drawn, cv2.DIST_L2, 3) < 2
    best, most = None, COVERED
    for four in combinations(lines, 4):
        around = sorted(four, key=lambda line: np.arctan2(*(line[1::-1] * side_of(line, shape))))
        quad = np.array([meeting_point(around[k - 1], around[k]) for k in range(4)])
        if (
            not np.isfinite(quad).all()
            or not (corner_turns(quad) > LEAST_SHARE * drawn.size / 4).all()
            or np.abs(quad).max() > 2 * max(shape)
        ):
            continue
        sides = np.roll(quad, -1, 0) - quad
        along = (quad[:, None] + sides[:, None] * ALONG_OUTLINE[:, None]).reshape(-1, 2)
        x, y = np.rint(along).astype(int).T
        inside = (x >= 0) & (y >= 0) & (x < shape[1]) & (y < shape[0])
        covered = near[y[inside], x[inside]].sum() / len(along)
        if covered > most:
            best, most = quad, covered
    return best


def side_of(line: np.ndarray, shape: tuple[int, int]) -> float:
    """1 if a line's normal points away from the picture's middle, otherwise -1"""
    return 1.0 if line @ (shape[1] / 2, shape[0] / 2, 1) < 0 else -1.0


def line_distance(a: np.ndarray, b: np.ndarray, shape: tuple[int, int]) -> float:
    """The largest distance between two lines within a picture, pixels: large if they cross at an
    angle"""
    centre = shape[1] / 2, shape[0] / 2
    middle, along = centre - a[:2] * (a @ (*centre, 1)), np.array([-a[1], a[0]])
    ends = middle + along * np.array([[-1], [1]]) * max(shape) / 3
    return float(np.abs(np.column_stack([ends, np.ones(2)]) @ b).max())


def meeting_point(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """(2,) where two lines meet; NaN for parallels"""
    x, y, w = np.cross(a, b)
    return np.array([x, y]) / w if abs(w) > 1e-6 else np.full(2, np.nan)


def refine_by_sides(
    plan: Plan, lens: Lens, image: np.ndarray, start: Pose, reach_px: float
) -> Pose | None:
    """The pose at which the board's four sides are seen, at most reach_px from where `start` puts
    them; None if one of them is not seen."""
    pose = start
    for shrink, reach in ((max(reach_px / 16, 1.0), 16), (1.0, 8)):
        size = round(start.size[0] / shrink), round(start.size[1] / shrink)
        small = image if shrink == 1.0 else cv2.resize(image, size, interpolation=cv2.INTER_AREA)
        there = pose.resized(size)
        sides = board_edges(small, there, plan.corners, 20, reach)
        if len(sides) < 4:
            return None
        flat = [
            cv2.undistortPoints(s.px.reshape(-1, 1, 2), there.K, there.dist).reshape(-1, 2)
            for s in sides
        ]
        lines = [
            cv2.fitLine(f.astype(np.float32), cv2.DIST_HUBER, 0, 0.001, 0.001).ravel() for f in flat
        ]
        corners = [crossing_point(lines[i - 1], lines[i]) for i in range(4)]
        if any(c is None for c in corners):
            return None
        rays = np.column_stack([np.array(corners), np.ones(4)])
        px, _ = cv2.projectPoints(rays, np.zeros(3), np.zeros(3), start.K, start.dist)
        try:
            pose, _ = lens.pose(plan.corners, px.reshape(-1, 2), start.size, start.by)
        except ValueError:
            return None
    return pose


def crossing_point(a: np.ndarray, b: np.ndarray) -> np.ndarray | None:
    """Where two lines (direction and point, (4,)) cross; None for parallels"""
    A = np.column_stack([a[:2], -b[:2]])
    if abs(np.linalg.det(A)) < 1e-6:
        return None
    return a[2:] + a[:2] * np.linalg.solve(A, b[2:] - a[2:])[0]
