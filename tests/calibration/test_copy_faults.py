"""A copy's folder as somebody writes it by hand for the first time: what is wrong is told in
words."""

from __future__ import annotations

import json

import cv2
import numpy as np
import pytest

from calibration.copy import BadCopy, load_copy

PLAN = """
game = "two places"
size = [200, 100]
[[piece]]
kind = "disc"
size = 30
[[site]]
id = "left"
outline = [[0, 0], [100, 0], [100, 100], [0, 100]]
[[site]]
id = "right"
outline = [[100, 0], [200, 0], [200, 100], [100, 100]]
"""
COPY = """
game = "two places"
plan = "plan.toml"
[[photo]]
file = "empty.png"
layout = "empty.json"
corners = [[20, 20], [180, 20], [180, 100], [20, 100]]
[[photo]]
file = "sampler.png"
layout = "sampler.json"
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "plan.toml").write_text(PLAN)
    (tmp_path / "copy.toml").write_text(COPY)
    (tmp_path / "empty.json").write_text("{}")
    (tmp_path / "sampler.json").write_text(json.dumps({"left": ["disc"]}))
    for n, name in enumerate(("empty", "sampler")):
        cv2.imwrite(
            str(tmp_path / f"{name}.png"),
            np.random.default_rng(n).integers(0, 255, (120, 200, 3)).astype(np.uint8),
        )
    return tmp_path


@pytest.mark.parametrize(
    "file, before, after, told",
    [
        ("copy.toml", "corners", "corner", "photo 1: 'corner' is not read; 'corners' is meant"),
        ("copy.toml", "plan =", "plans =", "'plans' is not read; 'plan' is meant"),
        ("empty.json", "{}", "\n", "is empty; {} stands for a board on which nothing lies"),
        (
            "copy.toml",
            '"sampler.png"',
            '"empty.png"',
            "photos 1 and 2 are the same picture, with other layouts",
        ),
        (
            "sampler.json",
            '"disc"',
            '"?"',
            (
                "sampler.json: left: '?' is what lies hidden under another piece, and none "
                "lies upon it"
            ),
        ),
    ],
)
def test_a_slip_of_the_pen_is_named(folder, file, before, after, told):
    load_copy(folder)
    text = (folder / file).read_text()
    (folder / file).write_text(text.replace(before, after, 1))
    with pytest.raises(BadCopy) as e:
        load_copy(folder)
    assert told in str(e.value) and "\n" not in str(e.value)


def test_one_photo_in_single_brackets_is_named(folder):
    (folder / "copy.toml").write_text(
        COPY[: COPY.rindex("[[photo]]")].replace("[[photo]]", "[photo]")
    )
    with pytest.raises(BadCopy, match=r"two pairs of brackets"):
        load_copy(folder)


@pytest.mark.parametrize("name", ["copy.toml", "empty.png"])
def test_a_file_given_for_its_folder_is_named(folder, name):
    with pytest.raises(BadCopy, match=f"{name}: a file; name the copy's folder"):
        load_copy(folder / name)
