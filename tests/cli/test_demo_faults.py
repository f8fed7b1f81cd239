"""What the demo's host can break from the page reaches the simulated camera, and can be mended
again."""

import pytest

from cli.commands.demo import faults_of
from companion.simulate import Conditions, Director, make_copy, plan_of
from companion.simulate.demo_copy import demo_copy
from hardware.simulated import FAULTS


@pytest.fixture(scope="module")
def director():
    plan, _ = plan_of("ur", None)
    return Director(plan, conditions=Conditions(resolution=(320, 240)), sleep=lambda s: None)


def test_every_fault_of_the_camera_and_a_cup_can_be_switched(director):
    wires = faults_of(director)
    assert set(FAULTS) < set(wires.texts) and not wires.on() and not director.disturbed
    for name in wires.texts:
        wires.switch(name, True)
        assert name in wires.on() and director.disturbed
        wires.switch(name, False)
        assert name not in wires.on() and not director.disturbed


def test_the_cup_is_seen(director):
    before = director.picture().astype(int)
    wires = faults_of(director)
    wires.switch("cup", True)
    with_cup = director.picture().astype(int)
    wires.switch("cup", False)
    assert abs(with_cup - before).max() > 60


def test_a_copy_learnt_by_an_older_version_is_learnt_anew(tmp_path, monkeypatch):
    plan, _ = plan_of("ur", None)
    make_copy(plan, tmp_path, Conditions(resolution=(320, 240)), photos=0)
    (tmp_path / "model.npz").write_bytes(b"of long ago")
    learnt = []

    def learn(folder, progress, report=True, steps=8):
        learnt.append(folder)
        raise InterruptedError

    monkeypatch.setattr("calibration.fit.calibrate_copy", learn)
    with pytest.raises(InterruptedError):
        demo_copy("ur", tmp_path)
    assert learnt == [tmp_path]
