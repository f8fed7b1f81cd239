"""The example of docs/manual/own-board.md is a plan that can be used."""

from __future__ import annotations

import contextlib
import io
import re
import tomllib
from pathlib import Path

import numpy as np

from calibration.copy import load_copy
from vision.plan import parse_plan

PAGE = (Path(__file__).parents[2] / "docs" / "manual" / "own-board.md").read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.S)


def written_by(code):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code, "own-board.md", "exec"), {})
    return parse_plan(tomllib.loads(out.getvalue()))


def test_the_lines_of_python_for_hexes_write_99_that_fit_together_on_their_board():
    plan = written_by(blocks("python")[1])
    assert len(plan.site) == 99 and len(plan.piece) == 4
    corners = np.vstack([s.outlines[0] for s in plan.site])
    assert corners.min() >= 14.9 and (plan.size - corners.max(0)).min() >= 14.9
    share = {tuple(c) for c in plan.sites["B2"].outlines[0].round(1)} & {
        tuple(c) for c in plan.sites["C1"].outlines[0].round(1)
    }
    assert len(share) == 2, "hexes that touch have an edge in common"


def test_the_lines_of_python_write_a_plan_of_225_squares_and_30_kinds():
    plan = written_by(blocks("python")[0])
    assert len(plan.site) == 225 and len(plan.piece) == 30
    assert plan.sites["O15"].centre.tolist() == [310, 310]
    assert sum(p.count for p in plan.piece) == 102
    assert {"U", "Ü", "I", "J"} <= set(plan.pieces)


def test_the_plan_shown_is_one():
    plan = parse_plan(tomllib.loads(blocks("toml")[0]))
    assert plan.pieces["A"].footprint == (19, 19)


def test_the_copy_shown_has_the_keys_that_are_read(tmp_path, board):
    import cv2

    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(blocks("python")[0], "own-board.md", "exec"), {})
    (tmp_path / "plan.toml").write_text(out.getvalue(), encoding="utf-8")
    (tmp_path / "copy.toml").write_text(blocks("toml")[-1], encoding="utf-8")
    picture = cv2.resize(board.film(board.pose()), (1640, 1232))
    for name, layout in (("empty", "{}"), ("sampler-1", '{"A1": ["U"], "C1": ["Ü"]}')):
        cv2.imwrite(str(tmp_path / f"{name}.jpg"), picture)
        picture = cv2.add(picture, 3)  # no two photos are the same
        (tmp_path / f"{name}.json").write_text(layout, encoding="utf-8")
    copy = load_copy(tmp_path)
    assert copy.photos[0].corners.shape == (4, 2)
    assert copy.photos[1].layout == {"A1": ("U",), "C1": ("Ü",)}
