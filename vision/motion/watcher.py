"""Watches a table at low cost: whether it is still, a hand is in view or the picture is useless,
and which sites may have changed."""

from __future__ import annotations

from collections.abc import Iterable

import cv2
import msgspec
import numpy as np

from vision.geometry.pose import Pose
from vision.motion.hand_detector import ForeignObject, find_foreign
from vision.photometry.small_picture import View
from vision.plan import Plan
from vision.storage.image_array import halve_image, to_grey

BLOCK = 8  # side of a block, pixels of the small picture
WATCHED_PX = 480  # the most pixels along the longer side of the small picture
SURELY_CHANGED = 3.0  # a block has changed if it differs by this many times its usual restlessness
LEAST_CHANGE = 1.5  # steps of the logarithmic scale: the least change of a block that counts
REST = 0.35  # seconds without movement until the table counts as still ...
SLACK = 0.01  # ... or this much less, since a camera's picture may come slightly early
# least seconds between two pictures used to learn how restless the table is: about five a second
BEAT = 0.18
# seconds after which another picture is useful while something moves or has just come to rest
HURRY = 0.1
SOON = 0.08  # seconds without movement after which `TableState.soon` is predicted
DARK_PICTURE = 14.0  # grey levels: if the brightest parts are below this, the picture is too dark
FEATURELESS = 0.25  # share of the settled view's detail: below, covered; below twice that, blurred
SHAKEN = 0.5  # share of the blocks with detail that change only if the camera or the board moves

# light is multiplicative; on this scale it is additive
LOG_STEPS = np.rint(np.log((np.arange(256) + 3) / 3) * 64).astype(np.int16)
Planes = tuple[np.ndarray, ...]


class TableState(msgspec.Struct, frozen=True, eq=False):
    """state: "still", "moving", "hand", "dark", "covered" or "blurred"; since: the time from which
    that holds.

    changed: sites that may differ from the settled view, None if unknown (no settled view yet, or
    the camera moved, or the table is not still); shaken: camera or board seem to have moved;
    foreign: the hand, if one is seen. soon: sites that will count as changed if the table, at rest
    for only a moment, stays so; None if not predicted.
    """

    state: str
    since: float
    changed: frozenset[str] | None = None
    shaken: bool = False
    foreign: ForeignObject | None = None
    soon: frozenset[str] | None = None


