"""The four ArUco cards at the board's corners (docs/contracts.md, Copies): their nominal places,
and where they are in a picture."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import cv2
import numpy as np

from vision.plan import Plan

CARD, GAP = 36.0, 8.0
IDS = (0, 1, 2, 3)
ENOUGH_CARDS = 3  # cards that a calibration photo must show
# how much longer than wide a card may look: a board is rarely exactly as long as in the plan
OBLONG = 1.25
# in larger pictures cards are found on a smaller copy, then measured on the full one
CARD_SEARCH_PX = 2000
# pixels by which overexposed white narrows a card's black bars, both sides together
SPREAD = 3


def ideal_cards(plan: Plan) -> dict[int, np.ndarray]:
    """id -> (4, 2) mm of the card's black corners, clockwise from its upper left, if taped
    exactly"""
    w, h = plan.size
    left, top = -GAP - CARD, -GAP - CARD
    square = np.array([[0, 0], [CARD, 0], [CARD, CARD], [0, CARD]])
    at = {0: (left, top), 1: (w + GAP, top), 2: (w + GAP, h + GAP), 3: (left, h + GAP)}
    return {i: square + at[i] for i in IDS}


@cache
def _make_detector() -> cv2.aruco.ArucoDetector:
    p = cv2.aruco.DetectorParameters()
    p.minDistanceToBorder = 0  # a card whose white margin is cropped by the picture is still good
    p.cornerRefinementMethod = cv2.aruco.CORNER_REFINE_SUBPIX
    return cv2.aruco.ArucoDetector(cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_50), p)


def detect_aruco(grey: np.ndarray) -> dict[int, np.ndarray]:
    """id -> (4, 2) pixels of a card's black corners, clockwise from its own upper left; an id seen
    twice is left out"""
    corners, ids, _ = _make_detector().detectMarkers(grey)
    seen = [] if ids is None else ids.tolist()
    return {i: c[0].astype(float) for i, c in zip(seen, corners) if seen.count(i) == 1}


def find_cards(grey: np.ndarray) -> dict[int, np.ndarray]:
    """id -> (4, 2) pixels, for our cards in the whole picture"""
    shrink = max(max(grey.shape) / CARD_SEARCH_PX, 1.0)
    if shrink == 1.0:
        return seen_in(grey)
    small = cv2.resize(grey, None, fx=1 / shrink, fy=1 / shrink, interpolation=cv2.INTER_AREA)
    rough = {i: (c + 0.5) * shrink - 0.5 for i, c in seen_in(small).items()}
    return rough | find_cards_near(grey, rough)


def seen_in(grey: np.ndarray, wanted: Sequence[int] = IDS) -> dict[int, np.ndarray]:
    """The same at the picture's own size. Next to a dark board a camera may overexpose white cards
    so much that their black bars become too narrow to be recognised: `wanted` cards that are not
    found are searched for with widened bars too"""
    found = {i: c for i, c in detect_aruco(grey).items() if i in IDS}
    if missing := [i for i in wanted if i not in found]:
        wider = detect_aruco(cv2.erode(grey, np.ones((SPREAD, SPREAD))))
        found |= {i: wider[i] for i in missing if i in wider}
    return found


def find_cards_near(grey: np.ndarray, expected: dict[int, np.ndarray]) -> dict[int, np.ndarray]:
    """The same, searched for only where each is expected ((4, 2) pixels): fast, for a camera that
    does not move."""
    out = {}
    h, w = grey.shape
    for i, corners in expected.items():
        side = np.ptp(corners, axis=0).max()
        x0, y0 = np.floor(corners.min(0) - 0.4 * side).astype(int).clip(0)
        x1, y1 = np.minimum(np.ceil(corners.max(0) + 0.4 * side).astype(int), (w, h))
        if x1 - x0 < side or y1 - y0 < side:
            continue
        found = seen_in(np.ascontiguousarray(grey[y0:y1, x0:x1]), (i,))
        if i in found:
            out[i] = found[i] + (x0, y0)
    return out


def by_middles(cards: dict[int, np.ndarray], ideal: dict[int, np.ndarray]) -> np.ndarray:
    """(3, 3) transformation from mm to pixels, from the middles of three or four cards"""
    here, there = (
        np.array([each[i].mean(0) for i in cards], np.float32) for each in (ideal, cards)
    )
    if len(cards) == 4:
        return cv2.getPerspectiveTransform(here, there)
    H = np.eye(3)
    H[:2] = np.linalg.lstsq(np.column_stack([here, np.ones(len(cards))]), there, rcond=None)[0].T
    return H


def in_order(cards: dict[int, np.ndarray], plan: Plan) -> bool:
    """Whether three or four cards are at their own corners, as far as that can be seen: their ids
    run clockwise, and four of them look square if the board has the plan's proportions"""
    x, y = np.array([cards[i].mean(0) for i in sorted(cards)]).T
    if (x * np.roll(y, -1) - y * np.roll(x, -1)).sum() < 0:
        return False
    if len(cards) < 4:
        return True  # three cannot tell oblong from slanted
    ideal = ideal_cards(plan)
    back = np.linalg.inv(by_middles(cards, ideal))
    sides = [
        np.abs(np.diff(cv2.perspectiveTransform(c.reshape(-1, 1, 2), back).reshape(-1, 2), axis=0))
        for c in cards.values()
    ]
    wide, high = np.median(sides, 0).max(0)
    # at the wrong corners they look elongated by the square of that
    span = np.ptp([c.mean(0) for c in ideal.values()], axis=0)
    return bool(abs(np.log(wide / high)) < max(abs(np.log(span[0] / span[1])), np.log(OBLONG)))


def turned_to_fit(cards: dict[int, np.ndarray], plan: Plan) -> dict[int, np.ndarray]:
    """mm of the found cards' corners; a card taped upside down or sideways has its corners in a
    different order.

    The cards' middles give the board's pose; of a card's four rotations the one that fits is used.
    Needs ENOUGH_CARDS."""
    ideal = ideal_cards(plan)
    H = by_middles(cards, ideal)
    out = {}
    for i in cards:
        seen = cv2.perspectiveTransform(ideal[i].reshape(-1, 1, 2), H).reshape(-1, 2)
        turn = min(range(4), key=lambda k: np.linalg.norm(np.roll(seen, k, 0) - cards[i]))
        out[i] = np.roll(ideal[i], turn, 0)
    return out
