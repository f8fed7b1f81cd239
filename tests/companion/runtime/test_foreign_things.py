"""A phone, a cup, a card and a coin on the board are mostly something else, or doubtful: seldom a
piece that people own."""

import json
import math

import cv2
import numpy as np
import pytest

from tests.conftest import PHOTOS as COPY
from vision.reader import Reader
from vision.storage.photo_file import load_photo

PHOTOS = COPY / "test"
pytestmark = pytest.mark.slow
DOTS = 4  # pixels a mm of drawn things
CUPS = {"cup": (225, 225, 220), "mug": (150, 60, 40)}


def thing(kind):
    """((h, w, 3) uint8, (h, w) 0..1 what of it is there)"""
    if kind in CUPS:
        image, there = (
            np.full((320, 320, 3), CUPS[kind], np.uint8),
            np.zeros((320, 320), np.float32),
        )
        cv2.circle(there, (160, 160), 159, 1, -1)
        cv2.circle(image, (160, 160), 140, (25, 40, 70), -1)
        return image, there
    if kind == "coin":
        image, there = (
            np.full((96, 96, 3), (60, 110, 180), np.uint8),
            np.zeros((96, 96), np.float32),
        )
        cv2.circle(there, (48, 48), 47, 1, -1)
        cv2.circle(image, (48, 48), 40, (48, 88, 144), 3)
        return image, there
    w, h = {"phone": (72, 150), "card": (58, 88)}[kind]
    image = np.full(
        (h * DOTS, w * DOTS, 3), (28, 26, 25) if kind == "phone" else (240, 240, 240), np.uint8
    )
    if kind == "card":
        cv2.putText(image, "K", (10, 60), cv2.FONT_HERSHEY_SIMPLEX, 2, (20, 20, 180), 5)
        cv2.circle(image, (116, 176), 60, (20, 20, 180), -1)
    return image, np.ones(image.shape[:2], np.float32)


def laid(picture, pose, kind, at, turn, rng):
    """The picture with a thing on it at `at` mm, with a shadow and noise; and (h, w) bool what it
    covers"""
    image, there = thing(kind)
    h, w = there.shape
    c, s = np.cos(turn), np.sin(turn)
    corners = (
        np.array([[-w, -h], [w, -h], [w, h], [-w, h]]) / 2 / DOTS @ np.array([[c, s], [-s, c]]) + at
    )
    M = cv2.getPerspectiveTransform(
        np.float32([[0, 0], [w, 0], [w, h], [0, h]]), pose.to_px(corners).astype(np.float32)
    )
    size = picture.shape[1::-1]
    noisy = np.clip(image + rng.normal(0, 4, image.shape), 0, 255).astype(np.float32)
    over, alpha = (
        cv2.warpPerspective(noisy, M, size),
        cv2.GaussianBlur(cv2.warpPerspective(there, M, size), (0, 0), 0.8),
    )
    shadow = cv2.GaussianBlur(np.roll(alpha, (3, 4), (0, 1)), (0, 0), 3) * (1 - alpha) * 0.35
    out = picture * (1 - shadow - alpha)[..., None].clip(0) + over * alpha[..., None]
    return out.clip(0, 255).astype(np.uint8), alpha > 0.5


@pytest.mark.parametrize("photo", ["05", "11"])
def test_what_is_no_piece_is_seldom_taken_for_one(copy, photo):
    reader, rng = Reader.load(copy / "model.npz"), np.random.default_rng(int(photo))
    picture = load_photo(PHOTOS / f"{photo}.jpg")
    truth = json.loads((PHOTOS / f"{photo}.json").read_text())
    pose = reader.locate(picture)
    told = {"something else": 0, "doubtful": 0, "what lies there": 0, "a wrong piece": 0}
    w, h = reader.plan.size
    for kind, x, y in (
        ("phone", 0.2, 0.3),
        ("mug", 0.45, 0.7),
        ("cup", 0.8, 0.7),
        ("card", 0.6, 0.3),
        ("coin", 0.9, 0.2),
    ):
        seen, mask = laid(picture, pose, kind, np.array([w * x, h * y]), rng.uniform(0, 6), rng)
        evidence = reader.read_at(seen, pose)
        for site in reader.plan.site:
            area = np.zeros(mask.shape, np.uint8)
            cv2.fillPoly(area, [np.rint(pose.to_px(o)).astype(np.int32) for o in site.outlines], 1)
            if (mask & (area > 0)).sum() > 0.6 * area.sum():
                e = evidence.sites[site.id]
                told[
                    "something else"
                    if e.foreign
                    else "doubtful"
                    if e.options[0][1] < math.log(0.9)
                    else "what lies there"
                    if e.best == tuple(truth.get(site.id, ()))
                    else "a wrong piece"
                ] += 1
    assert sum(told.values()) > 15 and told["a wrong piece"] <= 0.5 * sum(told.values()), told
