"""Estimates the lens distortion, about which four tapped corners say nothing: straight lines on the
board must be straight in the undistorted picture."""

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
BENDS = np.arange(-12, 4) * BEND_STEP  # values of k1 that are tried
BENT = 1.2  # how many times clearer the sides must be before distortion is assumed
# least difference in grey levels across a board's side: a table's grain gives 0.4 to 1.5 along
# lines without one
LEAST_SIDE = 2.0
SURELY = 4.0  # standard deviations from zero at which distortion found from lines is accepted
BOW_PX = 0.1  # pixels at 1640 wide: the least error of a line's bow
STRONGEST = 1.0  # largest k1 of any lens
# least radial scale at a board's corner, relative to the middle: beyond that the lens model folds
# over
UNFOLDED = 0.5
# iterations; step of k1 for numerical derivatives of bows
BEND_ROUNDS, SMALL_BEND = 6, 0.01


def find_bend(plan: Plan, photos: SurveyPhotos) -> None:
    """Estimates k1 from the lines between sites, or, if those are not visible, from the board's
    sides"""
    bundle, focal = photos.bundle, float(np.exp(photos.bundle.lens[0]))
    k1, sd = bend_of_lines(plan, photos) or (0.0, np.inf)
    if abs(k1) > max(SURELY * sd, BEND_STEP):
        # lines determine k1 only relative to the squared focal length
        bundle.lens[1], bundle.bend = k1, k1 * (USUAL_FOCAL / focal) ** 2
    elif sd > BEND_STEP and (k1 := bend_of_sides(plan, photos)):
        bundle.lens[1] = bundle.bend = k1


def bend_of_sides(plan: Plan, photos: SurveyPhotos) -> float:
    """k1 at which the board's sides are straight in the barest photos; 0 if that is not clear"""
    bundle = photos.bundle
    barest = sorted(range(len(photos.images)), key=lambda n: n != photos.barest)[:2]
    reach = round(TAPPED_REACH * max(bundle.sights[barest[0]].size) / 1640)
    plain, smooth = {}, {n: smooth_image(photos.images[n]) for n in barest}
    # beyond the picture's edge there is no side, and a bent line would be found in the print
    # instead
    lines = {n: shown_sides(smooth[n], bundle.pose(n), plan.corners, reach) for n in barest}
    for k1 in BENDS:
        lens = Lens(float(np.exp(bundle.lens[0])), float(k1))
        try:
            poses = [
                lens.pose(plan.corners, bundle.sights[n].taps, bundle.sights[n].size, "")[0]
                for n in barest
            ]
        except ValueError:  # no camera bends a board like that
            continue
        if min(radial_scale(plan, pose) for pose in poses) > UNFOLDED:
            plain[float(k1)] = sum(
                line_contrast(smooth[n], pose, lines[n], reach) for n, pose in zip(barest, poses)
            )
    best = max(plain, key=lambda k1: plain[k1])
    # sides are straight at one bend, and less at those beside it; a cloth's threads are everywhere
    shown = plain[best] > LEAST_SIDE * len(barest) and min(plain) < best < max(plain)
    return best if shown and plain[best] > BENT * plain[0.0] else 0.0


def radial_scale(plan: Plan, pose: Pose) -> float:
    """The radial scale of a lens with one coefficient at the board's corners, relative to its
    middle; below 0 points farther out would appear farther in"""
    corners = np.column_stack([plan.corners, np.zeros(4)])
    x, y, depth = cv2.Rodrigues(pose.rvec)[0] @ corners.T + np.reshape(pose.tvec, (3, 1))
    return float(1 + 3 * pose.dist[0] * ((x**2 + y**2) / depth**2).max())


def bend_of_lines(plan: Plan, photos: SurveyPhotos) -> tuple[float, float] | None:
    """k1 at which the plan's lines are straight in all photos, and its standard deviation; None if
    the lines are not visible. The plumb-line method (Brown 1971): the board's pose does not
    matter."""
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
    """By how many pixels a line is bowed in the middle, with this lens"""
    K = lens.K(size)
    px = cv2.undistortPoints(line.px.reshape(-1, 1, 2), K, lens.dist, P=K).reshape(-1, 2)
    long = max(np.linalg.norm(px[-1] - px[0]), 1e-9)
    along, way = np.linalg.norm(px - px[0], axis=1) / long, (px[-1] - px[0]) / long
    across = (px - px[0]) @ np.array([-way[1], way[0]])
    return float(np.polyfit(along, across, 2)[0]) / -4
