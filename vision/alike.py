"""Places where a board looks much like itself: turned round, or a square further. Which of them, and what tells them apart."""

from __future__ import annotations

import cv2
import msgspec
import numpy as np

from vision.align import Fit, follow
from vision.lens import Lens
from vision.plan import Plan
from vision.pose import Pose
from vision.printed import ALIKE, RADIUS, Picture, Print

CONFUSABLE = 0.08       # share of the patches that a wrong place may show before it counts as one to be told apart
OTHER = 0.5             # correlation below which a patch tells two places apart
MORE = 40               # patches added for that at most
SEEN, STILL_SEEN = 0.6, 0.15     # shares of the telling patches that settle the matter; at the place of before
VISIBLE = 0.5           # share of them that must be seen at one place or the other to say anything
ABOVE = 1.5             # so many times the patches that a wrong place shows: no doubt any more
SAME = 0.9              # a board that shows so much of its patches when turned is the same from both sides
FEW = 40                # patches for a look at another place
CLEARLY, MANY = 0.1, 30 # of the telling patches: so much better one place must be seen; fewer do not weigh as much


def candidates(plan: Plan) -> list[np.ndarray]:
    """(4, 2) mm each: which places of the board would lie where its corners seem to lie, if it were turned half round
    (a square one also by quarters) or shifted by one site"""
    turned = [np.roll(plan.corners, k, 0) for k in ((2, 1, 3) if square(plan) else (2,))]
    middles = np.array([s.centre for s in plan.site if s.of is None])
    apart = np.abs(middles[:, None] - middles[None]).reshape(-1, 2)
    across, down = apart[apart[:, 1] < 1, 0], apart[apart[:, 0] < 1, 1]
    dx, dy = (float(np.median(np.sort(d[d > 1])[:len(plan.site)])) if (d > 1).any() else 0.0 for d in (across, down))
    shifts = [(x * dx, y * dy) for x in (-1, 0, 1) for y in (-1, 0, 1) if abs(x * dx) + abs(y * dy) > 0]
    return turned + [plan.corners + s for s in shifts]


def square(plan: Plan) -> bool:
    """Whether the board's outline looks the same from all four sides"""
    return abs(plan.size[0] - plan.size[1]) < 0.04 * max(plan.size)


def elsewhere(plan: Plan, lens: Lens, pose: Pose, mm: np.ndarray) -> Pose | None:
    """The pose of a board whose places `mm` (4, 2) lie where `pose` has its corners"""
    try:
        return lens.pose(mm, pose.to_px(plan.corners), pose.size, pose.by)[0]
    except ValueError:
        return None


def back(plan: Plan, mm: np.ndarray) -> np.ndarray:
    """The way back from such a place: (4, 2) mm again"""
    corners = np.column_stack([plan.corners, np.ones(4)])
    M = np.linalg.lstsq(corners, mm, rcond=None)[0]
    return (plan.corners - M[2]) @ np.linalg.inv(M[:2])


