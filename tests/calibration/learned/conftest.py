"""The test copy cut out once for all tests of learning, which run in one process."""

from pathlib import Path

import pytest

from calibration.copy import load_copy
from calibration.fit import shots_of
from calibration.learned.teach import prepare_lesson

COPY = Path(__file__).parent.parent.parent / "photos" / "tigris"


@pytest.fixture(scope="session")
def calibrated():
    copy = load_copy(COPY)
    registrar, shots = shots_of(copy)
    return copy, registrar, shots


@pytest.fixture(scope="session")
def lesson(calibrated):
    copy, _, shots = calibrated
    return prepare_lesson(copy.plan, shots, [])
