"""Finds the board's sides and the lines printed between its sites in calibration photos, and adds
them to the bundle."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import repeat

import cv2
import msgspec
import numpy as np

from calibration.survey.bundle_adjustment import CARD_MM, LIMBER, TAP_PX, Bundle
from calibration.survey.survey_photos import SurveyPhotos
from calibration.survey.tapped_corners import TAP_REACH, TAPPED_REACH
from vision.geometry.pose import Pose, board_scale
from vision.geometry.symmetry import site_spacing
from vision.plan import Plan
from vision.registration.board_edges import EdgePoints, board_edges, shown_sides
from vision.registration.pose_refinement import FLOOR_PX
from vision.registration.printed_lines import printed_lines

SIDE_PX = 0.1  # error of one side from a shadow or the table's grain, pixels at 1640 wide
# mm, typical thickness of a board: if the camera sees its side face, that may be taken for the edge
THICK = 4.0
# sides that are farther than this from where the lines between sites put them are some other line
CLASH_MM = 1.0
# how far the plan's own lines may be off, as a share of the distance between lines
LINED = 0.05
NEARER = 3  # rounds in which lines are located, each starting from the last
NEIGHBOUR = 0.6  # error allowed for a tapped corner, as a share of the gap between lines
MOST_FRAME = 4  # a line printed all round is at most this many CLASH_MM inside or outside the sides
MOST_ASTRAY = 2  # the most sides of a board that may be mistaken
SHOWN = 3  # visible sides needed to show a lens's distortion: a cropped board has fewer
# mm: the greatest height of a rim above the squares; iterations to find it
HIGHEST, RISES = 25.0, 8


def add_edges(plan: Plan, bundle: Bundle, images: Sequence[np.ndarray]) -> None:
    """Finds the board's sides in every photo and solves again: twice, the second time searching
    closer. A third time if corners were tapped: once the other sides are right, a supposed side may
    turn out to be a line printed along it"""
    rounds = (TAPPED_REACH - 2, 1.0), (TAPPED_REACH // 3, 1.0), (TAPPED_REACH // 2, 2.0)
    for limit, loose in rounds[: 3 if not bundle.cards else 2]:
        for n, (sight, image) in enumerate(zip(bundle.sights, images)):
            scale = max(sight.size) / 1640
            pose = bundle.pose(n)
            sd = CARD_MM * board_scale(pose, plan) if sight.cards else TAP_PX * scale
            reach, limit_px = round(TAPPED_REACH * scale), round(limit * scale)
            sides = board_edges(image, pose, bundle.corners, reach, limit_px, loose * sd)
            if sight.taps is not None and not sight.cards:
                near = TAP_REACH * scale
                sides = [s for s in sides if abs(np.mean(s.distances(pose))) < near]
            sight.edges = EdgePoints.join([less_sure(plan, pose, side) for side in sides])
        bundle.solve()


def less_sure(plan: Plan, pose: Pose, side: EdgePoints) -> EdgePoints:
    """One side of the board, less certain if the camera is beyond it and sees the board's
    thickness"""
    a, b = side.mm[0], side.mm[-1]
    outwards = np.array([b[1] - a[1], a[0] - b[0]]) / np.linalg.norm(b - a)
    # the camera on the board's frame; z points into the table
    x, y, z = -cv2.Rodrigues(pose.rvec)[0].T @ np.ravel(pose.tvec)
    slope = max(float((np.array([x, y]) - (a + b) / 2) @ outwards), 0.0) / max(-z, 1.0)
    shadow, seen = SIDE_PX * max(pose.size) / 1640, THICK * slope * board_scale(pose, plan)
    return msgspec.structs.replace(side, unsure=np.sqrt(side.unsure**2 + shadow**2 + seen**2))


def held_by_lines(plan: Plan, photos: SurveyPhotos, taps: Sequence[np.ndarray]) -> float:
    """Solves the bundle with the plan's lines if these are seen, each in its place, in all photos
    near where the tapped corners put them. Returns their error in pixels; infinite if they are not.
    taps: uncorrected"""
    bundle = photos.bundle
    for _ in range(NEARER):
        lines = lines_in(plan, photos, [False] * len(photos.images))
        if any(line is None for line in lines):
            return np.inf
        for sight, line in zip(bundle.sights, lines):
            sight.edges = line
        bundle.solve()
    off = [
        in_place(plan, bundle.pose(n), line, tap) for n, (line, tap) in enumerate(zip(lines, taps))
    ]
    return float(np.mean(off))


def settle_by_lines(plan: Plan, photos: SurveyPhotos) -> None:
    """Takes the corners from the lines, refined by the board's sides as far as these agree"""
    bundle = photos.bundle
    for n, sight in enumerate(bundle.sights):
        sight.taps = bundle.pose(n).to_px(plan.corners)
    kept = bundle.poses.copy(), bundle.lens.copy()
    add_edges(plan, bundle, photos.images)
    bundle.poses, bundle.lens = kept
    add_lines(plan, photos, True)


