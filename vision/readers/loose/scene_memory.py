"""What was found on a board when it was looked at last, and where it looks as it did then. Its
central value: SceneMemory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import cv2
import msgspec
import numpy as np

from vision.evidence.site_evidence import CountedEvidence
from vision.frame_cache import StaleCache
from vision.photometry.camera_response import NEUTRAL_RESPONSE, CameraResponse
from vision.photometry.canvas import Frame
from vision.plan import Site
from vision.readers.loose.cards.card_reader import Tried
from vision.readers.loose.pieces.fit import Piece
from vision.readers.loose.pieces.search import polygons
from vision.readers.loose.scene.scene import FOLD, Scene, covered
from vision.readers.loose.site_assignment import NEAR

# grey levels by which what is the same may look otherwise; and of what its neighbours differ in, as
# nothing
LEVELS, SLOPE = 8, 0.35
# is seen twice in the same pixels
# share by which all must be brighter or darker to be told; grey levels added, as dark pixels tell
# little
LIT, DARK = 0.01, 4
# share by which some is brighter or darker than the rest, and of the canvas, from which the light
# is
UNEVEN, SHADED = 0.05, 0.12
# another: nothing is taken as it was then
# of what is not asked for that must look as it did, else the same; of a card that may still lie
# there
ALIKE = 0.5
# of a card's rim, so many pixels wide, that may look otherwise where it lies as it did
RIM, THICK = 0.15, 3
# of a piece's place, and of what is around it, that may look otherwise: another's shadow
GRAZED = 0.04
AROUND = 1.5  # mm around a piece that must look as they did too


class Card(msgspec.Struct, frozen=True, eq=False):
    """What was told of a card's kind, and how it lies; kind: "" for none"""

    kind: str
    told: Mapping[str, float]
    tried: Tried


class Kept(msgspec.Struct, frozen=True, eq=False):
    """A piece, covered() of it, and the (h, w) mask of what it hides and a little around it, whose
    upper left is at `lo`, (x, y) on the map of the whole canvas that is as coarse as what is
    strange"""

    piece: Piece
    covers: np.ndarray
    lo: tuple[int, int]
    mask: np.ndarray

    @classmethod
    def of(cls, p: Piece, scene: Scene, shape: tuple[int, int]) -> Kept:
        """shape: of the map of the whole canvas"""
        foot = scene.lean.foot(p.at[None], p.form.height)[0]  # were it to stand on the board itself
        px = (
            scene.frame.to_px(covered(scene.lean, p.form, foot, p.turn, AROUND)) + scene.corner
        ) / FOLD
        lo = np.floor(px.min(0)).astype(int).clip(0)
        hi = np.minimum(np.ceil(px.max(0)).astype(int) + 1, shape[::-1])
        mask = np.zeros((hi - lo).clip(0)[::-1], np.uint8)
        if mask.size:
            cv2.fillPoly(mask, [np.rint(px - lo).astype(np.int32)], 1)
        return cls(p, covered(scene.lean, p.form, foot, p.turn), tuple(lo.tolist()), mask)

    def within(
        self, there: tuple[slice, slice]
    ) -> tuple[tuple[slice, slice], tuple[slice, slice]] | None:
        """Where it lies on a part of the map, and what of the mask does; None where nothing"""
        on, of = [], []
        for side, lo, n in zip(there, self.lo[::-1], self.mask.shape):
            first, last = max(lo, side.start), min(lo + n, side.stop)
            if last <= first:
                return None
            on.append(slice(first - side.start, last - side.start))
            of.append(slice(first - lo, last - lo))
        return tuple(on), tuple(of)


class Recalled(msgspec.Struct, frozen=True, eq=False):
    """What of a scene is as it was. changed: (h, w) 0 or 1, as coarse as what is strange, where it
    is not; gain: (3,) times as bright as it was; pieces, cards, told (of sites): those found
    before, no change near them; gone: other pieces; doubtful: other cards that may lie there
    still"""

    changed: np.ndarray
    gain: np.ndarray | float = 1.0
    pieces: list[Kept] = []
    gone: list[Kept] = []
    cards: dict[str, Card] = {}
    doubtful: dict[str, Card] = {}
    told: dict[str, CountedEvidence] = {}

    @property
    def new(self) -> np.ndarray | None:
        """(h, w) float32 0 or 1: where what is strange may be something new; None: everywhere"""
        return (
            None
            if self is NOTHING
            else cv2.dilate(self.changed, np.ones((3, 3), np.uint8)).astype(np.float32)
        )


