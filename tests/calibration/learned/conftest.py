"""The test copy cut out once for all tests of learning, whatever process they run in."""

import pickle

import pytest

from calibration.learned import teach
from tests.support.sharing import made_once


@pytest.fixture(scope="session")
def cut_out(calibrated, tmp_path_factory):
    """(lesson, the specimens that it was made from)"""
    copy, _, shots = calibrated

    def cut_lesson(folder):
        found = []

        def write_down(*args):
            specimens, grounds = cut_specimens(*args)
            found.extend(specimens)
            return specimens, grounds

        cut_specimens = teach.cut_specimens
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(teach, "cut_specimens", write_down)
            lesson = teach.prepare_lesson(copy.plan, shots, [])
        (folder / "lesson").write_bytes(pickle.dumps((lesson, found)))

    return pickle.loads((made_once(tmp_path_factory, "lesson", cut_lesson) / "lesson").read_bytes())


@pytest.fixture(scope="session")
def lesson(cut_out):
    return cut_out[0]
