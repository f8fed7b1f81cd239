"""Calibration's part of registration: from a copy's photos to a Registrar and each photo's pose."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from vision.align import LEAST, follow
from vision.bundle import Bundle, Sight
from vision.edges import EdgePoints, board_edges
from vision.evidence import Contents, NoBoard
from vision.foreign import View
from vision.lens import usual_lens
from vision.markers import IDS, find_cards, ideal_cards, turned_to_fit
from vision.plan import Plan
from vision.pose import Pose
from vision.printed import Picture, Print, choose_spots, compose
from vision.registration import ENOUGH, Registrar, usable
from vision.tiles import FEWEST, Tiles, locate_tiles, tile_places

EDGE_REACH = 20         # how far from where cards or fingers say the board's edge is looked for, pixels at 1640 wide
TAP_REACH = 12          # sides further than this from where fingers tapped are some other line


def survey(plan: Plan, images: Sequence[np.ndarray], corners: Sequence[np.ndarray | None] | None, markers: bool,
           layouts: Sequence[dict[str, Contents]] | None) -> tuple[Registrar, list[Pose]]:
    """See Registrar.fit."""
    corners = list(corners) if corners is not None else [None] * len(images)
    layouts = list(layouts) if layouts is not None else [{}] * len(images)
    pictures = [checked(n, image) for n, image in enumerate(images)]
    if not pictures:
        raise NoBoard("no photos")
    sights = [first_sight(p, c, markers) for p, c in zip(pictures, corners)]
    known = [n for n, s in enumerate(sights) if s is not None]
    if not known:
        raise NoBoard("in no photo all four cards are seen" if markers else "photo 1: its corners were not tapped")
    bundle = rough(plan, [sights[n] for n in known])
    bundle.solve()
    add_edges(bundle, [images[n] for n in known])
    poses = [bundle.pose(k) for k in range(len(known))]
    printed = make_print(plan, [images[n] for n in known], poses, [layouts[n] for n in known])
    tracks = False
    if printed is not None:
        tracks = add_tracks(plan, bundle, printed, [pictures[n] for n in known])
        bundle.solve()
        poses = [bundle.pose(k) for k in range(len(known))]
        printed = make_print(plan, [images[n] for n in known], poses, [layouts[n] for n in known])
    tiles = None
    if printed is None or not tracks:
        tiles = Tiles.learn(plan, [images[n] for n in known], poses, [layouts[n] for n in known])
        if tiles is not None and not bundle.cards:
            add_tiles(plan, bundle, tiles, [images[n] for n in known], [layouts[n] for n in known])
            poses = [bundle.pose(k) for k in range(len(known))]
        if tiles is not None or bundle.cards:
            printed = None
    cards = {i: bundle.card(i, float(np.median(bundle.poses[:, 6]))) for i in bundle.cards}
    barest = min(range(len(known)), key=lambda k: sum(map(len, layouts[known[k]].values())))
    scene = View.of(images[known[barest]], poses[barest])
    registrar = Registrar(plan, bundle.as_lens(), cards, printed, tiles, poses[0], scene)
    return registrar, finish(registrar, images, pictures, known, poses)


def checked(n: int, image: np.ndarray) -> Picture:
    """The photo, or NoBoard with its number"""
    try:
        return usable(image)
    except NoBoard as e:
        raise NoBoard(f"photo {n + 1}: {e}") from None


def first_sight(picture: Picture, corners: np.ndarray | None, markers: bool) -> Sight | None:
    """What cards and fingers say, None for neither"""
    found = find_cards(picture.level(0)) if markers else {}
    taps = np.asarray(corners, float) if corners is not None else None
    if len(found) < 4 and taps is None:
        return None
    return Sight(picture.size, found if len(found) == 4 else {}, None, taps)


def rough(plan: Plan, sights: list[Sight]) -> Bundle:
    """A first guess of lens and poses, from cards where they should lie, or from tapped corners"""
    ideal = ideal_cards(plan)
    for s in sights:
        if s.cards:
            ideal = turned_to_fit(s.cards, plan)
            break
    points = [(np.vstack([ideal[i] for i in IDS]), np.vstack([s.cards[i] for i in IDS])) if s.cards
              else (plan.corners, s.taps) for s in sights]
    scale = max(sights[0].size) / 1640
    lens = usual_lens(*points[0], sights[0].size, scale * (2.0 if sights[0].cards else 5.0))
    poses = []
    for n, ((mm, px), s) in enumerate(zip(points, sights)):
        try:
            pose, _ = lens.pose(mm, px, s.size, "")
        except ValueError as e:
            raise NoBoard(f"photo {n + 1}: {e}") from None
        poses.append(np.concatenate([pose.rvec, pose.tvec, [0.0]]))
    cards = {i: np.zeros(3) for i in IDS} if any(s.cards for s in sights) else {}
    return Bundle(ideal, plan.corners, sights, np.array([np.log(lens.focal), 0.0, 0.0]), np.array(poses), cards,
                  np.zeros((0, 2)))


def add_edges(bundle: Bundle, images: Sequence[np.ndarray]) -> None:
    """Finds the board's sides in every photo and solves again; twice, the second time nearer"""
    for limit in (EDGE_REACH - 2, EDGE_REACH // 3):
        for n, (sight, image) in enumerate(zip(bundle.sights, images)):
            scale = max(sight.size) / 1640
            pose = bundle.pose(n)
            sides = board_edges(image, pose, bundle.corners, round(EDGE_REACH * scale), round(limit * scale))
            if sight.taps is not None and not sight.cards:
                sides = [s for s in sides if abs(np.mean(((s.px - pose.to_px(s.mm)) * s.normal).sum(1)))
                         < TAP_REACH * scale]
            sight.edges = EdgePoints.join(sides)
        bundle.solve()


def make_print(plan: Plan, images: Sequence[np.ndarray], poses: Sequence[Pose], layouts: Sequence[dict[str, Contents]]
               ) -> Print | None:
    """The board as a map, None where there is too little on it to hold on to"""
    canvas, bare, scale, origin = compose(plan, images, poses, layouts)
    spots = choose_spots(canvas, bare)
    return Print(canvas, scale, origin, spots) if len(spots) >= 2 * LEAST else None


def add_tracks(plan: Plan, bundle: Bundle, printed: Print, pictures: Sequence[Picture]) -> bool:
    """Puts the print's patches, found in every photo, into the bundle; False where the photos do not share them."""
    bundle.points = printed.mm(printed.spots)
    shared = 0
    for n, picture in enumerate(pictures):
        fit = follow(plan, bundle.as_lens(), printed, picture, bundle.pose(n))
        if fit is None or fit.share < ENOUGH:
            continue
        _, px, _ = printed.measure(picture, fit.pose, 0, 3)
        bundle.sights[n].tracks = {int(i): px[i] for i in np.flatnonzero(fit.inliers)}
        shared += 1
    return shared > 1 or len(pictures) == 1


def add_tiles(plan: Plan, bundle: Bundle, tiles: Tiles, images: Sequence[np.ndarray],
              layouts: Sequence[dict[str, Contents]]) -> None:
    """Puts loose tiles, found in the photos that show them, into the bundle"""
    for n, image in enumerate(images):
        if sum(bool(layouts[n].get(s)) for s in tile_places(plan)) < FEWEST:
            continue
        pose = locate_tiles(plan, tiles, image, [bundle.pose(n)])
        if pose is not None:
            bundle.sights[n].tiles = (*tiles.seen(image, pose, plan), tiles.height)
    bundle.solve()


def finish(registrar: Registrar, images: Sequence[np.ndarray], pictures: Sequence[Picture], known: list[int],
           poses: list[Pose]) -> list[Pose]:
    """Every photo's pose with its error: the bundle's, or for photos without cards and taps, located like any other"""
    out = []
    for n, (image, picture) in enumerate(zip(images, pictures)):
        if n not in known:
            try:
                out.append(registrar.locate(image))
            except NoBoard as e:
                raise NoBoard(f"photo {n + 1}: {e}") from None
            continue
        pose = poses[known.index(n)]
        by = "markers" if registrar.cards else "print"
        fit = None
        if registrar.printed is not None:
            fit = follow(registrar.plan, registrar.lens, registrar.printed, picture, pose, (0,), (3,))
        error = fit.pose.error_px if fit is not None else 1.0
        out.append(msgspec.structs.replace(pose, by=by, error_px=error))
    return out
