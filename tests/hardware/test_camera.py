"""Every kind of camera through the one interface; files that are cameras. The Pi's and the USB's
are in tests of their own."""

import cv2
import numpy as np
import pytest

from hardware.camera import BadCamera, CameraLost, FolderCamera, VideoCamera
from hardware.camera_kinds import open_camera
from hardware.pi_camera import PiCamera
from hardware.usb_camera import UsbCamera


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
    assert (
        open_camera({"kind": "folder", "path": "pictures"}, tmp_path).path == tmp_path / "pictures"
    )
    assert isinstance(open_camera({}), UsbCamera)
    assert (
        open_camera({"kind": "pi", "focus": 1.5}).focus == 1.5
        and open_camera({"kind": "usb", "focus": "auto"}).focus is None
    )
    assert open_camera(
        {"kind": "mine", "seed": 3}, makers={"mine": lambda seed: ("made", seed)}
    ) == ("made", 3)
    for wrong, words in (
        ({"kind": "webcam"}, "'webcam' is none of folder, pi, usb, video"),
        ({"kind": "usb", "sise": [1, 2]}, "unexpected keyword argument 'sise'"),
        ({"kind": "folder"}, "path"),
        ({"kind": "pi", "size": 5}, "not \\[width, height\\]"),
        ({"kind": "pi", "focus": "near"}, "focus is 'near', not \"auto\" or a number"),
        ({"kind": "usb", "focus": True}, "focus is True"),
        ({"kind": "pi", "mains": 55}, "not 50 or 60"),
    ):
        with pytest.raises(BadCamera, match=words):
            open_camera(wrong)
