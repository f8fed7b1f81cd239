import pytest

from tests.engine.support import ur_positions


@pytest.fixture(scope="session")
def ur():
    return ur_positions
