import cv2
import numpy as np
import pytest

from vision.learned.cards import (
    CARD_ERRING,
    CONTRAST_LEFT,
    CardBank,
    CardLooks,
    CardScene,
    draw_card,
    misfit_of,
    place_card,
    weigh_cards,
)

SIDE, MIDDLE = 20, np.array([39.5, 39.5])
GROUND = np.random.default_rng(1).normal(4.0, 0.2, (80, 80, 3)).astype(np.float32)


def four_prints(rng: np.random.Generator) -> np.ndarray:
    """(4, SIDE, SIDE, 3): coarse prints that differ everywhere"""
    return np.kron(rng.normal(4.0, 0.4, (4, 5, 5, 3)), np.ones((1, 4, 4, 1))).astype(np.float32)


def looks_alike(classes: np.ndarray, pictures: np.ndarray, quarters: bool = False) -> CardLooks:
    """Looks that are compared as fine as they are shown"""
    return CardLooks.of(classes, pictures, pictures.shape[2:0:-1], quarters)


@pytest.fixture
def bank() -> CardBank:
    rng = np.random.default_rng(3)
    return CardBank(0.5, (looks_alike(np.array([2, 3, 4, 5]), four_prints(rng)),))


def scene_of(picture: np.ndarray, hidden: np.ndarray | None = None, shift: int = 0) -> CardScene:
    """A card on grey ground, `shift` samples off MIDDLE; hidden: (SIDE, SIDE) bool, what pieces hide"""
    seen, shown = GROUND.copy(), np.ones((80, 80), np.float32)
    part = slice(30 + shift, 30 + shift + SIDE)
    seen[part, part] = picture
    if hidden is not None:
        seen[part, part][hidden] = 1.5
        shown[part, part][hidden] = 0
    rng = np.random.default_rng(5)
    return CardScene(seen + rng.normal(0, 0.03, seen.shape).astype(np.float32), GROUND, shown)


@pytest.mark.parametrize("card", range(4))
@pytest.mark.parametrize("shift", [0, 2, -2])
def test_a_card_is_told_wherever_it_lies(bank, card, shift):
    fits = weigh_cards(bank, scene_of(bank.looks[0].pictures[card], shift=shift), MIDDLE, 0, 6)
    assert np.isnan(fits[1]) and fits[0] < -2
    assert np.nanargmax(fits) == card + 2 and np.nanmax(fits) == 0
    assert sorted(fits[2:])[-2] < -2


