"""USB cameras; OpenCV's capture is played by a stand-in."""

import cv2
import pytest

from hardware.camera import CameraLost
from hardware.usb_camera import UsbCamera
from tests.hardware.support.fake_capture import FakeCapture


@pytest.fixture
def capture(monkeypatch):
    for name, value in (("focuses", False), ("honest", True), ("now", 0.0), ("made", [])):
        monkeypatch.setattr(FakeCapture, name, value)
    return FakeCapture


@pytest.fixture
def camera(tmp_path, capture):
    def make(**options):
        (tmp_path / "video7").touch()
        return UsbCamera(
            str(tmp_path / "video7"),
            (640, 480),
            clock=lambda: capture.now,
            capture=capture,
            **options,
        )

    return make


def test_it_locks_what_has_settled_and_tells_a_pulled_cable(tmp_path, camera, capture):
    one = camera()
    (tmp_path / "video7").unlink()
    with pytest.raises(CameraLost, match="video7: no such camera"):
        one.open()
    (tmp_path / "video7").touch()
    one.open()
    settings = capture.made[0].settings
    assert settings[cv2.CAP_PROP_AUTO_EXPOSURE] == 1 and settings[cv2.CAP_PROP_AUTO_WB] == 0
    assert settings[cv2.CAP_PROP_FRAME_WIDTH] == 640 and not one.focuses
    assert settings[cv2.CAP_PROP_FPS] == 10, "nothing looks more often"
    assert one.read().shape == (48, 64, 3)
    capture.made[0].dead = True
    with pytest.raises(CameraLost, match="unplugged"):
        one.read()
    one.close()
    assert capture.made[0].released
    with pytest.raises(CameraLost, match="not open"):
        one.read()


def test_another_program_holds_it(camera, capture, monkeypatch):
    monkeypatch.setattr(capture, "isOpened", lambda self: False)
    with pytest.raises(CameraLost, match="another program"):
        camera().open()


def test_a_lens_finds_its_focus_once_and_is_put_there_at_every_start(camera, capture):
    capture.focuses = True
    one, found = camera(), []
    one.on_focus = found.append
    with one:
        assert one.focuses and one.focus == 35 and found == [35]
        assert capture.made[-1].settings[cv2.CAP_PROP_AUTOFOCUS] == 0
    began = capture.now
    with one:
        assert capture.made[-1].settings[cv2.CAP_PROP_FOCUS] == 35 and capture.now - began < 2
        one.focus_anew()
        assert found == [35, 35]
    with camera(focus=12) as other:
        assert capture.made[-1].lens == 12 and other.focus == 12


def test_a_driver_that_does_not_know_where_the_lens_is(camera, capture):
    capture.focuses, capture.honest = True, False
    with camera() as one:
        assert one.focus is None, "there is nothing to go back to"
        assert (
            capture.made[-1].lens == 35 and capture.made[-1].settings[cv2.CAP_PROP_AUTOFOCUS] == 0
        )