NOTHING = Recalled(np.ones((0, 0), np.uint8))


class SceneMemory:
    """What the reader of loose pieces found when it last looked at a board that lies and is lit as
    it was"""

    def __init__(self) -> None:
        self.tone = NEUTRAL_RESPONSE
        # (h, w, 3) uint8, the whole canvas FOLD times as coarse
        self.seen: np.ndarray | None = None
        self.known: np.ndarray | None = None  # (h, w) 0 or 1, where it was looked at
        # the canvas at a pixel a cell of light, as bright as at first
        self.low: np.ndarray | None = None
        self.first: np.ndarray | None = None  # what it was lit by then
        self.gain = np.ones(3)  # times as bright as then
        self.pieces: list[Kept] = []
        self.cards: dict[str, Card] = {}
        self.told: dict[str, CountedEvidence] = {}

    def retoned(self, tone: CameraResponse) -> None:
        """A first picture is not as the camera made it, but without this"""
        self.tone, self.low = tone, None

    def lit_by(self, low: np.ndarray, light: np.ndarray) -> None:
        """The light of the first picture, of which Stage.low() is given"""
        self.low, self.first, self.gain = low, light, np.ones(3)

    def light(self, low: np.ndarray) -> np.ndarray | None:
        """The light in a picture of which Stage.low() is given: as it was, but for how bright all
        is; None where that is not known. Raises StaleCache where it is another"""
        if self.low is None:
            return None
        off = np.log(low + np.float32(DARK)) - np.log(self.low + np.float32(DARK))
        most = np.median(off, (0, 1))
        apart = cv2.medianBlur(np.abs(off - most).max(-1), 5)
        if (apart > UNEVEN).mean() > SHADED:
            raise StaleCache
        self.low = low / np.exp(most)  # pieces come and go
        self.gain = np.exp(most) if np.abs(most).max() > LIT else np.ones(3)
        return (self.first / self.gain).astype(np.float32)

    def recalled(
        self, scene: Scene, seen: np.ndarray, asked: Mapping[str, Site], every: bool
    ) -> Recalled:
        """What is as it was in a scene of which folded() is given; asked: sites that may have
        changed; every: these are all. Raises StaleCache where most is not."""
        if self.seen is None:
            return Recalled(np.ones(scene.strange.shape, np.uint8))
        there = part_of(scene)
        changed = differs(seen, self.seen[there], self.gain)
        changed[self.known[there] == 0] = 1
        sites = polygons(scene.frame, [o for s in asked.values() for o in s.outlines]) > 0
        judged = sites if every else ~sites & (self.known[there] > 0)
        if judged.any() and changed[judged].mean() > 1 - ALIKE:
            raise StaleCache
        pieces, gone = [], []
        for kept in self.pieces:
            if (place := kept.within(there)) is None:
                continue
            part, mask = changed[place[0]], kept.mask[place[1]]
            if cv2.countNonZero(cv2.bitwise_and(part, mask)) > GRAZED * cv2.countNonZero(mask):
                np.maximum(part, mask, out=part)  # it is looked for again
                gone.append(kept)
            else:
                pieces.append(kept)
        cards, doubtful = {}, {}
        for s in asked:
            if (card := self.cards.get(s)) is not None:
                place = asked[s].outlines if not card.kind else [card.tried.corners(card.kind)]
                share = changed_in(scene.frame, changed, place)
                card = msgspec.structs.replace(card, tried=card.tried.lit(self.gain))
                if share == 0:
                    cards[s] = card
                elif (
                    share < 1 - ALIKE
                    and card.kind
                    and changed_in(scene.frame, changed, place, thick=THICK) < RIM
                ):
                    doubtful[s] = card
        told = {
            s: e
            for s in asked
            if (e := self.told.get(s))
            and not changed_in(scene.frame, changed, asked[s].outlines, NEAR)
        }
        return Recalled(changed, self.gain, pieces, gone, cards, doubtful, told)

    def keep(
        self,
        scene: Scene,
        whole: Frame,
        seen: np.ndarray,
        recalled: Recalled,
        asked: Mapping[str, Site] | None,
        pieces: Sequence[Piece],
        cards: Mapping[str, Card],
        told: Mapping[str, CountedEvidence],
    ) -> None:
        """Takes over what was found in a scene, a part of the `whole` canvas. asked: sites that
        were looked at (None: all); pieces: all there, those recalled and others"""
        shape = whole.height // FOLD, whole.width // FOLD
        if self.seen is None:
            self.seen, self.known = np.zeros((*shape, 3), np.uint8), np.zeros(shape, np.uint8)
        there, changed = part_of(scene), recalled.changed > 0
        # beside, cards that nobody looked for mislead
        own = (
            np.ones(changed.shape, np.uint8)
            if asked is None
            else polygons(scene.frame, [o for s in asked.values() for o in s.outlines])
        )
        if np.any(recalled.gain != 1):
            seen = cv2.multiply(seen, (*map(float, 1 / recalled.gain), 0.0), dtype=cv2.CV_8U)
        cv2.copyTo(seen, own & recalled.changed, self.seen[there])
        self.known[there][changed] = own[changed]
        gone, same = {id(k) for k in recalled.gone}, {id(k.piece) for k in recalled.pieces}
        self.pieces = [k for k in self.pieces if id(k) not in gone]
        for p in pieces:
            if id(p) not in same:
                x, y = (
                    np.rint(scene.frame.to_px(p.foot) / FOLD)
                    .astype(int)
                    .clip(0, np.array(own.shape[::-1]) - 1)
                )
                if own[y, x]:
                    self.pieces.append(Kept.of(p, scene, shape))
        self.cards.update(
            (s, msgspec.structs.replace(c, tried=c.tried.lit(1 / recalled.gain)))
            for s, c in cards.items()
        )
        self.told.update(told)


