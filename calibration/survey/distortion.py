"""How much a lens bends, of which four tapped corners show nothing: what is straight on the board
must be seen straight."""

from __future__ import annotations

import cv2
import numpy as np

from calibration.survey.survey_photos import SurveyPhotos
from calibration.survey.tapped_corners import TAPPED_REACH
from vision.geometry.lens import USUAL_FOCAL, Lens
from vision.geometry.pose import Pose
from vision.plan import Plan
from vision.registration.board_edges import EdgePoints, line_contrast, shown_sides, smooth_image
from vision.registration.printed_lines import bent_lines

BEND_STEP = 0.04
BENDS = np.arange(-12, 4) * BEND_STEP  # k1 of lenses that are tried
BENT = 1.2  # so much plainer the sides must be seen before a lens is thought to bend
# grey levels by which a side of a board differs from the table at least: a table's grain has 0.4 to
# 1.5 along lines where no side is
LEAST_SIDE = 2.0
SURELY = 4.0  # standard deviations that lines must say so
BOW_PX = 0.1  # pixels at 1640 wide that a line is bowed anyway, at the least
STRONGEST = 1.0  # k1 of any lens
# of the middle's scale that is left at a board's corner, outwards: one that bends more folds it
UNFOLDED = 0.5
# in which the bend is found; a step of k1 by which bows are seen to change
BEND_ROUNDS, SMALL_BEND = 6, 0.01


def find_bend(plan: Plan, photos: SurveyPhotos) -> None:
    """Four fingers show nothing of how much a lens bends: the lines between sites do, or where
    those are not seen the board's sides"""
    bundle, focal = photos.bundle, float(np.exp(photos.bundle.lens[0]))
    k1, sd = bend_of_lines(plan, photos) or (0.0, np.inf)
    if abs(k1) > max(SURELY * sd, BEND_STEP):
        # lines tell of k1 next to the squared focal length only
        bundle.lens[1], bundle.bend = k1, k1 * (USUAL_FOCAL / focal) ** 2
    elif sd > BEND_STEP and (k1 := bend_of_sides(plan, photos)):
        bundle.lens[1] = bundle.bend = k1


def bend_of_sides(plan: Plan, photos: SurveyPhotos) -> float:
    """k1 at which the board's sides run straight in the barest photos; 0 where that is not plain"""
    bundle, barest = (
        photos.bundle,
        sorted(range(len(photos.images)), key=lambda n: n != photos.barest)[:2],
    )
    reach = round(TAPPED_REACH * max(bundle.sights[barest[0]].size) / 1640)
    plain, smooth = {}, {n: smooth_image(photos.images[n]) for n in barest}
    # where the picture ends there is no side, and a bent one would be found in the print
    lines = {n: shown_sides(smooth[n], bundle.pose(n), plan.corners, reach) for n in barest}
    for k1 in BENDS:
        lens = Lens(float(np.exp(bundle.lens[0])), float(k1))
        poses = [
            lens.pose(plan.corners, bundle.sights[n].taps, bundle.sights[n].size, "")[0]
            for n in barest
        ]
        if min(radial_scale(plan, pose) for pose in poses) > UNFOLDED:
            plain[float(k1)] = sum(
                line_contrast(smooth[n], pose, lines[n], reach) for n, pose in zip(barest, poses)
            )
    best = max(plain, key=lambda k1: plain[k1])
    shown = plain[best] > LEAST_SIDE * len(barest)
    return best if shown and plain[best] > BENT * plain[0.0] else 0.0


def radial_scale(plan: Plan, pose: Pose) -> float:
    """How large, outwards, a lens of one coefficient pictures the board's corners, of how large it
    pictures its middle; below 0 it would show what is farther out nearer in"""
    corners = np.column_stack([plan.corners, np.zeros(4)])
    x, y, depth = cv2.Rodrigues(pose.rvec)[0] @ corners.T + np.reshape(pose.tvec, (3, 1))
    return float(1 + 3 * pose.dist[0] * ((x**2 + y**2) / depth**2).max())


def bend_of_lines(plan: Plan, photos: SurveyPhotos) -> tuple[float, float] | None:
    """k1 at which the lines that the plan has run straight in all photos, and its standard
    deviation; None where those are not seen. The plumb lines of Brown (1971): where the board lies
    does not matter."""
    bundle, lines = photos.bundle, []
    for n, (image, layout) in enumerate(zip(photos.images, photos.layouts)):
        lines += [
            (line, bundle.sights[n].size)
            for line in bent_lines(image, bundle.pose(n), plan, layout)
        ]
    if not lines:
        return None
    focal, k1, at_least = float(np.exp(bundle.lens[0])), 0.0, BOW_PX * max(lines[0][1]) / 1640
    for _ in range(BEND_ROUNDS):
        bow, more = (
            np.array([bow_of(Lens(focal, k), *line) for line in lines])
            for k in (k1, k1 + SMALL_BEND)
        )
        change = (more - bow) / SMALL_BEND
        sd = max(1.5 * float(np.median(np.abs(bow))), at_least)
        weight = 1 / (1 + (bow / (2 * sd)) ** 2) ** 2
        known = max(float((weight * change**2).sum()), 1e-9)
        k1 = float(np.clip(k1 - (weight * bow * change).sum() / known, -STRONGEST, STRONGEST))
    return k1, sd / np.sqrt(known)


def bow_of(lens: Lens, line: EdgePoints, size: tuple[int, int]) -> float:
    """By how many pixels a line is bowed in the middle if the lens is that one"""
    K = lens.K(size)
    px = cv2.undistortPoints(line.px.reshape(-1, 1, 2), K, lens.dist, P=K).reshape(-1, 2)
    long = max(np.linalg.norm(px[-1] - px[0]), 1e-9)
    along, way = np.linalg.norm(px - px[0], axis=1) / long, (px[-1] - px[0]) / long
    across = (px - px[0]) @ np.array([-way[1], way[0]])
    return float(np.polyfit(along, across, 2)[0]) / -4
