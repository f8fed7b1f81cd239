"""Examples that no photo shows, and how sure a net is of what it was never wrong about."""

import msgspec
import numpy as np
from calibration.readers.pile.synthesis import as_patch, crossed, lay, unknown
from vision.readers.mlp import Net, log_softmax, sharpened
from vision.readers.pile.exemplar import Exemplar

SAND = np.log(np.array([150.0, 200, 220]) + 20).astype(np.float32)


def test_an_unknown_piece_lies_in_sight_on_ground_of_nearly_its_colour():
    form = as_patch(
        Exemplar(("tile",), (26, 26), False, np.zeros((66, 66, 3), np.float32), 2.0, "A1", 0), 2.0
    )
    rng = np.random.default_rng(1)
    for _ in range(30):
        window = np.ones((90, 90, 3), np.float32) * SAND
        piece = unknown(rng, form, SAND)
        lay(window, piece, np.array([44.5, 44.5]), 0, 2.0, np.zeros(2), None)
        off = np.abs((window - SAND).mean(2))
        assert (
            np.median(off[20:70, 20:70]) > 0.03
            and off[20:70, 20:70].max() < 1.6
            and off[:12].max() == 0
        )
    # the form itself is not painted over
    assert np.array_equal(form.picture, np.zeros((66, 66, 3)))


def test_a_crossed_print_is_partly_each_and_none_of_pieces_alike():
    m, rng = 66, np.random.default_rng(3)

    def bar(across: bool):
        picture = np.zeros((m, m, 3), np.float32)
        picture[(slice(28, 38), slice(10, 56)) if across else (slice(10, 56), slice(28, 38))] = -2
        return as_patch(Exemplar(("bar",), (26, 26), False, picture, 2.0, "A1", 0), 2.0)

    made = [p for p in (crossed(rng, bar(True), bar(False)) for _ in range(40)) if p is not None]
    assert len(made) > 10
    for p in made:
        whole = np.abs(bar(True).picture - bar(False).picture).sum()
        apart = [np.abs(p.picture - b.picture).sum() / whole for b in (bar(True), bar(False))]
        assert min(apart) > 0.1 and max(apart) < 0.9
    small = msgspec.structs.replace(bar(True), radius=9.0)
    assert crossed(rng, bar(True), small) is None


def test_few_examples_all_right_make_nobody_certain():
    rng = np.random.default_rng(2)
    one = np.ones(3, np.float32)
    net = Net(
        0 * one, one, np.eye(3, dtype=np.float32), 0 * one, np.eye(3, dtype=np.float32), 0 * one
    )
    labels = rng.integers(0, 3, 40)
    inputs = np.eye(3, dtype=np.float32)[labels] * 4
    sure = sharpened(net, inputs, labels)
    wary = sharpened(net, inputs, labels, doubt=1)

    def chance(n: Net) -> float:
        return float(np.exp(log_softmax(n.scores(inputs))[np.arange(40), labels].mean()))

    assert chance(sure) > 0.9999 and 0.95 < chance(wary) < 0.995
    assert (
        msgspec.structs.replace(wary, sharpness=1.0).scores(inputs).argmax(1).tolist()
        == labels.tolist()
    )
