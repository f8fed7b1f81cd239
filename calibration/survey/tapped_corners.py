"""Corrects tapped corners: inexact ones, those of the playing field instead of the board, or ones
that start at the wrong corner."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np

from calibration.survey.bundle_adjustment import FOCAL_SD
from vision.evidence.site_evidence import Contents
from vision.geometry.coarse_grid import sample_at
from vision.geometry.corners import nearest_order, rectangle_corners
from vision.geometry.lens import USUAL_FOCAL, Lens
from vision.geometry.pose import Pose, board_scale
from vision.geometry.symmetry import is_square
from vision.photometry.small_picture import View
from vision.plan import Plan
from vision.registration.board_edges import (
    board_sides,
    edge_profiles,
    line_contrast,
    shown_sides,
    side_stations,
    smooth_image,
)
from vision.registration.board_outline import poses_by_outline, refine_by_sides
from vision.registration.printed_lines import Line, middle_lines, site_lines

# how far from the taps the board's sides are searched for, pixels at 1640 wide
TAPPED_REACH, ASTRAY_REACH = 20, 50
OUTLINE_REACH = 16  # the same for an outline
TAP_REACH = 12  # the usual error of a tap
# squared distance, in units of ASTRAY_REACH, beyond which an error of a tap counts no more
FARTHEST = 4.0
OTHER_CORNERS = 0.7  # likelihood that the playing field was tapped, relative to the board
MARGIN_MM = 2.0  # a rectangle this much smaller is a different one
PLAINER_THAN_TAPPED = 1.2  # how many times clearer a place must be than the tapped one
SAME_PLACE_PX = 3.0  # places closer than this are the same, pixels at 1640 wide
NEAR_LINE = 6  # pixels at 1640 wide: search range for a line

INNER = np.linspace(-0.25, 0.25, 5)  # sample positions in a site, as shares of its size
FEWEST_SITES = 6  # least numbers of sites with and without pieces for a comparison
# in standard deviations of chance agreement: how well an order of corners must agree, and how much
# better than the tapped one
PLAIN_TIMES, AHEAD = 4.0, 3.0


def mend_corners(plan: Plan, lens: Lens, image: np.ndarray, taps: np.ndarray) -> np.ndarray | None:
    """(4, 2) pixels of the board's corners if they are clearly seen elsewhere than tapped; usually
    None, and also None if the picture cuts off most sides as tapped"""
    scale, found = max(image.shape[:2]) / 1640, []
    as_tapped, _ = lens.pose(plan.corners, taps, image.shape[1::-1], "")
    if len(shown_sides(image, as_tapped, plan.corners, round(TAP_REACH * scale))) < 2:
        return None
    tapped_at, smooth = plan_rectangles(plan), smooth_image(image)
    sides, lines = board_sides(plan.corners), (site_lines(plan), middle_lines(plan))
    for pose in possible_poses(plan, lens, image, taps, tapped_at):
        corners = pose.to_px(plan.corners)
        apart = (np.abs(corners - other.to_px(plan.corners)).max() for _, _, other in found)
        if any(px < SAME_PLACE_PX * scale for px in apart):
            continue
        off = np.linalg.norm(corners - taps, axis=1).max() / scale
        plain = line_contrast(smooth, pose, sides, round(3 * max(scale, 1)))
        plain *= lens_plausibility(pose)
        # lines are better evidence: one printed around the playing field may be clearer than the
        # board's sides
        if any(lines):
            plain = np.sqrt(plain) * stand_out(plan, smooth, pose, lines)
        found.append((plain * likely_taps(pose, taps, tapped_at, ASTRAY_REACH * scale), off, pose))
    best = max((f for f in found if f[1] > TAP_REACH), key=lambda f: f[0], default=None)
    tapped = max((plain for plain, off, _ in found if off <= TAP_REACH), default=0.0)
    if best is None or best[0] < PLAINER_THAN_TAPPED * tapped:
        return None
    return best[2].to_px(plan.corners)


def tapped_well(plan: Plan, taps: np.ndarray, pose: Pose) -> bool:
    """Whether all corners were tapped close to the board's corners in this pose"""
    return bool(
        np.linalg.norm(pose.to_px(plan.corners) - taps, axis=1).max()
        < TAP_REACH * max(pose.size) / 1640
    )


