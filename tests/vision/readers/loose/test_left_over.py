"""Things that are no pieces: lumps that nothing explains."""

from types import SimpleNamespace

import numpy as np
import pytest

from vision.geometry.pose import Pose
from vision.geometry.posed_photo import Shot
from vision.photometry.canvas import Frame
from vision.plan import parse_plan
from vision.readers.loose.residual_blobs import Place, left_bare, left_on, littered


def scene(paint):
    """100 mm of grey ground, two pixels a mm, on which `paint` (h, w, 3) of what is seen works"""
    ground = np.full((200, 200, 4), 120, np.uint8)
    seen = ground.copy()
    paint(seen)
    strange = (np.abs(seen[::2, ::2, :3].astype(int) - 120).max(2) > 25).astype(np.float32)
    return SimpleNamespace(
        frame=Frame(0, 0, 2.0, 200, 200),
        seen=seen,
        ground=ground,
        weight=np.full((200, 200), 1 / 169, np.float32),
        strange=strange,
        light=np.ones((9, 9, 3), np.float32),
        light_at=lambda mm: np.ones((len(mm), 3)),
    )


def coin(seen):
    seen[80:120, 80:120] = (60, 120, 190, 0)


def shadow(seen):
    seen[60:140, 60:140] //= 10
    seen[60:140, 60:140] *= 7


def sliver(seen):
    seen[20:180, 98:102] = (60, 120, 190, 0)


@pytest.mark.parametrize(("paint", "stray"), [(coin, True), (shadow, False), (sliver, False)])
def test_a_compact_lump_is_something_else_a_shadow_and_a_sliver_are_not(paint, stray):
    shown = scene(paint)
    left = left_on(shown, Place.of(shown.frame, np.array([[5, 5], [95, 5], [95, 95], [5, 95.0]])))
    assert bool(littered(left.lump, 1.0, 9.0) > 0.5) is stray


def test_a_shadow_beside_what_stands_fills_nothing():
    outline = np.array([[5, 5], [95, 5], [95, 95], [5, 95.0]])
    one, both = scene(coin), scene(lambda seen: (shadow(seen), coin(seen)))
    alone, shaded = (left_on(s, Place.of(s.frame, outline)) for s in (one, both))
    assert alone.filled(True) == alone.filled(False) > 5
    assert (
        shaded.filled(False) > 1.2 * shaded.filled(True)
        and abs(shaded.filled(True) - alone.filled(True)) < 1
    )


def test_a_lump_is_judged_by_those_that_samplers_leave():
    assert (
        littered(6.0, 1.0, 9.0) > 0.9
        and littered(6.0, 6.0, 9.0) < 0.1
        and littered(60.0, np.inf, 9.0) == 0.0
    )


@pytest.mark.parametrize(("shine", "lumps"), [(0, False), (70, True)])
def test_what_a_lamp_makes_of_the_bare_board_is_the_least_that_something_else_must_be(shine, lumps):
    site = {"id": "pit", "reads": "cluster", "outline": [[20, 20], [80, 20], [80, 80], [20, 80]]}
    plan = parse_plan(
        {
            "game": "seeds",
            "size": [100, 100],
            "piece": [{"kind": "seed", "size": 12}],
            "site": [site],
        }
    )
    camera = np.array([[1800.0, 0, 200], [0, 1800.0, 200], [0, 0, 1]])
    pose = Pose(camera, np.zeros(4), np.zeros(3), np.array([-50.0, -50.0, 450.0]), (400, 400))
    rng, (y, x) = np.random.default_rng(3), np.mgrid[:400, :400]
    images = []
    for light in (0, shine):
        board = (
            np.array([60, 100, 150])
            + light * np.exp(-((x - 200) ** 2 + (y - 200) ** 2) / 40**2)[..., None]
        )
        images.append(np.clip(board + rng.normal(0, 2, board.shape), 0, 255).astype(np.uint8))
    frame = Frame.of(plan, [pose] * 2)
    bare = [Shot(image, {}, pose, "empty.jpg") for image in images]
    most = left_bare(plan, frame, bare, [frame.flatten(s.image, frame.maps(pose)) for s in bare])
    assert (most > 4) is lumps and (lumps or most < 1)
    assert left_bare(plan, frame, bare[:1], [bare[0].image]) == 0
