"""Made-up samples: crowds of pieces where no site is, copies that nobody printed, and classes
fitted to features that are worked out once."""

import cv2
import msgspec
import numpy as np
import pytest

from calibration.synthesis.batches import batches_beside, make_batches
from calibration.synthesis.compose import SIDE, WITHIN, Truth, outline_within
from calibration.synthesis.drawn import draw_lesson
from calibration.synthesis.painter import Painter
from calibration.synthesis.relight import (
    DEEPEST_SHADOW,
    MOST_CUT_OF_COLOUR,
    MOST_CUT_OFF,
    WHITE_LOG,
    mirror_lamp,
    relight_picture,
    render_otherwise,
)
from calibration.training import teach
from calibration.training.fit import can_learn, load_trunk_weights
from calibration.training.teach import initial_weights
from vision.learned.groups import EMPTY, FOREIGN, block_middle
from vision.photometry.room_light import DARK

pytestmark = pytest.mark.slow


def test_a_crowd_shows_one_group_or_one_form_close_together(lesson):
    composer = lesson.composer(5, crowded=1.0)
    composer.reals = []
    seen, many, loose = set(), [], 0
    for _ in range(18):
        sample = composer.make_sample()
        groups = {int(g) for g in sample.sites[:, 0]}
        if not groups:
            loose += 1
            assert len(set(sample.points[:, 0])) == 1 and len(sample.points) >= 9
            continue
        assert len(groups) == 1
        if composer.groups[groups.pop()].spans:
            continue
        many.append(len(sample.sites))
        seen |= {int(c) for c in sample.sites[:, 1]}
        assert ((sample.sites[:, 2:4] > 0) & (sample.sites[:, 2:4] < SIDE)).all()
    assert min(many) > 3 and np.median(many) >= 9
    assert len(seen) > 15, "most kinds in a few samples"
    assert 0 < loose < 9, "treasures, which lie on tiles"


def test_no_crowd_where_none_is_asked_for(lesson):
    composer = lesson.composer(3, crowded=0.0)
    made = [composer.compose_crop(0, 0)[1] for _ in range(8)]
    assert all(composer.groups[n].spans for one in made for n, *_ in one.elsewhere)


def test_what_covers_several_squares_is_shown_as_a_whole(lesson):
    composer, whole = lesson.composer(3, crowded=0.0), []
    for _ in range(12):
        truth = composer.compose_crop(0, 0)[1]
        contents = {
            s: composer.groups[composer.group[s]].classes[c] for s, c in truth.labels.items()
        }
        laid = [
            (k, *block_middle(lesson.plan.sites[s], spans))
            for s, k in contents.items()
            if k and k[-1] in lesson.plan.pieces and (spans := lesson.plan.pieces[k[-1]].spans)
        ]
        told = [(composer.groups[n].classes[c], x, y) for n, c, x, y, _ in truth.elsewhere]
        assert set(laid) <= set(told), "some are hidden by what lies on them"
        whole += told
    assert len({k for k, _, _ in whole}) > 1


def test_stray_pieces_leave_no_wrong_label(lesson):
    composer = lesson.composer(4)
    site = lesson.plan.site[0]
    assert site.id in composer.piles_under(np.array(site.centre), 5.0)
    assert not composer.piles_under(np.array([-200.0, -200.0]), 5.0)
    assert Truth(np.zeros(3)).elsewhere == []


def test_a_stack_is_made_of_what_the_samplers_stacked(lesson, monkeypatch):
    group = lesson.shapes.groups[0]
    shot = next(s for s in lesson.shots if s.layout)
    first, second = group.ids[:2]
    stacked = {first: ("temple", "treasure", "union"), second: ("?", "union")}
    shots = [msgspec.structs.replace(shot, layout=stacked)]
    classes = (*group.classes[:2], ("?", "?", "union"), ("?", "union"))
    shapes = msgspec.structs.replace(
        lesson.shapes, groups=(msgspec.structs.replace(group, classes=classes),)
    )
    composer = msgspec.structs.replace(lesson, shots=shots, shapes=shapes).composer(5)
    assert composer.choose_contents(0, 2) == stacked[first]
    assert composer.choose_contents(0, 3) == stacked[second]
    bases = []
    monkeypatch.setattr(
        Painter, "lay_piece", lambda self, look, foot, base, *_, **__: bases.append(base) or (0, 0)
    )
    canvas = np.zeros((SIDE, SIDE, 3), np.float32)
    paint = Painter(canvas, composer.view, (0, 0), composer.choose_evening(), composer.rng)
    pieces, none = composer.plan.pieces, np.zeros(2)
    for contents in stacked.values():
        composer.lay_pile(paint, Truth(np.zeros(3)), none, np.full(2, 80.0), contents, none)
    temple, treasure = pieces["temple"].height, pieces["treasure"].height
    thinnest = min(p.height for p in pieces.values())
    assert bases == pytest.approx([0.0, temple, temple + treasure, thinnest])


