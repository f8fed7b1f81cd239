"""Loose pieces are laid by the symmetry of their prints: on ground of a piece's own colour its
shadow shows more than its top."""

import cv2
import numpy as np
import pytest

from calibration.cutouts.seek import Samplers
from calibration.cutouts.symmetry import lies_by_symmetry
from tests.support.drawn_pieces import MIDDLE, fill_box, found_piece
from vision.learned.canvas import Canvas
from vision.plan import parse_plan

VIEW = Canvas((60.0, 60.0), 2.4)
PLAN = parse_plan(
    {
        "game": "drawn",
        "size": [60, 60],
        "site": [{"id": "F1", "reads": "cluster", "outline": [[0, 0], [60, 0], [60, 60]]}],
        "piece": [
            {"kind": "cube", "size": [10, 10], "height": 10},
            {"kind": "disc", "size": 12, "height": 3},
            {"kind": "long", "size": [14, 8], "height": 3},
        ],
    },
    "drawn",
)
SIGNS = {"cross": [(-3, -1, 3, 1), (-1, -3, 1, 3)], "flag": [(-3, -4, -1, 4), (-1, -4, 3, -2)]}


def draw_piece(
    sign: str | None, turn: float, printed: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """(canvas, ground): a piece of the ground's colour in the middle, a dark line about its top,
    its shadow to the lower right; printed: a cross printed on the ground above it"""
    ground = np.full((*VIEW.shape, 3), 4.5, np.float32)
    if printed:
        for x0, y0, x1, y1 in SIGNS["cross"]:
            fill_box(ground, VIEW, (x0, y0 - 9, x1, y1 - 9), turn, 5.3)
    canvas = ground.copy()
    for box, value in (
        ((-1, -1, 9, 9), 3.4),
        ((-5, -5, 5, 5), 4.0),
        ((-4.3, -4.3, 4.3, 4.3), 4.5),
        *((box, 5.3) for box in SIGNS.get(sign or "", ())),
    ):
        fill_box(canvas, VIEW, box, turn, value)
    return (*(cv2.GaussianBlur(v, (0, 0), 1.0) for v in (canvas, ground)),)


def told_lies(seen, found, kind="cube") -> dict[int, tuple[np.ndarray, float]]:
    """Of pieces on canvases of their own, found (2,) mm aside"""
    pieces = [found_piece(n, kind, MIDDLE + off) for n, off in enumerate(found)]
    canvases, grounds = zip(*seen)
    return lies_by_symmetry(Samplers(PLAN, VIEW, (), canvases, grounds), pieces)


@pytest.mark.parametrize("turn", [0.0, 27.0, 63.0])
@pytest.mark.parametrize("off", [(4.5, 4.5), (-3.0, 2.0), (6.0, -1.0)])
def test_a_piece_found_where_its_shadow_lies_is_moved_to_its_top(turn, off):
    lies = told_lies([draw_piece("cross", turn)] * 2, [off, off])
    assert set(lies) == {0, 1} and lies[1][0] == pytest.approx(MIDDLE, abs=0.8)
    assert (lies[1][1] - turn + 45) % 90 - 45 == pytest.approx(0, abs=3)


def test_a_piece_found_as_well_by_its_outline_stays():
    assert not told_lies([draw_piece("cross", 20.0)] * 2, [(0.8, -0.8)] * 2)


@pytest.mark.parametrize("sign", [None, "flag"])
def test_a_sign_that_is_not_symmetric_moves_nothing(sign):
    assert not told_lies([draw_piece(sign, 0.0)] * 2, [(0.0, 0.0)] * 2)


def test_a_symmetric_print_of_the_ground_is_no_piece():
    tops = told_lies([draw_piece("flag", 0.0, printed=True)] * 2, [(0.0, -3.0)] * 2)
    assert all(top[1] > MIDDLE[1] - 4 for top in tops.values())


def test_one_of_a_kind_alone_tells_nothing_of_the_others():
    seen = [draw_piece("cross", 0.0), draw_piece("flag", 0.0), draw_piece("flag", 0.0)]
    assert not told_lies(seen, [(5.0, 5.0)] * 3)


def test_pieces_longer_than_wide_stay_where_they_were_found():
    assert not told_lies([draw_piece("cross", 0.0)] * 2, [(4.5, 4.5)] * 2, "long")
