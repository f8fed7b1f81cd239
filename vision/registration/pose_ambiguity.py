"""Finds placements in which a board looks almost the same (turned, or a square further), and what
distinguishes them."""

from __future__ import annotations

import cv2
import msgspec
import numpy as np

from vision.geometry.lens import Lens
from vision.geometry.pose import Pose
from vision.geometry.symmetry import quarter_placements, site_spacing, turned_corners
from vision.plan import Plan
from vision.registration.pose_refinement import PrintFit, follow_print
from vision.registration.print_map import RADIUS, SEEN_CORRELATION, Picture, PrintMap, patch_centres
from vision.registration.whole_board import WholeBoard, explanation_lead

# share of the patches visible at a wrong placement above which it counts as a look-alike
CONFUSABLE = 0.08
OTHER = 0.5  # correlation below which a patch distinguishes two placements
MORE = 40  # the most patches added for that purpose
STILL_SEEN = 0.15  # share of the distinguishing patches that confirms the previous placement
ABOVE = 1.5  # with this many times the patches visible at a wrong placement, there is no doubt
CLOSE_LOOKS = 2  # shifted placements per rotation that are examined closely
QUICK_LOOK = 40  # patches used to examine another placement
PLAINLY_WORSE = 0.85  # others that explain less than this share of the best are not examined
CLEARLY_BETTER = 3.0  # by how many standard deviations of chance one must be better


def ambiguous_placements(plan: Plan) -> list[np.ndarray]:
    """(4, 2) mm each: the points of the board that would be at its apparent corners if it were
    rotated by half a turn (a square one also by quarters) or shifted by one site"""
    turned = [corners for corners, _ in turned_corners(plan)[1:]]
    dx, dy = site_spacing(plan)
    shifts = [
        (x * dx, y * dy) for x in (-1, 0, 1) for y in (-1, 0, 1) if abs(x * dx) + abs(y * dy) > 0
    ]
    return turned + [plan.corners + s for s in shifts]


def pose_elsewhere(plan: Plan, lens: Lens, pose: Pose, mm: np.ndarray) -> Pose | None:
    """The pose of a board whose points `mm` (4, 2) are where `pose` puts its corners"""
    try:
        return lens.pose(mm, pose.to_px(plan.corners), pose.size, pose.by)[0]
    except ValueError:
        return None


def with_look_alikes(
    plan: Plan,
    lens: Lens,
    known: PrintMap,
    pictures: list[Picture],
    poses: list[Pose],
    bare: np.ndarray,
) -> PrintMap:
    """The print with its look-alikes as seen in the photos (barest first): which ones there are,
    which patches distinguish them, and additional patches if those are few. bare: (h, w) bool of
    the canvas."""
    likes, others, shares = [], [], []
    for mm in ambiguous_placements(plan):
        start = pose_elsewhere(plan, lens, poses[0], mm)
        if start is None:
            continue
        fit = follow_print(plan, lens, known, pictures[0], start, (0,), (4,))
        if fit is not None and fit.share > CONFUSABLE:
            likes.append(mm)
            others.append(fit.pose)
            shares.append(fit.share)
    if not likes:
        return known
    known = msgspec.structs.replace(known, likes=np.array(likes), alikeness=np.array(shares))
    mask = patch_centres(bare, RADIUS + 2).astype(np.uint8)
    more = cv2.goodFeaturesToTrack(known.canvas, 400, 0.005, RADIUS, mask=mask)
    if more is not None:
        wide = msgspec.structs.replace(known, spots=np.rint(more.reshape(-1, 2)).astype(float))
        new: list[int] = []
        for told in telling_patches(wide, pictures, poses, others):
            new += [i for i in np.flatnonzero(told).tolist() if i not in new][
                : MORE // len(likes) + 1
            ]
        known = msgspec.structs.replace(known, spots=np.vstack([known.spots, wide.spots[new]]))
    return msgspec.structs.replace(known, telling=telling_patches(known, pictures, poses, others))


