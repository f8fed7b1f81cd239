"""How kinds look that only their turn tells from others."""

import numpy as np
import pytest

from calibration.learned.compose import Evening, Look, Painter
from calibration.learned.teach import turn_looks
from vision.learned.canvas import Canvas
from vision.plan import parse_plan

PLAN = parse_plan(
    {
        "game": "market",
        "size": [100, 100],
        "site": [{"id": "a", "reads": "pile", "outline": [[30, 30], [70, 30], [70, 70], [30, 70]]}],
        "piece": [
            {"kind": "fig", "size": 20, "height": 2},
            {"kind": "bad:fig", "size": 20, "height": 2, "looks": "fig", "turned": 45},
        ],
    },
    "market",
)


def look_of(kind: str, turned: float | None) -> Look:
    patch = np.full((20, 20, 3), 5.0, np.float32)
    patch[9:11] = 4.0  # a bar across
    mask = np.ones((20, 20), np.float32)
    side = np.full(3, 4.5, np.float32)
    return Look(PLAN.pieces[kind], patch, mask, side, 1.0, "any", turned)


@pytest.mark.parametrize(
    "known, other, turned", [("fig", "bad:fig", 30.0 + 45), ("bad:fig", "fig", 30.0 - 45)]
)
def test_a_kind_is_taken_from_what_it_looks_like_turned(known, other, turned):
    looks = {known: [look_of(known, 30.0), look_of(known, None)]}
    turn_looks(PLAN, looks)
    assert [v.turned for v in looks[other]] == [turned]
    assert [v.turned for v in looks[known]] == [30.0, None]


def test_a_kind_is_not_taken_from_looks_of_which_nobody_knows_how_they_lie():
    looks = {"fig": [look_of("fig", None)]}
    turn_looks(PLAN, looks)
    assert looks.keys() == {"fig"}


def test_what_is_turned_on_a_pile_lies_so_whichever_side_is_up():
    view = Canvas((100.0, 100.0), 1.0)
    evening = Evening(0, np.zeros(2), np.array([50, 50, 900.0]), np.zeros(2), 0.5, 0.0, 0.0)
    steepness = []
    for seed in range(40):
        canvas = np.full((*view.shape, 3), 5.0, np.float32)
        paint = Painter(canvas, view, (0, 0), evening, np.random.default_rng(seed))
        paint.lay_piece(look_of("bad:fig", 45.0), np.array([50.0, 50.0]), 0.0, np.zeros(2))
        y, x = np.nonzero(paint.canvas[..., 0] < 4.4)
        steepness.append(np.corrcoef(x, y)[0, 1])
    assert np.abs(steepness).min() > 0.7, "never straight"
    assert 10 < (np.array(steepness) > 0).sum() < 30, "to either side"