def test_piles_lie_up_into_the_corners_of_roomy_sites(lesson, monkeypatch):
    feet = []
    monkeypatch.setattr(
        Painter, "lay_piece", lambda self, look, foot, *_, **__: feet.append(foot) or (0.0, 0.0)
    )
    composer = lesson.composer(7)
    canvas = np.zeros((SIDE, SIDE, 3), np.float32)
    paint = Painter(canvas, composer.view, (0, 0), composer.choose_evening(), composer.rng)
    box, none = np.array([80.0, 80.0]), np.zeros(2)
    for _ in range(300):
        composer.lay_pile(paint, Truth(np.zeros(3)), none, box, ["treasure"], none)
    room = np.abs(feet) / (box / 2 - 4)
    assert room.max() < 1.1 and 0.25 < np.median(room) < 0.4
    assert (room.min(1) > 0.75).any(), "one in a hundred or so lies in a corner"


def test_tiles_where_they_do_not_belong_are_something_foreign(lesson):
    composer = lesson.composer(4)
    group = composer.groups[0]
    assert composer.strange[0] == [], "all belong on the one kind of square there is"
    few = msgspec.structs.replace(group, classes=(*group.classes[:2], ("temple",)))
    strange = composer.strange_kinds(few)
    assert "farm" in strange and not {"temple", "treasure", "monument:blue-red"} & set(strange)
    composer.strange = [["farm"], []]
    for _ in range(5):
        canvas = np.zeros((SIDE, SIDE, 3), np.float32)
        evening = msgspec.structs.replace(composer.choose_evening(), dark=0.0)
        paint = Painter(canvas, composer.view, (0, 0), evening, composer.rng)
        truth = Truth(evening.camera, labels=dict.fromkeys(group.ids, EMPTY))
        composer.misplace_pieces(paint, truth)
        covered = [i for i, c in truth.labels.items() if c == FOREIGN]
        assert covered and len(group.ids) - 12 < len(truth.labels) <= len(group.ids)
        for at in composer.view.to_px(np.array([composer.sites[i].centre for i in covered])):
            assert not (at < SIDE).all() or np.abs(canvas[int(at[1]), int(at[0])]).max() > 1


def test_people_in_a_hurry_lay_pieces_off_their_site(lesson, monkeypatch):
    feet = []
    monkeypatch.setattr(
        Painter, "lay_piece", lambda self, look, foot, *_, **__: feet.append(foot) or (0.0, 0.0)
    )
    monkeypatch.setattr("calibration.synthesis.compose.LAID_ANYWHERE", 0.0)

    def measure_spread(share, kind, careful=False):
        monkeypatch.setattr("calibration.synthesis.compose.HURRIED", share)
        composer, none = lesson.composer(7), np.zeros(2)
        evening = composer.choose_evening()
        if share:
            evening = msgspec.structs.replace(evening, astray=3.0, askew=9.0)
        else:
            assert (evening.astray, evening.askew) == (1.0, 4.0)
        canvas = np.zeros((SIDE, SIDE, 3), np.float32)
        paint = Painter(canvas, composer.view, (0, 0), evening, composer.rng)
        feet.clear()
        box = np.array(lesson.plan.pieces[kind].footprint)
        for _ in range(300):
            truth = Truth(np.zeros(3))
            composer.lay_pile(paint, truth, none, box, [kind], none, careful=careful)
        return np.std(feet)

    assert measure_spread(0.0, "farm") == pytest.approx(0.9, abs=0.1)
    assert measure_spread(1.0, "farm") == pytest.approx(2.7, abs=0.3)
    assert measure_spread(1.0, "farm", careful=True) == pytest.approx(0.9, abs=0.1), "cards"
    most = 0.3 * min(lesson.plan.pieces["treasure"].footprint)
    assert measure_spread(1.0, "treasure") < most, "not beside its site"


def test_some_evenings_people_are_in_a_hurry(lesson):
    composer = lesson.composer(7)
    evenings = [composer.choose_evening() for _ in range(200)]
    hurried = [e for e in evenings if e.astray > 1.0]
    assert 50 < len(hurried) < 110 and max(e.askew for e in hurried) > 8


def test_a_drawn_copy_has_other_prints_on_the_same_plan(lesson):
    one, again, other = (draw_lesson(lesson, seed) for seed in (1, 1, 2))
    assert one.looks.keys() == lesson.looks.keys() and not one.reals
    for kind, looks in one.looks.items():
        assert [v.patch.shape for v in looks] == [v.patch.shape for v in lesson.looks[kind]]
        assert all(np.array_equal(a.patch, b.patch) for a, b in zip(looks, again.looks[kind]))
    apart = [np.abs(one.looks[k][0].patch - other.looks[k][0].patch).mean() for k in lesson.looks]
    assert np.median(apart) > 0.1
    flat = [one.looks[k][0].patch.mean((0, 1)) for k in ("temple", "market", "farm", "settlement")]
    assert len({tuple(np.round(v, 2)) for v in flat}) > 1


