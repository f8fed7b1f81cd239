"""The Pi's camera; picamera2 is played by a stand-in that waits where the real one waits, and fails
as it fails."""

import os
import sys
import types

import pytest

from hardware import pi_camera
from hardware.camera import LONGEST, SETTLE, CameraHangs, CameraLost
from hardware.pi_camera import PiCamera
from tests.hardware.support.fake_picamera2 import ALL, FakePicamera2


@pytest.fixture
def picamera2(monkeypatch):
    for name, value in (
        ("cameras", 1),
        ("busy", False),
        ("has", ALL),
        ("made", []),
        ("now", 0.0),
        ("focus", 1.8),
    ):
        monkeypatch.setattr(FakePicamera2, name, value)
    for name in ("WAIT", "START", "FOCUS"):
        monkeypatch.setattr(pi_camera, name, 0.05)
    monkeypatch.setitem(sys.modules, "picamera2", types.SimpleNamespace(Picamera2=FakePicamera2))
    return FakePicamera2


def pi(picamera2, **options):
    return PiCamera(size=(328, 246), clock=lambda: picamera2.now, **options)


def test_exposure_and_white_balance_are_locked_when_they_have_come_to_rest(picamera2):
    with pi(picamera2) as camera:
        fake = picamera2.made[0]
        assert fake.log[0] == {"AeFlickerMode": 1, "AeFlickerPeriod": 10_000}
        assert fake.log[1] == {
            "AeEnable": True,
            "AwbEnable": True,
            "FrameDurationLimits": (33_333, 200_000),
        }
        locked = fake.log[-1]
        assert locked == {
            "AeEnable": False,
            "AwbEnable": False,
            "ExposureTime": 12000,
            "AnalogueGain": 2.0,
            "FrameDurationLimits": (100_000, 200_000),
            "ColourGains": (fake.awb, 1.8),
        }
        assert 1.96 < fake.awb < 2 and SETTLE < picamera2.now < LONGEST, (
            "filtered slowly, but waited for"
        )
        assert camera.read().shape == (246, 328, 3) and camera.read()[0, 0].tolist() == [
            10,
            20,
            200,
        ]
        small = camera.glance()
        assert small.shape == (60, 82, 3) and camera.twofold
        assert (small == small[0, 0]).all(), "the padding of the rows is no part of the picture"
        blue, green, red = (int(v) for v in small[0, 0])
        assert red > 150 > blue > green, "much of the red colour plane"
        said = len(fake.log)
        camera.settle()
        assert len(fake.log) == said + 2
    assert not fake.is_open and not fake.running


@pytest.mark.parametrize("looks", [0, 10])
@pytest.mark.parametrize("white", [1.1, 3.0])
def test_pictures_from_before_the_light_was_unlocked_are_no_rest(
    picamera2, monkeypatch, white, looks
):
    with pi(picamera2) as camera:
        fake = picamera2.made[0]
        # by little light a picture takes 0.2 s, and seven of them longer than a rest
        camera._limits = lambda fps: (200_000, 200_000)
        camera.settle()
        for _ in range(looks):
            camera.read()
        monkeypatch.setattr(picamera2, "white", white)
        camera.settle()
        assert abs(fake.log[-1]["ColourGains"][0] - white) < 0.3 * abs(2.0 - white)


def test_light_that_never_rests_is_locked_all_the_same(picamera2, monkeypatch):
    monkeypatch.setattr(
        picamera2,
        "_next_picture",
        lambda self, wait: (
            setattr(picamera2, "now", picamera2.now + 0.03),
            setattr(self, "awb", 3 - self.awb),
        ),
    )
    with pi(picamera2):
        assert (
            picamera2.made[0].controls["AwbEnable"] is False
            and LONGEST <= picamera2.now < LONGEST + 1
        )


@pytest.mark.parametrize(
    "without", [("AwbEnable", "ColourGains"), ("AeFlickerMode", "AeFlickerPeriod"), ALL]
)
def test_a_sensor_lacks_what_others_have(picamera2, without, monkeypatch):
    monkeypatch.setattr(picamera2, "has", tuple(name for name in ALL if name not in without))
    with pi(picamera2) as camera:
        assert camera.read().shape == (246, 328, 3) and not set(picamera2.made[0].controls) & set(
            without
        )