def in_place(plan: Plan, pose: Pose, lines: EdgePoints, taps: np.ndarray) -> float:
    """The error, in pixels, of lines relative to a pose fitted to them; infinite if that is large,
    or if a corner was tapped nearer to where the neighbouring lines would put it"""
    apart = site_spacing(plan).min() * board_scale(pose, plan)
    off = float(as_sure_as_they_fit(pose, lines).unsure[0])
    far = np.linalg.norm(pose.to_px(plan.corners) - taps, axis=1).max()
    return off if off < LINED * apart and far < NEIGHBOUR * apart else np.inf


def lines_in(plan: Plan, photos: SurveyPhotos, bent: Sequence[bool]) -> list[EdgePoints | None]:
    """Each photo's lines; if no photo shows the empty board, only those clear of the pieces, unless
    that leaves none. bent: per photo, whether the lens may bend them"""
    lines: list[EdgePoints | None] = []
    for layouts in (photos.layouts, None) if all(photos.layouts) else (None,):
        lines = [
            printed_lines(*seen)
            for seen in zip(
                photos.images, photos.poses, repeat(plan), layouts or repeat(None), bent
            )
        ]
        if any(line is not None for line in lines):
            break
    return lines


def add_lines(plan: Plan, photos: SurveyPhotos, held: bool = False) -> None:
    """Lines between sites locate the sites, the board's sides only its ends. A side that
    contradicts the lines was another line, the bottom edge of a thick board or its shadow, and is
    dropped. Lines are weighted by how well they fit each other. held: they are known to be the
    plan's lines"""
    bundle = photos.bundle
    kept = bundle.poses.copy(), bundle.lens.copy(), [sight.edges for sight in bundle.sights]
    bent = []
    for image, pose in zip(photos.images, photos.poses):
        reach = round(TAPPED_REACH * max(pose.size) / 1640)
        bent.append(len(shown_sides(image, pose, plan.corners, reach)) < SHOWN)
    lines = lines_in(plan, photos, bent)
    if all(line is None for line in lines):
        return
    for sight, line in zip(bundle.sights, lines):
        sight.edges = line if line is not None else sight.edges
    bundle.solve()
    lines = [line and as_sure_as_they_fit(bundle.pose(n), line) for n, line in enumerate(lines)]
    lined = [sides if line is not None else None for sides, line in zip(kept[2], lines)]
    bundle.rise = 0.0 if held else side_rise(plan, bundle, lined)
    found = False
    for n, (sight, sides, line) in enumerate(zip(bundle.sights, kept[2], lines)):
        if line is None or sides is None:
            continue
        agree, astray = agreeing_sides(plan, bundle.pose(n), sides, bundle.rise)
        if held or astray <= MOST_ASTRAY:  # otherwise they are not the plan's lines
            found = True
            sight.edges = EdgePoints.join([line, agree])
    if found:
        bundle.solve()
        return
    bundle.poses, bundle.lens, bundle.rise = kept[0], kept[1], 0.0
    for sight, sides in zip(bundle.sights, kept[2]):
        sight.edges = sides


