"""Fixtures that several rooms' tests share, and the photographed copy with the poses of its
photos, found once for all processes of a run."""

import pickle

import pytest

from calibration.copy import load_copy
from calibration.fit import shots_of
from tests.conftest import PHOTOS
from tests.support.sharing import made_once
from tests.support.studio import board, carded, tools

__all__ = ["board", "calibrated", "carded", "tools"]


@pytest.fixture(scope="session")
def calibrated(tmp_path_factory):
    """(copy, registrar, shots), which nobody may change"""

    def find_poses(folder):
        copy = load_copy(PHOTOS)
        (folder / "shots").write_bytes(pickle.dumps((copy, *shots_of(copy))))

    return pickle.loads(
        (made_once(tmp_path_factory, "calibrated", find_poses) / "shots").read_bytes()
    )
