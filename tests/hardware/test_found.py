"""Cameras offered at set-up: a Pi's own, USB cameras by names that last; nothing that is no
camera."""

import sys
from types import ModuleType

import pytest

from hardware import found


@pytest.fixture
def machine(tmp_path):
    """machine(node, name, index, where) puts a video node into a made-up /sys and /dev"""
    nodes, dev = tmp_path / "sys" / "class" / "video4linux", tmp_path / "dev"
    (dev / "v4l" / "by-id").mkdir(parents=True)

    def put(node, name, index, where):
        device = tmp_path / "sys" / "devices" / where
        device.mkdir(parents=True, exist_ok=True)
        (nodes / node).mkdir(parents=True)
        (nodes / node / "name").write_text(name + "\n")
        (nodes / node / "index").write_text(f"{index}\n")
        (nodes / node / "device").symlink_to(device)
        (dev / node).touch()

    put.look = lambda: found.cameras_here(nodes, dev)
    put.dev = dev
    return put


@pytest.fixture
def picamera2(monkeypatch):
    module, known = ModuleType("picamera2"), []
    module.Picamera2 = type("Picamera2", (), {"global_camera_info": staticmethod(lambda: known)})
    monkeypatch.setitem(sys.modules, "picamera2", module)
    return known


def test_usb_cameras_by_names_that_outlast_the_plug(machine):
    machine("video10", "USB camera B", 0, "platform/usb2/2-1")
    machine("video2", "USB camera A", 0, "platform/usb1/1-1")
    machine("video3", "USB camera A", 1, "platform/usb1/1-1")
    machine("video19", "bcm2835-codec-decode", 0, "platform/codec")
    (machine.dev / "v4l" / "by-id" / "usb-A-video-index0").symlink_to("../../video2")
    (machine.dev / "v4l" / "by-id" / "usb-A-video-index1").symlink_to("../../video3")
    assert machine.look() == [
        {
            "name": "USB camera A",
            "camera": {
                "kind": "usb",
                "device": str(machine.dev / "v4l" / "by-id" / "usb-A-video-index0"),
            },
        },
        {"name": "USB camera B", "camera": {"kind": "usb", "device": str(machine.dev / "video10")}},
    ]


def test_the_pis_own_comes_first_and_a_usb_camera_once(machine, picamera2):
    machine("video0", "USB camera", 0, "platform/usb1/1-1")
    picamera2 += [
        {"Model": "imx708", "Id": "/base/soc/i2c0mux/i2c@1/imx708@1a"},
        {"Model": "UVC", "Id": "/base/scb/pcie/usb@0:1-1.0"},
    ]
    assert [c["camera"]["kind"] for c in machine.look()] == [
        "pi",
        "usb",
    ] and "imx708" in machine.look()[0]["name"]


def test_a_picamera2_that_cannot_be_loaded_is_told_and_the_usb_camera_used(
    machine, monkeypatch, caplog
):
    class Old(ModuleType):
        def __getattr__(self, name):
            raise ValueError("numpy.dtype size changed, may indicate binary incompatibility")

    monkeypatch.setitem(sys.modules, "picamera2", Old("picamera2"))
    machine("video0", "USB camera", 0, "platform/usb1/1-1")
    assert [c["camera"]["kind"] for c in machine.look()] == [
        "usb"
    ] and "numpy.dtype size changed" in caplog.text


def test_a_machine_without_a_camera(machine, picamera2, monkeypatch):
    assert machine.look() == []
    monkeypatch.setattr(found, "cameras_here", lambda: [])
    assert found.usual_camera() == {"kind": "usb"}
