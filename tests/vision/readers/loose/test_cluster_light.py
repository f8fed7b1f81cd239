"""The light on a table: mended by the cards where it was far off, left alone where cards merely
differ; and what a lamp makes brighter than a camera can show, which then says nothing."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from vision.photometry.canvas import Empty, Frame
from vision.photometry.room_light import CLIPPED
from vision.readers.loose.scene.polar_patches import Form, Rings, Table
from vision.readers.loose.scene.resampling import is_canvas, is_whole
from vision.readers.loose.scene.scene import Scene, Stage, thinned

AT = np.stack(np.meshgrid(np.arange(30.0, 271, 60), np.arange(30.0, 211, 60)), -1).reshape(-1, 2)
SURE = np.full(len(AT), 0.8)


@pytest.fixture
def scene():
    nothing = np.zeros((480, 600, 3), np.uint8)
    return Scene(
        Frame(0.0, 0.0, 2.0, 600, 480),
        None,
        nothing,
        nothing,
        nothing[..., 0],
        nothing[..., 0],
        np.ones((21, 26, 3), np.float32),
    )


def test_cards_mend_a_light_that_is_off(scene):
    truth = np.exp(0.35 * AT[:, :1] / 300) * np.array([1.1, 1.05, 1.0])
    scene.relit(AT, truth, SURE)
    assert np.abs(np.log(scene.light_at(AT) / truth)).mean() < 0.3 * np.abs(np.log(truth)).mean()


def test_cards_that_differ_a_little_change_nothing_much(scene):
    scene.relit(AT, np.exp(np.random.default_rng(2).normal(0, 0.04, (len(AT), 3))), SURE)
    assert np.abs(np.log(scene.light)).max() < 0.03


def test_one_card_taken_for_another_is_not_believed(scene):
    gain = np.full((len(AT), 3), 1.2)
    gain[7] = 0.7
    scene.relit(AT, gain, SURE)
    assert scene.light_at(AT[7:8]).min() > 1.02


def test_no_cards_no_change(scene):
    scene.relit(AT[:0], np.ones((0, 3)), SURE[:0])
    assert (scene.light == 1).all()


def board_under_a_lamp(gain):
    """(stage of an empty board, the board as a camera shows it `gain` times as bright in the
    middle)"""
    frame = Frame(0.0, 0.0, 2.0, 600, 480)
    board = np.random.default_rng(1).integers(110, 140, (60, 75, 1)).repeat(8, 0).repeat(
        8, 1
    ) * np.array([0.8, 1.0, 1.1])
    stage = Stage(
        Empty(frame, board.astype(np.uint8), np.full((480, 600), 5, np.float32)),
        np.ones((480, 600), np.float32),
    )
    y, x = np.mgrid[:480, :600]
    lamp = 1 + (gain - 1) * np.exp(-((x - 300) ** 2 + (y - 240) ** 2) / (2 * 200**2))
    return stage, np.minimum(board * lamp[..., None], CLIPPED).astype(np.uint8)


def test_a_board_too_bright_for_the_camera_is_not_strange():
    stage, seen = board_under_a_lamp(2.6)
    assert (seen == CLIPPED).any(2).mean() > 0.1
    light = stage.light(thinned(seen, stage.cells))
    scene = Scene(
        stage.frame,
        None,
        np.dstack([seen, seen[..., 0]]),
        stage.ground(light, (0, 0, 600, 480)),
        stage.weight.copy(),
        np.zeros((240, 300), np.float32),
        light,
    )
    stage.estrange(scene, (0, 0, 600, 480))
    assert scene.strange.mean() < 0.02


def test_a_light_piece_is_still_known_where_the_camera_shows_it_no_lighter():
    frame, form = Frame(0.0, 0.0, 2.0, 200, 200), Form((16.0, 16.0), 3.0, True)
    rings = Rings.around(form, frame.scale)
    looks = np.stack([np.full((*rings.cell.shape, 3), v, np.float32) for v in (235, 60)])
    table = Table(rings, looks, np.broadcast_to(rings.area(form), looks.shape[:3]))
    light = np.full((1, 3), 0.55)
    seen = np.full((200, 200, 4), CLIPPED, np.uint8)  # in the empty board's light no more than 137
    ground, weight = np.full((200, 200, 4), 100, np.uint8), np.full((200, 200), 1 / 169, np.float32)
    patch = rings.look_at(frame, seen, ground, weight, np.array([[50.0, 50.0]]), light)
    gain = table.gains(patch)[0][0]
    assert gain[0] > 0 > gain[1]


@pytest.mark.parametrize(
    ("exposure", "piece", "darker"), [(0.5, 125, 1), (0.5, 250, 2), (1.0, 250, 1), (1.3, 250, 1)]
)
def test_the_board_is_taken_darker_as_far_as_pieces_in_its_light_would_be_beyond_white(
    exposure, piece, darker
):
    frame = Frame(0.0, 0.0, 2.0, 600, 480)
    board = np.random.default_rng(3).uniform(90, 130, (480, 600, 3)).astype(np.uint8)
    empty = Empty.of(frame, [board])
    sampler = (board * exposure).clip(0, 255).astype(np.uint8)
    sampler[100:140, 100:140] = piece
    taken = empty.below_white([sampler], np.ones((480, 600), np.float32))
    assert np.median(empty.canvas / taken.canvas.clip(1)) == pytest.approx(darker, rel=0.06)
    assert empty.below_white([], np.ones((480, 600), np.float32)) is empty


def test_a_part_of_the_canvas_lies_in_one_piece_as_kernels_take_it():
    stage, seen = board_under_a_lamp(1.3)
    pose = SimpleNamespace(
        to_px=lambda mm, height=0: stage.frame.to_px(mm), to_mm=stage.frame.to_mm, size=(600, 480)
    )
    (part,) = stage.windows(seen, pose, [(96, 48, 336, 240)], stage.light(stage.low(seen, pose)))
    assert (
        is_canvas(part.seen)
        and is_canvas(part.ground)
        and is_whole(part.weight, part.strange, part.light)
    )
