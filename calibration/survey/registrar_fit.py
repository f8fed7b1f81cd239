"""Calibration's part of registration: from a copy's photos to a Registrar and each photo's pose."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from calibration.survey.bundle_adjustment import K1_SD, TAP_PX, Bundle, PhotoSight
from calibration.survey.distortion import BEND_STEP, bend_of_lines, find_bend
from calibration.survey.print_survey import add_tracks, make_print, with_bared
from calibration.survey.side_survey import (
    CLASH_MM,
    add_edges,
    add_lines,
    held_by_lines,
    settle_by_lines,
)
from calibration.survey.survey_photos import SurveyPhotos
from calibration.survey.tapped_corners import mend_corners, tapped_well, turns_by_pieces
from calibration.survey.tapped_grid import most_plain
from vision.evidence.site_evidence import Contents, NoBoard
from vision.geometry.corners import corner_turns
from vision.geometry.lens import USUAL_FOCAL, Lens, pack_pose, usual_lens
from vision.geometry.pose import Pose, board_scale
from vision.photometry.small_picture import View
from vision.plan import Plan
from vision.registration.aruco_cards import ENOUGH_CARDS, find_cards, in_order, turned_to_fit
from vision.registration.pose_ambiguity import patches_seen_again, with_look_alikes
from vision.registration.pose_refinement import FLOOR_PX, LEAST_PATCHES, follow_print, spread_over
from vision.registration.print_map import Picture, PrintMap
from vision.registration.registrar import Registrar, checked_picture, corner_shift
from vision.registration.tile_frame import FEWEST_TILES, Tiles, locate_tiles, tile_places
from vision.registration.whole_board import RIM, TABLE, WholeBoard

# common bias of all edges and lines from blur and overexposure, pixels at 1640 wide (or at the
# picture's width, if smaller)
EDGE_BIAS = 0.15
POOR_FIT_PX = 2.0  # at 1640 wide: with sides or lines, a board's position is never this uncertain
# the most reconstructions of the empty board; pixels at 1640 wide: if photos are aligned within
# this, the reconstructed print is sharp
PUT_TOGETHER, BLURRED_PICTURE = 2, 0.5


def fit_registrar(
    plan: Plan,
    images: Sequence[np.ndarray],
    corners: Sequence[np.ndarray | None] | None = None,
    markers: bool = True,
    layouts: Sequence[dict[str, Contents]] | None = None,
) -> tuple[Registrar, list[Pose]]:
    """From a copy's calibration photos: the positions of cards and print, the lens, and each
    photo's pose.

    images: (h, w, 3) uint8 BGR; corners: per photo (4, 2) pixels of the board's corners as
    tapped, or None;
    markers: whether the four cards lie at the corners; layouts: what lies in each photo, in the
    same order. Raises NoBoard with the photo's number if a photo cannot be used."""
    corners = list(corners) if corners is not None else [None] * len(images)
    layouts = list(layouts) if layouts is not None else [{}] * len(images)
    pictures = [checked_photo(n, image) for n, image in enumerate(images)]
    if not pictures:
        raise NoBoard("no photos")
    for n, c in enumerate(corners):
        if c is not None and not runs_round(np.asarray(c, float)):
            raise NoBoard("its corners are crossed or out of order", n)
    registrar, poses = first_survey(plan, pictures, corners, markers, layouts)
    turns = turns_by_pieces(plan, images, poses, layouts)
    if turns:  # the layouts fit if a different corner was tapped first
        if registrar.cards:
            raise NoBoard(
                f"the pieces lie as if the board were turned by {90 * turns} degrees "
                f"between its cards: number 0 belongs at "
                "the corner from which the plan and the layouts count"
            )
        corners = [c if c is None else np.roll(c, turns, 0) for c in corners]
        registrar, poses = first_survey(plan, pictures, corners, markers, layouts)
    if registrar.cards or registrar.printed is None or all(c is not None for c in corners):
        return registrar, poses
    # Now that all photos are located, those without tapped corners contribute the board's sides and
    # lines as well. On a patterned cloth there are only the tapped corners to check these against,
    # until tiles in some photos do.
    poor = np.inf if len(tiled_photos(plan, layouts)) else TAP_PX
    found = [
        c
        if p.maybe_turned
        or p.error_px > poor * max(p.size) / 1640
        or c is not None
        and tapped_well(plan, c, p)
        else p.to_px(plan.corners, registrar.rise)
        for c, p in zip(corners, poses)
    ]
    try:
        lent, before = [n for n, c in enumerate(corners) if c is None], (registrar.lens, poses)
        return survey_photos(
            plan, pictures, found, markers, layouts, tapped=False, lent=lent, before=before
        )
    except NoBoard:
        return registrar, poses