def part_of(scene: Scene) -> tuple[slice, slice]:
    """Where a scene lies on a map of the whole canvas that is as coarse as what is strange"""
    (x, y), (h, w) = (v // FOLD for v in scene.corner), scene.strange.shape
    return slice(y, y + h), slice(x, x + w)


def differs(seen: np.ndarray, before: np.ndarray, gain: np.ndarray) -> np.ndarray:
    """(h, w) 0 or 1: where two maps (h, w, 3) uint8 differ by more than noise and a fraction of a
    pixel explain; gain: (3,) times as bright as before all is"""
    if (gain != 1).any():
        before = cv2.multiply(before, (*map(float, gain), 0.0), dtype=cv2.CV_8U)
    bend = cv2.morphologyEx(before, cv2.MORPH_GRADIENT, np.ones((3, 3), np.uint8))
    over = cv2.subtract(cv2.absdiff(seen, before), cv2.addWeighted(bend, SLOPE, bend, 0, LEVELS))
    mask = cv2.threshold(
        cv2.max(cv2.max(over[..., 0], over[..., 1]), over[..., 2]), 0, 1, cv2.THRESH_BINARY
    )[1]
    return cv2.morphologyEx(mask, cv2.MORPH_OPEN, np.ones((2, 2), np.uint8))


def changed_in(
    frame: Frame,
    changed: np.ndarray,
    outlines: Sequence[np.ndarray],
    grow: float = 0.0,
    thick: int = 0,
) -> float:
    """Share of outlines in mm in which something changed, grown by so many mm; thick: of their rims
    alone, so many pixels wide"""
    h, w = changed.shape
    px, more = [frame.to_px(o) / FOLD for o in outlines], grow * frame.scale / FOLD
    lo = np.floor(np.min([p.min(0) for p in px], 0) - more).astype(int).clip(0)
    hi = np.ceil(np.max([p.max(0) for p in px], 0) + more).astype(int).clip(0, (w - 1, h - 1)) + 1
    part = changed[lo[1] : hi[1], lo[0] : hi[0]]
    if not part.size or not cv2.countNonZero(part):
        return 0.0
    mask = np.zeros(part.shape, np.uint8)
    for p in px:
        place = [np.rint(p - lo).astype(np.int32)]
        cv2.polylines(mask, place, True, 1, thick) if thick else cv2.fillPoly(mask, place, 1)
    if grow:
        mask = cv2.dilate(mask, np.ones((2 * int(more) + 1,) * 2, np.uint8))
    return cv2.countNonZero(cv2.bitwise_and(mask, part)) / max(cv2.countNonZero(mask), 1)