def telling_patches(
    known: PrintMap, pictures: list[Picture], poses: list[Pose], others: list[Pose]
) -> np.ndarray:
    """(K, N) bool: patches visible in photos at the right pose, but not in the first photo at each
    of the other placements"""
    own = patches_seen_again(known, pictures, poses)
    return np.array([own & (known.measure(pictures[0], p, 0, 3)[2] < OTHER) for p in others])


def patches_seen_again(known: PrintMap, pictures: list[Picture], poses: list[Pose]) -> np.ndarray:
    """(N,) bool: patches also visible in a photo other than the first, from which they were cut"""
    seen = [
        known.measure(picture, pose, 0, 2)[2] > SEEN_CORRELATION
        for picture, pose in zip(pictures, poses)
    ]
    return np.any(seen[1:] or seen, axis=0)


def is_turn(mm: np.ndarray) -> bool:
    """Whether such a placement is a rotation, not a shift"""
    return bool(np.abs(mm.min(0)).max() < 1e-6)


def repeats_by_squares(known: PrintMap) -> bool:
    """Whether the board looks the same a square further"""
    return not all(is_turn(mm) for mm in known.likes)


class ResolvedPose(msgspec.Struct, frozen=True, eq=False):
    """fit: the board's pose; score: how much of the picture it explains; sure: no placement a
    square off comes close; turned: it may equally well be turned; as_well: itself and the other
    placements that come close, if there are any."""

    fit: PrintFit
    score: float
    sure: bool
    turned: bool = False
    as_well: tuple[Pose, ...] = ()


def placements_squares_off(
    plan: Plan,
    lens: Lens,
    whole: WholeBoard,
    picture: Picture,
    pose: Pose,
    turns: list[tuple[np.ndarray, int]],
    most: int,
) -> list[tuple[float, np.ndarray, int]]:
    """(how well it explains the picture, (4, 2) mm of the points at the apparent corners, quarter
    turns) for the board in one of these rotations and some squares off `pose`: the best `most` of
    each rotation. turns: from `turned_corners`"""
    step, out = site_spacing(plan), []
    for corners, quarters in turns:
        turned = pose_elsewhere(plan, lens, pose, corners)
        if turned is not None:
            best = whole.squares_off(picture, turned, step)[:most]
            out += [(score, corners - off, quarters) for score, off in best]
    return out


def resolve_ambiguity(
    plan: Plan,
    lens: Lens,
    known: PrintMap,
    whole: WholeBoard,
    picture: Picture,
    fit: PrintFit,
    usual: list[Pose],
) -> ResolvedPose:
    """Of a pose and its look-alikes, turned or some squares off, the one that explains the whole
    picture best; of rotations that explain it equally well (a symmetric board), the more usual
    one."""
    own = whole.explained(picture, fit.pose)
    alone = ResolvedPose(fit, float(own.mean()), True)
    if not len(known.likes):
        return alone
    turns = turned_corners(plan)
    places = [(0.0, c, k) for c, k in turns]
    if repeats_by_squares(known):
        turns += quarter_placements(plan)
        places = placements_squares_off(plan, lens, whole, picture, fit.pose, turns, CLOSE_LOOKS)
        places.sort(key=lambda p: -p[0])
        (score, mm, _), (next_score, *_) = places[:2]
        if np.abs(mm - plan.corners).max() < 1e-6 and next_score < PLAINLY_WORSE * score:
            return alone
    found = [(own, fit, plan.corners, 0)]
    for _, mm, turn in places[: 2 * CLOSE_LOOKS]:
        if np.abs(mm - plan.corners).max() <= 1e-6:
            continue  # the fit itself
        start = pose_elsewhere(plan, lens, fit.pose, mm)
        if start is None:
            continue
        other = follow_print(plan, lens, known, picture, start, (1, 0), (5, 3), QUICK_LOOK)
        if other is not None:
            found.append((whole.explained(picture, other.pose), other, mm, turn))
    found.sort(key=lambda f: -f[0].mean())

    def rather(here, there) -> float:
        poses, back = (here[1].pose, there[1].pose), whole.between(here[2], there[2])
        return whole.rather(plan, picture, *poses, back) if here[3] != there[3] else 0.0

    first = found[0]
    for each in found[1:]:
        first = each if rather(first, each) < -CLEARLY_BETTER else first
    as_well = [first]
    for each in found:
        # comparing the whole view, dominated by what is near the camera, does not refute this
        if each is first or (says := rather(first, each)) > CLEARLY_BETTER:
            continue
        back = whole.between(first[2], each[2])
        if says < 0 or explanation_lead(first[0], each[0], back) <= CLEARLY_BETTER:
            as_well.append(each)
    ways = [first, *(each for each in as_well if each[3] != first[3])]
    best = min(ways, key=lambda each: corner_distance(plan, each[1].pose, usual))
    as_well.sort(key=lambda each: each is not best)
    poses = [each[1].pose for each in as_well]
    sure = not any(group_by_place(plan, poses))  # a turned placement may be some squares off too
    settled = best[1]
    if settled is not fit:
        settled = follow_print(plan, lens, known, picture, settled.pose, (0,), (3,)) or settled
    others = tuple(poses) if len(poses) > 1 else ()
    return ResolvedPose(settled, float(best[0].mean()), sure, len(ways) > 1, others)


