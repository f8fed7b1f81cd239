"""From pictures to settled evidence: where the board is, whether a hand is in view, what lies
where."""

from __future__ import annotations

import time
from collections.abc import Callable, Set

import msgspec
import numpy as np

from vision.evidence.site_evidence import Evidence, NoBoard, Registration
from vision.frame_cache import FrameCache
from vision.geometry.pose import Pose
from vision.motion.watcher import Watcher
from vision.reader import Reader

# seconds of rest after which sites carried over from an earlier picture are read as well
QUIET = 3.0
BUSY = {
    "hand": "a hand is in view",
    "moving": "something moves",
    "dark": "it is too dark",
    "covered": "the camera is covered",
    "blurred": "the picture is blurred",
}


class Eye:
    """Remembers the pose, the settled view and its evidence, so that only what has changed is read
    again.

    picture: the full picture that a stream's evidence comes from.
    """

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.picture: np.ndarray | None = None
        self.pose: Pose | None = None
        self.evidence: Evidence | None = None
        self.cache = FrameCache()
        self.watcher = Watcher(reader.plan)
        # the picture of the stream when self.picture was taken
        self._watched: np.ndarray | None = None
        # when only some sites were read last, unless all have been read since
        self._partly: float | None = None
        self._ahead = False  # whether the evidence is of a table that was not yet at rest
        self._odd: set[str] = set()  # sites that were read as something foreign then
        # sites read as something foreign since everything was last read afresh: what was found
        # there beside an arm is only part of what lies there and must not be cached
        self._hidden: set[str] = set()

    def single(self, image: np.ndarray) -> Evidence:
        """The evidence of one picture that stands for a settled second. Raises NoBoard if the board
        is not in it."""
        start = time.perf_counter()
        try:
            pose = self.reader.locate(image, self.pose)
        except NoBoard:
            if self.pose is None:
                raise
            return self._busy("covered", self.pose, start)
        look = self.watcher.single(image, pose, getattr(self.reader.registrar, "scene", None))
        if look.state in BUSY:
            return self._busy(look.state, pose, start)
        return self._read(image, image, pose, None, start)

    def stream(
        self, image: np.ndarray, now: float, full: Callable[[], np.ndarray | None] | None = None
    ) -> Evidence | None:
        """The next picture of a stream: evidence if the table is still and something may have
        changed, with `busy` if it is not; None if nothing is new. Raises NoBoard. What changed is
        read as soon as nothing moves, so that it is ready when the table counts as still.

        full: if `image` is a small one that only serves for watching, fetches the full one (None:
        there is none now).
        """
        start = time.perf_counter()
        look, before = self.watcher.see(image, now), self.evidence
        if full is None:
            self.picture = self._watched = image
        if look.state in BUSY:
            busy = self._busy(look.state, self.pose, start)
            soon = look.soon if before is not None else frozenset()
            if soon and not self._most(soon) and not soon & self._hidden:
                self._read_ahead(image, now, soon, full)
                self._interrupt(look.state)
            return busy
        changed = None if look.shaken or before is None else look.changed
        if before is not None and changed is not None and not changed:
            if before.busy is not None and not self._odd:
                return self._again(image)
            if before.busy is None and (
                self._partly is None or now - max(self._partly, look.since) < QUIET
            ):
                return None
        picture = image if full is None else full()
        if picture is None:
            return None
        pose = self.reader.locate(picture, self.pose)
        if (
            full is not None
            and not look.shaken
            and self.watcher.single(picture, pose).state in BUSY
        ):
            return self._busy("hand", self.pose, start)  # a hand came between the two pictures
        still = pose is self.pose
        sites = changed | self._odd if still and changed else None
        if sites is None:  # a piece that was nudged may have been taken for two
            self.cache.forget()
        found = self._read(picture, image, pose, sites, start, now)
        if still and before is not None and before.busy is None and same_reading(found, before):
            return None  # nobody has done anything, so what people were told stands
        return found

    def wanted(self, now: float) -> list[float]:
        """The times, after a picture taken at `now`, at which further pictures are useful sooner
        than usual."""
        return self.watcher.wanted(now)

    def whole(self) -> Evidence:
        """Reads all sites of the picture afresh, with an empty cache, because the result so far is
        odd."""
        assert self.picture is not None and self._watched is not None and self.pose is not None
        self.cache.forget()
        return self._read(self.picture, self._watched, self.pose, None, time.perf_counter())

    def _again(self, image: np.ndarray) -> Evidence:
        """What was read last still holds: the hand has gone without changing anything, or it was
        read ahead."""
        assert self.evidence is not None
        if self._ahead and not self._littered:
            self.watcher.known_free(image)
        self._ahead = False
        self.evidence = msgspec.structs.replace(self.evidence, busy=None)
        return self.evidence

    def _read_ahead(
        self,
        image: np.ndarray,
        now: float,
        sites: frozenset[str],
        full: Callable[[], np.ndarray | None] | None,
    ) -> None:
        """Reads sites that have changed while it is not certain yet that the table stays as it is;
        anything that takes long is left until then."""
        start = time.perf_counter()
        picture = image if full is None else full()
        if picture is None:
            return
        try:
            pose = self.reader.locate(picture, self.pose)
        except NoBoard:
            return
        if pose is self.pose and (
            full is None or self.watcher.single(picture, pose).state not in BUSY
        ):
            self._read(picture, image, pose, sites, start, now, ahead=True)

    @property
    def _littered(self) -> bool:
        sites = self.evidence.sites if self.evidence is not None else {}
        return sum(e.foreign for e in sites.values()) > 1

    def _most(self, sites: Set[str]) -> bool:
        return 2 * len(sites) > len(self.reader.plan.site)

    def _read(
        self,
        image: np.ndarray,
        watched: np.ndarray,
        pose: Pose,
        sites: Set[str] | None,
        start: float,
        now: float = 0.0,
        ahead: bool = False,
    ) -> Evidence:
        """sites: those that seem to have changed (None: unknown). watched: the picture of the
        stream, which may be another. now: its time."""
        self.picture, self._watched = image, watched
        if sites is not None and self._most(sites):
            sites = None
        if self._hidden and not ahead and (sites is None or sites & self._hidden):
            self.cache.forget()
            self._hidden, sites = set(), None
        found = self.reader.read_at(image, pose, sites, self.cache)
        self._hidden |= {s for s, e in found.sites.items() if e.foreign}
        odd = {s for s in found.changed or () if found.sites[s].foreign}
        if odd and not ahead:
            found = self.reader.read_at(image, pose, None, self.cache)
        before = self._odd - found.changed if found.changed is not None else set()
        self._odd = before | odd if ahead else set()
        self._ahead, self._partly = ahead, now if found.changed is not None else None
        if found.registration.maybe_turned and not pose.maybe_turned:
            pose = msgspec.structs.replace(pose, maybe_turned=True)
        self.pose = pose  # a doubt about it is examined again at the next look
        self.evidence = msgspec.structs.replace(found, ms=(time.perf_counter() - start) * 1000)
        self.watcher.settle(
            pose, watched, free=not ahead and not self._littered, sites=found.changed
        )
        return self.evidence

    def _busy(self, why: str, pose: Pose | None, start: float) -> Evidence:
        sites = self.evidence.sites if self.evidence is not None else {}
        registration = (
            Registration(pose.by, pose.error_px) if pose is not None else Registration("none", 0.0)
        )
        out = Evidence(sites, registration, why, frozenset(), (time.perf_counter() - start) * 1000)
        self._interrupt(why)
        return out

    def _interrupt(self, why: str) -> None:
        """Marks what was read last as interrupted; it holds again if nothing turns out to have
        changed."""
        if self.evidence is not None:
            self.evidence = msgspec.structs.replace(self.evidence, busy=why)


def same_reading(a: Evidence, b: Evidence) -> bool:
    """Whether both read the same everywhere."""
    return all(
        (e.best, e.foreign) == (b.sites[s].best, b.sites[s].foreign) for s, e in a.sites.items()
    )
