"""A table without a camera: see tests/companion/support/made_evidence.py."""

import pytest

from tests.companion.support.made_evidence import Player, sees


@pytest.fixture
def player():
    return Player


@pytest.fixture
def perfect():
    return sees