def as_sure_as_they_fit(pose: Pose, lines: EdgePoints) -> EdgePoints:
    """The lines of a photo, with their uncertainty set to their typical distance from a pose fitted
    to them"""
    apart = lines.distances(pose)
    off = np.array([apart[lines.line == k].mean() for k in np.unique(lines.line)])
    sd = np.sqrt(np.minimum(off**2, 9 * np.median(off**2)).sum() / max(len(off) - LIMBER / 2, 1))
    return msgspec.structs.replace(
        lines, unsure=np.full(len(apart), max(sd, FLOOR_PX * max(pose.size) / 1640))
    )


def side_rise(plan: Plan, bundle: Bundle, seen: Sequence[EdgePoints | None]) -> float:
    """mm by which the board's sides are above its lines, as with a rim. Usually 0, unless more than
    two sides contradict the lines and one height explains nearly all of them, better than a line
    printed all round would. seen: per photo the sides, None without lines."""
    shown = [(bundle.pose(n), s) for n, s in enumerate(seen) if s is not None and len(s.mm)]
    astray = [agreeing_sides(plan, pose, sides)[1] for pose, sides in shown]
    if not shown or np.median(astray) <= MOST_ASTRAY:
        return 0.0
    rise = 0.0
    for _ in range(RISES):
        off, by_mm = (
            np.concatenate(each)
            for each in zip(*(side_offsets(pose, sides, rise) for pose, sides in shown))
        )
        weight = 1 / (1 + (off / np.median(np.abs(off))) ** 2)
        rise -= float((weight * off * by_mm).sum() / (weight * by_mm**2).sum())
    left, wider = [], []
    for pose, sides in shown:
        clash = CLASH_MM * board_scale(pose, plan)
        flat, raised = (list(side_means(pose, sides, height).values()) for height in (0.0, rise))
        left.append(sum(abs(off) > clash for off in raised))
        wider.append(sum(abs(off - np.median(flat)) > clash for off in flat))
    return rise if abs(rise) < HIGHEST and np.mean(left) < min(MOST_ASTRAY, np.mean(wider)) else 0.0


def side_means(pose: Pose, sides: EdgePoints, rise: float) -> dict[int, float]:
    """side -> the mean offset of its points, as of `side_offsets`"""
    off, _ = side_offsets(pose, sides, rise)
    return {k: float(np.mean(off[sides.line == k])) for k in np.unique(sides.line)}


def side_offsets(pose: Pose, sides: EdgePoints, rise: float) -> tuple[np.ndarray, np.ndarray]:
    """How far outside, in pixels, the pose puts each point of the sides, if they are `rise` mm
    above the board; and the derivative by `rise`"""
    off = sides.distances(pose, rise)
    return off, sides.distances(pose, rise + 1) - off


def agreeing_sides(
    plan: Plan, pose: Pose, sides: EdgePoints, rise: float = 0.0
) -> tuple[EdgePoints, int]:
    """The sides that are seen near where the pose puts them, `rise` mm above the lines, and how
    many are not. If all are too far in or out by the same amount, they are a line printed along all
    sides: then none is a side, and none counts as contradicting."""
    if not len(sides.mm):
        return sides, 0
    clash = CLASH_MM * board_scale(pose, plan)
    mean = side_means(pose, sides, rise)
    far = {k: abs(each) > clash for k, each in mean.items()}
    agree = ~np.array([far[k] for k in sides.line], bool)
    framed = (
        len(far) > MOST_ASTRAY
        and np.ptp(list(mean.values())) < 1.5 * clash
        and max(map(abs, mean.values())) < MOST_FRAME * clash
    )
    return sides.only(agree), 0 if framed else sum(far.values())
