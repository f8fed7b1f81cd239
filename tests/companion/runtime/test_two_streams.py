"""A camera with a small stream of its own: that one is watched, and a full picture fetched only
when there is something to read."""

import json
import threading

import cv2
import numpy as np

import engine
from companion.runtime.copies import open_copy
from companion.runtime.eye import Eye
from companion.runtime.loop import Loop
from companion.table.table import Table
from hardware.camera import Camera
from hardware.supervisor import PATIENCE, Supervisor
from tests.conftest import PHOTOS as COPY

PHOTOS = COPY / "test"


class TwoStreams:
    """What a camera shows: a full picture when asked, and its small one all the time, with a
    sensor's noise."""

    def __init__(self, photo):
        self.photo, self.fetched, self.now = photo, 0, 0.0
        self.rng = np.random.default_rng(5)

    def full(self):
        self.fetched += 1
        return self.photo

    def small(self):
        h, w = self.photo.shape[:2]
        small = cv2.resize(self.photo, (w // 4, h // 4), interpolation=cv2.INTER_AREA)
        return np.clip(small + self.rng.normal(0, 1, small.shape), 0, 255).astype(np.uint8)

    def told(self, eye, looks=8):
        """what the eye said of so many pictures of the small stream, None left out"""
        out = []
        for _ in range(looks):
            self.now += 0.2
            out.append(eye.stream(self.small(), self.now, self.full))
        return [e for e in out if e is not None]


def test_watched_small_read_large(copy):
    eye, photos = Eye(open_copy(copy).reader), sorted(PHOTOS.glob("*.jpg"))[:2]
    camera = TwoStreams(cv2.imread(str(photos[0])))
    for photo in photos:
        camera.photo = cv2.imread(str(photo))
        before, truth = camera.fetched, json.loads(photo.with_suffix(".json").read_text())
        evidence = camera.told(eye)[-1]
        wrong = [s for s, e in evidence.sites.items() if list(e.best) != truth.get(s, [])]
        assert evidence.busy is None and len(wrong) <= 2, wrong
        assert eye.picture is camera.photo and camera.fetched == before + 1
        assert camera.told(eye) == [] and camera.fetched == before + 1, (
            "nothing moves: the full picture is left alone"
        )


def test_a_hand_that_comes_between_the_two_pictures_is_a_hand(copy):
    eye, photo = Eye(open_copy(copy).reader), cv2.imread(str(sorted(PHOTOS.glob("*.jpg"))[0]))
    camera = TwoStreams(photo)
    camera.told(eye)
    lying, arm = photo.copy(), photo.copy()
    cv2.circle(lying, (820, 600), 40, (30, 30, 200), -1)
    cv2.rectangle(arm, (700, 500), (900, 1231), (150, 180, 230), -1)
    camera.photo, camera.full = lying, lambda: arm
    said = camera.told(eye)
    assert said and said[-1].busy == "hand" and eye.picture is photo
    camera.full = lambda: lying
    assert camera.told(eye)[-1].busy is None and eye.picture is lying


class Stuck(Camera):
    """Gives its pictures at once until it hangs in the middle of one."""

    name, twofold = "test camera", True

    def __init__(self):
        self.hangs, self.rng, self.read_whole = threading.Event(), np.random.default_rng(3), 0
        self.free = threading.Event()

    def open(self):
        pass

    def close(self):
        pass

    def read(self):
        self.read_whole += 1
        return self.rng.integers(0, 255, (96, 128, 3), np.uint8)

    def glance(self):
        if self.hangs.is_set():
            self.free.wait(30)
        return self.rng.integers(0, 255, (24, 32, 3), np.uint8)


class Blind:
    picture = evidence = None

    def __init__(self):
        self.seen = threading.Event()

    def wanted(self, now):
        return []

    def stream(self, image, now, full):
        assert image.shape == (24, 32, 3) and full().shape == (96, 128, 3)
        self.seen.set()


def test_the_table_says_that_a_camera_hangs_while_it_hangs_and_goes_on_by_itself():
    """Nobody has to ask the supervisor: the loop does, and so the phones know."""
    state = engine.game("tigris").setup(["bull", "lion"])
    camera, eye, table = Stuck(), Blind(), Table(state)
    clock = [0.0]
    loop = Loop(table, eye, Supervisor(camera, clock=lambda: clock[0], fps=50))
    thread = threading.Thread(target=loop.run, daemon=True)
    thread.start()
    assert eye.seen.wait(30) and table.camera["state"] == "ok"
    camera.hangs.set()

    def comes(wanted):
        for _ in range(300):
            if table.camera.get("state") == wanted:
                return True
            clock[0] += PATIENCE / 20
            table.wait(table.version, 0.1)
        return False

    assert comes("lost") and "no answer" in table.camera["message"]
    eye.seen.clear()
    camera.hangs.clear()
    camera.free.set()
    assert comes("ok") and eye.seen.wait(30)
    loop.stop()
    thread.join(10)
    assert not thread.is_alive()
