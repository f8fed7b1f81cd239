"""The simulated camera and its faults, as the supervisor sees them."""

import numpy as np
import pytest

from hardware.camera import CameraLost
from hardware.scene import Scene, look_down
from hardware.simulated import FAULTS, SLOW, SimulatedCamera
from hardware.supervisor import Judge

SIZE = (300.0, 200.0)
SQUARES = [
    {
        "p": "polygon",
        "points": [[x, y], [x + 20, y], [x + 20, y + 20], [x, y + 20]],
        "fill": "#303030",
        "stroke": None,
        "width": 0.0,
    }
    for x in range(0, 300, 40)
    for y in range(0, 200, 40)
]


@pytest.fixture
def camera():
    slept = []
    made = SimulatedCamera(
        Scene(SIZE, SQUARES, {}),
        look_down(SIZE, (640, 480)),
        sleep=slept.append,
        clock=lambda: 50.0 + sum(slept),
    )
    made.slept = slept
    with made:
        yield made


def judged(camera, seconds=0.2):
    judge, state, now = Judge(), "", 0.0
    while now < seconds:
        state, now = judge.see(camera.read(), now), now + 0.1
    return state


def test_without_faults_all_is_well_and_pictures_come_at_their_pace(camera):
    assert judged(camera, 3.0) == "ok"
    assert camera.slept[-1] == pytest.approx(1 / 20)


def test_each_fault_does_what_it_says_and_is_over_when_it_is_over(camera):
    good = camera.read()
    for fault in FAULTS:
        camera.faults.add(fault)
        if fault == "unplugged":
            with pytest.raises(CameraLost, match="unplugged"):
                camera.read()
            camera.close()
            with pytest.raises(CameraLost, match="not plugged in"):
                camera.open()
        elif fault == "slow":
            camera.read()
            assert camera.slept[-1] == SLOW
        elif fault in ("covered", "dark"):
            assert judged(camera) == fault
        elif fault == "frozen":
            assert judged(camera, 3.0) == "frozen"
        elif fault == "noise":
            assert (camera.read().astype(int) - good).std() > 8
        else:
            assert fault == "bumped" and np.abs(camera.read().astype(int) - good).mean() > 3
        camera.faults.discard(fault)
        camera.open()
        assert np.abs(camera.read().astype(int) - good).mean() < 4


def test_a_closed_camera_gives_nothing(camera):
    camera.close()
    with pytest.raises(CameraLost, match="not open"):
        camera.read()


def test_a_picture_is_the_readers_own(camera):
    camera.faults.add("frozen")
    one = camera.read()
    two = camera.read()
    one[:] = 0
    assert two.any() and camera.read().any()
