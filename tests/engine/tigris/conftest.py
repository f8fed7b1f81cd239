import pytest

import engine


@pytest.fixture
def game():
    return engine.game("tigris")
