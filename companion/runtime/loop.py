"""The table's loop: camera, eye, table, lamp. The same for real and simulated cameras."""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
from collections.abc import Callable

import cv2
import numpy as np

from companion.explain.verdict import BUSY, ILLEGAL, SAME, Verdict
from companion.runtime.eye import Eye
from companion.runtime.lessons import Lessons
from companion.table.journal import BadJournal
from companion.table.table import Table, jpeg_of
from hardware.panel import Panel
from hardware.supervisor import FROZEN, LOST, OK, Frame, Supervisor
from vision.evidence.site_evidence import NoBoard
from vision.reader import Reader

log = logging.getLogger(__name__)
LIVE, PLACE = 960, 360  # pixels on the longer side of pictures that people look at

ASK_S = 2.0  # seconds between two questions whether there is a new reader
TRIM_S = 60.0  # seconds after which memory freed by reading is returned to the machine


class Loop:
    """Runs until `stop`. beat: called on every pass through the loop (a watchdog). new_reader:
    asked now and then for a reader to go on with. pictures: how many have been taken; looks: how
    many of them were settled views; faults: how many could not be processed."""

    def __init__(
        self,
        table: Table,
        eye: Eye,
        supervisor: Supervisor,
        panel: Panel | None = None,
        beat: Callable[[], object] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
        lessons: Lessons | None = None,
        new_reader: Callable[[], Reader | None] = lambda: None,
    ) -> None:
        self.table, self.eye, self.supervisor, self.panel = table, eye, supervisor, panel or Panel()
        self._beat, self._clock = beat, clock
        self.lessons = lessons
        self._new_reader, self._asked = new_reader, 0.0
        self._stop = threading.Event()
        self.pictures = 0
        self.looks = 0
        self.faults = 0
        self.busy_s = 0.0
        self.trouble = ""
        self._trimmed = 0.0
        self._buzzed: tuple | None = None
        supervisor._on_state = self._camera_says
        table.sight = self

    def run(self) -> None:
        """Runs in the calling thread; the camera has its own."""
        number = 0
        with self.supervisor:
            while not self._stop.is_set():
                # without the beat, systemd restarts the table in another process
                if not self.supervisor.hangs:
                    self._beat()
                self.table.journal.rest()
                frame = self.supervisor.newest(number, 0.25)
                if frame is None:
                    self.supervisor.notice_silence()
                    continue
                number = frame.number
                self.take(frame)

    def take(self, frame: Frame) -> None:
        """Processes a picture of the camera, if it is usable. An unforeseen exception must not end
        the evening, so it is logged and counted."""
        image = frame.small if self.supervisor.small else frame.image
        if self.supervisor.state != OK or image is None:
            return
        start = time.process_time()
        try:
            self._renew(frame.at)
            self.see(image, frame.at)
        except Exception:
            log.exception("a picture could not be processed")
            self.faults += 1
        self.supervisor.want(self.eye.wanted(frame.at))
        self.busy_s += time.process_time() - start
        self.pictures += 1
        if frame.at - self._trimmed >= TRIM_S:
            self._trimmed = frame.at
            self.eye.reader.give_back()

    def _renew(self, now: float) -> None:
        """Goes on with another reader, if there is one: everything is looked at anew."""
        if now - self._asked < ASK_S:
            return
        self._asked = now
        reader = self._new_reader()
        if reader is not None:
            self.eye = Eye(reader)

    def see(self, image: np.ndarray, now: float) -> None:
        """Processes one picture. If it is the camera's small one, a full one is fetched when there
        is something to read."""
        full = self._full if self.supervisor.small else None
        try:
            evidence = self.eye.stream(image, now, full)
        except NoBoard as e:
            self.table.camera_state("no board", message=str(e))
            self.panel.show("busy")
            return
        if evidence is None and self.trouble:
            # what could not be written is tried again, although nothing moves
            evidence = self.eye.evidence
        if evidence is None:
            return
        settled = evidence.busy is None
        self.looks += settled
        try:
            verdict = self.table.look(
                evidence, self.eye.picture if settled else None, self.eye.whole
            )
            self.trouble = ""
        except BadJournal as e:
            self.trouble = str(e)
            self.panel.show("lost")
            return
        if settled and self.lessons is not None:
            assert self.eye.evidence is not None and self.eye.picture is not None
            self.lessons.look(self.table, verdict, self.eye.evidence, self.eye.picture)
        self.panel.show("moved" if verdict.verdict == SAME else verdict.verdict)
        self._sound(verdict)

    def _full(self) -> np.ndarray | None:
        frame = self.supervisor.picture(1.0)
        return frame.image if frame is not None else None

    def _sound(self, verdict: Verdict) -> None:
        """Buzzes once for something illegal; not again if only a hand was in view in between."""
        if verdict.verdict == ILLEGAL and verdict.violations != self._buzzed:
            self.panel.buzz()
        if verdict.verdict != BUSY:
            self._buzzed = verdict.violations if verdict.verdict == ILLEGAL else None

    def _camera_says(self, state: str, message: str) -> None:
        self.table.camera_state(state, message=message)
        if state != OK:
            self.panel.show("lost")
        if state in (LOST, FROZEN):
            log.warning("%s", message)

    # What people look at

    def now(self) -> bytes | None:
        """The newest picture, as JPEG; None without one."""
        frame = self.supervisor.newest(0, 0.0)
        image = None if frame is None else frame.image if frame.image is not None else frame.small
        return None if image is None else jpeg_of(image, LIVE)

    def place(self, site: str) -> bytes | None:
        """A site and as much again on all sides, cut from the picture that was read last, as
        JPEG."""
        image, pose, found = self.eye.picture, self.eye.pose, self.eye.reader.plan.sites.get(site)
        if image is None or pose is None or found is None:
            return None
        outline = np.array(found.outline, float)
        low, high = outline.min(0), outline.max(0)
        more = max(high - low) * 0.6
        (x0, y0), (x1, y1) = low - more, high + more
        maps = pose.rectify_map(x0, y0, x1, y1, PLACE / max(x1 - x0, y1 - y0))
        return jpeg_of(cv2.remap(image, *maps, cv2.INTER_LINEAR), PLACE)

    def stop(self) -> None:
        """Ends `run` after its present pass."""
        self._stop.set()


def leave_process(code: int) -> int:
    """Returns the exit code; but if a thread has not ended yet (a camera that hangs, a picture half
    read), the process ends here.

    Python would shut down underneath that thread, and a thread inside OpenCV then aborts the
    process.
    """
    if any(t is not threading.current_thread() for t in threading.enumerate()):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    return code
