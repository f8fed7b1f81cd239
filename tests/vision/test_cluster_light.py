"""The light on a table full of cards: mended by the cards where it was far off, left alone where cards merely differ."""

from __future__ import annotations

import numpy as np
import pytest

from vision.cluster_canvas import Frame
from vision.cluster_scene import Scene

AT = np.stack(np.meshgrid(np.arange(30.0, 271, 60), np.arange(30.0, 211, 60)), -1).reshape(-1, 2)
SURE = np.full(len(AT), 0.8)


@pytest.fixture
def scene():
    nothing = np.zeros((480, 600, 3), np.uint8)
    return Scene(Frame(0.0, 0.0, 2.0, 600, 480), None, nothing, nothing, nothing[..., 0], nothing[..., 0],
                 np.ones((21, 26, 3), np.float32))


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
