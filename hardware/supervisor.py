"""Keeps a camera running: reports when it is lost, frozen, covered or in the dark, and continues by
itself when it is back.

    with Supervisor(open_camera(config)) as eye:
        frame = eye.newest(after=last, timeout=1.0)  # None: nothing new; eye.state, eye.message
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterable
from types import TracebackType

import cv2
import msgspec
import numpy as np

from hardware.camera import Camera, CameraHangs, CameraLost, one_line

PATIENCE = 1.5  # seconds without a new picture before the camera counts as lost or frozen
RETRY = 1.0  # seconds between two attempts to open it
SETTLING = 20.0  # seconds that finding light and focus may take at most
# seconds without an answer after which the waiting thread is abandoned and the camera opened again
GIVE_UP = 30.0
LEFT = 3  # the most threads that are abandoned
# seconds without a picture from a connected camera, after which only a new process may free it
HOPELESS = 60.0
# a picture whose coarse detail varies by less than this share of its brightness shows nothing (a
# bare table with cards: 0.06)
FLAT = 0.025
DARK = 22.0  # grey levels: a picture with a lower mean is too dark to read
ROOM = 1.5  # the room's light has changed if the picture's mean has changed by this factor ...
ROOM_AFTER = 4.0  # ... for so many seconds
OK, LOST, FROZEN, COVERED, IN_THE_DARK = "ok", "lost", "frozen", "covered", "dark"


class Frame(msgspec.Struct, frozen=True, eq=False):
    """A picture. number: counts from 1; at: the clock's time of its arrival.

    image: (h, w, 3) uint8 BGR; None if the supervisor watches the small stream and nobody asked for
    the full picture.
    small: (h, w, 3) uint8 BGR, for watching; None if only the full picture was taken.
    """

    image: np.ndarray | None
    number: int
    at: float
    small: np.ndarray | None = None


class Judge:
    """Judges from its pictures alone whether a camera is usable. It has no clock: `now`, in
    seconds, is passed in."""

    def __init__(self, live: bool = True) -> None:
        self.live = live
        self._last: np.ndarray | None = None
        self._fresh = self._steady = 0.0
        self._mean: float | None = None

    def see(self, image: np.ndarray, now: float) -> str:
        """ "ok", "frozen", "covered" or "dark" """
        small = cv2.resize(image, (64, 48), interpolation=cv2.INTER_AREA)
        sample = image[:: image.shape[0] // 30 | 1, :: image.shape[1] // 40 | 1]
        if (
            self._last is None
            or self._last.shape != sample.shape
            or not np.array_equal(sample, self._last)
        ):
            self._fresh, self._last = now, sample.copy()
        if self.live and now - self._fresh > PATIENCE:
            return FROZEN
        grey = (cv2.cvtColor(small, cv2.COLOR_BGR2GRAY) if small.ndim == 3 else small).astype(
            np.float32
        )
        detail = float((grey - cv2.GaussianBlur(grey, (0, 0), 8)).std())
        if detail < FLAT * (float(grey.mean()) + 4):
            return COVERED
        return IN_THE_DARK if grey.mean() < DARK else OK

    def room_changed(self, image: np.ndarray, now: float) -> bool:
        """Whether the light has been different for a while, so that the locked exposure should be
        adjusted."""
        mean = float(image[::7, ::7].mean()) + 1.0
        if self._mean is None:
            self._mean, self._steady = mean, now
        if 1 / ROOM < mean / self._mean < ROOM:
            self._steady = now
        return now - self._steady > ROOM_AFTER

    def settled(self) -> None:
        """The exposure was adjusted: the next picture shows the room's light."""
        self._mean = None


