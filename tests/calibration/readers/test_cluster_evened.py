"""A kind learnt off its middle is laid as those are that share its sign in another colour."""

from __future__ import annotations

from types import SimpleNamespace

import cv2
import numpy as np
import pytest

from calibration.readers.loose.centre_samples import turned
from calibration.readers.loose.learn_looks import alike, evened, patches_of
from calibration.readers.loose.locate_samples import Found
from vision.geometry.pose import Pose
from vision.photometry.canvas import Frame, Lean
from vision.readers.loose.scene.polar_patches import Form, Rings
from vision.readers.loose.scene.scene import Scene

FRAME = Frame(0.0, 0.0, 1.7, 324, 238)
DISC = Form((18.0, 18.0), 2.0, True)
GROUND = (150, 170, 180)
COLOURS = {"blue": (190, 90, 60), "green": (80, 150, 70), "red": (135, 150, 195)}


@pytest.fixture
def table() -> tuple[Scene, list[Found]]:
    """Three discs of each of three colours, turned anyhow, with the same pale sign; the red ones
    hardly stand out from the board"""
    rng, fine, found = np.random.default_rng(3), 4, []
    image = np.full((238 * fine, 324 * fine, 3), GROUND, np.uint8)
    for i, name in enumerate(COLOURS):
        for j in range(3):
            at, turn = np.array([28.0 + 42 * i, 26.0 + 42 * j]), rng.uniform(0, 2 * np.pi)
            there = [
                np.rint(FRAME.to_px(at + turned(np.array(v).T, turn).T) * fine).astype(int)
                for v in (
                    [(-5, -2), (5, -2), (5, 1), (-5, 1)],
                    [(-1.5, 1), (1.5, 1), (1.5, 6), (-1.5, 6)],
                )
            ]
            cv2.circle(
                image,
                (FRAME.to_px(at) * fine).astype(int).tolist(),
                int(9 * 1.7 * fine),
                COLOURS[name],
                -1,
            )
            for outline in there:
                cv2.fillConvexPoly(image, outline, (225, 230, 230))
            found.append(Found(len(found), DISC, at, 1.0, f"man:{name}:hammer", turn, 1.0))
    image = cv2.GaussianBlur(
        cv2.resize(image, (324, 238), interpolation=cv2.INTER_AREA), (0, 0), 0.8
    )
    image = (image + rng.normal(0, 3, image.shape)).clip(0, 255).astype(np.uint8)
    lean = Lean(
        Pose(
            np.array([[800, 0, 160], [0, 800, 120], [0, 0, 1.0]]),
            np.zeros(4),
            np.zeros(3),
            np.array([-95.0, -70.0, 900.0]),
            (190, 140),
        )
    )
    ground = np.full_like(image, GROUND)
    scene = Scene(
        FRAME,
        lean,
        image,
        ground,
        np.full((238, 324), 1 / 100, np.float32),
        np.zeros((119, 162), np.float32),
        np.ones((11, 15, 3), np.float32),
    )
    return scene, found


def test_a_kind_that_lies_aside_is_brought_most_of_the_way_back_at_once(table):
    scene, found = table
    red = [f for f in found if "red" in f.kind]
    true = [f.at for f in red]
    for f in red:
        f.at = f.at + turned(np.array([1.4, -1.4]), f.turn)
    groups = [SimpleNamespace(shot=0) for _ in found]
    evened(found, groups, [scene], FRAME)
    assert max(np.linalg.norm(f.at - at) for f, at in zip(red, true)) < 0.8


def test_what_most_pieces_of_a_kind_look_like_does_not_hang_on_those_sought_elsewhere_than_they_lie(
    table,
):
    scene, found = table
    red = [f for f in found if "red" in f.kind]
    astray = [Found(f.group, DISC, f.at - [21.0, -21.0], 1.0, f.kind, f.turn, 1.0) for f in red]
    rings = Rings.around(DISC, FRAME.scale)
    groups = [SimpleNamespace(shot=0)] * len(found)
    patches = patches_of(rings, FRAME, red + astray, groups, [scene])
    area = rings.area(DISC)[None]
    assert alike(rings, area, patches, [*range(6)]) == [0, 1, 2]
    assert alike(rings, area, patches, [0, 2]) == [0, 2]
    assert alike(rings, area, patches, [0, 4]) == [0, 4]  # of two nobody knows which
