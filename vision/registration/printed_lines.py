"""Finds the lines printed between a board's sites: they locate it better than the sides of a thick
board."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import cv2
import numpy as np

from vision.evidence.site_evidence import Contents
from vision.geometry.pose import Pose, board_scale
from vision.plan import Plan
from vision.registration.board_edges import (
    BOARD_SIDES,
    EdgePoints,
    board_sides,
    edge_profiles,
    peaks_between,
    side_stations,
)

LEAST_LINE = 0.4  # least length of a line, as a share of the board's larger side
ONE_LINE_MM = 0.5  # how far borders of sites may be off a common line
NEAR_SIDE_MM = 2.0  # a line closer to the board's sides cannot be told from them
LINE_REACH = 0.22  # search range, as a share of the distance to the next line
PLAINER = 1.8  # how many times clearer than most of its parallels a line must be
FEWEST_LINES, LINES_SEEN = 5, 0.6  # least number of lines; least share of them that must be seen
PRINTED_MM = 0.4  # how far the print may be off the plan
FAINT_LINE = 0.7  # least clarity of a line, grey levels per pixel
LINE_STATIONS = 64
# pixels by which the ends of a bent line may differ from those of the nearest straight one
BOW = 4
CLEAR_OF_PIECES = 0.3  # least share of a line that must be clear of pieces
ASTRAY = 0.5  # how much wider than its site a piece's area may be
HALF_LINE_PX = 2  # half the greatest width of a printed line

Line = tuple[np.ndarray, np.ndarray]


def site_lines(plan: Plan) -> list[Line]:
    """(a, b) mm: the straight lines across and down the board that are borders of many sites"""
    found: dict[tuple[int, int], list[tuple[float, float]]] = defaultdict(list)
    for site in plan.site:
        for outline in site.outlines:
            for p, q in board_sides(outline):
                for axis in (0, 1):
                    aside, long = np.abs(p - q)[[axis, 1 - axis]]
                    if aside < ONE_LINE_MM / 2 and long > 2 * NEAR_SIDE_MM:
                        at = round((p[axis] + q[axis]) / 2 / ONE_LINE_MM)
                        found[axis, at].append(tuple(sorted((p[1 - axis], q[1 - axis]))))
    return long_ones(plan, found)


def middle_lines(plan: Plan) -> list[Line]:
    """The same for lines through the middles of many sites, which are then crossings"""
    found: dict[tuple[int, int], list[tuple[float, float]]] = defaultdict(list)
    for site in plan.site:
        half = np.ptp(np.array(site.outline), axis=0) / 2
        for axis in (0, 1):
            along, wide = site.centre[1 - axis], half[1 - axis]
            found[axis, round(site.centre[axis] / ONE_LINE_MM)].append((along - wide, along + wide))
    return [(a + (b - a) * 0.06, b - (b - a) * 0.06) for a, b in long_ones(plan, found)]


def long_ones(plan: Plan, found: dict[tuple[int, int], list[tuple[float, float]]]) -> list[Line]:
    """The lines whose spans cover much of the board. found: (axis, position in units of
    ONE_LINE_MM) -> spans (from, to)"""
    out = []
    for (axis, at), spans in sorted(found.items()):
        place = at * ONE_LINE_MM
        covered = sum(b - a for a, b in set(spans))
        low, high = min(a for a, _ in spans), max(b for _, b in spans)
        if (
            covered < LEAST_LINE * max(plan.size)
            or high - low > 1.5 * covered
            or min(place, plan.size[axis] - place) < NEAR_SIDE_MM
        ):
            continue
        line = (np.array([place, low]), np.array([place, high]))
        out.append(line if axis == 0 else (line[0][::-1], line[1][::-1]))
    return out


def each_way(lines: list[Line]) -> tuple[list[Line], list[Line]]:
    """The lines down the board (constant x), and those across it (constant y)"""
    down, across = ([line for line in lines if line[0][axis] == line[1][axis]] for axis in (0, 1))
    return down, across


def printed_lines(
    image: np.ndarray,
    pose: Pose,
    plan: Plan,
    layout: dict[str, Contents] | None = None,
    bent: bool = False,
) -> EdgePoints | None:
    """The lines between the sites, or through their middles, seen near where the pose puts them;
    None if most are not seen. layout: what lies there; no lines are searched for next to pieces,
    since a row of pieces has its own edges, closer to the camera; bent: whether the lens may bend
    the lines; otherwise the board's sides show that better"""
    smooth = cv2.GaussianBlur(image, (0, 0), 1.0)
    taken = occupied_boxes(plan, layout or {})
    seen = (
        most_lines(smooth, pose, plan, lines, taken, bent)
        for lines in (site_lines(plan), middle_lines(plan))
    )
    return next((s for s in seen if s is not None), None)


def occupied_boxes(plan: Plan, layout: dict[str, Contents]) -> np.ndarray:
    """(M, 2, 2) mm: boxes around occupied sites, enlarged since pieces may extend into the next
    site"""
    lying = [np.array(site.outline, float) for site in plan.site if layout.get(site.id)]
    boxes = np.array([(o.min(0), o.max(0)) for o in lying]).reshape(-1, 2, 2)
    return boxes + ASTRAY * (boxes - boxes.mean(1, keepdims=True))


def most_lines(
    image: np.ndarray, pose: Pose, plan: Plan, lines: list[Line], taken: np.ndarray, bent: bool
) -> EdgePoints | None:
    """The edge points of these lines; None if most are not seen"""
    if min(map(len, each_way(lines))) < FEWEST_LINES:
        return None
    parts = []
    for asked, seen in seen_ways(image, pose, plan, lines, taken, bent):
        if len(seen) < max(FEWEST_LINES, LINES_SEEN * asked):
            return None
        parts += seen
    return EdgePoints.join(parts)


