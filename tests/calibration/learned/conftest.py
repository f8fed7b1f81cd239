"""The test copy cut out once for all tests of learning, whatever process they run in."""

import pickle

import pytest

from calibration.learned.lesson import prepare_lesson
from tests.support.sharing import made_once


@pytest.fixture(scope="session")
def lesson(calibrated, tmp_path_factory):
    """What the network of the photographed copy learns from"""
    copy, _, shots = calibrated

    def cut_lesson(folder):
        # pieces cut out no finer than they are looked at are cut out in half the time
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("calibration.learned.lesson.CUT_ZOOM", 1.0)
            lesson = prepare_lesson(copy.plan, shots)
        (folder / "lesson").write_bytes(pickle.dumps(lesson))

    return pickle.loads((made_once(tmp_path_factory, "lesson", cut_lesson) / "lesson").read_bytes())
