"""Judges a picture before it is accepted: light, sharpness, cards in view, and plain advice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import cv2
import msgspec
import numpy as np

from calibration.survey.registrar_fit import first_sight, rough_bundle
from engine.text import Text, say
from vision.evidence.site_evidence import NoBoard
from vision.geometry.posed_photo import Shot
from vision.geometry.site_groups import outline_mask
from vision.motion.hand_detector import find_differences, find_foreign, match_lighting
from vision.photometry.room_light import CLIPPED
from vision.photometry.small_picture import View
from vision.plan import Plan, Site
from vision.registration.aruco_cards import ENOUGH_CARDS, IDS, find_cards
from vision.registration.registrar import checked_picture
from vision.storage.image_array import to_grey
from vision.storage.photo_file import is_dark

DIM, BURNT_SHARE = 45.0, 0.03  # grey levels; share of the picture
BURNT_PIECES = 0.2  # of the sites that pieces lie on
# see `sharpness_of`; printed boards have softer edges than marker cards
CRISP_CARD, CRISP = 0.2, 0.12
# least share of a site that a piece changes; least share of the sites to be laid that must be
# occupied
CHANGED, LAID_SHARE = 0.2, 0.5
# share of an "empty" board's sites that are occupied; mean difference of small pictures, grey
# levels
LITTERED, SAME_LIGHT = 0.15, 3.0
SMALL_BOARD = 0.2  # least share of the picture for an empty board without cards
CARDS_FILL = 0.3  # least share of the picture that cards should enclose
BRING_NEARER = say("The board is small in the picture: bring the camera nearer.")
CORNER_NAMES = (say("upper left"), say("upper right"), say("lower right"), say("lower left"))


class Framing(msgspec.Struct, frozen=True):
    """light: mean grey level, 0 to 255; burnt: share of the picture; sharpness: see `sharpness_of`;
    cards: ids in view.

    faults: why this picture cannot be used; advice: what would make it better."""

    light: float
    burnt: float
    sharpness: float
    cards: tuple[int, ...]
    faults: tuple[Text, ...]
    advice: tuple[Text, ...]


def judge_framing(image: np.ndarray, markers: bool, focuses: bool = False) -> Framing:
    """image: (h, w, 3) uint8 BGR; markers: whether four cards should be in view; focuses: whether
    the camera can focus by itself."""
    one = to_grey(image)
    light, burnt = float(one.mean()), float((one > 252).mean())
    cards = find_cards(one) if markers else {}
    # An empty board may have little print, but cards have plenty: if there are any, they are
    # judged.
    sharpness = min(
        (sharpness_of(_crop_around(one, c)) for c in cards.values()), default=sharpness_of(one)
    )
    faults, advice = [], []
    if is_dark(image):
        faults.append(say("It is too dark, or something covers the lens."))
    elif light < DIM:
        advice.append(say("More light helps: switch a lamp on, not straight above the board."))
    if burnt > BURNT_SHARE:
        advice.append(say("Part of the picture is burnt out: move the lamp aside."))
    if sharpness < (CRISP_CARD if cards else CRISP):
        advice.append(
            say("The picture is not sharp: let the camera focus again.")
            if focuses
            else say(
                "The picture is not sharp: turn the lens until print is crisp, or, where "
                "it does not turn, hang the camera higher."
            )
        )
    missing = [i for i in IDS if i not in cards] if markers else []
    if missing:
        # three are enough to locate the board, four are better
        which = advice if len(cards) >= ENOUGH_CARDS else faults
        which += [
            say("Card {n} ({place}) is not in view or not flat.", n=i, place=CORNER_NAMES[i])
            for i in missing
        ]
    elif markers and _cards_share(cards, image) < CARDS_FILL:
        advice.append(BRING_NEARER)
    return Framing(
        round(light, 1),
        round(burnt, 4),
        round(sharpness, 3),
        tuple(sorted(cards)),
        tuple(faults),
        tuple(advice),
    )


class Bare(msgspec.Struct, frozen=True, eq=False):
    """The first photo, of the empty board, with which later pictures are compared. view: a small
    version with the board's rough pose; size: of the original, pixels."""

    plan: Plan
    view: View
    size: tuple[int, int]

    @classmethod
    def of(
        cls, plan: Plan, image: np.ndarray, corners: np.ndarray | None, markers: bool
    ) -> Bare | None:
        """image: (h, w, 3) uint8 BGR; corners: (4, 2) pixels as tapped, or None; None if that does
        not locate the board"""
        try:
            sight = first_sight(checked_picture(image), corners, markers)
            if sight is None:
                return None
            pose = rough_bundle(plan, [sight]).pose(0)
        except NoBoard:
            return None
        return cls(plan, View.of(image, pose), (image.shape[1], image.shape[0]))

    def remarks(
        self, image: np.ndarray, layout: Mapping[str, Sequence[str]] | None
    ) -> Iterator[Text]:
        """Advice for a better picture with the same camera: hands away, pieces laid, a board in
        view, or, for an empty board, different light. layout: what should lie there, None if
        unknown."""
        now = View.of(image, self.view.pose)
        if now.small.shape != self.view.small.shape:
            return
        unseen = sum(not self._in_view(site) for site in self.plan.site)
        if unseen:
            yield say(
                "{n} of the board's places lie outside the picture: move the camera "
                "and take the first photo again",
                n=unseen,
            )
        if find_foreign(self.plan, now, self.view) is not None:
            yield say("A hand or something else seems to reach over the board.")
            return
        if layout is None:
            return
        known = np.ones(now.small.shape[:2], bool)
        before = match_lighting(self.view.small, now.small, known)
        changed = find_differences(before, now.small, known)[1]
        empty = not any(layout.values())
        places = (
            outline_mask(self.plan.sites[s].outlines, now.pose.to_px, changed.shape)
            for s in self.plan.sites
            if empty or layout.get(s)
        )
        other = [bool(changed[place].mean() > CHANGED) for place in places if place.any()]
        if not empty and other and np.mean(other) < LAID_SHARE:
            if any(other):
                yield say(
                    "Of {all} places to lay something on {n} look otherwise than empty.",
                    all=len(other),
                    n=sum(other),
                )
            else:
                yield say("None of the {all} pieces can be seen yet.", all=len(other))
        elif empty and other and np.mean(other) > LITTERED:
            yield say(
                "{n} places look otherwise than in the first photo: is the board empty?",
                n=sum(other),
            )
        elif empty and np.abs(now.small.astype(float) - self.view.small).mean() < SAME_LIGHT:
            yield say(
                "The light is as in the first photo: switch a lamp on or off, that teaches more."
            )

    def small(self) -> list[Text]:
        """Advice if the board takes up too little of the first photo"""
        corners = self.view.pose.to_px(self.plan.corners).astype(np.float32)
        share = cv2.contourArea(corners) / np.prod(self.view.pose.size)
        return [BRING_NEARER] if share < SMALL_BOARD else []

    def _in_view(self, site: Site) -> bool:
        px, size = self.view.pose.to_px(site.outlines[0]), np.array(self.view.pose.size)
        return bool(((px > -0.02 * size) & (px < 1.02 * size)).all())  # corners are tapped roughly


