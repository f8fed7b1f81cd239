"""What a copy's photos show of a plan's kinds: a piece under another one teaches nobody how it
looks."""

from pathlib import Path

import numpy as np

from calibration.copy import Copy, Photo, missing_kinds
from companion.simulate import plan_of
from vision.geometry.occlusion import visible_counts

COVERED = {
    "B9": ("flipped", "monument:black-blue"),
    "C9": ("flipped",),
    "B10": ("flipped",),
    "C10": ("flipped",),
    "D5": ("temple", "union"),
    "F3": ("market", "treasure"),
    "A1": ("?", "farm"),
}


def test_what_lies_wholly_under_something_is_not_in_sight():
    plan, _ = plan_of("tigris", None)
    assert visible_counts(plan, COVERED) == {
        "monument:black-blue": 1,
        "union": 1,
        "market": 1,
        "treasure": 1,
        "farm": 1,
    }
    assert visible_counts(plan, {"C9": ("flipped",)}) == {"flipped": 1}


def test_a_kind_that_no_photo_shows_in_sight_is_missing():
    plan, _ = plan_of("tigris", None)
    copy = Copy(
        Path("."),
        "tigris",
        "test",
        plan,
        False,
        [Photo("a", np.zeros((2, 2, 3), np.uint8), COVERED, None)],
    )
    missing = {p.kind for p in missing_kinds(copy)}
    assert {"flipped", "temple"} <= missing and not {
        "union",
        "market",
        "monument:black-blue",
    } & missing
