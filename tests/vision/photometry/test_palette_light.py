"""Light told by all colours of a copy, where tiles hide most of its board."""

import math

import numpy as np
import pytest

from vision.photometry.palette_light import COLOURS, KnownLight, LightReference
from vision.photometry.room_light import (
    DARK,
    LIGHT_FLOOR,
    MIDDLE_GREY,
    PLAIN_RENDITION,
    estimate_light,
    light_basis,
    to_logs,
)

SIZE = (480.0, 400.0)
SHAPE = (80, 96)  # of small views
TILES = np.array([(60, 60, 200), (60, 180, 80), (200, 120, 60), (70, 200, 220), (190, 130, 190)])
LAMPS = {
    "even": (0.2, 0.0, 0.0),
    "warm on the left": (0.1, -0.35, 0.08),
    "dark at the top": (-0.3, 0.1, -0.05),
}


def draw_cloth(rng):
    """(h, w, 3) grey levels of cloth, with coarse squares"""
    squares = np.kron(rng.uniform(110, 190, (8, 8)), np.ones((10, 12)))
    return squares[..., None] * (0.9, 0.8, 0.75) + rng.normal(0, 2, (*SHAPE, 3))


def cover_board(rng, bare, share=1.0):
    """The same under tiles, but for its right side, with a mark on each"""
    seen = bare.copy()
    for y in range(0, SHAPE[0], 8):
        for x in range(0, SHAPE[1] - 16, 8):
            if rng.random() < share:
                seen[y : y + 8, x : x + 8] = TILES[rng.integers(len(TILES))]
                seen[y + 2 : y + 4, x + 2 : x + 4] = 40
    return seen + rng.normal(0, 2, seen.shape)


def field_of(lamp):
    """(h, w, 3) log units, by the sum, the slope and the warmth of a lamp"""
    ys, xs = np.mgrid[0 : SHAPE[0], 0 : SHAPE[1]]
    x = (xs + 0.5) / SHAPE[1] * 2 - 1
    y = (ys + 0.5) / SHAPE[0] * 2 - 1
    level, slope, warm = lamp
    return (level + slope * x + 0.1 * slope * y)[..., None] + warm * (1 - x)[..., None] * (-1, 0, 1)


def miss_of(light, lamp):
    """How far a told light is off, log units, at most, over the board"""
    ys, xs = np.mgrid[0:5, 0:5] / 4.0
    mm = np.stack([xs * SIZE[0], ys * SIZE[1]], -1).reshape(-1, 2)
    corners = np.ix_([0, 19, 39, 59, 79], [0, 24, 48, 72, 95])
    told = (light_basis(mm, SIZE) @ light.weights).reshape(5, 5, 3)
    return float(np.abs(told - field_of(lamp)[corners]).max())


@pytest.fixture(scope="module")
def known_copy():
    """(the empty board's levels, what tells its light)"""
    rng = np.random.default_rng(1)
    bare = draw_cloth(rng)
    shown = [
        to_logs(bare),
        to_logs(cover_board(rng, bare, 0.6)),
        to_logs(cover_board(rng, bare, 0.5)),
    ]
    return bare, LightReference.of(to_logs(bare).astype(np.float32), SIZE, shown)


@pytest.mark.parametrize("lamp", LAMPS.values(), ids=LAMPS)
def test_light_is_told_where_tiles_hide_the_board(known_copy, lamp):
    bare, reference = known_copy
    for seed in range(3):
        levels = cover_board(np.random.default_rng(seed + 7), bare)
        seen = to_logs((levels * np.exp(field_of(lamp))).clip(0, 255))
        assert miss_of(reference.estimate_light(seen), lamp) < 0.12


def test_the_board_alone_would_tell_it_wrong(known_copy):
    """So that what is tested above is no light that anything could tell"""
    bare, reference = known_copy
    misses = []
    for seed, lamp in enumerate(LAMPS.values()):
        levels = cover_board(np.random.default_rng(seed + 7), bare)
        seen = to_logs((levels * np.exp(field_of(lamp))).clip(0, 255))
        misses.append(miss_of(estimate_light(seen, reference.view, SIZE), lamp))
    assert max(misses) > 0.3