def test_flat_pieces_lie_on_one_another_where_there_is_no_room(lesson):
    composer = lesson.composer(6)
    narrow = np.array([[0, 0], [20, 0], [20, 12], [0, 12]], float)
    placed = [(np.array([6.0, 6.0]), 14.0), (np.array([14.0, 6.0]), 14.0)]
    assert composer.choose_place(narrow, 14.0, placed) is None
    at = composer.choose_place(narrow, 14.0, placed, flat=True)
    assert all(np.hypot(*(at - q)) > 0.3 * 14 for q, _ in placed)


def test_batches_made_by_other_processes_are_the_same(lesson, monkeypatch):
    here = list(make_batches(lesson, 7, 3))
    monkeypatch.setattr(teach, "make_batches", None)  # none is made here too
    beside = list(batches_beside(lesson, 7, 3))
    assert len(beside) == len(here) == 3
    assert all(np.array_equal(a[k], b[k]) for a, b in zip(beside, here) for k in a)
    assert not np.array_equal(here[0]["x"], here[1]["x"])


@pytest.mark.skipif(can_learn() is not None, reason="JAX is not installed")
@pytest.mark.parametrize(
    ("size", "stride", "dilation"), [(3, 1, 1), (3, 2, 1), (3, 1, 2), (1, 1, 1)]
)
def test_slopes_of_filters_are_what_differentiating_gives(size, stride, dilation):
    import jax

    from calibration.training.network import plain_slide, slide_filters

    rng = np.random.default_rng(0)
    x = rng.normal(size=(2, 12, 12, 3)).astype(np.float32)
    filters = rng.normal(size=(size, size, 3, 5)).astype(np.float32)

    def slopes_of(slide):
        return jax.grad(lambda x, w: (slide(x, w, stride, dilation) ** 2).sum(), argnums=(0, 1))

    ours, theirs = (slopes_of(slide)(x, filters) for slide in (slide_filters, plain_slide))
    for a, b in zip(ours, theirs):
        assert np.allclose(a, b, rtol=1e-4, atol=1e-3)


@pytest.mark.skipif(can_learn() is not None, reason="JAX is not installed")
def test_classes_fitted_first_tell_more_than_fresh_ones(lesson, few_rounds):
    import jax

    from calibration.training.class_fit import fit_classes
    from calibration.training.network import total_loss

    few_rounds(30)
    weights = initial_weights(lesson.shapes, 0, load_trunk_weights())
    batches = list(make_batches(lesson, 0, 3))
    fitted = fit_classes(weights, batches)
    assert all(np.array_equal(fitted[k], weights[k]) for k in weights if k.startswith("trunk/"))
    asked = next(make_batches(lesson, 99, 1))
    loss = jax.jit(total_loss)
    assert float(loss(fitted, asked)) < 0.6 * float(loss(weights, asked))


def test_a_lamp_mirrored_lightens_what_is_dark_and_nothing_beyond_white(monkeypatch):
    monkeypatch.setattr("calibration.synthesis.relight.NOISE", 0.004)
    dark, white = (np.full((64, 64, 3), v, np.float32) for v in (4.0, WHITE_LOG))
    lightest = {}
    for share in (0.0, 1.0):
        monkeypatch.setattr("calibration.synthesis.relight.GLOSS", share)
        lightest[share] = [
            max(relight_picture(np.random.default_rng(n), v, odd=0.0).max() for n in range(30))
            for v in (dark, white)
        ]
    (dark_before, white_before), (dark_lit, white_lit) = lightest[0.0], lightest[1.0]
    assert np.exp(dark_lit) - np.exp(dark_before) > 50  # of 255
    assert white_lit == pytest.approx(white_before, abs=0.3)


def test_the_empty_board_that_samples_are_compared_with_mirrors_a_lamp_at_times(
    lesson, monkeypatch
):
    lit = []

    def note_lamp(rng, x):
        lit.append((x, mirror_lamp(rng, x)))
        return lit[-1][1]

    monkeypatch.setattr("calibration.synthesis.compose.mirror_lamp", note_lamp)
    assert lesson.composer(3).veiled == 0, "two photos show the board empty"
    composer = msgspec.structs.replace(lesson, empties=[lesson.empty]).composer(3)
    for _ in range(40):
        composer.make_sample()
    assert 0 < len(lit) < 12
    assert all(x.shape == (SIDE, SIDE, 3) and (seen >= x - 1e-5).all() for x, seen in lit)
    assert max(float((seen - x).max()) for x, seen in lit) > 0.1


