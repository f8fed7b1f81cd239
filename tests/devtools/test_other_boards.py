"""Copies of other games' boards, drawn to measure by."""

import json
import tomllib

import cv2
import numpy as np
import pytest

from calibration.copy import load_copy
from devtools import other_boards
from devtools.other_boards import BOARDS, film_board, lay_pieces, look_at, random_layout, write_copy
from vision.geometry.pose import Pose
from vision.plan import parse_plan


@pytest.mark.parametrize("game", BOARDS)
def test_every_board_is_a_plan_whose_pieces_lie_on_their_sites(game):
    rng = np.random.default_rng(3)
    board = BOARDS[game](rng)
    plan = parse_plan(tomllib.loads(other_boards.plan_text(game, board)))
    assert len(plan.site) == len(board.places) > 20 and len(plan.piece) == len(board.shapes)
    layout = random_layout(board, 12, rng)
    assert len(layout) == 12
    for kind, at, _, _ in lay_pieces(board, layout, rng):
        outlines = [np.array(plan.sites[s].outline, np.float32) for s in layout]
        inside = max(cv2.pointPolygonTest(o, (float(at[0]), float(at[1])), True) for o in outlines)
        assert inside > 0, kind


def test_a_copy_can_be_calibrated_from_and_read(tmp_path, monkeypatch):
    monkeypatch.setattr(other_boards, "SIZE", (400, 300))
    monkeypatch.setattr(other_boards, "FOCAL", 310.0)
    monkeypatch.setattr(other_boards, "TESTS", 1)
    write_copy("points", 2, tmp_path)
    copy = load_copy(tmp_path)
    assert [p.name for p in copy.photos] == ["empty.jpg", "sampler-1.jpg", "sampler-2.jpg"]
    assert [len(p.layout) for p in copy.photos] == [0, 12, 12]
    assert len(json.loads((tmp_path / "test" / "01.json").read_text())) >= 5
    assert cv2.imread(str(tmp_path / "test" / "01.jpg")).shape == (300, 400, 3)


def test_a_piece_is_seen_where_the_pose_puts_it(monkeypatch):
    monkeypatch.setattr(other_boards, "SIZE", (400, 300))
    monkeypatch.setattr(other_boards, "FOCAL", 310.0)
    rng = np.random.default_rng(4)
    board = BOARDS["stacks"](rng)
    pose = look_at(board, 15.0, 80.0, 2.0, 0.9)
    assert isinstance(pose, Pose)
    empty, laid = (
        film_board(board, layout, pose, np.random.default_rng(5))
        for layout in ({}, {"B1": ["white"]})
    )
    x, y = pose.to_px(board.places["B1"].middle[None], 8.0)[0].round().astype(int)
    off = np.abs(laid.astype(int) - empty).max(2)
    assert off[y - 3 : y + 3, x - 3 : x + 3].min() > 40
    assert np.median(off) < 20
