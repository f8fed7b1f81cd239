"""Every kind of camera through the one interface; the Pi's and the USB's own libraries are played by stand-ins."""

import sys
import types

import cv2
import numpy as np
import pytest

from hardware import camera as cameras
from hardware.camera import BadCamera, CameraLost, FolderCamera, PiCamera, UsbCamera, VideoCamera, open_camera


class FakePicamera2:
    """Behaves as picamera2's Picamera2 does where this project touches it: order of calls, streams, controls, faults."""

    present = busy = True
    made = []

    def __init__(self, number=0):
        if not type(self).present:
            [][number]
        if type(self).busy:
            raise RuntimeError("Camera __init__ sequence did not complete.\n")
        self.number, self.running, self.closed, self.controls, self.log, self.gone = number, False, False, {}, [], False
        type(self).made.append(self)

    def create_video_configuration(self, main, lores, controls, buffer_count):
        return {"main": main, "lores": lores, "controls": controls, "buffer_count": buffer_count}

    def configure(self, config):
        assert not self.running
        self.config = config

    def start(self):
        self.running = True

    def stop(self):
        self.running = False
        if self.gone:
            raise RuntimeError("Device is gone")

    def close(self):
        self.closed = True

    def set_controls(self, controls):
        assert self.running
        self.controls.update(controls)
        self.log.append(dict(controls))

    def capture_metadata(self):
        return {"ExposureTime": 12000, "AnalogueGain": 2.0, "ColourGains": (1.5, 1.8), "Lux": 300.0}

    def capture_array(self, stream):
        if self.gone:
            raise RuntimeError("Device is gone")
        w, h = self.config[stream]["size"]
        if stream == "main":
            assert self.config["main"]["format"] == "RGB888"
            return np.dstack([np.full((h, w), v, np.uint8) for v in (10, 20, 200)])
        # Rows of brightness, then of the two colours, half as long and two to a row; the hardware pads each.
        assert w % 2 == h % 2 == 0 and self.config["lores"]["format"] == "YUV420"
        stride = (w + 63) // 64 * 64
        planes = np.zeros((h * 3 // 2, stride), np.uint8)
        planes[:h, :w] = 77
        planes[h:].reshape(2, h // 2, stride // 2)[0, :, :w // 2] = 128
        planes[h:].reshape(2, h // 2, stride // 2)[1, :, :w // 2] = 200
        return planes


@pytest.fixture
def picamera2(monkeypatch):
    FakePicamera2.present, FakePicamera2.busy, FakePicamera2.made = True, False, []
    monkeypatch.setitem(sys.modules, "picamera2", types.SimpleNamespace(Picamera2=FakePicamera2))
    return FakePicamera2


def test_pi_camera_settles_then_locks_exposure_and_white_balance(picamera2):
    slept = []
    with PiCamera(size=(328, 246), sleep=slept.append) as camera:
        fake = picamera2.made[0]
        assert fake.config["controls"] == {"FrameDurationLimits": (50_000, 100_000)}
        assert fake.log[0] == {"AeEnable": True, "AwbEnable": True} and slept == [cameras.SETTLE]
        assert fake.controls == {"AeEnable": False, "AwbEnable": False, "ExposureTime": 12000, "AnalogueGain": 2.0,
                                 "ColourGains": (1.5, 1.8)}
        assert camera.read().shape == (246, 328, 3) and camera.read()[0, 0].tolist() == [10, 20, 200]
        small = camera.glance()
        assert small.shape == (60, 82, 3) and camera.twofold
        assert (small == small[0, 0]).all(), "the padding of the rows is no part of the picture"
        blue, green, red = (int(v) for v in small[0, 0])
        assert red > 150 > blue > green, "much of the red colour plane"
        camera.settle()
        assert len(fake.log) == 4
    assert fake.closed and not fake.running


def test_pi_camera_says_in_one_line_what_is_wrong(picamera2, monkeypatch):
    camera = PiCamera(size=(64, 48), sleep=lambda s: None)
    picamera2.present = False
    with pytest.raises(CameraLost, match="Pi camera 0: not found"):
        camera.open()
    picamera2.present, picamera2.busy = True, True
    with pytest.raises(CameraLost, match="^Pi camera 0: Camera __init__ sequence did not complete.$"):
        camera.open()
    picamera2.busy = False
    camera.open()
    picamera2.made[-1].gone = True
    with pytest.raises(CameraLost, match="Device is gone"):
        camera.read()
    camera.close()
    with pytest.raises(CameraLost, match="not open"):
        camera.read()
    monkeypatch.setitem(sys.modules, "picamera2", None)
    with pytest.raises(CameraLost, match="apt-get install python3-picamera2"):
        camera.open()


class FakeCapture:
    def __init__(self, device, api):
        assert api == cv2.CAP_V4L2
        self.settings, self.dead, self.released = [], False, False

    def isOpened(self):
        return not self.dead

    def set(self, key, value):
        self.settings.append((key, value))
        return True

    def read(self):
        # Some drivers hand over their last picture once more while they say that there is none.
        return (not self.dead, np.zeros((48, 64, 3), np.uint8))

    def release(self):
        self.released = True


def test_usb_camera_locks_what_has_settled_and_tells_a_pulled_cable(tmp_path):
    device, made = tmp_path / "video7", []

    def capture(*args):
        made.append(FakeCapture(*args))
        return made[-1]

    camera = UsbCamera(str(device), (640, 480), sleep=lambda s: None, capture=capture)
    with pytest.raises(CameraLost, match="video7: no such camera"):
        camera.open()
    device.touch()
    camera.open()
    settings = dict(made[0].settings)
    assert settings[cv2.CAP_PROP_AUTO_EXPOSURE] == 1 and settings[cv2.CAP_PROP_AUTO_WB] == 0
    assert settings[cv2.CAP_PROP_FRAME_WIDTH] == 640
    assert camera.read().shape == (48, 64, 3)
    made[0].dead = True
    with pytest.raises(CameraLost, match="unplugged"):
        camera.read()
    camera.close()
    assert made[0].released
    with pytest.raises(CameraLost, match="not open"):
        camera.read()


def test_usb_camera_that_another_program_holds(tmp_path):
    device = tmp_path / "video0"
    device.touch()

    def capture(*args):
        fake = FakeCapture(*args)
        fake.dead = True
        return fake

    with pytest.raises(CameraLost, match="another program"):
        UsbCamera(str(device), capture=capture).open()


def test_folder_shows_each_picture_for_its_time_in_the_order_of_names(tmp_path):
    for n in (2, 1, 3):
        cv2.imwrite(str(tmp_path / f"{n:02}.png"), np.full((8, 8, 3), n, np.uint8))
    (tmp_path / "notes.txt").write_text("not a picture")
    now = [0.0]
    camera = FolderCamera(tmp_path, seconds=2.0, clock=lambda: now[0])
    seen = []
    with camera:
        for t in (0.0, 1.9, 2.0, 4.5):
            now[0] = t
            seen.append(int(camera.read()[0, 0, 0]))
        now[0] = 6.0
        with pytest.raises(CameraLost, match="no more pictures"):
            camera.read()
    assert seen == [1, 1, 2, 3]
    with FolderCamera(tmp_path, 2.0, loop=True, clock=lambda: now[0]) as again:
        now[0] += 7.0
        assert again.read()[0, 0, 0] == 1


def test_folder_with_nothing_or_nonsense_in_it(tmp_path):
    with pytest.raises(CameraLost, match="no such folder"):
        FolderCamera(tmp_path / "none").open()
    with pytest.raises(CameraLost, match="no pictures"):
        FolderCamera(tmp_path).open()
    (tmp_path / "01.jpg").write_bytes(b"not a picture")
    with FolderCamera(tmp_path) as camera, pytest.raises(CameraLost, match="01.jpg: not a picture"):
        camera.read()


def test_video_file_to_its_end_or_round_and_round(tmp_path):
    path = tmp_path / "film.avi"
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter_fourcc(*"MJPG"), 5, (64, 48))
    for n in (50, 200):
        writer.write(np.full((48, 64, 3), n, np.uint8))
    writer.release()
    with VideoCamera(path) as camera:
        assert [abs(int(camera.read().mean()) - n) < 6 for n in (50, 200)] == [True, True]
        with pytest.raises(CameraLost, match="over"):
            camera.read()
    with VideoCamera(path, loop=True) as camera:
        assert [round(float(camera.read().mean()), -1) for _ in range(3)] == [50, 200, 50]
    with pytest.raises(CameraLost, match="no such file"):
        VideoCamera(tmp_path / "none.mp4").open()
    (tmp_path / "bad.mp4").write_bytes(b"nonsense")
    with pytest.raises(CameraLost, match="not a video"):
        VideoCamera(tmp_path / "bad.mp4").open()


def test_the_configuration_chooses(tmp_path):
    pi = open_camera({"kind": "pi", "number": 1, "size": [800, 600]})
    assert isinstance(pi, PiCamera) and (pi.number, pi.size) == (1, (800, 600))
    assert open_camera({"kind": "folder", "path": "pictures"}, tmp_path).path == tmp_path / "pictures"
    assert isinstance(open_camera({}), UsbCamera)
    assert open_camera({"kind": "mine", "seed": 3}, makers={"mine": lambda seed: ("made", seed)}) == ("made", 3)
    for wrong, words in (({"kind": "webcam"}, "'webcam' is none of folder, pi, usb, video"),
                         ({"kind": "usb", "sise": [1, 2]}, "unexpected keyword argument 'sise'"),
                         ({"kind": "folder"}, "path"), ({"kind": "pi", "size": 5}, "not \\[width, height\\]")):
        with pytest.raises(BadCamera, match=words):
            open_camera(wrong)