def plan_rectangles(plan: Plan) -> list[np.ndarray]:
    """(4, 2) mm each: the rectangles that people may take for the board: all of it, the playing
    field, the outermost crossings"""
    out = [plan.corners]
    outlines = np.vstack([o for s in plan.site for o in s.outlines])
    for points in (outlines, np.array([s.centre for s in plan.site])):
        corners = rectangle_corners(points.min(0), points.max(0))
        if np.abs(corners - out[-1]).min() > MARGIN_MM:
            out.append(corners)
    return out


def possible_poses(
    plan: Plan, lens: Lens, image: np.ndarray, taps: np.ndarray, tapped_at: list[np.ndarray]
) -> list[Pose]:
    """Candidate poses: as tapped, at sides seen nearby, at quadrilateral outlines anywhere"""
    size, scale, out = (image.shape[1], image.shape[0]), max(image.shape[:2]) / 1640, []
    other = Lens()
    alike = abs(lens.k1) < 0.02 and abs(np.log(lens.focal / other.focal)) < 0.1
    for each in (lens,) if alike else (lens, other):  # bad taps imply an odd lens
        for corners in tapped_at:
            start, _ = each.pose(corners, taps, size, "")
            out.append(start)
            for reach in (TAPPED_REACH, ASTRAY_REACH):
                out.append(refine_by_sides(plan, each, image, start, reach * scale))
    start = out[0]
    for outline in poses_by_outline(plan, other, View.of(image, start), image):
        px = outline.to_px(plan.corners)
        try:
            px = np.roll(px, nearest_order(px, taps), 0)
            pose, _ = other.pose(plan.corners, px, size, "")
        except ValueError:
            continue
        out += [pose, refine_by_sides(plan, other, image, pose, OUTLINE_REACH * scale)]
    return [pose for pose in out if pose is not None]


def lens_plausibility(pose: Pose) -> float:
    """The plausibility of a lens: bad taps can be explained by an implausible one"""
    longer = np.log(pose.K[0, 0] / max(pose.size) / USUAL_FOCAL)
    return float(np.exp(-0.5 * (longer / FOCAL_SD) ** 2))


def likely_taps(pose: Pose, taps: np.ndarray, tapped_at: list[np.ndarray], reach: float) -> float:
    """The likelihood of these taps if the board has this pose; a single corner may be anywhere"""
    off = [
        np.minimum((np.linalg.norm(pose.to_px(c) - taps, axis=1) / reach) ** 2, FARTHEST).mean()
        for c in tapped_at
    ]
    return float(max(np.exp(-0.5 * o) * (OTHER_CORNERS if k else 1.0) for k, o in enumerate(off)))


def stand_out(plan: Plan, smooth: np.ndarray, pose: Pose, all_lines: Sequence[list[Line]]) -> float:
    """How many times stronger the gradient is on the plan's lines (between sites, or through their
    middles) than next to them; 1 if it has no lines. smooth: from smooth_image()"""
    near = max(round(NEAR_LINE * max(pose.size) / 1640), 1)
    best, t = 1.0, np.linspace(0.03, 0.97, 32)[:, None]
    for lines in all_lines:
        seen = []
        for axis in (0, 1):
            mine = [(a, b) for a, b in lines if a[axis] == b[axis]]
            if len(mine) < 2:
                continue
            gap = np.median(np.diff(sorted(a[axis] for a, _ in mine)))
            reach = max(int(gap * board_scale(pose, plan) / 2), near + 2)
            for a, b in mine:
                px, normal = side_stations(pose, a + (b - a) * t)
                change = np.linalg.norm(edge_profiles(smooth, px, normal, reach), axis=2).mean(0)
                on_line = change[reach - near : reach + near + 1].max()
                seen.append(on_line / max(change.mean(), 1e-3))
        if seen:
            best = max(best, float(np.median(seen)))
    return best


