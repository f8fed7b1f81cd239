"""A second look at what heat maps show."""

import numpy as np
import pytest

from calibration.learned.fit import can_learn, load_trunk_weights
from calibration.learned.teach import initial_weights, learned_reader, make_batches
from vision.learned.network import FINE, SECOND_GRID, look_again

if can_learn() is not None:
    pytest.skip("JAX is not installed", allow_module_level=True)

from calibration.learned.second_look import (  # noqa: E402
    fit_pieces,
    fit_second_look,
    label_peaks,
    second_logits,
)

pytestmark = pytest.mark.slow

PLACES, KINDS = 600, 2
WEIGHTS = {"classes/heat.bias": np.zeros(1, np.float32)}


def shown_places(informed: bool) -> dict[str, np.ndarray]:
    """Places of which a feature tells which of two kinds lies there, or none, and the first look
    nothing; not informed: that feature tells nothing, and the first look all"""
    rng = np.random.default_rng(1)
    label = rng.integers(KINDS + 1, size=PLACES)
    sampled = rng.random((PLACES, SECOND_GRID**2, FINE)).astype(np.float32)
    sampled[..., 0] += 2.0 * (label if informed else rng.permutation(label))[:, None]
    sure = np.where(np.eye(KINDS + 1)[label] > 0, np.log(0.98), np.log(0.01))
    return {
        "sampled": sampled,
        "heat": rng.normal(0, 1, PLACES).astype(np.float32),
        "form": np.zeros(PLACES, int),
        "first": (np.full((PLACES, KINDS + 1), -1.1) if informed else sure).astype(np.float32),
        "label": label,
        "allowed": np.ones((PLACES, KINDS + 1), bool),
    }


def split_rows(rows):
    """Those shown, and those kept aside"""
    return ({k: v[part] for k, v in rows.items()} for part in (slice(72, None), slice(72)))


def test_a_second_look_that_tells_more_is_kept_and_read_alike():
    rows = shown_places(informed=True)
    fitted = fit_pieces(WEIGHTS, *split_rows(rows))
    some = [rows[k] for k in ("sampled", "heat", "form")]
    logits = look_again(WEIGHTS | fitted, *some)
    assert (logits.argmax(1) == rows["label"]).mean() > 0.95
    assert np.allclose(logits, second_logits(fitted, *some), atol=1e-2)


def test_a_second_look_that_tells_less_is_left_out():
    rows = shown_places(informed=False)
    assert fit_pieces(WEIGHTS, *split_rows(rows)) == {}


def test_a_peak_beside_a_piece_is_asked_of_nobody():
    points = np.array([[0, 1, 50, 50]], float)
    at = np.array([[51.0, 50], [57, 50], [90, 90]])
    assert label_peaks(at, points, 16.0, 2).tolist() == [1, -1, 2]
    assert label_peaks(at, np.zeros((0, 4)), 16.0, 2).tolist() == [2, 2, 2]


def test_a_copy_without_loose_pieces_needs_no_second_look(lesson):
    weights = initial_weights(lesson.shapes, 0, load_trunk_weights())
    batches = make_batches(lesson, 0, 2)
    assert fit_second_look(weights, learned_reader(lesson, weights), batches, 2) is weights
