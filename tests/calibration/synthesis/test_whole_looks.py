"""Looks on which nothing lies, of specimens on which others lay."""

import cv2
import numpy as np

from calibration.cutouts.specimens import Specimen
from calibration.synthesis.painter import Evening, Look, Painter
from calibration.synthesis.whole_looks import looks_by_kind
from vision.learned.canvas import Canvas
from vision.plan import parse_plan

SIZE = 40
PLAN = parse_plan(
    {
        "game": "two cards",
        "size": [200, 100],
        "site": [
            {"id": "a", "reads": "cluster", "outline": [[30, 30], [70, 30], [70, 70], [30, 70]]}
        ],
        "piece": [{"kind": kind, "size": [40, 40], "height": 2} for kind in ("crown", "crown2")],
    },
    "two",
)


def print_of(sign: int) -> np.ndarray:
    """(SIZE, SIZE, 3) a card's picture: a dark bar all cards share, a sign of its own below"""
    out = np.full((SIZE, SIZE, 3), 5.0, np.float32)
    out[8:20, 10:30] = 3.5
    out[30:36, 30:36] = (4.0, 3.0, 4.5) if sign else (3.0, 4.5, 4.0)
    return out


def specimen(kind: str, sign: int, hidden: tuple[slice, slice] | None = None) -> Specimen:
    look, clear = print_of(sign), np.ones((SIZE, SIZE), np.float32)
    if hidden is not None:
        look[hidden], clear[hidden] = 4.2, 0.0
    return Specimen(0, "a", kind, np.zeros(2), 0.0, 0.0, look, clear)


STONE = (slice(5, 16), slice(20, 34))


def test_what_a_stone_hides_comes_from_another_specimen():
    looks = looks_by_kind([specimen("crown", 0), specimen("crown", 0, STONE)])
    for look in looks["crown"]:
        assert np.abs(look - print_of(0)).max() < 0.05


def test_no_other_kind_lends_what_a_stone_always_hides():
    looks = looks_by_kind(
        [specimen("crown", 0, (slice(28, 38), slice(28, 38))), specimen("crown2", 1)]
    )
    assert np.abs(looks["crown"][0] - print_of(1))[30:36, 30:36].max() > 0.3


def test_what_nobody_shows_is_drawn_on_from_its_border():
    looks = looks_by_kind([specimen("crown", 0, (slice(22, 29), slice(4, 12)))])
    assert np.abs(looks["crown"][0] - print_of(0)).max() < 0.1


def test_a_shadow_that_a_stone_casts_is_no_print():
    dark = specimen("crown", 0, STONE)
    dark.look[20:28, 5:25] -= 1.0
    looks = looks_by_kind([specimen("crown", 0), dark, specimen("crown", 0)])
    assert all(np.abs(look - print_of(0)).max() < 0.1 for look in looks["crown"])


def test_a_specimen_that_nothing_hides_stays_as_it_is():
    turned = specimen("crown", 0)
    turned.look = np.ascontiguousarray(np.rot90(turned.look))
    looks = looks_by_kind([specimen("crown", 0), turned])
    assert (looks["crown"][1] == turned.look).all()


def test_where_enough_are_whole_the_others_teach_nothing():
    whole = [specimen("crown", 0) for _ in range(3)]
    looks = looks_by_kind([specimen("crown", 0, STONE), *whole, specimen("crown", 0, STONE)])
    assert len(looks["crown"]) == 3
    assert all((look == print_of(0)).all() for look in looks["crown"])


def test_a_piece_that_another_hides_does_not_show():
    view = Canvas((200.0, 100.0), 1.0)
    evening = Evening(
        np.zeros(2), np.array([100.0, 50.0, 500.0]), np.zeros(2), 1.0, 0.0, 0.0, np.zeros(2)
    )
    canvas = np.full((*view.shape, 3), 4.0, np.float32)
    paint = Painter(canvas, view, (0, 0), evening, np.random.default_rng(0))
    card = np.full((40, 40, 3), 5.0, np.float32)
    ones = np.ones((40, 40), np.float32)
    look = Look(PLAN.pieces["crown"], card, ones, card[0, 0], 1.0, "upright")
    below = paint.lay_piece(look, np.array([50.0, 50.0]), 0.0, np.zeros(2))
    assert paint.laid == 1 and paint.shows_piece(1, below, 14)
    paint.lay_piece(look, np.array([52.0, 50.0]), 2.0, np.zeros(2))
    assert not paint.shows_piece(1, below, 14) and paint.shows_piece(2, below, 14)


CUBE_PLAN = parse_plan(
    {
        "game": "a cube",
        "size": [60, 60],
        "site": [{"id": "a", "reads": "cluster", "outline": [[0, 0], [60, 0], [60, 60], [0, 60]]}],
        "piece": [{"kind": "cube", "size": [12, 12], "height": 12}],
    },
    "a cube",
)


def paint_cube(lean: tuple[float, float], slope: tuple[float, float]) -> np.ndarray:
    """(h, w) log brightness of a pale cube on black, that leans so, its sides a log unit darker"""
    view = Canvas((60.0, 60.0), 4.0)
    evening = Evening(
        np.zeros(2), np.array([30.0, 30.0, 500.0]), np.zeros(2), 1.0, 0.0, -1.0, np.array(slope)
    )
    canvas = np.full((*view.shape, 3), 2.0, np.float32)
    paint = Painter(canvas, view, (0, 0), evening, np.random.default_rng(0))
    face, inside = np.full((48, 48, 3), 5.0, np.float32), np.zeros((48, 48), np.float32)
    inside[2:-2, 2:-2] = 1  # looks are cut out a little within their edge
    look = Look(CUBE_PLAN.pieces["cube"], face, inside, face[0, 0], 4.0, "upright")
    paint.lay_piece(look, np.array([30.0, 30.0]), 0.0, np.array(lean))
    return canvas.mean(2)


def test_no_side_shows_round_a_top_seen_from_straight_above():
    seen = paint_cube((0.0, 0.0), (0.0, 0.0))
    edge = cv2.dilate(np.uint8(seen > 4.5), np.ones((3, 3))) - np.uint8(seen > 4.5)
    assert (seen > 4.5).sum() > 0.95 * 48 * 48
    assert (seen[cv2.erode(np.uint8(seen > 2.1), np.ones((5, 5))) > 0] > 4.5).all() and edge.any()


def test_each_side_of_a_box_has_its_own_light():
    seen = paint_cube((0.5, 0.5), (0.6, 0.0))
    y, x = np.round(Canvas((60.0, 60.0), 4.0).to_px(np.array([[30.0, 30.0]]))[0, ::-1]).astype(int)
    # the top lies right of and below its foot: the sides to the left and above are seen
    left, above = seen[y + 6, x - 20], seen[y - 20, x + 6]
    assert 2.5 < left < above - 0.3 < seen[y + 24, x + 24] - 0.3
    plain = paint_cube((0.5, 0.5), (0.0, 0.0))
    assert abs(plain[y + 6, x - 20] - plain[y - 20, x + 6]) < 0.01