class Supervisor:
    """A camera read in its own thread, so that a hanging camera blocks nobody else.

    small: whether to watch the camera's small stream, the default if it has one; `picture` then
    fetches a full one.
    clock: the time, so that tests need not wait. fps: pictures a second unless somebody asks for
    more (`want`). state: "ok", "lost", "frozen", "covered" or "dark"; message: one line, "" when
    ok. settled, focused: how often exposure and focus were adjusted.
    """

    def __init__(
        self,
        camera: Camera,
        clock: Callable[[], float] = time.monotonic,
        on_state: Callable[[str, str], None] | None = None,
        fps: float = 10.0,
        small: bool | None = None,
    ) -> None:
        self.camera, self._clock, self._on_state, self._pause = camera, clock, on_state, 1 / fps
        self.small = camera.twofold if small is None else small
        self._stop = threading.Event()
        self._due: list[float] = []  # when pictures are wanted sooner than usual
        self._changed = threading.Condition()
        self._frame: Frame | None = None
        self._full: Frame | None = None
        self._wanted = 0  # somebody waits for a full picture with at least this number
        self._judge = Judge(camera.live)
        self._open, self._retry_at, self._resettle, self._refocus = False, -1e9, False, False
        self.settled = self.focused = 0
        self._asked = self._pictured = clock()
        self._hung = False
        self._turn = 0  # which thread is the current one
        self._left: list[threading.Thread] = []  # those abandoned
        self._state, self._message = LOST, f"{camera.name}: starting"
        self._thread: threading.Thread | None = None

    @property
    def state(self) -> str:
        """The camera's state: one of OK, LOST, FROZEN, COVERED, IN_THE_DARK."""
        self.notice_silence()
        return self._state

    @property
    def message(self) -> str:
        """One line about that state."""
        self.notice_silence()
        return self._message

    @property
    def hangs(self) -> bool:
        """Whether the camera has hung for so long that only a new process may free it; a missing
        camera does not hang"""
        return self._hung and self._clock() - self._pictured > HOPELESS

    def step(self) -> Frame | None:
        """One step: opens the camera if that is due, reads, judges. Returns a picture, usable or
        not, or None if there is none."""
        turn, now = self._turn, self._clock()
        self._asked = now
        try:
            if not self._open:
                if now < self._retry_at:
                    return None
                self._retry_at = now + RETRY
                self.camera.open()
                if turn != self._turn:
                    return None
                self._open = True
                self._judge.settled()
                self._asked = self._clock()  # opening takes a while, and does not count as silence
            self._adjust()
            if self.small and not self._wanted:
                image, small = None, self.camera.glance()
            else:
                image, small = _checked_frame(self.camera.read(), self.camera.name), None
            return self._judged(image, small) if turn == self._turn else None
        except Exception as e:
            # A driver may return anything, even a picture without pixels: the thread must survive
            # it.
            if turn == self._turn:
                self._hung |= isinstance(e, CameraHangs)
                self._lose(
                    str(e)
                    if isinstance(e, CameraLost)
                    else f"{self.camera.name}: {one_line(e)[:200]}"
                )
        return None

    def _adjust(self) -> None:
        """Adjusts exposure and focus if somebody asked for that"""
        if not self._resettle and not self._refocus:
            return
        self._asked = self._clock() + SETTLING
        if self._refocus:
            self.camera.focus_anew()
            self.focused += 1
        else:
            self.camera.settle()
            self.settled += 1
        with self._changed:
            self._resettle = self._refocus = False
            self._changed.notify_all()
        self._judge.settled()
        self._asked = self._clock()

    def _judged(self, image: np.ndarray | None, small: np.ndarray | None) -> Frame:
        now = self._clock()
        seen = small if image is None else image
        assert seen is not None
        # The two streams differ, so a picture of the other stream would look like a change: each is
        # judged separately.
        state = self._judge.see(seen, now) if image is None or not self.small else self._state
        if state == OK and self.camera.live and self._judge.room_changed(seen, now):
            self._resettle = True
        if state != FROZEN:
            self._hung, self._pictured = False, now
        # an answer, however late, ends the silence; the state must be set before a picture is
        # visible
        self._asked = now
        self._say(
            state,
            {
                OK: "",
                FROZEN: f"{self.camera.name}: the picture stands still; is the camera hanging?",
                COVERED: f"{self.camera.name}: something covers the lens",
                IN_THE_DARK: f"{self.camera.name}: too dark to see",
            }[state],
        )
        with self._changed:
            frame = Frame(image, (self._frame.number if self._frame else 0) + 1, now, small)
            if image is not None:
                self._wanted, self._full = 0, frame
            self._frame = frame
            self._changed.notify_all()
        if state == FROZEN:
            self._close()
        return frame

    def newest(self, after: int = 0, timeout: float | None = None) -> Frame | None:
        """The newest picture with a number above `after`; waits at most `timeout` seconds, then
        returns None."""
        with self._changed:
            self._changed.wait_for(
                lambda: self._frame is not None and self._frame.number > after, timeout
            )
            return self._frame if self._frame is not None and self._frame.number > after else None

    def picture(self, timeout: float | None = None) -> Frame | None:
        """A full picture taken after this call, even if the small stream is watched; None after
        `timeout` seconds."""
        with self._changed:
            self._wanted = asked = (self._frame.number if self._frame else 0) + 1
            self._due = [self._clock(), *self._due]
            self._changed.notify_all()
            self._changed.wait_for(
                lambda: self._full is not None and self._full.number >= asked, timeout
            )
            return self._full if self._full is not None and self._full.number >= asked else None

    def want(self, times: Iterable[float]) -> None:
        """Asks for pictures at these times, if that is sooner than usual; replaces earlier
        requests."""
        with self._changed:
            last = self._frame.at if self._frame else -1e9
            self._due = sorted(at for at in times if at > last)
            self._changed.notify_all()

    def settle(self) -> None:
        """Asks for exposure and white balance to be adjusted before the next picture."""
        self._resettle = True

    def focus_anew(self, timeout: float = SETTLING) -> None:
        """Asks the lens to focus, and waits until it has tried."""
        with self._changed:
            self._refocus = True
            self._changed.notify_all()
            self._changed.wait_for(lambda: not self._refocus, timeout)

    def __enter__(self) -> Supervisor:
        self._start()
        return self

    def _start(self) -> None:
        self._thread = threading.Thread(
            target=self._run, args=(self._turn,), name="camera", daemon=True
        )
        self._thread.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop.set()
        with self._changed:
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join(2.0)
        if self._thread is None or not self._thread.is_alive():
            self._close()

    def _run(self, turn: int) -> None:
        camera = self.camera
        while not self._stop.is_set() and turn == self._turn:
            began = self._clock()
            found = self.step()
            if turn == self._turn:
                self._rest(self._pause - (self._clock() - began) if found else RETRY / 4)
        if turn == self._turn:
            self._close()
        elif camera is not self.camera:
            camera.close()  # it has answered after all, but has been replaced

    def _rest(self, seconds: float) -> None:
        """Waits until the next picture is due or wanted"""
        end = time.monotonic() + seconds
        with self._changed:
            while not self._stop.is_set():
                left = min(end - time.monotonic(), min(self._due, default=math.inf) - self._clock())
                if left <= 0:
                    break
                self._changed.wait(left)
            now = self._clock()
            self._due = [at for at in self._due if at > now]

    def notice_silence(self) -> None:
        """Notices by the time that has passed that a read hangs."""
        silent = self._clock() - self._asked
        if self._thread is None or silent <= PATIENCE:
            return
        if self._state != LOST:
            self._say(LOST, f"{self.camera.name}: no answer")
        if silent > GIVE_UP:
            self._leave_behind()

    def _leave_behind(self) -> None:
        """Abandons the hanging thread with its camera: a new thread tries a new camera object."""
        with self._changed:
            self._left = [t for t in self._left if t.is_alive()]
            if (
                self._thread is None
                or self._stop.is_set()
                or len(self._left) >= LEFT
                or self._clock() - self._asked <= GIVE_UP
            ):
                return
            self._left.append(self._thread)
            self._turn += 1
            self._asked, self._open, self._hung = self._clock(), False, True
            self.camera = self.camera.renewed()
            self._start()

    def _lose(self, message: str) -> None:
        self._close()
        self._say(LOST, message)

    def _close(self) -> None:
        self._open = False
        self.camera.close()

    def _say(self, state: str, message: str) -> None:
        changed = (state, message) != (self._state, self._message)
        self._state, self._message = state, message
        if changed and self._on_state is not None:
            self._on_state(state, message)


def _checked_frame(image: np.ndarray, name: str) -> np.ndarray:
    """Raises CameraLost if it is not a picture: a failing driver may return anything."""
    if (
        image.dtype != np.uint8
        or image.ndim != 3
        or image.shape[2] != 3
        or min(image.shape[:2]) < 16
    ):
        raise CameraLost(
            f"{name}: gives something that is no picture "
            f"({'x'.join(map(str, image.shape))} {image.dtype})"
        )
    return image
