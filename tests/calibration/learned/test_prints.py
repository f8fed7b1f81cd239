"""Prints begun with what kinds look like."""

import numpy as np
import pytest

from calibration.learned.prints import begin_prints
from vision.learned.network import (
    ANGLES,
    RINGS,
    SITE_PIXELS,
    SITE_TEMPLATE,
    TEMPLATES,
    slide_templates,
    turn_templates,
)

KINDS, EACH = 6, 30
SHAPES = {"site": (SITE_TEMPLATE, SITE_TEMPLATE, 3), "piece": (ANGLES, RINGS, 3)}


def fresh_weights(name):
    rng = np.random.default_rng(0)
    return {
        f"classes/{name}_prints": rng.normal(0, 0.05, (*SHAPES[name], TEMPLATES)).astype(
            np.float32
        ),
        f"classes/{name}_prints.bias": np.zeros(TEMPLATES, np.float32),
        f"classes/{name}": rng.normal(0, 0.1, (7 + TEMPLATES, KINDS)).astype(np.float32),
    }


def shown_rows(name, upright, seed):
    """Pictures of kinds, each somewhere on its place and turned in some way, in noise"""
    looks = np.random.default_rng(4).normal(0, 1, (KINDS, *SHAPES[name])).astype(np.float32)
    rng = np.random.default_rng(seed)
    label = rng.integers(KINDS, size=KINDS * EACH)
    pixels = []
    for kind in label:
        if name == "piece":
            pixels.append(np.roll(looks[kind], rng.integers(ANGLES), 0))
            continue
        ground = np.zeros((SITE_PIXELS, SITE_PIXELS, 3), np.float32)
        y, x = rng.integers(SITE_PIXELS - SITE_TEMPLATE + 1, size=2)
        turn = 0 if upright else rng.integers(4)
        ground[y : y + SITE_TEMPLATE, x : x + SITE_TEMPLATE] = np.rot90(looks[kind], turn)
        pixels.append(ground)
    rows = {
        "label": label,
        "pixels": np.stack(pixels) + rng.normal(0, 0.4, (len(label), *pixels[0].shape)),
        "matched": np.ones(len(label), np.float32),
    }
    return rows if name == "piece" else rows | {"upright": np.full(len(label), upright)}


@pytest.mark.parametrize("name, upright", [("site", True), ("site", False), ("piece", False)])
def test_prints_alone_tell_kinds_that_lie_any_way(name, upright):
    w = begin_prints(name, fresh_weights(name), shown_rows(name, upright, 1))
    asked = shown_rows(name, upright, 2)
    fit = (slide_templates, turn_templates)[name == "piece"]
    args = (not upright,) if name == "site" else ()
    fits = fit(asked["pixels"].astype(np.float32), w[f"classes/{name}_prints"], *args)
    prints = np.maximum(fits + w[f"classes/{name}_prints.bias"], 0)
    logits = prints @ w[f"classes/{name}"][-TEMPLATES:]
    assert (logits.argmax(1) == asked["label"]).mean() > 0.9
    assert np.abs(fits.std(0)[:KINDS] - 1).max() < 0.5


def test_prints_stay_as_drawn_where_nothing_is_shown_often():
    weights = fresh_weights("site")
    rows = {k: v[:3] for k, v in shown_rows("site", True, 1).items()}
    assert begin_prints("site", weights, rows) is weights


def test_close_ups_have_no_prints_and_begin_none():
    weights, rows = fresh_weights("site"), shown_rows("site", True, 1)
    rows["matched"][:] = 0
    assert begin_prints("site", weights, rows) is weights
