"""The time from the last hand leaving until the board has been read, and the CPU time it takes."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

import cv2
import numpy as np

from companion.runtime.config import Config
from companion.runtime.copies import Specimen
from companion.runtime.eye import Eye
from devtools.bench import Figure, Scene, with_others

READY = 20.0  # pictures a second that the camera delivers
REACHES = 0.8  # seconds that a hand is in view
RESTS = 4.0  # seconds at rest beforehand: longer than it takes to read everything


class Stream:
    """An eye and a camera on a simulated clock, as on a machine that does nothing else: it advances
    with the camera's pictures and with CPU time. At an idle table pictures are taken as often as
    `run` takes them."""

    def __init__(
        self,
        eye: Eye,
        noise: Sequence[np.ndarray],
        looks_per_second: float = Config("").looks_per_second,
    ) -> None:
        self.eye, self.noise, self.gap = eye, noise, 1 / looks_per_second
        self.now, self.taken = 0.0, 0

    def known(
        self, shown: Callable[[float], np.ndarray], until: float, gone: float = math.inf
    ) -> float | None:
        """Shows pictures until the board has been read with no hand over it any more. Returns the
        time at which that is so."""
        due = self.now
        while (at := math.ceil(max(due, self.now) * READY - 1e-6) / READY) < until:
            picture = cv2.add(shown(at), self.noise[self.taken % len(self.noise)], dtype=cv2.CV_8U)
            self.taken += 1
            began = time.process_time()
            evidence = self.eye.stream(picture, at)
            self.now = at + time.process_time() - began
            due = min([at + self.gap, *self.eye.wanted(at)])
            if at > gone and evidence is not None and evidence.busy is None:
                return self.now
        self.now = max(self.now, until)
        return None


def still_camera(picture: np.ndarray) -> Callable[[float], np.ndarray]:
    """A camera that always shows one picture."""
    return lambda at: picture


def camera_with_arm(pictures: Sequence[np.ndarray], start: float) -> Callable[[float], np.ndarray]:
    """A camera that shows an arm coming and going from `start` on, in eight pictures."""
    return lambda at: pictures[min(int((at - start) / REACHES * 8), 7)]


def resting_figures(
    specimen: Specimen, scenes: Sequence[Scene], times: int = 5
) -> Iterator[Figure]:
    """Four sites change under a hand, which leaves at a random moment between two pictures."""
    plan, rng, took = specimen.reader.plan, np.random.default_rng(1), []
    noise = [rng.normal(0, 1.5, scenes[0].picture.shape).astype(np.int8) for _ in range(5)]
    few = [plan.sites[s] for s in sorted(s.id for s in plan.site)[:4]]
    for scene, other in pairwise(scenes[: times + 1]):
        pose, there = specimen.reader.locate(scene.picture), specimen.reader.locate(other.picture)
        after, stream = (
            with_others(scene.picture, pose, other.picture, there, few),
            Stream(Eye(specimen.reader), noise),
        )
        for a, b in ((scene.picture, after), (after, scene.picture)):
            start = stream.now + RESTS
            gone = start + REACHES + rng.uniform(0, stream.gap)
            stream.known(still_camera(a), start)
            arms = [with_arm(picture, k) for picture in (a, b) for k in range(4)]
            stream.known(camera_with_arm(arms, start), gone)
            found = stream.known(still_camera(b), gone + 3, gone)
            took += [] if found is None else [1000 * (found - gone)]
    if took:
        note = f"{min(took):.0f} to {max(took):.0f}, the clock's and the processor's time"
        yield Figure(
            "last hand gone to what lies there known",
            statistics.median(took),
            "ms",
            500.0,
            note,
            waits=True,
        )


def with_arm(picture: np.ndarray, step: int) -> np.ndarray:
    """The picture with an arm over it."""
    h, w = picture.shape[:2]
    out, hand = (
        picture.copy(),
        (round(w * (0.35 + 0.06 * step)), round(h * (0.4 + 0.05 * (step % 3)))),
    )
    cv2.line(out, (round(0.6 * w), h + 50), hand, (60, 70, 40), w // 10)
    return cv2.circle(out, hand, w // 16, (140, 165, 215), -1)
