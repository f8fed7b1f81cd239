"""What tests of several rooms share."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import engine

PHOTOS = Path(__file__).resolve().parent / "photos" / "tigris"


@pytest.fixture(scope="session")
def copy(tmp_path_factory):
    """The photographed copy, calibrated once from its four photos; for tests of the group "filmed",
    which share a process."""
    folder = tmp_path_factory.mktemp("copies") / "tigris"
    shutil.copytree(PHOTOS, folder, ignore=shutil.ignore_patterns("test", "game"))
    calibrate = [
        sys.executable,
        "-m",
        "cli",
        "calibrate",
        str(folder),
        "--quiet",
        "--steps",
        "0",
    ]
    done = subprocess.run(calibrate, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (folder / "model.npz").is_file()
    return folder


@pytest.fixture
def names():
    return sorted(engine.games())
