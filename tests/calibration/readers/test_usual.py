"""Things that are no pieces: those made up to learn from, pieces that fit as none does, lumps that
nothing explains."""

from types import SimpleNamespace

import numpy as np
import pytest
from calibration.readers.pile.synthetic_objects import littered
from vision.readers.pile.classifier import Stage
from vision.readers.pile.fit_statistics import Usual
from vision.readers.pile.group_reader import agreed

from vision.geometry.pose import Pose
from vision.geometry.posed_photo import Shot
from vision.photometry.canvas import Frame
from vision.plan import parse_plan
from vision.readers.loose.residual_blobs import Place, left_bare, left_on
from vision.readers.loose.residual_blobs import littered as is_litter


def usual(rng, known=(True, True, False)):
    """What three looks leave unexplained, the second twice as much as the first"""
    whose = rng.integers(0, 3, 3000)
    return Usual.of(
        np.array([0.3, 0.6, 0.01])[whose] * np.exp(rng.normal(0, 0.15, 3000)),
        whose,
        np.array(known),
    )


@pytest.mark.parametrize(
    ("look", "left", "strange"),
    [
        (0, 0.3, False),
        (0, 0.42, False),
        (0, 0.7, True),
        (1, 0.7, False),
        (1, 1.5, True),
        (2, 0.7, False),
        (2, 1.5, True),
    ],
)
def test_what_fits_as_none_of_its_kind_does_is_likelier_something_else(look, left, strange):
    """Of the third look there is one cut-out, which fits itself: it is judged as the worst known"""
    odds = usual(np.random.default_rng(1)).stranger(np.array([left]), np.array([look]))[0]
    assert odds > 1 if strange else odds < -3


def test_where_each_kind_was_cut_out_once_its_fit_tells_nothing():
    assert (
        not usual(np.random.default_rng(1), (False,) * 3)
        .stranger(np.array([0.1, 50.0]), np.array([0, 2]))
        .any()
    )


def test_where_a_kind_was_never_shown_a_good_fit_is_no_argument_against_it():
    rng = np.random.default_rng(1)
    whose = rng.integers(0, 2, 2000)
    learnt = Usual.of(
        0.3 * np.exp(rng.normal(0, 0.15, 2000)), whose, np.array([True, True]), unshown=True
    )
    for each in (learnt, learnt.here(np.full(60, 0.3), np.zeros(60, int))):
        odds = each.stranger(np.array([0.3, 1.0]), np.array([0, 0]))
        assert odds[0] == 0 and odds[1] > 1


@pytest.mark.parametrize(
    ("light", "left", "strange"),
    [(1.0, 0.6, True), (1.5, 0.54, False), (1.5, 1.0, True), (0.6, 0.36, True)],
)
def test_what_fits_worse_than_the_others_in_its_picture_is_strange(light, left, strange):
    """In one light all pieces fit worse than they were learnt to, in another all fit better"""
    rng, learnt = np.random.default_rng(2), usual(np.random.default_rng(1))
    here = learnt.here(light * 0.3 * np.exp(rng.normal(0, 0.15, 60)), np.zeros(60, int))
    odds = here.stranger(np.array([left]), np.array([0]))[0]
    assert odds > 3 if strange else odds < -1
    assert learnt.here(np.zeros(0), np.zeros(0, int)) is learnt


def test_how_a_look_fits_tells_nothing_of_what_is_taken_for_empty():
    stage, there = SimpleNamespace(looks=("bare",)), np.log(np.array([[0.999, 0.001]] * 2))
    # the look, something else, empty
    told = np.log(np.array([[0.013, 0.122, 0.865], [0.5, 0.3, 0.2]]))
    out = np.exp(
        Stage.sobered(
            stage,
            told,
            np.zeros(2, int),
            np.full(2, 9.0),
            Usual(np.zeros(1), 0.8, 0.2, 6.0),
            there,
            0.0,
        )
    )
    assert out[0, 2] == pytest.approx(0.865, abs=0.001) and out[0, 1] == pytest.approx(
        0.135, abs=0.002
    )
    assert out[1, 1] > 0.78 and out[1, 0] < 0.01


def test_what_one_network_overlooks_the_other_finds():
    """Only where it is known how the site looks empty; and that the first finds nothing is no
    argument"""
    # the look, something else, empty
    told = np.log(np.array([[0.02, 0.33, 0.65]] * 2 + [[0.9, 0.05, 0.05]]))
    there = np.log(np.array([[0.9996, 0.0004]] * 2 + [[0.001, 0.999]]))
    out = np.exp(agreed(told, there, np.array([True, False, True])))
    assert out[0, 2] < 0.05 and out[0, 1] / out[0, 0] == pytest.approx(16.5)
    assert np.allclose(out[1:], np.exp(told[1:])) and np.allclose(out.sum(1), 1)


