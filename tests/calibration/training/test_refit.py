"""Classes and prints fitted once more to what the taught trunk makes of made-up samples."""

from functools import partial

import numpy as np
import pytest

from calibration.synthesis.batch import Shapes
from calibration.synthesis.batches import make_batches
from calibration.training.fit import can_learn, load_trunk_weights
from calibration.training.teach import initial_weights
from vision.learned.canvas import picture_of, stack_input
from vision.learned.groups import Form
from vision.learned.network import (
    ANGLES,
    FINE_CHANNELS,
    FINER,
    HEAT_SPAN,
    PIECE_SIZE,
    RINGS,
    TEMPLATES,
    coarsen_pictures,
)
from vision.learned.sampling import frame_pieces

if can_learn() is not None:
    pytest.skip("JAX is not installed", allow_module_level=True)

import jax  # noqa: E402

from calibration.training.class_fit import (  # noqa: E402
    HIDDEN,
    disturb_numbers,
    fit_classifier,
    site_rows,
    trunk_features,
)
from calibration.training.network import (  # noqa: E402
    class_loss,
    classify_places,
    lean_frames,
    match_site_prints,
)
from calibration.training.prints import match_parts_of_rows, share_colours_of_rows  # noqa: E402
from calibration.training.refit import (  # noqa: E402
    label_peaks,
    peak_rows,
    refit_classes,
    turn_batch,
)

pytestmark = pytest.mark.slow

SIDE, WIDTH = 256, 16.0
ABOVE = np.array([[SIDE / 2, SIDE / 2, 2000.0]])  # px: a sample's camera


def test_a_peak_beside_a_piece_is_asked_of_nobody():
    points = np.array([[0, 1, 50, 50]], float)
    at = np.array([[51.0, 50], [57, 50], [90, 90]])
    assert label_peaks(at, points, 16.0, 2).tolist() == [1, -1, 2]
    assert label_peaks(at, np.zeros((0, 4)), 16.0, 2).tolist() == [2, 2, 2]


