import numpy as np
import pytest

from vision.learned.card_view import (
    CONTRAST_LEFT,
    NEARLY_ALWAYS,
    PERHAPS,
    SELDOM,
    CardScene,
    CardView,
    Lie,
    explain_pixels,
    hiding_density,
    place_pixels,
    relight_look,
)

SHOWN = np.ones(400, bool)


def two_prints() -> np.ndarray:
    """(2, 400, 3) log: prints that differ everywhere"""
    coarse = np.random.default_rng(3).normal(4.0, 0.4, (2, 5, 5, 3))
    return np.kron(coarse, np.ones((1, 4, 4, 1))).astype(np.float32).reshape(2, -1, 3)


def in_veil(look: np.ndarray, contrast: float, light: float) -> np.ndarray:
    """(n, 3) a print as it is seen through a veil of light"""
    middle = np.median(look, 0)
    return middle + contrast * (look - middle) + np.float32(light)


@pytest.mark.parametrize("contrast", [0.8, 1.2])
@pytest.mark.parametrize("light", [0.0, 0.3, -0.8])
def test_a_print_in_a_veil_of_light_fits_nearly_as_if_there_was_none(contrast, light):
    mine, other = two_prints()
    seen = in_veil(mine, contrast, light)
    assert np.abs(relight_look(seen, mine, SHOWN) - seen).mean() < 0.02
    assert np.abs(relight_look(seen, other, SHOWN) - seen).mean() > 0.2


@pytest.mark.parametrize("contrast", [0.0, 0.4, 1.6, -1.0])
def test_no_more_contrast_is_allowed_for_than_veils_take(contrast):
    look = two_prints()[0]
    left = np.abs(
        in_veil(look, contrast, 0.1) - relight_look(in_veil(look, contrast, 0.1), look, SHOWN)
    )
    beyond = abs(contrast - 1) - CONTRAST_LEFT
    assert left == pytest.approx(np.abs(beyond * (look - np.median(look, 0))), abs=0.02)


def test_light_is_told_by_what_shows_alone():
    look = two_prints()[0]
    seen, plain = look + 0.3, np.arange(400) < 100
    seen[~plain] = 1.5
    assert relight_look(seen, look, plain) == pytest.approx(look + 0.3, abs=0.02)
    assert relight_look(seen, look, np.zeros(400, bool)) is look


def test_a_thin_line_laid_a_little_astray_takes_no_contrast():
    """Or the colours of what else differs would fade"""
    look = np.full((400, 3), 4.0, np.float32)
    seen = look.copy()
    look[100:102] += 1.0
    seen[102:104] += 1.0
    faded = relight_look(seen, look, SHOWN)[100:102].mean() - 4.0
    assert faded > 0.85


def planes_of(hidden: float, other: float) -> np.ndarray:
    """(4,) as of a `CardView`: a pixel that is hidden by a chance, by what is so dense, noise of 0.1"""
    shows = np.log1p(-hidden) - 1.5 * np.log(2 * np.pi * 0.01)
    return np.float32([hidden, np.log(hidden * other), shows, 50])


def test_a_pixel_is_told_by_the_card_in_the_light_or_in_a_shadow_or_by_what_hides_it():
    planes = planes_of(PERHAPS, 0.01)
    left = np.float32([[0, 0, 0], [-0.4, -0.4, -0.4], [0.4, 0.4, 0.4], [1, -1, 0], [2, -2, 0]])
    fits, shade, glare, other, more = explain_pixels(left, np.tile(planes, (5, 1)))
    assert fits > shade > glare and fits - shade < 3 < fits - glare
    assert other == more == planes[1]  # something hides it, however unlike the card it is


def test_what_is_as_the_piece_that_hides_is_likely_to_be_it():
    hidden = np.full((20, 20), SELDOM, np.float32)
    hidden[5:15, 5:15] = PERHAPS
    hidden[8:12, 8:12] = NEARLY_ALWAYS
    seen = np.full((20, 20, 3), 4.0, np.float32)
    seen[7:13, 7:13] = (3.0, 4.0, 5.0)
    density = hiding_density(seen, hidden)
    assert density[7, 7] > 100 * density[6, 6] and density[6, 6] == pytest.approx(
        density[0, 0], rel=0.1
    )
    assert hiding_density(seen, np.minimum(hidden, PERHAPS)) == pytest.approx(density[0, 0])


def test_a_view_is_sampled_as_the_card_lies():
    ys, xs = np.mgrid[:100, :120].astype(np.float32)
    seen = np.stack([xs, ys, 0 * xs], -1)
    none = np.zeros((0, 2))
    scene = CardScene.of(seen, seen, 0.5, none, none, none)
    lie = Lie(60.0, 50.0, 90.0)
    view = CardView.about(scene, lie, (20, 30))
    found = view.sample(view.seen, place_pixels([lie, Lie(61.0, 50.0)], (20, 30)))
    turned, straight = found.reshape(2, 20, 30, 3)
    assert turned[0, 0, :2] == pytest.approx((69.5, 35.5), abs=0.01)  # its top to the right
    assert straight[0, 0, :2] == pytest.approx((46.5, 40.5), abs=0.01)


def test_pieces_hide_from_their_feet_to_their_tops():
    scene = CardScene.of(
        np.zeros((100, 120, 3), np.float32),
        np.zeros((100, 120, 3), np.float32),
        0.5,
        np.array([[40.0, 40.0]]),
        np.array([[80.0, 40.0]]),
        np.array([[16.0, 22.6]]),
    )
    assert scene.small.shape == (50, 60, 3) and scene.shown.shape == (50, 60)
    assert scene.zoom == 0.5
    sure, perhaps = scene.hidden >= NEARLY_ALWAYS, scene.hidden >= PERHAPS
    assert sure[40, 34:87].all() and not sure[40, :31].any() and not sure[40, 90:].any()
    assert 14 <= sure[:, 60].sum() <= 17 and 22 <= perhaps[:, 60].sum() <= 25
    assert (scene.shown == 0)[20, 15:45].all() and (scene.hidden[:20] == np.float32(SELDOM)).all()
