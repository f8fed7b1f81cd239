import cv2
import numpy as np
import pytest

from vision.learned.card_view import Lie
from vision.learned.cards import draw_card
from vision.learned.piece_view import (
    Ground,
    PieceSpot,
    piece_colours,
    seek_piece,
    weigh_filled,
    weigh_pieces,
)

CARD, CUBE = 60, 12  # px across
PLAIN, SIGN, WOOD = (3.0, 3.6, 4.2), (5.0, 5.0, 5.0), (5.1, 5.0, 4.9)
BARE = np.full((100, 100, 3), 4.0, np.float32)
PLACES = {"sure": (30, 30), "seen": (64, 34), "sign": (38, 62), "off": (8, 8)}


def draw_cube(seen: np.ndarray, at: tuple[int, int], colour: tuple[float, ...] = WOOD) -> None:
    """A cube of a colour about a pixel"""
    x, y = at
    seen[y - CUBE // 2 : y + CUBE // 2, x - CUBE // 2 : x + CUBE // 2] = colour


def spot_at(at: tuple[int, int], chance: float, kind: str = "wood") -> PieceSpot:
    """Where a cube may lie, seen from above"""
    middle = np.float64(at)
    return PieceSpot(kind, chance, middle, middle, np.float64([CUBE, CUBE * 2**0.5]))


@pytest.fixture
def ground() -> Ground:
    """Of a plain card with a sign of a cube's size and nearly its colour"""
    card = np.full((CARD, CARD, 3), PLAIN, np.float32)
    draw_cube(card, (38 - 20, 62 - 20), SIGN)
    out = Ground.without_cards(BARE)
    draw_card(out, card, Lie(20 + (CARD - 1) / 2, 20 + (CARD - 1) / 2))
    return out


@pytest.fixture
def seen(ground: Ground) -> np.ndarray:
    """The card in other light, two cubes on it"""
    noise = np.random.default_rng(5).normal(0, 0.03, BARE.shape)
    out = (ground.picture + 0.2 + noise).astype(np.float32)
    for name in ("sure", "seen"):
        draw_cube(out, PLACES[name])
    return cv2.GaussianBlur(out, (3, 3), 0)


def test_pixels_tell_a_piece_from_a_sign_of_its_colour(ground, seen):
    asked = {"sure": 0.99, "seen": 0.1, "sign": 0.7, "off": 0.6}
    spots = [spot_at(PLACES[k], v) for k, v in asked.items()]
    told = dict(zip(asked, weigh_pieces(spots, seen, ground), strict=True))
    assert told["sure"] > 0.99 and told["seen"] > 0.9 and told["sign"] < 0.2
    assert told["off"] == pytest.approx(0.6), "no card lies there"


def test_a_shadow_is_no_piece(ground, seen):
    shaded = seen.copy()
    x, y = PLACES["seen"]
    shaded[y - 8 : y + 8, x - 8 : x + 8] = np.float32(PLAIN) + 0.2 - 0.4
    spots = [spot_at(PLACES["sure"], 0.99), spot_at(PLACES["seen"], 0.5)]
    assert weigh_pieces(spots, shaded, ground)[1] < 0.1
    assert weigh_pieces(spots, seen, ground)[1] > 0.9


def test_the_pixels_of_a_surer_piece_say_nothing_of_another(ground, seen):
    x, y = PLACES["sure"]
    spots = [spot_at((x, y), 0.9), spot_at((x + 2, y), 0.4)]
    assert weigh_pieces(spots, seen, ground)[1] == pytest.approx(0.4)


def test_a_piece_is_compared_with_those_of_its_kind(ground, seen):
    red = PLACES["seen"]
    draw_cube(seen, red, (5.0, 3.0, 3.0))
    sure = [spot_at(PLACES["sure"], 0.99)]
    [_, as_wood] = weigh_pieces([*sure, spot_at(red, 0.5)], seen, ground)
    other = (34, 46)
    draw_cube(seen, other, (5.0, 3.0, 3.0))
    alike = [*sure, spot_at(other, 0.9, "red"), spot_at(red, 0.5, "red")]
    as_red = weigh_pieces(alike, seen, ground)[-1]
    assert as_red > 0.99 and as_red > as_wood


def test_a_piece_that_a_network_hardly_shows_stays_possible(ground, seen):
    """Whatever pixels say, it is only so much"""
    spots = [spot_at(PLACES["sure"], 0.99), spot_at(PLACES["seen"], 1e-6)]
    assert weigh_pieces(spots, seen, ground)[1] < 0.01
    assert len(weigh_pieces([], seen, ground)) == 0


def test_what_is_compared_with_nothing_becomes_no_likelier(ground, seen):
    """A lamp mirrored in a card would be a piece by its own colours; a sign stays a sign"""
    glare = PLACES["seen"]
    draw_cube(seen, glare, (6.0, 6.0, 6.0))
    assert weigh_pieces([spot_at(glare, 0.2)], seen, ground) == pytest.approx([0.2])
    assert weigh_pieces([spot_at(PLACES["sign"], 0.6)], seen, ground)[0] < 0.5


def test_a_piece_is_sought_where_most_speaks_for_one(ground, seen):
    colours = piece_colours([spot_at(PLACES["sure"], 0.99)], seen)
    assert colours.mean(0) == pytest.approx(WOOD, abs=0.1)
    assert seek_piece(seen, ground, colours, CUBE) > 4
    bare = (ground.picture - 0.3).astype(np.float32)
    assert seek_piece(bare, ground, colours, CUBE) < -1
    assert seek_piece(seen, ground, colours, 3 * CARD) == 0, "none so large lies on it"


def test_where_no_other_piece_is_known_something_unlike_the_card_hardly_speaks_for_one(
    ground, seen
):
    none = piece_colours([], seen)
    assert none.shape == (0, 3) and 0 < seek_piece(seen, ground, none, CUBE) < 3


def test_a_thing_of_its_slots_colour_hides_the_print_of_the_slot():
    rng = np.random.default_rng(4)
    slot = np.full((22, 42, 3), SIGN, np.float32)
    slot[8:14, 16:26] -= 0.5
    inside, colours = np.ones((20, 40), bool), np.float32(SIGN) + rng.normal(0, 0.05, (50, 3))
    noise = rng.normal(0, 0.03, (20, 40, 3))
    bare, filled = (v[1:-1, 1:-1] + noise for v in (slot, np.full_like(slot, SIGN)))
    astray = slot[1:-1, 2:] + noise
    for known in (colours, np.zeros((0, 3))):
        empty, moved, full = (
            weigh_filled(np.float32(v), slot, inside, np.float32(known))
            for v in (bare, astray, filled)
        )
        assert max(empty, moved) < -1 and full > empty + 0.3
    other = weigh_filled(
        np.float32(filled - (2.0, 0, 0)), slot, inside, np.float32(colours - (2.0, 0, 0))
    )
    assert other > 2
    assert weigh_filled(np.float32(bare), slot, ~inside, np.float32(colours)) == 0, (
        "beyond the canvas"
    )


def test_a_dark_thing_on_plain_ground_is_no_shadow():
    rng = np.random.default_rng(6)
    inside, ground = np.ones((20, 40), bool), np.full((22, 42, 3), 4.8, np.float32)
    noise = rng.normal(0, 0.03, (20, 40, 3))
    dark, shaded = (np.float32(ground[1:-1, 1:-1] - off + noise) for off in (1.3, 0.5))
    colours = np.float32(3.5 + rng.normal(0, 0.05, (50, 3)))
    assert weigh_filled(dark, ground, inside, colours) > 2
    assert weigh_filled(shaded, ground, inside, colours) < -2
