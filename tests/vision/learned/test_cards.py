import cv2
import msgspec
import numpy as np
import pytest

from vision.learned.card_bank import CardBank, CardLooks
from vision.learned.card_view import NEARLY_ALWAYS, PERHAPS, CardScene, CardView, Lie
from vision.learned.cards import (
    CARD_ERRING,
    MOST_ASKEW,
    align_card,
    draw_card,
    place_card,
    weigh_cards,
)
from vision.learned.piece_view import Ground

SIDE, FINE = 20, 4  # samples of a card, pixels a sample
WIDE = SIDE * FINE
MIDDLE = np.array([39.5, 39.5])  # of the scene, samples
NOTHING = np.zeros((0, 2))
GROUND = cv2.resize(
    np.random.default_rng(1).normal(4.0, 0.2, (80, 80, 3)).astype(np.float32), (320, 320)
)
EVEN = np.zeros(6)  # nothing is held likelier beforehand


def four_prints(rng: np.random.Generator) -> np.ndarray:
    """(4, WIDE, WIDE, 3): coarse prints that differ everywhere"""
    coarse = rng.normal(4.0, 0.4, (4, 5, 5, 3))
    return np.kron(coarse, np.ones((1, WIDE // 5, WIDE // 5, 1))).astype(np.float32)


def bank_of(prints: np.ndarray, quarters: bool = False) -> CardBank:
    """Of cards of the classes 2 and up, a sample of which is 2 mm"""
    classes = np.arange(2, 2 + len(prints))
    return CardBank(0.5, (CardLooks.of(classes, prints, (SIDE, SIDE), quarters),))


@pytest.fixture
def bank() -> CardBank:
    return bank_of(four_prints(np.random.default_rng(3)))


def scene_of(
    picture: np.ndarray, hidden: np.ndarray | None = None, shift: float = 0, askew: float = 0
) -> CardScene:
    """A card on the ground, `shift` pixels off its middle and turned; hidden: (WIDE, WIDE) bool, what
    black pieces hide of it"""
    seen = GROUND.copy()
    m = cv2.getRotationMatrix2D(((WIDE - 1) / 2,) * 2, -askew, 1.0)
    m[:, 2] += 120 + shift
    cv2.warpAffine(picture, m, seen.shape[1::-1], dst=seen, borderMode=cv2.BORDER_TRANSPARENT)
    chance = np.zeros(seen.shape[:2], np.float32)
    if hidden is not None:
        chance[120 : 120 + WIDE, 120 : 120 + WIDE] = np.where(hidden, NEARLY_ALWAYS, 0)
        seen[chance > 0] = 1.5
    seen += np.random.default_rng(5).normal(0, 0.03, seen.shape).astype(np.float32)
    scene = CardScene.of(seen, GROUND, 1 / FINE, NOTHING, NOTHING, NOTHING)
    return hide_pixels(scene, chance)


def told_fits(*args) -> np.ndarray:
    """(classes,) as of `weigh_cards`"""
    return weigh_cards(*args)[0]


def hide_pixels(scene: CardScene, chance: np.ndarray) -> CardScene:
    """The same where pieces hide pixels (H, W) by these chances"""
    shown = cv2.resize((chance < PERHAPS).astype(np.float32), scene.shown.shape[::-1])
    hidden = np.maximum(scene.hidden, chance)
    return msgspec.structs.replace(scene, hidden=hidden, shown=(shown > 0.99).astype(np.float32))


@pytest.mark.parametrize("card", range(4))
@pytest.mark.parametrize("shift", [0, 5, -7])
def test_a_card_is_told_wherever_it_lies(bank, card, shift):
    fits = told_fits(bank, scene_of(bank.looks[0].fine[card], shift=shift), MIDDLE, 0, EVEN)
    assert np.isnan(fits[1]) and fits[0] < -2
    assert np.nanargmax(fits) == card + 2 and np.nanmax(fits) == 0
    assert sorted(fits[2:])[-2] < -2


def test_a_card_is_told_by_a_quarter_of_it(bank):
    hidden = np.ones((WIDE, WIDE), bool)
    hidden[: WIDE // 2, : WIDE // 2] = False
    for card in range(4):
        fits = told_fits(bank, scene_of(bank.looks[0].fine[card], hidden), MIDDLE, 0, EVEN)
        assert np.nanargmax(fits) == card + 2


def test_what_a_piece_hides_does_not_count():
    """Four fifths of the card are black, which is how another card looks"""
    looks = four_prints(np.random.default_rng(3))
    looks[1] = 1.5
    hidden = np.ones((WIDE, WIDE), bool)
    hidden[:, : WIDE // 5] = False
    scene = scene_of(looks[0], hidden)
    assert np.nanargmax(told_fits(bank_of(looks), scene, MIDDLE, 0, EVEN)) == 2


def test_nothing_is_said_of_a_card_that_is_hidden(bank):
    scene = scene_of(bank.looks[0].fine[0], np.ones((WIDE, WIDE), bool))
    assert np.isnan(told_fits(bank, scene, MIDDLE, 0, EVEN)).all()


def test_nothing_is_said_where_something_else_lies(bank):
    other = four_prints(np.random.default_rng(9))[0]
    assert np.isnan(told_fits(bank, scene_of(other), MIDDLE, 0, EVEN)).all()


@pytest.mark.parametrize("light", [0.12, -0.8])
def test_a_card_in_another_light_is_told_and_one_in_another_colour_is_another_card(light):
    looks = np.repeat(four_prints(np.random.default_rng(3))[:1], 2, 0)
    looks[1] += (0.4, 0.0, -0.4)
    for card in (0, 1):
        fits = told_fits(bank_of(looks), scene_of(looks[card] + light), MIDDLE, 0, EVEN[:4])
        assert np.nanargmax(fits) == card + 2


def lay_signs() -> np.ndarray:
    """(2, WIDE, WIDE, 3) two cards of one print, which differ by the colour of a corner"""
    cards = np.full((2, WIDE, WIDE, 3), 4.0, np.float32)
    for n in range(3 * FINE, 14 * FINE, 4 * FINE):
        cards[:, 2 * FINE : 15 * FINE, n : n + 2 * FINE] += 1.0
    corner = np.s_[15 * FINE : 19 * FINE, 15 * FINE : 19 * FINE]
    cards[0][corner] += (0.5, -0.5, 0.0)
    cards[1][corner] += (-0.5, 0.5, 0.0)
    return np.stack([cv2.GaussianBlur(card, (0, 0), 0.7) for card in cards])


@pytest.mark.parametrize("card", range(2))
@pytest.mark.parametrize("tint", [0.0, 0.1])
def test_cards_of_one_print_are_told_by_the_part_that_differs(card, tint):
    """However well the look of each was cut out: that of the one that lies there is a pixel off and in
    another tone"""
    looks = lay_signs()
    seen = looks[card].copy()
    looks[card] = np.roll(looks[card], (1, 1), (0, 1)) + np.float32([tint, 0, -tint])
    fits = told_fits(bank_of(looks), scene_of(seen), MIDDLE, 0, EVEN[:4])
    assert fits[card + 2] == 0 and sorted(fits[2:])[-2] < -2


@pytest.mark.parametrize("card", range(2))
def test_a_sliver_tells_a_card(card):
    """All but 2 pixels on two sides of the corner by which it is told lies under a black piece, of which
    nobody knows exactly where it ends"""
    looks = lay_signs()
    hidden = np.zeros((WIDE, WIDE), bool)
    hidden[15 * FINE + 2 :, 15 * FINE + 2 :] = True
    scene = scene_of(looks[card], hidden)
    near = cv2.dilate(hidden.astype(np.uint8), np.ones((13, 13))) > 0
    chance = np.zeros_like(scene.hidden)
    chance[120 : 120 + WIDE, 120 : 120 + WIDE] = np.where(
        hidden, NEARLY_ALWAYS, np.where(near, PERHAPS, 0)
    )
    fits = told_fits(bank_of(looks), hide_pixels(scene, chance), MIDDLE, 0, EVEN[:4])
    assert fits[card + 2] == 0 and fits[3 - card] < -2


def test_a_piece_of_the_colour_of_a_card_is_no_sliver_of_it():
    """The piece is a little larger than is known, and as the corner of the other card"""
    looks = lay_signs()
    scene = scene_of(looks[0])
    tone = looks[1][17 * FINE, 17 * FINE]
    seen, chance = scene.seen.copy(), np.zeros_like(scene.hidden)
    piece = np.s_[120 + 15 * FINE + 3 : 120 + WIDE, 120 + 15 * FINE + 3 : 120 + WIDE]
    inner = np.s_[120 + 16 * FINE + 3 : 120 + WIDE, 120 + 16 * FINE + 3 : 120 + WIDE]
    seen[piece] = tone
    chance[115 + 15 * FINE : 125 + WIDE, 115 + 15 * FINE : 125 + WIDE] = PERHAPS
    chance[inner] = NEARLY_ALWAYS
    scene = hide_pixels(CardScene.of(seen, GROUND, 1 / FINE, NOTHING, NOTHING, NOTHING), chance)
    fits = told_fits(bank_of(looks), scene, MIDDLE, 0, EVEN[:4])
    assert fits[2] == 0 and fits[3] < -1


@pytest.mark.parametrize("quarters", [False, True])
@pytest.mark.parametrize("turn", range(4))
def test_cards_lie_turned_as_their_site_says_or_by_any_quarter(quarters, turn):
    pictures = four_prints(np.random.default_rng(3))
    bank = bank_of(pictures, quarters)
    scene = scene_of(np.rot90(pictures[2], -turn))
    assert np.nanargmax(told_fits(bank, scene, MIDDLE, turn, EVEN)) == 4
    if quarters:
        assert np.nanargmax(told_fits(bank, scene, MIDDLE, 0, EVEN)) == 4


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("card", [2, 5, 6, 8])
def test_cards_of_two_shapes_are_told_from_each_other(swapped, card):
    prints = four_prints(np.random.default_rng(3))
    small = four_prints(np.random.default_rng(4))[:3, 8:-8]
    looks = (
        CardLooks.of(np.arange(2, 6), prints, (SIDE, SIDE), False),
        CardLooks.of(np.arange(6, 9), small, (SIDE, SIDE - 4), False),
    )
    bank = CardBank(0.5, looks[::-1] if swapped else looks)
    picture = prints[card - 2] if card < 6 else GROUND[120 : 120 + WIDE, 120 : 120 + WIDE].copy()
    if card >= 6:
        picture[8:-8] = small[card - 6]
    fits = told_fits(bank, scene_of(picture), MIDDLE, 0, np.zeros(9))
    assert np.nanargmax(fits) == card and fits[0] < -2


@pytest.mark.parametrize("side", [4, 5, 6])
def test_a_card_of_a_few_pixels_is_weighed_without_its_rim(side):
    prints = np.random.default_rng(3).normal(4.0, 0.4, (2, side, side, 3)).astype(np.float32)
    bank = CardBank(0.5, (CardLooks.of(np.array([2, 3]), prints, (side, side), False),))
    ground = np.full((40, 40, 3), 4.0, np.float32)
    scene = CardScene.of(ground, ground, 1.0, NOTHING, NOTHING, NOTHING)
    assert told_fits(bank, scene, np.array([19.5, 19.5]), 0, EVEN[:4]).shape == (4,)


def test_no_card_is_held_to_be_impossible(bank):
    fits = told_fits(bank, scene_of(bank.looks[0].fine[0]), MIDDLE, 0, EVEN)
    assert np.nanmin(fits) >= CARD_ERRING


def test_a_card_held_likely_is_laid_however_badly_it_fits_at_first():
    """Nine cards of one print but for a corner, most of which is hidden"""
    looks = np.repeat(lay_signs()[:1], 9, 0)
    corner = np.s_[15 * FINE : 19 * FINE, 15 * FINE : 19 * FINE]
    for n, card in enumerate(looks):
        card[corner] += np.float32([0.1 * n, 0, -0.1 * n])
    logs = np.zeros(11)
    logs[10] = 5.0
    fits = told_fits(bank_of(looks), scene_of(looks[8]), MIDDLE, 0, logs)
    assert fits[10] == 0


def test_a_card_beyond_the_picture_is_not_told(bank):
    scene = scene_of(bank.looks[0].fine[0])
    assert np.isnan(told_fits(bank, scene, np.array([-30.0, 40.0]), 0, EVEN)).all()


@pytest.mark.parametrize("covered", [False, True])
def test_where_no_card_lies_none_is_told(bank, covered):
    seen, chance = GROUND.copy(), np.zeros(GROUND.shape[:2], np.float32)
    if covered:
        chance[:, 144:] = NEARLY_ALWAYS
        seen[:, 144:] = 1.5
    seen += np.random.default_rng(5).normal(0, 0.03, seen.shape).astype(np.float32)
    scene = CardScene.of(seen, GROUND, 1 / FINE, NOTHING, NOTHING, NOTHING)
    fits = told_fits(bank, hide_pixels(scene, chance), MIDDLE, 0, EVEN)
    assert np.nanargmax(fits) == 0 and sorted(fits[~np.isnan(fits)])[-2] < -2


@pytest.mark.parametrize("shift", [0, 5, -7])
@pytest.mark.parametrize("askew", [0.0, -8.0])
@pytest.mark.parametrize("turn", range(4))
def test_a_card_is_placed_as_it_lies(bank, shift, askew, turn):
    look = np.ascontiguousarray(np.rot90(bank.looks[0].fine[1], -turn))
    fine, lie = place_card(bank, scene_of(look, shift=shift, askew=askew), MIDDLE, turn, 3)
    middle = 120 + (WIDE - 1) / 2 + shift
    assert (lie.x, lie.y) == pytest.approx((middle, middle), abs=1.0)
    assert lie.askew == pytest.approx(askew, abs=1.0)
    assert fine == pytest.approx(look)


def test_a_card_that_was_laid_before_is_laid_near_there(bank):
    scene = scene_of(bank.looks[0].fine[1], shift=5, askew=-8.0)
    fits, lie = weigh_cards(bank, scene, MIDDLE, 0, EVEN)
    assert lie.askew == pytest.approx(-8, abs=1) and np.nanargmax(fits) == 3
    again, known = weigh_cards(bank, scene, MIDDLE, 0, EVEN, lie)
    assert abs(known.x - lie.x) < 1 and abs(known.askew - lie.askew) < 1.5
    assert np.nanargmax(again) == 3
    assert place_card(bank, scene, MIDDLE, 0, 3, lie)[1] == lie
    _, lie = weigh_cards(bank, scene_of(four_prints(np.random.default_rng(9))[0]), MIDDLE, 0, EVEN)
    assert lie is None, "nothing fits"


def test_a_card_of_which_little_shows_is_not_placed(bank):
    hidden = np.ones((WIDE, WIDE), bool)
    hidden[:, : 2 * FINE] = False
    assert place_card(bank, scene_of(bank.looks[0].fine[1], hidden), MIDDLE, 0, 3) is None
    assert place_card(bank, scene_of(bank.looks[0].fine[1]), MIDDLE, 0, 9) is None


def test_what_is_unlike_the_card_leaves_it_near_to_where_it_was(bank):
    lie = Lie(159.5, 159.5)
    view = CardView.about(scene_of(four_prints(np.random.default_rng(9))[0]), lie, (WIDE, WIDE))
    found = align_card(view, bank.looks[0].fine[2], lie)
    assert max(abs(found.x - lie.x), abs(found.y - lie.y)) <= 8 and abs(found.askew) <= MOST_ASKEW


@pytest.mark.parametrize("askew", [-4.0, 0.0, 3.0])
def test_a_card_is_drawn_where_it_lies(bank, askew):
    fine = bank.looks[0].fine[2]
    m = cv2.getRotationMatrix2D(((WIDE - 1) / 2,) * 2, -askew, 1.0)
    m[:, 2] += 63.0, 56.5
    want = np.full((200, 220, 3), 4.0, np.float32)
    cv2.warpAffine(fine, m, (220, 200), dst=want, borderMode=cv2.BORDER_TRANSPARENT)
    ground = Ground.without_cards(np.full_like(want, 4.0))
    draw_card(ground, fine, Lie(63.0 + (WIDE - 1) / 2, 56.5 + (WIDE - 1) / 2, askew))
    inner = cv2.warpAffine(np.ones((WIDE, WIDE), np.float32), m, (220, 200)) > 0.99
    inner = cv2.erode(inner.astype(np.uint8), np.ones((7, 7))) > 0
    assert np.abs(ground.picture - want)[inner].mean() < 0.01
    assert (ground.cards[inner] == 1).all()
    assert not ground.cards[cv2.dilate(inner.astype(np.uint8), np.ones((11, 11))) == 0].any()


def test_a_card_at_the_rim_is_drawn_as_far_as_it_shows(bank):
    ground = Ground.without_cards(np.full((100, 100, 3), 4.0, np.float32))
    draw_card(ground, bank.looks[0].fine[0], Lie(0.0, 99.0))
    shown = ground.picture
    assert shown[60:, :39] != pytest.approx(4.0) and shown[:50] == pytest.approx(4.0)
    draw_card(ground, bank.looks[0].fine[1], Lie(99.0, 0.0))
    assert [ground.cards[y, x] for x, y in ((0, 99), (99, 0), (50, 50))] == [1, 2, 0]