def test_made_up_things_lie_on_the_site_and_are_never_the_same():
    rng, ground = np.random.default_rng(3), np.log(np.full((60, 60, 3), 140.0, np.float32))
    made = [littered(rng, ground, 30, 44, np.full(2, 29.5)) for _ in range(40)]
    other = np.array([np.abs(m - ground).max(2) > 0.05 for m in made])
    assert all(np.isfinite(m).all() for m in made)
    # a ring may be empty where it is looked at
    assert (other[:, 20:40, 20:40].mean((1, 2)) > 0.05).mean() > 0.9
    assert other[:, :4].mean() < 0.1 and len({float(m.sum()) for m in made}) == 40


def scene(paint):
    """100 mm of grey ground, two pixels a mm, on which `paint` (h, w, 3) of what is seen works"""
    ground = np.full((200, 200, 4), 120, np.uint8)
    seen = ground.copy()
    paint(seen)
    strange = (np.abs(seen[::2, ::2, :3].astype(int) - 120).max(2) > 25).astype(np.float32)
    return SimpleNamespace(
        frame=Frame(0, 0, 2.0, 200, 200),
        seen=seen,
        ground=ground,
        weight=np.full((200, 200), 1 / 169, np.float32),
        strange=strange,
        light=np.ones((9, 9, 3), np.float32),
        light_at=lambda mm: np.ones((len(mm), 3)),
    )


def coin(seen):
    seen[80:120, 80:120] = (60, 120, 190, 0)


def shadow(seen):
    seen[60:140, 60:140] //= 10
    seen[60:140, 60:140] *= 7


def sliver(seen):
    seen[20:180, 98:102] = (60, 120, 190, 0)


@pytest.mark.parametrize(("paint", "litter"), [(coin, True), (shadow, False), (sliver, False)])
def test_a_compact_lump_is_something_else_a_shadow_and_a_sliver_are_not(paint, litter):
    shown = scene(paint)
    left = left_on(shown, Place.of(shown.frame, np.array([[5, 5], [95, 5], [95, 95], [5, 95.0]])))
    assert bool(is_litter(left.lump, 1.0, 9.0) > 0.5) is litter


def test_a_shadow_beside_what_stands_fills_nothing():
    outline = np.array([[5, 5], [95, 5], [95, 95], [5, 95.0]])
    one, both = scene(coin), scene(lambda seen: (shadow(seen), coin(seen)))
    alone, shaded = (left_on(s, Place.of(s.frame, outline)) for s in (one, both))
    assert alone.filled(True) == alone.filled(False) > 5
    assert (
        shaded.filled(False) > 1.2 * shaded.filled(True)
        and abs(shaded.filled(True) - alone.filled(True)) < 1
    )


def test_a_lump_is_judged_by_those_that_samplers_leave():
    assert (
        is_litter(6.0, 1.0, 9.0) > 0.9
        and is_litter(6.0, 6.0, 9.0) < 0.1
        and is_litter(60.0, np.inf, 9.0) == 0.0
    )


@pytest.mark.parametrize(("shine", "lumps"), [(0, False), (70, True)])
def test_what_a_lamp_makes_of_the_bare_board_is_the_least_that_something_else_must_be(shine, lumps):
    site = {"id": "pit", "reads": "cluster", "outline": [[20, 20], [80, 20], [80, 80], [20, 80]]}
    plan = parse_plan(
        {
            "game": "seeds",
            "size": [100, 100],
            "piece": [{"kind": "seed", "size": 12}],
            "site": [site],
        }
    )
    camera = np.array([[1800.0, 0, 200], [0, 1800.0, 200], [0, 0, 1]])
    pose = Pose(camera, np.zeros(4), np.zeros(3), np.array([-50.0, -50.0, 450.0]), (400, 400))
    rng, (y, x) = np.random.default_rng(3), np.mgrid[:400, :400]
    images = []
    for light in (0, shine):
        board = (
            np.array([60, 100, 150])
            + light * np.exp(-((x - 200) ** 2 + (y - 200) ** 2) / 40**2)[..., None]
        )
        images.append(np.clip(board + rng.normal(0, 2, board.shape), 0, 255).astype(np.uint8))
    frame = Frame.of(plan, [pose] * 2)
    bare = [Shot(image, {}, pose, "empty.jpg") for image in images]
    most = left_bare(plan, frame, bare, [frame.flatten(s.image, frame.maps(pose)) for s in bare])
    assert (most > 4) is lumps and (lumps or most < 1)
    assert left_bare(plan, frame, bare[:1], [bare[0].image]) == 0