def first_survey(
    plan: Plan,
    pictures: list[Picture],
    corners: Sequence[np.ndarray | None],
    markers: bool,
    layouts: list[dict[str, Contents]],
) -> tuple[Registrar, list[Pose]]:
    """From cards or tapped corners alone. If tiles serve as the frame and corners were tapped in
    one photo only, most likely of the table without tiles, it says nothing about the other photos:
    then the camera is assumed not to have moved."""
    try:
        return survey_photos(plan, pictures, corners, markers, layouts)
    except NoBoard:
        tapped = next((c for c in corners if c is not None), None)
        alike = {p.image.shape for p in pictures}
        if tapped is None or len(alike) > 1 or all(c is not None for c in corners):
            raise
        # as tapped: there is no board with sides to correct them by
        shared = [tapped if c is None else c for c in corners]
        registrar, poses = survey_photos(plan, pictures, shared, markers, layouts, tapped=False)
        if registrar.tiles is None or registrar.printed is not None:
            raise
        return registrar, poses


def survey_photos(
    plan: Plan,
    pictures: list[Picture],
    corners: Sequence[np.ndarray | None],
    markers: bool,
    layouts: list[dict[str, Contents]],
    tapped: bool = True,
    lent: Sequence[int] = (),
    before: tuple[Lens, Sequence[Pose]] | None = None,
) -> tuple[Registrar, list[Pose]]:
    """The same from the photos with known cards or corners; the others are located like any
    picture. tapped: whether the corners were tapped by hand and may be corrected; lent: photos that
    use the tapped corners of another; before: lens and poses of an earlier survey, used as a start
    if that lens is strongly distorted"""
    sights = [first_sight(p, c, markers) for p, c in zip(pictures, corners)]
    for n, s in enumerate(sights):
        if s is not None and s.cards and not in_order(s.cards, plan):
            raise NoBoard(
                "the cards lie in another order: number 0 belongs at the board's upper "
                "left corner, 1 at the upper "
                "right, 2 at the lower right, 3 at the lower left",
                n,
            )
    known = [n for n, s in enumerate(sights) if s is not None]
    if not known:
        raise NoBoard("its corners were not tapped", 0) if not markers else no_cards(pictures)
    photos = SurveyPhotos(
        [pictures[n] for n in known],
        [layouts[n] for n in known],
        rough_bundle(plan, [sights[n] for n in known]),
        [k for k, n in enumerate(known) if n in lent],
    )
    # on a cloth sides say anything
    if before is not None and is_strong(before[0]) and bend_of_lines(plan, photos) is not None:
        begin_bundle(photos.bundle, before[0], [before[1][n] for n in known])
    else:
        if not photos.bundle.cards:
            find_bend(plan, photos)
            if tapped:
                mend_taps(plan, photos)
        photos.bundle.solve()
    add_edges(plan, photos.bundle, photos.images)
    add_lines(plan, photos)
    taps = [np.asarray(corners[n], float) for n in known] if not photos.bundle.cards else []
    if tapped and taps or not all(tapped_well(plan, *each) for each in zip(taps, photos.poses)):
        ask_lines(plan, photos, taps)
    printed, tiles = find_frames(plan, photos)
    if (
        printed is not None
        and len(known) == len(pictures)
        and all(any(layout.values()) for layout in layouts)
    ):
        photos, printed, tiles = frames_bared(plan, photos, printed, tiles)
    bundle, poses = photos.bundle, photos.poses
    cards = {i: bundle.card(i, float(np.median(bundle.poses[:, 6]))) for i in bundle.cards}
    scene = View.of(photos.images[photos.barest], poses[photos.barest])
    bias = EDGE_BIAS if tiles is None else 0.0
    unsure = [bundle.uncertainty(n, spread_over(plan)) for n in range(len(poses))]
    frame = min(
        np.hypot(px, bias * max(max(pose.size) / 1640, 1)) / board_scale(pose, plan)
        for px, pose in zip(unsure, poses)
    )
    frame *= bundle.strain()
    whole = None
    if printed is not None or tiles is not None:
        # a reconstructed board says nothing about its orientation: under pieces it is copied from
        # elsewhere
        images, layouts = photos.images[: len(known)], photos.layouts[: len(known)]
        rim = RIM if printed is not None else TABLE
        whole = WholeBoard.of(plan, images, poses[: len(known)], layouts, rim, bool(bundle.rise))
    lens, rise = bundle.as_lens(), bundle.rise
    registrar = Registrar(
        plan, lens, cards, printed, tiles, poses[0], scene, float(frame), whole, rise
    )
    poses = [msgspec.structs.replace(pose, error_px=px) for px, pose in zip(unsure, poses)]
    return registrar, finish_poses(registrar, pictures, known, poses)


