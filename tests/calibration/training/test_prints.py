"""Prints begun with what kinds look like."""

import numpy as np
import pytest

from calibration.training.prints import (
    begin_prints,
    draw_colours,
    draw_parts,
    match_parts_of_rows,
    share_colours_of_rows,
)
from vision.learned.network import (
    ANGLES,
    FINER,
    PART_COUNTS,
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


def fine_rows(name, upright, seed, hidden=()):
    """Fine pictures of kinds, each somewhere on its place and turned in some way, in noise; hidden:
    the parts that show nothing but noise"""
    shape = (ANGLES, FINER * RINGS, 3) if name == "piece" else (FINER * SITE_PIXELS,) * 2 + (3,)
    looks = np.random.default_rng(4).normal(0, 1, (KINDS, *shape)).astype(np.float32)
    rng = np.random.default_rng(seed)
    label = rng.integers(KINDS, size=KINDS * EACH)
    pixels = looks[label]
    for picture in pixels:
        if name == "piece":
            picture[:] = np.roll(picture, rng.integers(ANGLES), 0)
            for part in hidden:
                picture[:, RINGS * part : RINGS * (part + 1)] = 0
            continue
        picture[:] = np.roll(picture, rng.integers(-1, 2, 2), (0, 1))
        for part in hidden:
            y, x = (SITE_PIXELS * n for n in divmod(part, 2))
            picture[y : y + SITE_PIXELS, x : x + SITE_PIXELS] = 0
        picture[:] = np.rot90(picture, 0 if upright else rng.integers(4))
    rows = {
        "label": label,
        "pixels": pixels + rng.normal(0, 0.4, pixels.shape),
        "matched": np.ones(len(label), np.float32),
    }
    return rows if name == "piece" else rows | {"upright": np.full(len(label), upright)}


@pytest.mark.parametrize(
    "name, upright, hidden",
    [
        ("site", True, (0, 1, 3)),
        ("site", False, (1, 2)),
        ("piece", False, (1,)),
        ("piece", False, (0,)),
    ],
)
def test_prints_of_parts_tell_kinds_of_which_the_rest_is_hidden(name, upright, hidden):
    rows = fine_rows(name, upright, 1)
    drawn = draw_parts(name, rows)
    asked = fine_rows(name, upright, 2, hidden)
    fits = match_parts_of_rows(name, drawn, asked).reshape(-1, PART_COUNTS[name], TEMPLATES)
    counts = np.bincount(rows["label"])
    own = np.argsort(-counts, kind="stable")  # whose each print is, the most often shown first
    told = own[fits.sum(1)[:, :KINDS].argmax(1)]
    assert (told == asked["label"]).mean() > 0.9


def test_close_ups_have_no_prints_of_parts():
    rows = fine_rows("site", True, 1)
    rows["matched"][:] = 0
    drawn = draw_parts("site", rows)
    assert not match_parts_of_rows("site", drawn, rows).any()


def coloured_rows(seed, count):
    """Sites of two classes, one seldom shown, told apart by a few red or blue places anywhere on
    white"""
    rng = np.random.default_rng(seed)
    label = (rng.random(count) < 0.1).astype(int)
    pixels = np.full((count, FINER * SITE_PIXELS, FINER * SITE_PIXELS, 3), 2.0, np.float32)
    for picture, c in zip(pixels, label):
        y, x = rng.integers(14, 20, size=2)
        picture[y : y + 3, x : x + 3] = (1.0, 0.2, 0.2) if c else (0.2, 0.2, 1.0)
    pixels += rng.normal(0, 0.05, pixels.shape)
    return {"label": label, "pixels": pixels, "matched": np.ones(count, np.float32)}


def test_colours_of_a_copy_are_those_of_seldom_shown_classes_too():
    drawn = draw_colours("site", coloured_rows(1, 200))
    colours = drawn["classes/site_colours"]
    for own in ((2.0, 2.0, 2.0), (1.0, 0.2, 0.2), (0.2, 0.2, 1.0)):
        assert np.abs(colours - own).max(1).min() < 0.1
    asked = coloured_rows(2, 60)
    shares = share_colours_of_rows("site", drawn, asked)
    means = [shares[asked["label"] == c].mean(0) for c in (0, 1)]
    told = (shares @ (means[1] - means[0])) > np.mean(means, 0) @ (means[1] - means[0])
    assert (told == asked["label"]).all()


def test_close_ups_show_no_colours():
    rows = coloured_rows(1, 200)
    drawn = draw_colours("site", rows)
    rows["matched"][::2] = 0
    shares = share_colours_of_rows("site", drawn, rows)
    assert not shares[::2].any() and shares[1::2].any(1).all()
    rows["matched"][:] = 0
    assert draw_colours("site", rows) == {}
    assert share_colours_of_rows("site", {}, rows).shape == (200, 0)