def test_peaks_of_heat_are_told_as_the_piece_they_are_meant_for_or_as_none():
    shapes = Shapes.of((), (Form((WIDTH, WIDTH), True, 3.0, ("red", "blue")),), 1.0)
    weights = initial_weights(shapes, 0)
    weights["classes/heat"] = np.eye(FINE_CHANNELS, 1, dtype=np.float32)
    weights["classes/heat.bias"] = np.full(1, -20.0, np.float32)
    heat = np.zeros((1, SIDE // 2, SIDE // 2, FINE_CHANNELS), np.float32)
    for x, y in ((50, 60), (90, 30), (1, 70)):  # a piece, none, one that the edge cuts through
        heat[0, y, x, 0] = 40.0
    batch = {
        "x": np.zeros((1, SIDE // 2, SIDE // 2, 24), np.float16),
        "points": np.array([[[0, 1, 101, 121], [0, 0, 2, 141]]], np.float32),
        "camera": ABOVE,
    }
    features = np.zeros_like(heat), None, heat
    [rows] = peak_rows(weights, shapes, features, batch, np.random.default_rng(0))
    assert rows["label"].tolist() == [1, 2]
    assert rows["heat"].tolist() == [HEAT_SPAN[1]] * 2
    assert rows["embedded"].shape == (2, PIECE_SIZE)


@pytest.mark.parametrize("quarters", [1, 2, 3])
def test_pieces_are_where_they_were_in_a_turned_batch(quarters):
    rng = np.random.default_rng(quarters)
    seen = rng.normal(4.6, 0.1, (SIDE, SIDE, 3)).astype(np.float32)
    x, y = 60, 151
    seen[y, x] = 9.0
    batch = {
        "x": stack_input(seen, np.full_like(seen, 4.6)).astype(np.float16)[None],
        "points": np.array([[[0, 1, x, y], [-1, -1, -1, -1]]], np.float32),
        "camera": np.array([[x, y, 2000]], np.float32),
    }
    turned = turn_batch(batch, quarters)
    form, kind, there, down = turned["points"][0, 0]
    picture = picture_of(turned["x"][0])
    assert np.unravel_index(picture.sum(2).argmax(), picture.shape[:2]) == (down, there)
    assert (form, kind) == (0, 1) and turned["points"][0, 1, 0] == -1
    assert turned["camera"].tolist() == [[there, down, 2000]]
    assert np.array_equal(np.rot90(picture, -quarters), picture_of(batch["x"][0]))
    assert batch["points"][0, 0].tolist() == [0, 1, x, y]


def test_frames_are_the_same_where_they_are_learnt_from_and_read():
    rng = np.random.default_rng(0)
    at, width = rng.uniform(0, SIDE, (9, 2)), rng.uniform(5, 20, 9)
    standing, camera = rng.choice([0.0, 60.0], 9), np.array([-30.0, 150, 800])
    frames = lean_frames(at, np.tile(camera, (9, 1)), width, standing)
    assert np.asarray(frames) == pytest.approx(frame_pieces(at, camera, width, standing), rel=1e-4)


def test_what_describes_a_place_is_shaken_only_where_classes_are_fitted_last(monkeypatch):
    """By noise, and of sites half of it left out, not of close-ups: its mean stays as it was"""
    ones = np.ones((4000, 20), np.float32)
    site, piece, close = (
        np.asarray(disturb_numbers(name, ones, np.full(4000, matched), jax.random.key(1)))
        for name, matched in (("site", 1.0), ("piece", 1.0), ("site", 0.0))
    )
    assert (close != 0).all() and close.std() == pytest.approx(0.5, abs=0.02)
    assert site.mean() == pytest.approx(1, abs=0.05) == piece.mean()
    assert (site == 0).mean() == pytest.approx(0.5, abs=0.02) and (piece != 0).all()
    assert piece.std() == pytest.approx(0.5, abs=0.02)
    shaken = []
    monkeypatch.setattr(
        "calibration.training.class_fit.disturb_numbers",
        lambda name, numbers, matched, key: shaken.append(name) or numbers,
    )
    rng = np.random.default_rng(3)
    shapes = Shapes.of((), (Form((WIDTH, WIDTH), True, 3.0, ("red",)),), 1.0)
    rows = {
        "embedded": rng.normal(0, 1, (40, PIECE_SIZE)).astype(np.float32),
        "pixels": rng.normal(1, 0.1, (40, ANGLES, FINER * RINGS, 3)).astype(np.float16),
        "heat": np.zeros(40, np.float32),
        "label": rng.integers(2, size=40).astype(np.int32),
        "allowed": np.ones((40, 2), bool),
        "matched": np.ones(40, np.float32),
    }
    for parts in (False, True):
        fit_classifier("piece", initial_weights(shapes, 0), rows, 2, parts)
        assert shaken == ["piece"] * parts


def test_what_two_numbers_tell_only_together_is_learnt_of_pieces(monkeypatch):
    rng = np.random.default_rng(7)
    shapes = Shapes.of((), (Form((WIDTH, WIDTH), True, 3.0, ("red",)),), 1.0)
    described = rng.choice([-1.0, 1.0], (600, PIECE_SIZE)).astype(np.float32)
    rows = {
        "embedded": described,
        "pixels": rng.normal(1, 0.1, (600, ANGLES, FINER * RINGS, 3)).astype(np.float16),
        "heat": np.zeros(600, np.float32),
        "label": (described[:, 0] * described[:, 1] > 0).astype(np.int32),
        "allowed": np.ones((600, 2), bool),
        "matched": np.ones(600, np.float32),
    }
    prints = np.zeros((600, TEMPLATES), np.float32)
    # few steps in which prints, which here tell nothing, move, and many without
    monkeypatch.setattr("calibration.training.class_fit.FEW_ROUNDS", 0)
    monkeypatch.setattr("calibration.training.class_fit.STILL_ROUNDS", 45)
    right = []
    for hidden in ({}, HIDDEN):
        monkeypatch.setattr("calibration.training.class_fit.HIDDEN", hidden)
        w = fit_classifier("piece", initial_weights(shapes, 0), rows, 10, parts=True)
        told = share_colours_of_rows("piece", w, rows), match_parts_of_rows("piece", w, rows)
        logits = classify_places(w, "piece", np.hstack([described, *told]), prints)
        right.append((np.asarray(logits).argmax(1) == rows["label"]).mean())
    assert right[1] > 0.95 > 0.8 > right[0]


def test_a_peak_of_one_form_at_a_rival_is_told_as_that():
    size = (WIDTH, WIDTH)
    forms = (
        Form(size, False, 30.0, ("obelisk",), ("figure",)),
        Form(size, False, 25.0, ("figure",), ("obelisk",)),
        Form((30.0, 30.0), True, 3.0, ("disc",)),
    )
    shapes = Shapes.of((), forms, 1.0)
    weights = initial_weights(shapes, 0)
    weights["classes/heat"] = np.eye(FINE_CHANNELS, 3, dtype=np.float32)
    weights["classes/heat.bias"] = np.full(3, -20.0, np.float32)
    heat = np.zeros((1, SIDE // 2, SIDE // 2, FINE_CHANNELS), np.float32)
    heat[0, 60, 50, 0] = heat[0, 30, 70, 2] = 40.0
    batch = {
        "x": np.zeros((1, SIDE // 2, SIDE // 2, 24), np.float16),
        "points": np.array([[[1, 1, 101, 121], [1, 1, 141, 61]]], np.float32),
        "camera": ABOVE,
    }
    features = np.zeros_like(heat), None, heat
    tall, flat = peak_rows(weights, shapes, features, batch, np.random.default_rng(0))
    assert tall["label"].tolist() == [1] and tall["allowed"].tolist() == [[1, 1, 0, 1]]
    assert flat["label"].tolist() == [3] and flat["allowed"].tolist() == [[0, 0, 1, 1]]


def test_classes_are_told_from_nothing_and_the_trunk_stays(lesson, few_rounds):
    few_rounds(30)
    fresh = initial_weights(lesson.shapes, 0, load_trunk_weights())
    run = partial(trunk_features, fresh)
    fitted = refit_classes(fresh, fresh, lesson.shapes, make_batches(lesson, 0, 4), run)
    assert all(np.array_equal(fitted[k], fresh[k]) for k in fresh if k.startswith("trunk/"))
    asked = next(make_batches(lesson, 99, 1))
    [sites] = site_rows(fresh, run(asked["x"]), asked, run)
    assert site_loss(fitted, sites) < 0.75 * site_loss(fresh, sites)


def site_loss(w, rows):
    """The loss of what is said of sites, by colours and prints of parts too if there are any"""
    embedded = rows["embedded"]
    if "classes/site_parts" in w:
        told = share_colours_of_rows("site", w, rows), match_parts_of_rows("site", w, rows)
        embedded = np.concatenate([embedded, *told], 1)
    pixels = coarsen_pictures("site", rows["pixels"].astype(np.float32))
    prints = match_site_prints(w, pixels, rows.get("upright"))
    logits = classify_places(w, "site", embedded, prints)
    return float(class_loss(logits, rows["label"], rows["allowed"], np.ones(len(embedded))))