def find_frames(plan: Plan, photos: SurveyPhotos) -> tuple[PrintMap | None, Tiles | None]:
    """What can be located besides cards: the board's print, otherwise loose tiles. Either refines
    the bundle."""
    made = make_print(plan, photos)
    shared = made is not None and add_tracks(plan, photos, made[0])
    tiles = None
    if not shared or poorly_known(plan, photos.bundle):
        tiles = loose_tiles(plan, photos)
        if not shared and (tiles is not None or photos.bundle.cards or made is None):
            return None, tiles
    printed, bare = make_print(plan, photos) or made
    order = sorted(range(len(photos.pictures)), key=lambda n: n != photos.barest)
    pictures, poses = ([each[n] for n in order] for each in (photos.pictures, photos.poses))
    lasting = patches_seen_again(printed, pictures, poses)
    if lasting.sum() >= 2 * LEAST_PATCHES:
        printed = msgspec.structs.replace(printed, spots=printed.spots[lasting])
    return with_look_alikes(plan, photos.bundle.as_lens(), printed, pictures, poses, bare), tiles


def frames_bared(
    plan: Plan, photos: SurveyPhotos, printed: PrintMap, tiles: Tiles | None
) -> tuple[SurveyPhotos, PrintMap, Tiles | None]:
    """The same with a reconstructed empty board if no photo shows it, repeated if the photos moved
    so much that the first one was blurred. Returns (the photos and it, the frames); unchanged if
    that does not help"""
    last = photos
    for _ in range(PUT_TOGETHER):
        again = with_bared(plan, photos, last)
        better, loose = find_frames(plan, again)
        if better is None:
            break
        apart = max(
            corner_shift(plan, *each) / max(each[0].size) for each in zip(last.poses, again.poses)
        )
        last, printed, tiles = again, better, loose
        if apart * 1640 < BLURRED_PICTURE:
            break
    return last, printed, tiles


def poorly_known(plan: Plan, bundle: Bundle) -> bool:
    """Whether the board's position on its map rests on little but tapped corners, as on a patterned
    cloth, which has no sides of its own"""
    return any(
        bundle.uncertainty(n, spread_over(plan)) > POOR_FIT_PX * max(sight.size) / 1640
        for n, sight in enumerate(bundle.sights)
    )


def checked_photo(n: int, image: np.ndarray) -> Picture:
    """The photo. Raises NoBoard with its number."""
    try:
        return checked_picture(image)
    except NoBoard as e:
        raise NoBoard(str(e), n) from None


def runs_round(corners: np.ndarray) -> bool:
    """Whether four tapped corners go round a board in the plan's order, as seen from above"""
    if corners.shape != (4, 2) or not np.isfinite(corners).all():
        return False
    return bool((corner_turns(corners) > 0).all())