def group_by_place(plan: Plan, poses: list[Pose]) -> list[int]:
    """For each pose, the index of the first one with the same position on the table, ignoring
    rotation: 0 for the first"""
    middle, gap = plan.corners.mean(0), site_spacing(plan).max() or np.inf
    out: list[int] = []
    for n, pose in enumerate(poses):
        aside = [
            np.linalg.norm(other.to_mm(pose.to_px(middle[None]))[0] - middle) for other in poses[:n]
        ]
        out.append(next((out[k] for k, off in enumerate(aside) if off < gap / 4), n))
    return out


def pose_by_table(plan: Plan, lens: Lens, whole: WholeBoard, picture: Picture, pose: Pose) -> Pose:
    """The pose of a pattern of loose tiles: `pose` itself, unless the surrounding table clearly
    shows that everything was turned"""
    turned = [(mm, pose_elsewhere(plan, lens, pose, mm)) for mm, _ in turned_corners(plan)[1:]]
    ways = [(plan.corners, pose), *turned]
    seen = [(whole.explained(picture, p), mm, p) for mm, p in ways if p is not None]
    best, mm, way = max(seen, key=lambda s: s[0].mean())
    lead = explanation_lead(best, seen[0][0], whole.between(mm, plan.corners))
    return way if lead > CLEARLY_BETTER else pose


def open_look_alikes(
    known: PrintMap, picture: Picture, fit: PrintFit, most: int = 1000
) -> list[int]:
    """The look-alikes that cannot be ruled out: no more of the print is seen than at a wrong
    placement, and less than STILL_SEEN of the distinguishing patches, of which at most `most` are
    checked per look-alike."""
    open_ = np.flatnonzero(fit.share < ABOVE * known.alikeness)
    if not len(open_):
        return []
    asked = known.telling[open_] & (np.cumsum(known.telling[open_], 1) <= most)
    which = np.flatnonzero(asked.any(0))
    seen = known.measure(picture, fit.pose, 0, 2, which)[2] > SEEN_CORRELATION
    return [
        int(k)
        for k, told in zip(open_, asked[:, which])
        if not told.any() or seen[told].mean() < STILL_SEEN
    ]


def corner_distance(plan: Plan, pose: Pose, usual: list[Pose]) -> float:
    """How far the board's corners in this pose are from their usual positions, pixels"""
    return min(
        float(np.linalg.norm(pose.to_px(plan.corners) - u.to_px(plan.corners), axis=1).mean())
        for u in usual
    )