def test_a_card_is_told_by_a_quarter_of_it(bank):
    hidden = np.ones((SIDE, SIDE), bool)
    hidden[: SIDE // 2, : SIDE // 2] = False
    for card in range(4):
        fits = weigh_cards(bank, scene_of(bank.looks[0].pictures[card], hidden), MIDDLE, 0, 6)
        assert np.nanargmax(fits) == card + 2


def test_what_a_piece_hides_does_not_count(bank):
    """Four fifths of the card are black, which is how another card looks"""
    looks = bank.looks[0].pictures.copy()
    looks[1] = 1.5
    bank = CardBank(0.5, (looks_alike(np.array([2, 3, 4, 5]), looks),))
    hidden = np.ones((SIDE, SIDE), bool)
    hidden[:, : SIDE // 5] = False
    scene = scene_of(looks[0], hidden)
    assert np.nanargmax(weigh_cards(bank, scene, MIDDLE, 0, 6)) == 2
    plain = CardScene(scene.seen, GROUND, np.ones_like(scene.shown))
    assert np.nanargmax(weigh_cards(bank, plain, MIDDLE, 0, 6)) == 3


def test_nothing_is_said_of_a_card_that_is_hidden(bank):
    seen = scene_of(bank.looks[0].pictures[0]).seen
    scene = CardScene(seen, GROUND, np.zeros(seen.shape[:2], np.float32))
    assert np.isnan(weigh_cards(bank, scene, MIDDLE, 0, 6)).all()


@pytest.mark.parametrize("light", [0.12, -0.8])
def test_a_card_in_another_light_is_told_and_one_in_another_colour_is_another_card(light):
    looks = np.repeat(four_prints(np.random.default_rng(3))[:1], 2, 0)
    looks[1] += (0.4, 0.0, -0.4)
    bank = CardBank(0.5, (looks_alike(np.array([2, 3]), looks),))
    for card in (0, 1):
        fits = weigh_cards(bank, scene_of(looks[card] + light), MIDDLE, 0, 4)
        assert np.nanargmax(fits) == card + 2


def in_veil(look: np.ndarray, contrast: float, light: float) -> np.ndarray:
    """(n, 3) a print as it is seen through a veil of light"""
    middle = np.median(look, 0)
    return middle + contrast * (look - middle) + light


@pytest.mark.parametrize("contrast", [0.8, 1.2])
@pytest.mark.parametrize("light", [0.0, 0.3, -0.8])
def test_a_print_in_a_veil_of_light_fits_as_if_there_was_none(contrast, light):
    mine, other, *_ = four_prints(np.random.default_rng(3)).reshape(4, -1, 3)
    seen = in_veil(mine, contrast, light)
    assert misfit_of(seen, mine) == pytest.approx(0, abs=1e-6)
    assert misfit_of(seen, other).mean() > 0.1


def test_of_two_prints_alike_in_most_the_one_that_lies_in_a_veil_of_light_fits_better():
    base, mark = four_prints(np.random.default_rng(3)).reshape(4, -1, 3)[:2]
    other = base + 0.15 * (mark - mark.mean(0))
    seen = in_veil(base, 0.8, -0.2)
    assert misfit_of(seen, base).mean() < 0.1 * misfit_of(seen, other).mean()


@pytest.mark.parametrize("contrast", [0.0, 0.4, 1.6, -1.0])
def test_no_more_contrast_is_allowed_for_than_veils_take(contrast):
    look = four_prints(np.random.default_rng(3))[0].reshape(-1, 3)
    middle = np.median(look, 0)
    beyond = abs(contrast - 1) - CONTRAST_LEFT
    left = np.square(beyond * (look - middle)).sum(1)
    assert misfit_of(in_veil(look, contrast, 0.1), look) == pytest.approx(left, abs=1e-5)


def lay_signs(fine: int) -> np.ndarray:
    """(2, SIDE * fine, SIDE * fine, 3) two cards of one print, which differ by the colour of a corner"""
    side = SIDE * fine
    cards = np.full((2, side, side, 3), 4.0, np.float32)
    for n in range(3 * fine, 14 * fine, 4 * fine):
        cards[:, 2 * fine : 15 * fine, n : n + 2 * fine] += 1.0
    corner = np.s_[16 * fine : 19 * fine, 16 * fine : 19 * fine]
    cards[0][corner] += (0.5, -0.5, 0.0)
    cards[1][corner] += (-0.5, 0.5, 0.0)
    return np.stack([cv2.GaussianBlur(card, (0, 0), 0.7 * fine) for card in cards])


@pytest.mark.parametrize("card", range(2))
@pytest.mark.parametrize("tint", [0.0, 0.1])
def test_cards_of_one_print_are_told_by_the_part_that_differs(card, tint):
    """However well the look of each was cut out: that of the one that lies there is a quarter of a sample off
    and in another tone"""
    fine = lay_signs(4)
    looks = [cv2.resize(p, (SIDE, SIDE), interpolation=cv2.INTER_AREA) for p in fine]
    seen = looks[card].copy()
    astray = np.roll(fine[card], (1, 1), (0, 1)) + np.float32([tint, 0, -tint])
    looks[card] = cv2.resize(astray, (SIDE, SIDE), interpolation=cv2.INTER_AREA)
    bank = CardBank(0.5, (looks_alike(np.array([2, 3]), np.stack(looks)),))
    fits = weigh_cards(bank, scene_of(seen), MIDDLE, 0, 4)
    assert fits[card + 2] == 0 and sorted(fits[2:])[-2] < -2


@pytest.mark.parametrize("quarters", [False, True])
@pytest.mark.parametrize("turn", range(4))
def test_cards_lie_turned_as_their_site_says_or_by_any_quarter(quarters, turn):
    pictures = four_prints(np.random.default_rng(3))
    bank = CardBank(0.5, (looks_alike(np.arange(2, 6), pictures, quarters),))
    scene = scene_of(np.rot90(pictures[2], -turn))
    assert np.nanargmax(weigh_cards(bank, scene, MIDDLE, turn, 6)) == 4
    if quarters:
        assert np.nanargmax(weigh_cards(bank, scene, MIDDLE, 0, 6)) == 4


def test_no_card_is_held_to_be_impossible(bank):
    fits = weigh_cards(bank, scene_of(bank.looks[0].pictures[0]), MIDDLE, 0, 6)
    assert np.nanmin(fits) >= CARD_ERRING


def test_a_card_beyond_the_picture_is_not_told(bank):
    scene = scene_of(bank.looks[0].pictures[0])
    assert np.isnan(weigh_cards(bank, scene, np.array([-30.0, 40.0]), 0, 6)).all()


def test_pieces_hide_from_their_feet_to_their_tops():
    scene = CardScene.of(
        np.zeros((100, 120, 3), np.float32),
        np.zeros((100, 120, 3), np.float32),
        0.5,
        np.array([[40.0, 40.0]]),
        np.array([[80.0, 40.0]]),
        np.array([16.0]),
    )
    assert scene.seen.shape == (50, 60, 3) and scene.shown.shape == (50, 60)
    hidden = scene.shown == 0
    assert hidden[20, 17:43].all() and not hidden[20, :12].any() and not hidden[20, 49:].any()
    assert 10 <= hidden[:, 30].sum() <= 13  # 16 pixels and a quarter more, at half the size


@pytest.mark.parametrize("covered", [False, True])
def test_where_no_card_lies_none_is_told(bank, covered):
    shown = np.ones((80, 80), np.float32)
    rng = np.random.default_rng(5)
    seen = GROUND + rng.normal(0, 0.03, GROUND.shape).astype(np.float32)
    if covered:
        shown[:, 36:] = 0
        seen[:, 36:] = 1.5
    fits = weigh_cards(bank, CardScene(seen, GROUND, shown), MIDDLE, 0, 6)
    assert np.nanargmax(fits) == 0 and sorted(fits[~np.isnan(fits)])[-2] < -2


@pytest.fixture
def close_bank() -> CardBank:
    """Whose looks are shown four times as fine as they are compared"""
    fine = np.stack([cv2.resize(p, (80, 80)) for p in four_prints(np.random.default_rng(3))])
    return CardBank(0.5, (CardLooks.of(np.arange(2, 6), fine, (SIDE, SIDE), False),))


@pytest.mark.parametrize("shift", [0, 2, -2])
@pytest.mark.parametrize("turn", range(4))
def test_a_card_is_placed_as_it_lies(close_bank, shift, turn):
    scene = scene_of(np.rot90(close_bank.looks[0].pictures[1], -turn), shift=shift)
    fine, middle = place_card(close_bank, scene, MIDDLE, turn, 3)
    assert middle == pytest.approx(MIDDLE + 0.5 + shift)
    assert fine == pytest.approx(np.rot90(close_bank.looks[0].fine[1], -turn))


def test_a_card_of_which_little_shows_is_not_placed(close_bank):
    hidden = np.ones((SIDE, SIDE), bool)
    hidden[:, :4] = False
    scene = scene_of(close_bank.looks[0].pictures[1], hidden)
    assert place_card(close_bank, scene, MIDDLE, 0, 3) is None
    assert place_card(close_bank, scene_of(close_bank.looks[0].pictures[1]), MIDDLE, 0, 9) is None


@pytest.mark.parametrize("askew", [-4.0, 0.0, 3.0])
def test_a_card_is_drawn_where_it_shows_and_under_what_hides_it(close_bank, askew):
    fine = close_bank.looks[0].fine[2]
    m = cv2.getRotationMatrix2D((39.5, 39.5), askew, 1.0) + [[0, 0, 63.0], [0, 0, 56.5]]
    seen = np.full((200, 220, 3), 4.0, np.float32)
    cv2.warpAffine(fine, m, (220, 200), dst=seen, borderMode=cv2.BORDER_TRANSPARENT)
    whole, shown = seen.copy(), np.ones((200, 220), np.float32)
    for v, dark in ((seen, 1.5), (shown, 0)):
        cv2.circle(v, (100, 90), 15, (dark,) * 3, -1)
    ground = np.full_like(seen, 4.0)
    draw_card(ground, seen - 0.3, shown, fine, np.array([100.0, 100.0]))  # 3 and 4 pixels off
    inner = cv2.warpAffine(np.ones((80, 80), np.float32), m, (220, 200)) > 0.99
    inner = cv2.erode(inner.astype(np.uint8), np.ones((7, 7))) > 0
    assert np.abs(ground - whole)[inner].mean() < 0.03


def test_what_is_unlike_the_card_leaves_it_where_it_was_told(close_bank):
    fine, seen = close_bank.looks[0].fine[2], np.full((200, 220, 3), 4.0, np.float32)
    ground = seen.copy()
    draw_card(ground, seen, np.ones((200, 220), np.float32), fine, np.array([100.0, 90.0]))
    assert ground[51:129, 61:139] == pytest.approx(fine[1:-1, 1:-1], abs=0.01)