def turns_by_pieces(
    plan: Plan,
    images: Sequence[np.ndarray],
    poses: Sequence[Pose],
    layouts: Sequence[dict[str, Contents]],
) -> int:
    """By how many corners the tapped order is shifted, judging by where pieces are seen and where
    the layouts put them; 0 if that is not clear. images: (h, w, 3) uint8 BGR; one of them shows
    fewer pieces than the others."""
    bare = min(range(len(layouts)), key=lambda n: len(layouts[n]))
    seen, said = [], []
    for n, layout in enumerate(layouts):
        laid = {s: tuple(layout.get(s, ())) != tuple(layouts[bare].get(s, ())) for s in plan.sites}
        if n != bare and min(sum(laid.values()), len(laid) - sum(laid.values())) >= FEWEST_SITES:
            changes = site_changes(plan, images[bare], poses[bare], images[n], poses[n])
            seen.append(unit_ranks(changes))
            said.append(np.array([laid[s.id] for s in plan.site]))
    if not seen:
        return 0
    step = 1 if is_square(plan) else 2
    clear = [layout_agreement(seen, said, turned_numbers(plan, k)) for k in range(0, 4, step)]
    best = int(np.argmax(clear))
    plain = (
        clear[best] > PLAIN_TIMES and clear[best] - clear[0] > AHEAD and clear[0] < clear[best] / 2
    )
    return best * step if plain else 0


def turned_numbers(plan: Plan, turns: int) -> np.ndarray:
    """(N,) for each of the plan's sites, the number of the site it falls on if the first corner is
    `turns` corners further; -1: none"""
    middles = np.array([s.centre for s in plan.site])
    at = middles / plan.size - 0.5
    for _ in range(turns):
        at = np.column_stack([-at[:, 1], at[:, 0]])
    apart = np.linalg.norm((at + 0.5) * plan.size - middles[:, None], axis=2)  # (as it is, turned)
    near = apart.argmin(0)
    half = np.array([np.ptp(s.outlines[0], axis=0).min() / 2 for s in plan.site])
    return np.where(apart[near, np.arange(len(near))] < half[near], near, -1)


def site_changes(
    plan: Plan, bare: np.ndarray, bare_pose: Pose, image: np.ndarray, pose: Pose
) -> np.ndarray:
    """(N,) how much each site differs from a barer photo, independent of the light"""
    sides = np.array([np.ptp(s.outlines[0], axis=0) for s in plan.site])
    spots = np.stack(np.meshgrid(INNER, INNER), -1).reshape(-1, 2)
    mm = np.array([s.centre for s in plan.site])[:, None] + spots * sides[:, None]
    looks = []
    for photo, p in ((bare, bare_pose), (image, pose)):
        at = p.to_px(mm.reshape(-1, 2)).reshape(len(sides), -1, 2).astype(np.float32)
        seen = sample_at(cv2.GaussianBlur(photo, (0, 0), 2.0), at, cv2.BORDER_REPLICATE)
        looks.append(np.log(seen + np.float32(10)))
    off = looks[1] - looks[0]
    return np.abs(off - np.median(off, axis=(0, 1))).mean((1, 2))


def unit_ranks(values: np.ndarray) -> np.ndarray:
    """(N,) the ranks of the values, scaled to 0..1"""
    return values.argsort().argsort() / max(len(values) - 1, 1)


def layout_agreement(seen: list[np.ndarray], said: list[np.ndarray], places: np.ndarray) -> float:
    """How well the changes seen agree with the layouts, in standard deviations of chance
    agreement"""
    mine = places >= 0
    if mine.sum() < 2 * FEWEST_SITES:
        return 0.0
    total = 0.0
    for each, laid in zip(seen, said):
        there = laid[places[mine]]
        if 0 < there.sum() < len(there):
            r = np.corrcoef(each[mine], there)[0, 1]
            total += float(np.arctanh(np.clip(r, -0.99, 0.99)) * np.sqrt(mine.sum() - 3))
    return total / np.sqrt(len(seen))