def test_all_colours_of_a_copy_are_known(known_copy):
    _, reference = known_copy
    assert reference.colours.shape == (COLOURS, 4)
    assert reference.colours[:, 3].sum() == pytest.approx(1)
    for tile in TILES:
        assert np.abs(reference.colours[:, :3] - to_logs(tile)).max(1).min() < 0.06


def test_a_light_holds_while_most_of_a_board_looks_the_same(known_copy):
    bare, reference = known_copy
    rng = np.random.default_rng(4)
    seen = to_logs(bare)
    known = KnownLight(seen, reference.estimate_light(seen))
    assert known.holds_in(to_logs(bare + rng.normal(0, 2, bare.shape)))
    assert known.holds_in(to_logs(cover_board(rng, bare, 0.4))), "tiles were laid"
    assert not known.holds_in(to_logs(1.06 * bare)), "a lamp was switched on"
    assert not known.holds_in(to_logs(bare * (0.9, 1.0, 1.1)))


def test_what_tells_the_light_is_kept(known_copy):
    _, reference = known_copy
    again = LightReference.unpack(reference.pack(), SIZE)
    assert np.array_equal(again.view, reference.view)
    assert np.array_equal(again.colours, reference.colours)


@pytest.mark.parametrize("odd", [{"colours": np.zeros((4, 3))}, {"reference": np.zeros((4, 4))}])
def test_what_is_kept_oddly_is_refused(known_copy, odd):
    with pytest.raises(ValueError, match="odd"):
        LightReference.unpack(known_copy[1].pack() | odd, SIZE)


def test_without_colours_the_board_tells_the_light():
    bare = draw_cloth(np.random.default_rng(3))
    view = to_logs(bare).astype(np.float32)
    reference = LightReference.of(view, SIZE)
    seen = view + np.float32(0.2)
    told, alone = reference.estimate_light(seen), estimate_light(seen, view, SIZE)
    assert np.array_equal(told.weights, alone.weights)


def test_a_picture_that_is_of_one_colour_all_over_has_some_light(known_copy):
    _, reference = known_copy
    for level in (255, 120):
        light = reference.estimate_light(to_logs(np.full((*SHAPE, 3), level)))
        assert np.isfinite(light.weights).all()
        assert 0.5 <= light.rendition.contrast <= 2 and 0.5 <= light.rendition.vivid <= 2


@pytest.mark.parametrize("vivid", [0.75, 1.0, 1.35])
@pytest.mark.parametrize("contrast", [0.85, 1.0, 1.2])
def test_what_a_camera_shows_more_vividly_is_told_and_undone(known_copy, vivid, contrast):
    bare, reference = known_copy
    plain = to_logs(cover_board(np.random.default_rng(12), bare)).astype(np.float32)
    grey = plain.mean(2, keepdims=True)
    middle = math.log(MIDDLE_GREY)
    seen = (grey - middle) * contrast + middle + vivid * (plain - grey)
    light = reference.estimate_light(seen.clip(*to_logs(np.array([0, 249]))))
    told = light.rendition
    assert told.vivid == pytest.approx(vivid, abs=0.1)
    assert told.contrast == pytest.approx(contrast, abs=0.1)
    paint = np.log(np.exp(plain) - LIGHT_FLOOR + DARK).astype(np.float32)
    shown = np.log(np.exp(seen) - LIGHT_FLOOR + DARK).astype(np.float32)
    left, given = (np.abs(v - paint).mean() for v in (told.undo(shown), shown))
    assert left < 0.08 and left <= max(0.8 * given, 0.055)


def test_a_picture_as_the_reference_is_shows_nothing_to_undo(known_copy):
    bare, reference = known_copy
    seen = to_logs(cover_board(np.random.default_rng(5), bare))
    assert reference.estimate_light(seen).rendition == PLAIN_RENDITION
    assert PLAIN_RENDITION.undo(seen) is seen
