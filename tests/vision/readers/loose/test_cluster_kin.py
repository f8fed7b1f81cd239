"""Cards that share a part of their name: told apart by the part they do not share, whatever light
each was learnt in."""

import numpy as np
import pytest

from vision.readers.loose.cards.shared_artwork import agreed

SIGNS = {"war": (40, 90, 200), "trade": (60, 230, 240), "culture": (180, 60, 190)}
SIGN = slice(42, 58)


def card(face: tuple[int, int, int], sign: tuple[int, int, int]) -> np.ndarray:
    """(60, 60, 3) a white stroke on a coloured face, and a small sign in the corner"""
    look = np.full((60, 60, 3), face, np.float32)
    look[8:40, 26:34] = 235
    look[SIGN, SIGN] = sign
    return look


@pytest.fixture
def hazy() -> dict[str, np.ndarray]:
    """Three blue cards, each learnt in haze or light of its own"""
    light = {"war": (1.0, 0), "trade": (0.85, 30), "culture": (1.08, -10)}
    return {
        f"tile:politics/{k}": card((170, 90, 50), SIGNS[k]) * light[k][0] + light[k][1]
        for k in SIGNS
    }


def test_faces_of_relatives_become_one_and_signs_stay(hazy):
    found = agreed(hazy)
    one, other = found["tile:politics/war"], found["tile:politics/trade"]
    before = np.abs(hazy["tile:politics/war"] - hazy["tile:politics/trade"]).max(-1)
    after = np.abs(one - other).max(-1)
    face = np.ones((60, 60), bool)
    face[SIGN, SIGN] = False
    assert before[face].mean() > 10 and after[face].mean() < 2
    assert after[SIGN, SIGN].min() > 60
    for k, colour in SIGNS.items():
        assert np.abs(found[f"tile:politics/{k}"][SIGN, SIGN] - colour).max() < 25


def test_what_one_of_many_has_alone_is_kept():
    cards = {f"water:{i}": card((150, 120, 60), (150, 120, 60)) for i in range(8)}
    cards["water:5"][4:20, 4:20] = 20, 20, 160
    found = agreed(cards)
    assert np.abs(found["water:5"][4:20, 4:20] - (20, 20, 160)).max() < 15
    assert np.abs(found["water:0"] - cards["water:0"]).max() < 5


def test_strangers_are_left_alone(hazy):
    alone = {"tile:politics/war": hazy["tile:politics/war"], "cover": hazy["tile:politics/trade"]}
    found = agreed(alone)
    assert all(np.array_equal(found[k], alone[k]) for k in alone)
