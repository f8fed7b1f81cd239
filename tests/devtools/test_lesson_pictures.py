"""Pictures of what a network is taught."""

import cv2
import numpy as np
import pytest

from calibration.synthesis.lesson import prepare_lesson
from devtools import lesson_pictures
from devtools.lesson_pictures import BOARDS, COLUMNS, TILE, as_picture, main
from tests.support.wagons import wagons_plan, wagons_shots
from vision.photometry.room_light import DARK


def test_looks_and_boards_are_drawn(tmp_path, monkeypatch):
    plan = wagons_plan()
    lesson = prepare_lesson(plan, wagons_shots(plan, 4))
    monkeypatch.setattr(lesson_pictures, "copy_lesson", lambda copy: lesson)
    assert main(["COPY", str(tmp_path / "new")]) is None
    looks, boards = (cv2.imread(str(tmp_path / "new" / f"{n}.png")) for n in ("looks", "boards"))
    assert len(looks) == len(lesson.looks) * (TILE + 4)
    assert boards.shape == (256 * BOARDS // COLUMNS, 256 * COLUMNS, 3) and boards.std() > 10
    first = sorted(lesson.looks)[0]
    patch = as_picture(lesson.looks[first][0].patch)
    drawn = looks[2 : 2 + TILE, lesson_pictures.NAME_WIDTH :][:, :TILE]
    inside = drawn[(drawn < 250).any(2)]
    assert np.median(inside, 0) == pytest.approx(np.median(patch.reshape(-1, 3), 0), abs=12)


def test_logs_are_drawn_as_they_were_seen():
    seen = np.array([[[0, 120, 255]]], np.float32)
    assert as_picture(np.log(seen + DARK))[0, 0] == pytest.approx([0, 120, 255], abs=1)


def test_a_copy_that_is_none_gets_one_line(tmp_path):
    assert str(tmp_path / "none") in main([str(tmp_path / "none"), str(tmp_path / "out")])
    assert main([]).startswith("python -m devtools.lesson_pictures")