def seen_ways(
    image: np.ndarray, pose: Pose, plan: Plan, lines: list[Line], taken: np.ndarray, bent: bool
) -> Iterator[tuple[int, list[EdgePoints]]]:
    """For either direction, how many lines were searched for, and the edge points of the clear
    ones"""
    ways = each_way(lines)
    for axis, mine in enumerate(ways):
        at = sorted(line[0][axis] for line in mine)
        # the outermost lines have the board's rim on one side, which would attract them
        if len(mine) >= FEWEST_LINES + 2:
            mine = [line for line in mine if at[0] < line[0][axis] < at[-1]]
        apart = np.median(np.diff(at)) if len(at) > 1 else 0.0
        reach = int(LINE_REACH * apart * board_scale(pose, plan))
        seen = [
            s
            for k, line in enumerate(mine, BOARD_SIDES + axis * len(ways[0]))
            if reach > 2 and (s := seen_line(image, pose, *line, reach, k, taken, bent)) is not None
        ]
        yield len(mine), seen


def bent_lines(
    image: np.ndarray, pose: Pose, plan: Plan, layout: dict[str, Contents]
) -> list[EdgePoints]:
    """The lines, possibly bent by the lens, seen near where the pose puts them; none if most are
    not seen. A few are enough, since the board's pose is not estimated here. layout: what lies
    there"""
    smooth, taken = cv2.GaussianBlur(image, (0, 0), 1.0), occupied_boxes(plan, layout)
    for lines in (site_lines(plan), middle_lines(plan)):
        found = list(seen_ways(smooth, pose, plan, lines, taken, True))
        seen = [each for _, some in found for each in some]
        if len(seen) >= max(FEWEST_LINES, LINES_SEEN * sum(asked for asked, _ in found)):
            return seen
    return []


def seen_line(
    image: np.ndarray,
    pose: Pose,
    a: np.ndarray,
    b: np.ndarray,
    reach: int,
    number: int,
    taken: np.ndarray,
    bent: bool,
) -> EdgePoints | None:
    """The clearest straight or slightly bent line at most `reach` pixels from where the pose puts
    one, with any change of colour; its middle if the printed line has two edges; taken: (M, 2, 2)
    mm, boxes that are excluded from the search"""
    t = np.linspace(0.03, 0.97, LINE_STATIONS)
    mm = a + (b - a) * t[:, None]
    clear = ~((mm[:, None] >= taken[:, 0]) & (mm[:, None] <= taken[:, 1])).all(2).any(1)
    if clear.sum() < CLEAR_OF_PIECES * LINE_STATIONS:
        return None
    px, normal = side_stations(pose, mm)
    t, mm, px, normal = t[clear], mm[clear], px[clear], normal[clear]
    wide = reach + 2 * HALF_LINE_PX
    strength = np.linalg.norm(edge_profiles(image, px, normal, wide), axis=2)
    strength = np.minimum(strength, 3 * np.median(strength.max(1)))
    strength = cv2.GaussianBlur(
        strength, (4 * HALF_LINE_PX + 1, 1), HALF_LINE_PX, borderType=cv2.BORDER_REPLICATE
    )
    ends = np.arange(-reach, reach + 1)
    curve = np.stack(np.meshgrid(ends, ends, [0], indexing="ij"), -1).reshape(-1, 3)
    curve = curve[np.abs(curve[:, 0] - curve[:, 1]) <= max(reach // 2, 1)]
    at, score = follow_curves(strength, curve, t, wide)
    best = int(score.argmax())
    if score[best] < max(PLAINER * np.percentile(score, 25), FAINT_LINE):
        return None
    if bent:
        near, bows = np.arange(-BOW, BOW + 1), np.arange(-reach // 2, reach // 2 + 1)
        around = np.stack(np.meshgrid(near, near, bows, indexing="ij"), -1).reshape(-1, 3)
        curve = around + curve[best]
        curve = curve[
            (np.abs(curve[:, :2]).max(1) <= reach)
            & (np.abs(curve @ (0.5, 0.5, 1)) <= reach)
            # a tilted line may bulge most beside its middle
            & (np.abs(curve_offsets(curve, t)).max(1) < wide - 1)
        ]
        at, score = follow_curves(strength, curve, t, wide)
        best = int(score.argmax())
    profile = strength[np.arange(len(t))[:, None], at[best][:, None] + np.arange(-1, 2)].mean(0)
    found = curve_offsets(curve[best], t) + peaks_between(*profile)
    scale = np.linalg.norm(px[-1] - px[0]) / np.linalg.norm(mm[-1] - mm[0])
    unsure, line = np.full(len(t), PRINTED_MM * scale), np.full(len(t), number)
    return EdgePoints(mm, px + normal * found[:, None], normal, unsure, line)


def curve_offsets(curve: np.ndarray, t: np.ndarray) -> np.ndarray:
    """(..., N) offsets at each position of a curve (..., 3): given by its start, its end, and its
    additional bow in the middle"""
    return curve @ np.stack([1 - t, t, 4 * t * (1 - t)])


def follow_curves(
    strength: np.ndarray, curve: np.ndarray, t: np.ndarray, wide: int
) -> tuple[np.ndarray, np.ndarray]:
    """(M, N) the step of each position's profile that the curves go through, (M,) the mean clarity
    of the line there"""
    at = np.rint(curve_offsets(curve, t)).astype(int) + wide
    return at, strength[np.arange(len(t)), at].mean(1)