def with_look_alikes(plan: Plan, lens: Lens, known: Print, pictures: list[Picture], poses: list[Pose], bare: np.ndarray
                     ) -> Print:
    """The print with its look-alikes as the photos show them, the barest first: which there are, which patches tell them
    apart, and some more patches where those are few. bare: (h, w) bool of the canvas."""
    likes, others, shares = [], [], []
    for mm in candidates(plan):
        start = elsewhere(plan, lens, poses[0], mm)
        fit = follow(plan, lens, known, pictures[0], start, (0,), (4,)) if start is not None else None
        if fit is not None and fit.share > CONFUSABLE:
            likes.append(mm)
            others.append(fit.pose)
            shares.append(fit.share)
    if not likes:
        return known
    known = msgspec.structs.replace(known, likes=np.array(likes), alikeness=np.array(shares))
    more = cv2.goodFeaturesToTrack(known.canvas, 400, 0.005, RADIUS, mask=inner(bare))
    if more is not None:
        wide = msgspec.structs.replace(known, spots=np.rint(more.reshape(-1, 2)).astype(float))
        new: list[int] = []
        for told in telling(wide, pictures, poses, others):
            new += [i for i in np.flatnonzero(told) if i not in new][:MORE // len(likes) + 1]
        known = msgspec.structs.replace(known, spots=np.vstack([known.spots, wide.spots[new]]))
    return msgspec.structs.replace(known, telling=telling(known, pictures, poses, others))


def inner(bare: np.ndarray) -> np.ndarray:
    """(h, w) uint8: where a whole patch is bare and on the canvas"""
    mask = np.zeros(bare.shape, np.uint8)
    mask[RADIUS + 2:-RADIUS - 2, RADIUS + 2:-RADIUS - 2] = 255
    return np.where(cv2.erode(bare.astype(np.uint8), np.ones((2 * RADIUS + 1,) * 2, np.uint8)) > 0, mask, 0).astype(np.uint8)


def telling(known: Print, pictures: list[Picture], poses: list[Pose], others: list[Pose]) -> np.ndarray:
    """(K, N) bool: patches that photos show at the right pose, the first photo not at each of the other places"""
    own = seen_again(known, pictures, poses)
    return np.array([own & (known.measure(pictures[0], p, 0, 3)[2] < OTHER) for p in others])


def seen_again(known: Print, pictures: list[Picture], poses: list[Pose]) -> np.ndarray:
    """(N,) bool: patches that some photo besides the first shows too; the first, of which they were cut, proves nothing"""
    seen = [known.measure(picture, pose, 0, 2)[2] > ALIKE for picture, pose in zip(pictures, poses)]
    return np.any(seen[1:] or seen, axis=0)


def is_turn(mm: np.ndarray) -> bool:
    """Whether such a place is the board turned, not shifted"""
    return bool(np.abs(mm.min(0)).max() < 1e-6)


def shifts(known: Print) -> bool:
    """Whether the board looks like itself a square further"""
    return not all(is_turn(mm) for mm in known.likes)


def right_way_round(plan: Plan, lens: Lens, known: Print, picture: Picture, fit: Fit, usual: list[Pose],
                    only_turns: bool = False) -> Fit:
    """Of a pose and its look-alikes the one that the telling patches favour; where they say nothing (hidden by pieces,
    or the board is the same both ways) the one that lies more as usual."""
    for _ in range(5):
        better = None
        for k in doubtful(known, picture, fit, SEEN):
            if only_turns and not is_turn(known.likes[k]):
                continue
            start = elsewhere(plan, lens, fit.pose, back(plan, known.likes[k]))
            other = follow(plan, lens, known, picture, start, (1, 0), (5, 3), FEW) if start is not None else None
            if other is None or other.share < 0.5 * fit.share:
                continue
            which = np.flatnonzero(known.telling[k])
            here, there = ((known.measure(picture, p, 0, 3, which)[2] > ALIKE).sum() for p in (fit.pose, other.pose))
            lead = (int(there) - int(here)) / max(len(which), MANY) if max(here, there) > VISIBLE * len(which) else 0.0
            if is_turn(known.likes[k]) and abs(lead) < CLEARLY and usual:
                lead = CLEARLY * np.sign(apart(plan, fit.pose, usual) - apart(plan, other.pose, usual))
            if lead >= CLEARLY and (better is None or lead > better[0]):
                better = lead, other.pose
        if better is None:
            break
        settled = follow(plan, lens, known, picture, better[1], (0,), (3,))
        if settled is None:
            break
        fit = settled
    return fit


def as_usual(plan: Plan, lens: Lens, known: Print, pose: Pose, usual: list[Pose]) -> Pose:
    """Of the turns that nobody could tell apart the one that lies more as usual"""
    if not usual:
        return pose
    ways = [elsewhere(plan, lens, pose, back(plan, mm)) for mm, much in zip(known.likes, known.alikeness)
            if is_turn(mm) and much > SAME]
    return min([pose, *(w for w in ways if w is not None)], key=lambda p: apart(plan, p, usual))


def doubtful(known: Print, picture: Picture, fit: Fit, enough: float, most: int = 1000) -> list[int]:
    """Which look-alikes cannot be ruled out: no more of the print is seen than a wrong place would show, and less than
    this share of the patches that tell. Of those that tell one look-alike no more than `most` are asked."""
    open_ = np.flatnonzero(fit.share < ABOVE * known.alikeness)
    if not len(open_):
        return []
    asked = known.telling[open_] & (np.cumsum(known.telling[open_], 1) <= most)
    which = np.flatnonzero(asked.any(0))
    seen = known.measure(picture, fit.pose, 0, 2, which)[2] > ALIKE
    return [int(k) for k, told in zip(open_, asked[:, which]) if not told.any() or seen[told].mean() < enough]


def apart(plan: Plan, pose: Pose, usual: list[Pose]) -> float:
    """How far a pose puts the board's corners from where they usually are, pixels"""
    return min(float(np.linalg.norm(pose.to_px(plan.corners) - u.to_px(plan.corners), axis=1).mean()) for u in usual)