class Watcher:
    """Given pictures and the time, it learns how restless the picture is on its own (noise,
    flicker, drifting light).

    see() takes pictures at any rate; wanted() says when the next ones are useful. settle() makes
    the last picture the settled view. single() judges one still picture without earlier ones."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._last: Planes | None = None
        self._beat: Planes | None = None  # the last picture that was learnt from
        self._beat_at = -1e9
        self._noise: np.ndarray | None = None
        self._moved_at = -1e9
        self._rests: Planes | None = None  # the first picture since then
        self._state, self._since = "moving", 0.0
        self._checked: tuple[ForeignObject | None, bool] | None = None
        self._image: np.ndarray | None = None
        self._settled: Planes | None = None
        self._small: tuple[np.ndarray, Pose, View] | None = None  # the last view, and its source
        self._views: tuple[View, ...] = ()  # the settled view and the one before it
        self._detail = 0.0
        self._blocks: dict[str, np.ndarray] = {}
        self._pose: Pose | None = None

    def see(self, image: np.ndarray, now: float) -> TableState:
        """Judges a picture, (h, w, 3) BGR or (h, w) grey uint8, always of the same size, taken at
        `now` seconds."""
        small = shrink_picture(image)
        planes = light_and_tint(image, small)
        self._image, self._small = image, None
        if self._last is None or not are_comparable(self._last, planes):
            self._last = self._beat = planes
            self._noise, self._beat_at = None, now
            return self._moved(planes, now, "dark" if is_dark_view(small) else "moving")
        change = block_differences(planes, self._last)
        if self._noise is None:
            self._noise = np.ones(change.shape) * np.median(change, axis=(1, 2), keepdims=True)
        dark, moving = is_dark_view(small), self._exceeds(change).any()
        if now - self._beat_at >= BEAT:
            moving |= not dark and self._moves_slowly(planes, change)
            self._beat, self._beat_at = planes, now
        self._last = planes
        if dark:
            return self._moved(planes, now, "dark")
        rested = now - self._moved_at >= REST - SLACK
        if rested and self._rests is not None:
            moving |= self._exceeds(block_differences(planes, self._rests)).any()
            self._rests = None
        if moving:
            entering = self._settled is not None and self._enters(planes)
            return self._moved(planes, now, "hand" if entering else "moving")
        if not rested:
            soon = now - self._moved_at >= SOON and self._settled is not None
            state, more = self._at_rest(planes) if soon else ("", {})
            going_on = self._state if self._state in ("hand", "moving") else "moving"
            return self._say(going_on, now, soon=more.get("changed") if state == "still" else None)
        state, more = self._at_rest(planes)
        return self._say(state, now, **more)

    def _moves_slowly(self, planes: Planes, change: np.ndarray) -> bool:
        """Whether something at a resting table moves too slowly to be seen from one picture to the
        next, by comparing with the last beat. Learns how restless blocks are. change: of each block
        since the last picture"""
        if self._beat is not None and self._beat is not self._last:
            change = block_differences(planes, self._beat)
        return self._learn(change) and self._beat_at >= self._moved_at

    def wanted(self, now: float) -> list[float]:
        """The times after `now` at which pictures are useful earlier than at a table at rest: while
        something moves, or has just stopped"""
        if self._state == "dark" or now - self._moved_at >= REST - SLACK:
            return []
        often = self._moved_at + np.arange(HURRY, REST - HURRY / 2, HURRY)
        return [at for at in (*often.tolist(), self._moved_at + REST - 2 * SLACK) if at > now]

    def _moved(self, planes: Planes, now: float, state: str) -> TableState:
        self._moved_at, self._checked, self._rests = now, None, planes
        return self._say(state, now)

    def settle(
        self,
        pose: Pose,
        image: np.ndarray | None = None,
        free: bool = True,
        sites: Iterable[str] | None = None,
    ) -> None:
        """Makes the last picture (or this one) the settled view, with the board at `pose`. free:
        see known_free(); sites: those whose contents are known now; the others are compared with
        their earlier view (None: all are known)."""
        image = self._image if image is None else image
        if image is None:
            raise ValueError("no picture was seen yet")
        small = shrink_picture(image)
        planes, before = light_and_tint(image, small), self._settled
        if pose is not self._pose or not self._blocks:
            self._pose = pose
            self._blocks = site_blocks(self.plan, pose.resized(small.shape[::-1]), small.shape)
        elif sites is not None and before is not None and are_comparable(planes, before):
            old = np.zeros([n // BLOCK for n in small.shape], np.uint8)
            for site in self._blocks.keys() - set(sites):
                old.flat[self._blocks[site]] = 1
            for now, then in zip(planes, before):
                where = cv2.resize(old, now.shape[::-1], interpolation=cv2.INTER_NEAREST) > 0
                # light has drifted equally
                now[where] = then[where] + round(float(np.median(now[::4, ::4] - then[::4, ::4])))
        self._settled = planes
        self._detail = visible_detail(self._settled[0])
        if free:
            self.known_free(image)
        self._checked = None

    def known_free(self, image: np.ndarray) -> None:
        """Declares that this picture of the settled board shows nothing foreign, so that hands can
        be detected by comparing with it"""
        view = self._view(image)
        if not self._views or view is not self._views[0]:  # reading it again gives no other view
            self._views = (view, *self._views[:1])

    def single(self, image: np.ndarray, pose: Pose, scene: View | None = None) -> TableState:
        """Judges one still picture with a known pose: "hand", "dark" or "still". It is compared
        with the settled view, or, before there is one, with `scene`, a view of the empty board
        (Registrar.scene)."""
        if is_dark_view(shrink_picture(image)):
            return TableState("dark", 0.0)
        before = self._views or ((scene,) if scene is not None else ())
        foreign = self._hand(View.of(image, pose), before)
        return TableState("hand" if foreign is not None else "still", 0.0, foreign=foreign)

    def _view(self, image: np.ndarray) -> View:
        """The small view of a picture with the current pose"""
        assert self._pose is not None, "settle() has told it"
        known = self._small
        if known is None or known[0] is not image or known[1] is not self._pose:
            there = self._pose.resized((image.shape[1], image.shape[0]))
            known = self._small = image, self._pose, View.of(image, there)
        return known[2]

    def _hand(self, now: View, before: tuple[View, ...]) -> ForeignObject | None:
        """A hand that no earlier view shows. If a hand at rest was taken for something else in the
        settled view, its leaving is a difference too; the view before that one shows the table
        without it."""
        found = None
        for view in before:
            if (found := find_foreign(self.plan, now, view)) is None:
                break
        return found

    def _learn(self, change: np.ndarray) -> bool:
        """Whether some blocks move; learns from the others how restless they are on their own"""
        usual, moving = self._usual(), self._exceeds(change)
        # continuous movement (a candle, a screen) becomes usual in the end
        rate = np.where(moving, 0.02, 0.1)
        noise = self._noise
        noise += rate * (np.minimum(change, 4 * usual + LEAST_CHANGE) - noise)
        return bool(moving.any())

    def _exceeds(self, change: np.ndarray) -> np.ndarray:
        """(planes, rows, columns) bool: blocks that differ by more than is usual"""
        return change > SURELY_CHANGED * self._usual() + LEAST_CHANGE

    def _usual(self) -> np.ndarray:
        """(planes, rows, columns) how restless each block usually is, none much less than the
        others"""
        assert self._noise is not None, "see() begins with it"
        return np.maximum(self._noise, 0.7 * np.median(self._noise, axis=(1, 2), keepdims=True))

    def _changed(self, planes: Planes) -> np.ndarray:
        """(rows, columns) bool: blocks that differ from the settled view"""
        assert self._settled is not None, "there is a settled view"
        return np.any(self._exceeds(block_differences(planes, self._settled)), axis=0)

    def _enters(self, planes: Planes) -> bool:
        """Whether the differences from the settled view reach from the picture's edge well into the
        picture"""
        changed = cv2.morphologyEx(
            self._changed(planes).astype(np.uint8), cv2.MORPH_CLOSE, np.ones((3, 3), np.uint8)
        )
        if changed.mean() > SHAKEN:
            return False
        x, y, w, h, area = cv2.connectedComponentsWithStats(changed)[2][1:].T
        rows, columns = changed.shape
        at_edge = (x <= 1) | (y <= 1) | (x + w >= columns - 1) | (y + h >= rows - 1)
        return bool((at_edge & (area >= 12)).any())

    def _at_rest(self, planes: Planes) -> tuple[str, dict]:
        """What a table at rest shows (state and other fields of a TableState): a resting hand, a
        covered lens, or which sites changed"""
        if self._settled is None or not are_comparable(self._settled, planes):
            return "covered" if visible_detail(planes[0]) < 0.5 else "still", {}
        share = visible_detail(planes[0]) / max(self._detail, 1e-6)
        if share < 2 * FEATURELESS:
            return "covered" if share < FEATURELESS else "blurred", {}
        changed = self._changed(planes)
        if not changed.any():
            return "still", {"changed": frozenset()}
        if self._checked is None:
            shaken = bool(changed.mean() > SHAKEN)
            assert self._image is not None, "see() keeps it"
            hand = None if shaken else self._hand(self._view(self._image), self._views)
            self._checked = hand, shaken
        foreign, shaken = self._checked
        if foreign is not None:
            return "hand", {"foreign": foreign}
        if shaken:
            return "still", {"shaken": True}
        flat = changed.ravel()
        return "still", {"changed": frozenset(s for s, b in self._blocks.items() if flat[b].any())}

    def _say(self, state: str, now: float, **more) -> TableState:
        if state != self._state:
            self._state, self._since = state, now
        return TableState(state, self._since, **more)


def shrink_picture(image: np.ndarray) -> np.ndarray:
    """A small grey picture, (h, w) uint8; of a colour picture the green channel, which costs
    nothing as a strided view"""
    while max(image.shape[:2]) > 2 * WATCHED_PX:
        image = image[::2, ::2]
    colour = image.ndim == 3 and image.shape[2] > 1
    small = np.ascontiguousarray(image[..., 1]) if colour else to_grey(image)
    if max(small.shape) > WATCHED_PX:
        small = halve_image(small)
    return small[: small.shape[0] // BLOCK * BLOCK, : small.shape[1] // BLOCK * BLOCK]


def is_dark_view(small: np.ndarray) -> bool:
    """Whether even the brightest part is too dark"""
    return bool(np.percentile(small[::4, ::4], 95) < DARK_PICTURE)


def light_and_tint(image: np.ndarray, small: np.ndarray) -> Planes:
    """The small picture's brightness, int16 on a logarithmic scale, and for a colour picture also
    red against blue at half the size: a red piece in place of a green one may be equally bright."""
    if image.ndim == 2 or image.shape[2] < 3:
        return (LOG_STEPS[small],)
    step = max(round(image.shape[0] / small.shape[0]), 1)
    part = image[: small.shape[0] * step : step, : small.shape[1] * step : step]
    red, blue = (
        LOG_STEPS[halve_image(np.ascontiguousarray(part[..., channel]))] for channel in (2, 0)
    )
    return LOG_STEPS[small], cv2.subtract(red, blue)


def are_comparable(a: Planes, b: Planes) -> bool:
    """Whether two pictures can be compared"""
    return [p.shape for p in a] == [p.shape for p in b]


def block_differences(a: Planes, b: Planes) -> np.ndarray:
    """(planes, rows, columns) how much each block differs in each plane"""
    return np.stack([block_restlessness(p, q, BLOCK >> k) for k, (p, q) in enumerate(zip(a, b))])


def block_restlessness(a: np.ndarray, b: np.ndarray, block: int) -> np.ndarray:
    """(rows, columns) how much each block of two pictures differs, apart from light: the mean
    absolute deviation from the block's mean difference, or, if larger, the deviation of that mean
    from its neighbours'"""
    rows, columns = a.shape[0] // block, a.shape[1] // block
    d = cv2.subtract(a, b).astype(np.float32)
    mean = cv2.resize(d, (columns, rows), interpolation=cv2.INTER_AREA)
    flat = cv2.absdiff(d, cv2.resize(mean, d.shape[::-1], interpolation=cv2.INTER_NEAREST))
    apart = cv2.resize(flat, (columns, rows), interpolation=cv2.INTER_AREA)
    around = cv2.medianBlur(mean, 5)
    return np.maximum(apart, 0.5 * np.abs(mean - around))


def visible_detail(steps: np.ndarray) -> float:
    """The amount of detail: mean absolute difference of pixels from their neighbourhood, without
    small noise"""
    s = cv2.blur(steps.astype(np.float32), (3, 3))
    return float(np.abs(s - cv2.blur(s, (15, 15))).mean())


def site_blocks(plan: Plan, pose: Pose, shape: tuple[int, int]) -> dict[str, np.ndarray]:
    """site -> indices of the blocks in which its pieces may be seen, allowing for their height and
    inexact placement"""
    rows, columns = shape[0] // BLOCK, shape[1] // BLOCK
    tallest = max((p.height for p in plan.piece), default=0.0)
    out = {}
    for site in plan.site:
        mask = np.zeros(shape, np.uint8)
        for outline in site.outlines:
            for height in (0.0, min(tallest, 10.0)):
                cv2.fillPoly(mask, [np.rint(pose.to_px(outline, height)).astype(np.int32)], 1)
        part = mask.reshape(rows, BLOCK, columns, BLOCK).any((1, 3))
        out[site.id] = np.flatnonzero(part.ravel())
    return out
