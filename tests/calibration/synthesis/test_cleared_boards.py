"""Photos with pieces teach how the empty board looks in their light, too."""

import cv2
import numpy as np
import pytest

from calibration.synthesis.cleared_boards import (
    clear_boards,
    cover_board,
    cover_pieces,
    fill_board,
)

SCALE = 2.0


def test_what_pieces_hide_is_filled_in_in_the_light_about_them():
    rng = np.random.default_rng(1)
    print_ = np.kron(rng.normal(4.5, 0.3, (30, 40, 3)), np.ones((8, 8, 1))).astype(np.float32)
    h, w = print_.shape[:2]
    ys, xs = np.mgrid[:h, :w].astype(np.float32)
    light = (0.3 * xs / w - 0.2 * ys / h)[..., None] * np.float32([1, 0.9, 1.1])
    hidden = np.zeros((h, w), np.uint8)
    cv2.circle(hidden, (160, 120), 40, 1, -1)
    canvas = np.where(hidden[..., None] > 0, np.float32(3.0), print_ + light)
    cleared = fill_board(canvas, print_, hidden, 1 - hidden, SCALE)
    assert np.abs(cleared - print_ - light)[hidden == 0].mean() < 0.01
    inside = cv2.erode(hidden, np.ones((9, 9), np.uint8)) > 0
    assert np.abs(cleared - print_ - light)[inside].max() < 0.12, "it was 1.5 off"


def test_sites_with_pieces_are_covered_and_others_not(lesson):
    shot = next(s for s in lesson.shots if s.layout)
    hidden = cover_pieces(lesson.plan, lesson.view, shot)
    filled = {i for i, contents in shot.layout.items() if contents}
    near = np.array([lesson.plan.sites[i].centre for i in filled])
    for site in lesson.plan.site:
        x, y = np.rint(lesson.view.to_px(np.array(site.centre))).astype(int)
        if site.id in filled:
            assert hidden[y, x]
        elif np.hypot(*(near - site.centre).T).min() > 90:
            assert not hidden[y, x]
    board = cover_board(lesson.plan, lesson.view)
    assert board.mean() == pytest.approx(0.87, abs=0.1) and not board[0, 0]


def test_a_board_of_which_little_shows_is_left_out(lesson):
    shot = next(s for s in lesson.shots if s.layout)
    canvas = lesson.reals[lesson.shots.index(shot)][0]
    given = lesson.plan, lesson.view, [shot], [canvas]
    shown = clear_boards(*given, lesson.empty)
    assert len(shown) == 1 and np.abs(shown[0] - lesson.empty).mean() < 0.1
    bare = [s for s in lesson.shots if not s.layout]
    assert len(lesson.empties) == len(bare) == 2, "cleared ones are for copies with one"
    everywhere = {s.id: ("temple",) for s in lesson.plan.site}
    full = type(shot)(shot.image, everywhere, shot.pose, shot.name)
    assert not clear_boards(lesson.plan, lesson.view, [full], [canvas], lesson.empty)
