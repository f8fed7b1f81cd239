"""Fixtures that several rooms' tests share, and the photographed copy with the poses of its
photos, found once for all processes of a run."""

import pickle

import pytest

from calibration.copy import load_copy
from calibration.fit import shots_of
from calibration.synthesis.lesson import prepare_lesson
from tests.conftest import PHOTOS
from tests.support.sharing import made_once
from tests.support.studio import board, carded, tools

__all__ = ["board", "calibrated", "carded", "tools"]


@pytest.fixture
def few_rounds(monkeypatch):
    """A function that says in how many steps classes are fitted at least, which takes longer than
    all else where little is learnt"""

    def limit_rounds(least):
        for where in ("class_fit", "refit"):
            monkeypatch.setattr(f"calibration.training.{where}.LEAST_ROUNDS", least)
        monkeypatch.setattr("calibration.training.class_fit.HEAT_ROUNDS", 60)
        monkeypatch.setattr("calibration.training.teach.SAMPLES_SHOWN", 8)

    return limit_rounds


@pytest.fixture
def still_trunk(monkeypatch, few_rounds):
    """A function that says in how many steps, and from how many batches, classes are fitted to the
    trunk as it is shipped, where one step is learnt: compiling the steps in which the trunk itself
    learns takes ten seconds for each board"""

    def stay_still(rounds, batches):
        few_rounds(rounds)
        monkeypatch.setattr("calibration.training.teach.FIRST_SHARE", 1.0)
        monkeypatch.setattr("calibration.training.teach.LAST_SHARE", float(batches))

    return stay_still


@pytest.fixture(scope="session")
def calibrated(tmp_path_factory):
    """(copy, registrar, shots), which nobody may change"""

    def find_poses(folder):
        copy = load_copy(PHOTOS)
        (folder / "shots").write_bytes(pickle.dumps((copy, *shots_of(copy))))

    return pickle.loads(
        (made_once(tmp_path_factory, "calibrated", find_poses) / "shots").read_bytes()
    )


@pytest.fixture(scope="session")
def lesson(calibrated, tmp_path_factory):
    """What the network of the photographed copy learns from"""
    copy, _, shots = calibrated

    def cut_lesson(folder):
        # pieces cut out no finer than they are looked at are cut out in half the time
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("calibration.synthesis.lesson.CUT_ZOOM", 1.0)
            lesson = prepare_lesson(copy.plan, shots)
        (folder / "lesson").write_bytes(pickle.dumps(lesson))

    return pickle.loads((made_once(tmp_path_factory, "lesson", cut_lesson) / "lesson").read_bytes())