def test_a_lens_finds_its_focus_once_and_is_put_there_at_every_start(picamera2, monkeypatch):
    monkeypatch.setattr(picamera2, "has", (*ALL, "AfMode", "LensPosition"))
    found = []
    camera = pi(picamera2)
    camera.on_focus = found.append
    with camera:
        fake = picamera2.made[-1]
        assert camera.focuses and camera.focus == 1.8 and found == [1.8]
        assert (fake.controls["AfMode"], fake.controls["LensPosition"]) == (0, 1.8)
        camera.settle()
        assert fake.focusing == 1, "another light is no reason to move the lens"
    picamera2.focus = 2.5
    with camera:
        fake = picamera2.made[-1]
        assert fake.focusing == 0 and fake.lens == 1.8
        camera.focus_anew()
        assert fake.lens == 2.5 and found == [1.8, 2.5]
        picamera2.focus = None
        camera.focus_anew()
        assert camera.focus == 2.5 and found == [1.8, 2.5] and fake.lens == 2.5, (
            "where none is found, the last one stays, and the search has moved the lens"
        )
    with pi(picamera2, focus=0.5):
        assert picamera2.made[-1].lens == 0.5 and picamera2.made[-1].focusing == 0


def test_focus_that_is_not_found_is_looked_for_again_with_the_light(picamera2, monkeypatch):
    monkeypatch.setattr(picamera2, "has", (*ALL, "AfMode", "LensPosition"))
    picamera2.focus = None
    with pi(picamera2) as camera:
        assert camera.focus is None and "AfMode" not in picamera2.made[-1].controls
        picamera2.focus = 1.2
        camera.settle()
        assert camera.focus == 1.2


def test_a_camera_that_gives_no_more_pictures_is_told_closed_and_opened_anew(picamera2):
    camera = pi(picamera2)
    camera.open()
    fake = picamera2.made[-1]
    for asked in (camera.read, camera.glance, camera.settle):
        fake.gone = True
        with pytest.raises(CameraHangs, match="Pi camera 0: gives no pictures"):
            asked()
        assert not fake.is_open and not fake.running, "closed at once"
        with pytest.raises(CameraLost, match="not open"):
            camera.read()
        camera.open()
        fake = picamera2.made[-1]
        assert camera.read().shape == (246, 328, 3)
    camera.close()


def test_a_camera_that_hangs_from_the_start(picamera2, monkeypatch):
    monkeypatch.setattr(picamera2, "start", lambda self: setattr(self, "gone", True))
    with pytest.raises(CameraHangs):
        pi(picamera2).open()
    assert not picamera2.made[-1].is_open


def test_it_says_in_one_line_what_is_wrong(picamera2, monkeypatch):
    camera = pi(picamera2)
    picamera2.cameras = 0
    with pytest.raises(CameraLost, match="Pi camera 0: not found; is the cable in"):
        camera.open()
    picamera2.cameras, picamera2.busy = 1, True
    with pytest.raises(
        CameraLost, match="did not complete: Failed to acquire camera: Device or resource busy$"
    ):
        camera.open()
    monkeypatch.setitem(sys.modules, "picamera2", None)
    with pytest.raises(CameraLost, match="apt-get install python3-picamera2, then make install"):
        camera.open()

    class Old:
        def __getattr__(self, name):
            raise ValueError("numpy.dtype size changed, may indicate binary incompatibility")

    monkeypatch.setitem(sys.modules, "picamera2", Old())
    with pytest.raises(CameraLost, match="picamera2 cannot be loaded: numpy.dtype size changed"):
        camera.open()


@pytest.mark.parametrize("how", [{"cameras": 0}, {"busy": True}])
def test_a_camera_that_cannot_be_opened_costs_no_descriptor(picamera2, how):
    for name, value in how.items():
        setattr(picamera2, name, value)
    camera = pi(picamera2)

    def tries(n):
        for _ in range(n):
            with pytest.raises(CameraLost):
                camera.open()
        return len(os.listdir("/proc/self/fd"))

    assert tries(3) == tries(30)
