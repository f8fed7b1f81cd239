"""Things that stand are cut out where they stand, put up elsewhere, and told apart after little
learning."""

import cv2
import numpy as np
import pytest

from calibration.cutouts.seek import Samplers
from calibration.cutouts.standing import (
    MANY,
    OWN_PIECES,
    Standing,
    StandingLook,
    borrow_looks,
    cut_standing,
    find_standing,
    fold_lean,
    unfold_lean,
)
from calibration.synthesis.compose import CLOSE, MOST_OUTSIDE, SIDE, Truth
from calibration.synthesis.lesson import prepare_lesson
from calibration.synthesis.painter import Painter
from calibration.training.fit import can_learn, load_trunk_weights
from calibration.training.teach import learned_reader, teach_network
from tests.support.towers import camera, photo, random_layout, towers_plan, towers_shots
from vision.geometry.footprints import camera_position, top_shift
from vision.learned.canvas import CANVAS_MARGIN, Canvas
from vision.learned.groups import FOREIGN, Form, group_sites
from vision.plan import parse_plan


@pytest.fixture(scope="module")
def plan():
    return towers_plan()


@pytest.fixture(scope="module")
def shots(plan):
    return towers_shots(plan, 4)


@pytest.fixture(scope="module")
def lesson(plan, shots):
    return prepare_lesson(plan, shots)


def test_a_top_is_seen_where_the_camera_sees_it():
    pose, feet = camera(tilt=0.5), np.array([[20.0, 30.0], [140.0, 100.0]])
    seen = pose.to_mm(pose.to_px(feet, 56.0))
    assert feet + top_shift(camera_position(pose), feet, 56.0) == pytest.approx(seen, abs=0.01)