def test_what_is_brighter_than_the_camera_takes_in_is_cut_off(monkeypatch):
    bright = np.full((32, 32, 3), 5.8, np.float32)  # log units: more than white
    dark = np.full((32, 32, 3), 4.0, np.float32)
    tops = {}
    for share in (0.0, 1.0):
        monkeypatch.setattr("calibration.synthesis.relight.OVEREXPOSED", share)
        tops[share] = [relight_picture(np.random.default_rng(n), bright).max() for n in range(20)]
    assert max(tops[0.0]) > WHITE_LOG
    assert WHITE_LOG - MOST_CUT_OFF <= min(tops[1.0]) < max(tops[1.0]) <= WHITE_LOG
    monkeypatch.setattr("calibration.synthesis.relight.NOISE", 0.004)
    seen = (relight_picture(np.random.default_rng(n), bright) for n in range(40))
    apart = np.array([np.ptp(v.max((0, 1))) for v in seen])
    assert 0.3 < (apart > 0.05).mean() < 0.7, "one colour is cut off before the others, or none"
    assert 0.3 < apart.max() <= MOST_CUT_OF_COLOUR
    assert relight_picture(np.random.default_rng(3), dark).max() < WHITE_LOG - MOST_CUT_OFF


def test_shadows_fall_across_a_part_of_a_picture(monkeypatch):
    plain = np.full((64, 64, 3), 4.6, np.float32)
    monkeypatch.setattr("calibration.synthesis.relight.GLOSS", 0.0)
    monkeypatch.setattr("calibration.synthesis.relight.LIGHT", 0.0)
    monkeypatch.setattr("calibration.synthesis.relight.HAZE", 0.0)
    darkest = {}
    for share in (0.0, 1.0):
        monkeypatch.setattr("calibration.synthesis.relight.OVERSHADOWED", share)
        seen = [relight_picture(np.random.default_rng(n), plain).mean(2) for n in range(20)]
        darkest[share] = min(v.min() for v in seen)
        if share:
            assert np.mean([(v > 4.4).any() and (v < 4.4).any() for v in seen]) > 0.4
    assert darkest[0.0] > 4.3 and 4.6 - DEEPEST_SHADOW - 0.3 < darkest[1.0] < 4.0


def test_pictures_are_rendered_more_vivid_or_paler_about_their_middle():
    levels = np.array([[[40.0, 80, 160], [150, 150, 150], [60, 60, 60]]])
    x = np.log(levels + DARK).astype(np.float32)
    apart = {v: np.ptp(render_otherwise(x, v, 0.0)[0, 0]) for v in (-0.3, 0.0, 0.3)}
    assert apart[-0.3] < 0.8 * apart[0.0] < apart[0.0] < 0.8 * apart[0.3]
    hazy, clear = (np.exp(render_otherwise(x, 0.0, v)[0]) - DARK for v in (-0.2, 0.2))
    assert hazy[1] == pytest.approx(150, abs=0.1) and clear[1] == pytest.approx(150, abs=0.1)
    assert hazy[2] == pytest.approx(78, abs=0.1) and clear[2] == pytest.approx(42, abs=0.1)


def test_boards_that_a_network_is_examined_on_lie_in_usual_light(monkeypatch):
    dark = np.full((32, 32, 3), 4.6, np.float32)
    monkeypatch.setattr("calibration.synthesis.relight.OVERSHADOWED", 1.0)
    monkeypatch.setattr("calibration.synthesis.relight.OVEREXPOSED", 1.0)
    monkeypatch.setattr("calibration.synthesis.relight.HAZE", 0.0)
    seen = [relight_picture(np.random.default_rng(n), dark, odd=0.0).min() for n in range(20)]
    assert min(seen) > 4.0


def test_pieces_lie_within_an_outline_that_fills_no_box(lesson):
    """In the tip of a third of a circle, and with most of it not in its neighbours"""
    third = np.array([[0, -24], [33, 14], [-33, 14]], np.float32)
    composer, room = lesson.composer(7), np.array([27.0, 13.0])
    spots = np.array([composer.choose_spot(room, 1.0, np.eye(2), third) for _ in range(400)])
    inside = [cv2.pointPolygonTest(third, spot.tolist(), True) for spot in spots]
    assert min(inside) > WITHIN and spots[:, 1].min() < -15
    beyond = np.array([composer.choose_spot(room, 1.0, np.eye(2), None) for _ in range(400)])
    assert min(cv2.pointPolygonTest(third, spot.tolist(), True) for spot in beyond) < -5


def test_only_outlines_that_leave_much_of_their_box_are_laid_on_within(lesson):
    square = lesson.plan.site[0]
    assert outline_within(square) is None
    cut = msgspec.structs.replace(square, outline=square.outline[1:])
    assert outline_within(cut).shape == (3, 2)