def no_cards(pictures: Sequence[Picture]) -> NoBoard:
    """The error for photos none of which shows enough cards"""
    seen = [sorted(find_cards(p.level(0))) for p in pictures]
    n = max(range(len(seen)), key=lambda n: len(seen[n]))
    which = (
        f"of the four cards only {' and '.join(f'number {i}' for i in seen[n])}"
        if seen[n]
        else "none of the four cards"
    )
    others = ", in the other photos no more" if len(seen) > 1 else ""
    return NoBoard(f"{which} can be seen{others}; they must lie flat, whole and in view", n)


def first_sight(picture: Picture, corners: np.ndarray | None, markers: bool) -> PhotoSight | None:
    """The cards and tapped corners of a photo, None if it has neither"""
    found = find_cards(picture.level(0)) if markers else {}
    taps = np.asarray(corners, float) if corners is not None else None
    if len(found) < ENOUGH_CARDS and taps is None:
        return None
    return PhotoSight(picture.size, found if len(found) >= ENOUGH_CARDS else {}, None, taps)


def rough_bundle(plan: Plan, sights: list[PhotoSight]) -> Bundle:
    """An initial estimate of lens and poses, from the cards' nominal places or from tapped
    corners"""
    ideal: dict[int, np.ndarray] = {}
    for s in sorted(sights, key=lambda s: -len(s.cards)):
        if s.cards:
            ideal = turned_to_fit(s.cards, plan) | ideal
    points = [
        (np.vstack([ideal[i] for i in s.cards]), np.vstack(list(s.cards.values())))
        if s.cards
        else (plan.corners, s.taps)
        for s in sights
    ]
    scale = max(sights[0].size) / 1640
    lens = usual_lens(*points[0], sights[0].size, scale * (2.0 if sights[0].cards else 5.0))
    poses = []
    for n, ((mm, px), s) in enumerate(zip(points, sights)):
        try:
            pose, _ = lens.pose(mm, px, s.size, "")
        except ValueError as e:
            raise NoBoard(str(e), n) from None
        poses.append([*pack_pose(pose)[:6], 0.0])
    cards, no_points = {i: np.zeros(3) for i in sorted(ideal)}, np.zeros((0, 2))
    numbers = np.array([np.log(lens.focal), 0.0, 0.0])
    return Bundle(ideal, plan.corners, sights, numbers, np.array(poses), cards, no_points)


def is_strong(lens: Lens) -> bool:
    """Whether a lens has far more distortion than usual"""
    return abs(lens.k1) * (USUAL_FOCAL / lens.focal) ** 2 > 2 * K1_SD


def begin_bundle(bundle: Bundle, lens: Lens, poses: Sequence[Pose]) -> None:
    """Starts a bundle from an earlier solution: starting from taps alone, a strong lens might lead
    to the wrong lines"""
    bundle.lens, bundle.bend = np.array([np.log(lens.focal), lens.k1, lens.k2]), lens.k1
    bundle.poses[:, :6] = [pack_pose(pose)[:6] for pose in poses]


def mend_taps(plan: Plan, photos: SurveyPhotos) -> None:
    """Replaces corners that were tapped far off if the board is clearly seen elsewhere"""
    bundle, astray = photos.bundle, False
    for sight, image in zip(bundle.sights, photos.images):
        seen = mend_corners(plan, bundle.as_lens(), image, sight.taps)
        if seen is not None:
            sight.taps, astray = seen, True
    if astray:
        photos.bundle = rough_bundle(plan, bundle.sights)
        find_bend(plan, photos)