def burnt_pieces(plan: Plan, shot: Shot) -> bool:
    """Whether most pieces in a calibration photo are overexposed: then they show no print and
    hardly any shape"""
    outlines = (
        o for site, contents in shot.layout.items() if contents for o in plan.sites[site].outlines
    )
    seen = outline_mask(outlines, shot.pose.to_px, shot.image.shape[:2])
    return bool(seen.any()) and float((shot.image[seen] >= CLIPPED).all(1).mean()) > BURNT_PIECES


def sharpness_of(one: np.ndarray) -> float:
    """The steepness of the steepest edges in a grey picture: the share of its total contrast within
    one pixel. On a card 0.28 if they are crisp, 0.16 if they are spread over two pixels;
    independent of the light."""
    one = cv2.GaussianBlur(one, (3, 3), 0).astype(np.float32)
    steep = np.hypot(
        cv2.Sobel(one, cv2.CV_32F, 1, 0, scale=1 / 8), cv2.Sobel(one, cv2.CV_32F, 0, 1, scale=1 / 8)
    )
    low, high = np.percentile(one, (1, 99))
    return float(np.percentile(steep, 99.5) / max(high - low, 8.0))


def _crop_around(one: np.ndarray, corners: np.ndarray) -> np.ndarray:
    x0, y0 = np.floor(corners.min(0)).astype(int).clip(0)
    x1, y1 = np.ceil(corners.max(0)).astype(int)
    return one[y0 : y1 + 1, x0 : x1 + 1]


def _cards_share(cards: dict[int, np.ndarray], image: np.ndarray) -> float:
    middles = np.array([cards[i].mean(0) for i in IDS], np.float32)
    return float(cv2.contourArea(middles)) / (image.shape[0] * image.shape[1])
