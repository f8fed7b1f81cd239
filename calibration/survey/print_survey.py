"""A map of the board's print, made from the calibration photos and located in each of them; if no
photo shows the empty board, one is reconstructed."""

from __future__ import annotations

from copy import deepcopy

import msgspec
import numpy as np

from calibration.empty_board.reconstruct import reconstruct_empty_board
from calibration.survey.bundle_adjustment import Bundle, PhotoSight
from calibration.survey.survey_photos import SurveyPhotos
from calibration.survey.tapped_corners import TAPPED_REACH
from vision.geometry.lens import pack_pose
from vision.geometry.pose import Pose, board_scale
from vision.geometry.posed_photo import Shot
from vision.geometry.symmetry import site_spacing
from vision.plan import Plan
from vision.registration.pose_refinement import LEAST_PATCHES, PrintFit, follow_print
from vision.registration.print_map import Picture, PrintMap, choose_spots, compose_board
from vision.registration.registrar import LEAST_SEEN_SHARE, SURE_SHARE, corner_shift

ASTRAY_MM = 20.0  # error allowed for tapped corners, or half a site if that is more


def make_print(plan: Plan, photos: SurveyPhotos) -> tuple[PrintMap, np.ndarray] | None:
    """The board's print map, and (h, w) bool where it is known to be bare; None if there is too
    little print for registration"""
    canvas, bare, scale, origin = compose_board(plan, photos.images, photos.poses, photos.layouts)
    spots = choose_spots(canvas, bare)
    if len(spots) < 2 * LEAST_PATCHES:
        return None
    return PrintMap(canvas, scale, origin, spots), bare


def add_tracks(plan: Plan, photos: SurveyPhotos, printed: PrintMap) -> bool:
    """Adds the print's patches found in every photo to the bundle; False if the photos do not share
    them, or only the empty ones do (a table's grain, which tiles will cover)."""
    bundle, shared = photos.bundle, []
    bundle.points = printed.mm(printed.spots)
    for n, picture in enumerate(photos.pictures):
        fit = best_fit(plan, bundle, printed, picture, n, n in photos.lent or bool(bundle.cards))
        if fit is None or fit.share < LEAST_SEEN_SHARE:
            continue
        if corner_shift(plan, fit.pose, bundle.pose(n)) > TAPPED_REACH * max(picture.size) / 1640:
            bundle.sights[n].edges = None  # these were other lines
            bundle.poses[n, :6] = pack_pose(fit.pose)[:6]
        bundle.sights[n].tracks = dict(zip(np.flatnonzero(fit.inliers).tolist(), fit.px))
        shared.append(n)
    played = [n for n, layout in enumerate(photos.layouts) if any(layout.values())]
    if (len(shared) > 1 and (not played or set(played) & set(shared))) or len(photos.pictures) == 1:
        photos.count_taps_once()
        bundle.solve()
        return True
    bundle.points = np.zeros((0, 2))
    for sight in bundle.sights:
        sight.tracks = {}
    return False


def best_fit(
    plan: Plan, bundle: Bundle, printed: PrintMap, picture: Picture, n: int, anywhere: bool
) -> PrintFit | None:
    """Locates the print in photo n, starting from its own pose or, if that is wrong, from those of
    the others. Unless it may be anywhere, only near the tapped corners: a board that looks the same
    one square further would be found there as well"""
    fit = follow_print(plan, bundle.as_lens(), printed, picture, bundle.pose(n))
    if fit is not None and fit.share >= SURE_SHARE:
        return fit
    fits = [fit] if fit is not None else []
    for k, sight in enumerate(bundle.sights):
        if k == n or sight.size != picture.size:
            continue
        fit = follow_print(plan, bundle.as_lens(), printed, picture, bundle.pose(k))
        if fit is None:
            continue
        if anywhere or tapped_in_some_order(plan, bundle.sights[n].taps, fit.pose):
            fits.append(fit)
    return max(fits, key=lambda f: f.share, default=None)


def tapped_in_some_order(plan: Plan, taps: np.ndarray, pose: Pose) -> bool:
    """Whether a pose has the board's corners near the tapped ones, whichever was tapped first"""
    there = pose.to_px(plan.corners)
    reach = max(site_spacing(plan).max() / 2, ASTRAY_MM) * board_scale(pose, plan)
    return any(np.linalg.norm(np.roll(there, k, 0) - taps, axis=1).mean() < reach for k in range(4))


def with_bared(plan: Plan, photos: SurveyPhotos, last: SurveyPhotos) -> SurveyPhotos:
    """The photos and, last, a reconstructed one of the empty board, so that the print map has no
    holes where every photo shows pieces. Its sides and lines are those of the photo it was drawn
    into. last: the same photos, or an earlier result of this function, with the best poses known"""
    many, bundle = len(photos.pictures), deepcopy(last.bundle)
    first = bundle.sights[photos.barest]
    shots = [Shot(*one) for one in zip(photos.images, photos.layouts, last.poses)]
    empty = reconstruct_empty_board(plan, shots)
    bundle.sights = [msgspec.structs.replace(sight, tracks={}) for sight in bundle.sights[:many]]
    bundle.sights.append(PhotoSight(first.size, edges=first.edges))
    bundle.poses = np.vstack([bundle.poses[:many], bundle.poses[photos.barest]])
    pictures, layouts = [*photos.pictures, Picture(empty.image)], [*photos.layouts, {}]
    return SurveyPhotos(pictures, layouts, bundle, [*photos.lent, many])
