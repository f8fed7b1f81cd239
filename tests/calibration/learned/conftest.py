"""The test copy cut out once for all tests of learning, whatever process they run in."""

import pickle

import pytest

from calibration.learned.teach import prepare_lesson
from tests.support.sharing import made_once


@pytest.fixture(scope="session")
def lesson(calibrated, tmp_path_factory):
    """What the network of the photographed copy learns from"""
    copy, _, shots = calibrated

    def cut_lesson(folder):
        (folder / "lesson").write_bytes(pickle.dumps(prepare_lesson(copy.plan, shots, [])))

    return pickle.loads((made_once(tmp_path_factory, "lesson", cut_lesson) / "lesson").read_bytes())