def ask_lines(plan: Plan, photos: SurveyPhotos, taps: list[np.ndarray]) -> None:
    """If the plan's lines are clearly seen where the tapped corners put them, and not where the
    board's sides put them, then the taps meant the plan's rectangle, although another is clearer:
    the bundle is then solved with the lines. taps: uncorrected"""
    sides, lens = photos.bundle, photos.bundle.as_lens()
    seen = [most_plain(plan, lens, *each) for each in zip(photos.images, taps)]
    if any(each is None for each in seen):
        return
    bends = [0.0]
    for k1 in (sides.bend, float(sides.lens[1])):
        bends += [k1] if min(abs(k1 - other) for other in bends) > BEND_STEP else []
    best, held, mm = np.inf, sides, spread_over(plan)
    for bend in bends:
        sights = [PhotoSight(s.size, taps=corners) for s, (_, corners) in zip(sides.sights, seen)]
        photos.bundle = rough_bundle(plan, sights)
        photos.bundle.bend = photos.bundle.lens[1] = bend
        off = held_by_lines(plan, photos, taps)
        if off < best:
            best, held = off, photos.bundle
    apart, plainer = [], 0.0
    for n, (view, _) in enumerate(seen):
        by_lines, by_sides = held.pose(n), sides.pose(n)
        off = np.sqrt(((by_lines.to_px(mm) - by_sides.to_px(mm)) ** 2).sum(1).mean())
        apart.append(off / board_scale(by_lines, plan))
        plainer += view.plain_at(by_lines) - view.plain_at(by_sides)
    photos.bundle = held if max(apart) > CLASH_MM and plainer > 0 else sides
    if photos.bundle is held:
        settle_by_lines(plan, photos)


def tiled_photos(plan: Plan, layouts: Sequence[dict[str, Contents]]) -> list[int]:
    """Numbers of the photos with enough tiles to serve as a frame"""
    places = tile_places(plan)
    return [
        n
        for n, layout in enumerate(layouts)
        if sum(bool(layout.get(s)) for s in places) >= FEWEST_TILES
    ]


def loose_tiles(plan: Plan, photos: SurveyPhotos) -> Tiles | None:
    """Adds tiles that serve as the frame to the bundle. There is no board around them: supposed
    sides were a table's grain or rows of tiles, and are dropped together with corners corrected by
    them."""
    if not tiled_photos(plan, photos.layouts):
        return None
    bundle = photos.bundle
    before = [(sight.edges, sight.taps) for sight in bundle.sights]
    for sight, fingers in zip(bundle.sights, photos.fingers):
        sight.edges, sight.taps = None, fingers
    bundle.solve()
    tiles = Tiles.learn(plan, photos.images, photos.poses, photos.layouts)
    if tiles is not None:
        add_tiles(plan, photos, tiles)
        # tapped corners are some millimetres off
        tiles = Tiles.learn(plan, photos.images, photos.poses, photos.layouts) or tiles
        add_tiles(plan, photos, tiles)
        return tiles
    for sight, (edges, taps) in zip(bundle.sights, before):
        sight.edges, sight.taps = edges, taps
    bundle.solve()
    return None


def add_tiles(plan: Plan, photos: SurveyPhotos, tiles: Tiles) -> None:
    """Finds loose tiles in the photos that show them, and adds them to the bundle"""
    bundle = photos.bundle
    for n in tiled_photos(plan, photos.layouts):
        image = photos.images[n]
        pose = locate_tiles(plan, tiles, image, [bundle.pose(n)])
        if pose is not None:
            bundle.sights[n].tiles = (*tiles.seen(image, pose, plan), tiles.height)
    photos.count_taps_once()
    bundle.solve()


def finish_poses(
    registrar: Registrar, pictures: Sequence[Picture], known: list[int], poses: list[Pose]
) -> list[Pose]:
    """Every photo's pose with its error: from the bundle, or, for photos without cards and taps,
    located like any picture"""
    out = []
    for n, picture in enumerate(pictures):
        if n not in known:
            try:
                out.append(registrar.locate(picture.image))
            except NoBoard as e:
                raise NoBoard(str(e), n) from None
            continue
        pose = poses[known.index(n)]
        by = "markers" if registrar.cards else "print" if registrar.printed is not None else "tiles"
        fit, printed = None, registrar.printed
        if printed is not None:
            fit = follow_print(registrar.plan, registrar.lens, printed, picture, pose, (0,), (3,))
        error = fit.pose.error_px if fit is not None else FLOOR_PX * max(picture.size) / 1640
        placed = registrar.with_frame(msgspec.structs.replace(pose, by=by, error_px=error))
        if fit is None and pose.error_px >= placed.error_px:
            # an empty table may have nothing but tapped corners
            placed = msgspec.structs.replace(pose, by=by)
        out.append(placed)
    return out