def test_the_canvas_shows_what_stands_on_the_rim_whole(plan, shots):
    poses = [s.pose for s in shots]
    view = Canvas.suited_to(plan, poses, 56.0)
    assert Canvas.suited_to(plan, poses).margin == CANVAS_MARGIN < view.margin
    tops = plan.corners + top_shift(camera_position(poses[0]), plan.corners, 56.0)
    px = view.to_px(tops)
    assert (px > 0).all() and (px < view.shape[::-1]).all()
    assert view.beyond_rim()[0, 0] and not view.beyond_rim()[tuple(n // 2 for n in view.shape)]


def test_feet_are_found_and_tall_sites_told(plan, shots, lesson):
    group = group_sites(plan, [s.layout for s in shots])[0]
    assert (group.tall, group.foot) == (56.0, 24.0)
    canvases = [c for c, _ in lesson.reals]
    grounds = [lesson.empty] * len(shots)
    found, first = find_standing(Samplers(plan, lesson.view, shots, canvases, grounds))
    assert len(found) == 12  # a stump lies
    assert all((first[s.photo] == n).any() for n, s in enumerate(found))
    off = [np.hypot(*(s.foot - plan.sites[s.site].centre)) for s in found]
    assert np.median(off) < 5 and max(off) < 9  # they stand up to 4 mm astray
    assert lesson.standing.keys() == {"tower", "night"}


def test_places_a_square_beyond_the_board_are_shown_as_none_of_its_sites(plan, lesson):
    composer = lesson.composer(3)
    ((_, numbers, places),) = composer.outside
    assert set(numbers) == {n for n, s in enumerate(plan.site) if {"0", "3"} & set(s.id)}
    assert ((places < 0) | (places > plan.size)).any(1).all()
    canvas, truth = lesson.reals[0]
    shown = composer.look_outside(canvas[:SIDE, :SIDE], (0, 0), truth.camera)
    assert len(shown) == MOST_OUTSIDE and {label for _, label, _ in shown} == {FOREIGN}


def test_a_look_put_up_where_it_was_cut_is_the_same(plan, lesson):
    look = lesson.standing["tower"][0]
    foot, shift = np.array([70.0, 80.0]), np.array([look.reach, 0.0])
    view = lesson.view.finer(look.scale)
    ys, xs = np.mgrid[: view.shape[0], : view.shape[1]]
    drawn, mask = fold_lean(look, view.to_mm(np.stack([xs, ys], -1)) - foot, shift, False)
    again = unfold_lean(drawn, view, foot, shift, look.reach, look.beside)
    assert np.abs(again - look.patch)[3:-3, 3:-3].mean() < 0.03
    assert 0.1 < look.mask.mean() < 0.9 and mask.max() > 0.9


def test_a_square_foot_on_its_corner_is_cut_out_whole():
    square = [[40, 40], [80, 40], [80, 80], [40, 80]]
    plan = parse_plan(
        {
            "game": "needles",
            "size": [160, 120],
            "site": [{"id": "A", "reads": "cluster", "outline": square}],
            "piece": [{"kind": "needle", "size": [16, 16], "height": 40}],
        }
    )
    view, foot, shift = Canvas(plan.size, 2.0), np.array([60.0, 60.0]), np.array([30.0, 0.0])
    half = 8 * 2**0.5
    corners = foot + half * np.array([(-1, 0), (0, -1), (1, 0), (0, 1)])
    needle = cv2.convexHull(np.vstack([corners, foot + shift]).astype(np.float32)).reshape(-1, 2)
    ground = np.full((*view.shape, 3), 4.5, np.float32)
    canvas = ground.copy()
    cv2.fillPoly(canvas, [np.rint(view.to_px(needle)).astype(np.int32)], (3.0, 3.0, 3.0))
    stands = Standing(0, "A", "needle", foot, shift)
    first = np.full(view.shape, MANY, np.int32)
    samplers = Samplers(plan, view, (), [canvas], [ground])
    (look,) = cut_standing(samplers, [stands], [first])["needle"]
    wide = np.flatnonzero((look.mask > 0.5).any(1))
    assert np.ptp(wide) == pytest.approx(2 * half * view.scale, abs=3)


BOARD, RED, WHITE = (np.log(np.array(c)) for c in ((150, 190, 210), (40, 40, 200), (230, 235, 240)))


def drawn_look(colour: np.ndarray, length: float) -> StandingLook:
    """Of a column, darker to one side, on the board"""
    mask = np.zeros((20, 40), np.float32)
    mask[4:16, 6:34] = 1
    mask = cv2.GaussianBlur(mask, (0, 0), 1.0)
    body = colour - 0.02 * np.arange(20)[:, None, None]
    patch = BOARD + np.minimum(4 * mask, 1)[..., None] * (body - BOARD)
    return StandingLook(None, patch.astype(np.float32), mask, 8.0, length, 4.0, 2.0)


def test_a_kind_few_samplers_show_is_seen_as_others_of_its_form_are_in_its_own_colour():
    white, red = drawn_look(WHITE, 2.0), drawn_look(RED, 9.0)
    looks = {"white": [white], "red": [red], "shown": [drawn_look(BOARD, 3.0)] * OWN_PIECES}
    borrow_looks(looks, ["red", "shown", "white"])
    assert len(looks["shown"]) == OWN_PIECES
    assert sorted({v.length for v in looks["white"]}) == [2.0, 3.0, 9.0]
    assert sum(v is white for v in looks["white"]) == len(looks["white"]) / 2
    [lent] = [v for v in looks["white"] if v.length == 9.0]
    assert lent.patch == pytest.approx(white.patch, abs=0.15), "not even its rim is red"


@pytest.mark.parametrize(("apart", "asked"), [(2.0, 1), (45.0, 2)])
def test_what_another_hides_is_asked_of_nobody(plan, lesson, apart, asked):
    composer = lesson.composer(2)
    composer.form, composer.forms = {"tower": (0, 0)}, (Form((24.0, 24.0), True, 56.0, ("tower",)),)
    evening = composer.choose_evening()
    canvas = lesson.empty[:SIDE, :SIDE].copy()
    paint, truth = (
        Painter(canvas, lesson.view, (0, 0), evening, np.random.default_rng(0)),
        Truth(evening.camera),
    )
    first = lesson.view.to_mm(np.full(2, SIDE / 2))
    away = first - evening.camera[:2]
    for at in (first, first + away / np.hypot(*away) * apart):  # the second behind the first
        composer.put_loose(paint, truth, "tower", at, 0.0, np.zeros(2))
    assert len(truth.points) == 2
    seen = truth.points[0]
    composer.stand_pieces(paint)
    composer.forget_hidden(paint, truth)
    assert len(truth.points) == asked and truth.points[0] == seen


def test_made_up_boards_show_what_stands_close_up(lesson):
    composer = lesson.composer(1)
    samples = [composer.make_sample() for _ in range(3)]
    assert all(len(s.close) == CLOSE and not len(s.sites) for s in samples), "one alone shows fewer"
    assert {label for s in samples for _, label, _ in s.close} >= {0, 2, 3, 4}


def test_what_stands_is_put_up_all_over_its_site(lesson):
    composer, box, none = lesson.composer(1), np.array([80.0, 80.0]), np.zeros(2)
    canvas = np.zeros((SIDE, SIDE, 3), np.float32)
    paint = Painter(canvas, composer.view, (0, 0), composer.choose_evening(), composer.rng)
    for _ in range(300):
        composer.lay_pile(paint, Truth(np.zeros(3)), none, box, ["tower"], none)
    astray = np.abs([foot for foot, *_ in paint.upright]) / (box / 2 - 12)
    assert astray.max() < 1.0 and (astray > 0.85).any(0).all() and np.median(astray) < 0.4


@pytest.mark.skipif(can_learn() is not None, reason="JAX is not installed")
def test_little_learning_tells_what_stands(plan, lesson, still_trunk):
    """How sure it is tells more than how often it is right: of what is looked at where its foot is,
    not where it is seen, it tells three of four right too."""
    still_trunk(rounds=60, batches=16)
    weights = teach_network(lesson, load_trunk_weights(), 1, beside=False, seed=1)
    reader, rng = learned_reader(lesson, weights), np.random.default_rng(9)
    right, sure = 0, []
    for turn in (0.0, 0.3, -0.3, 0.15):
        layout = random_layout(plan, rng, 8)
        image = photo(plan, layout, camera(turn), rng)
        found = reader.read(image, camera(turn))
        part = reader.read(image, camera(turn), {"12", "21"})
        assert all(part[s].best == found[s].best for s in part)
        right += sum(e.best == tuple(layout.get(s, ())) for s, e in found.items())
        sure += [e.logp(tuple(layout.get(s, ()))) for s, e in found.items()]
    assert right >= 50  # of 64
    assert np.mean(sure) > -0.54
