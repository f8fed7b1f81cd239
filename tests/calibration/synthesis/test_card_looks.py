"""Of cards, how they look where nothing lies on them: for every group that tells two at least."""

import numpy as np
import pytest

from calibration.synthesis import compose
from calibration.synthesis.card_looks import LOOKS_OF_CARD, draw_card_banks
from calibration.synthesis.compose import Composer, crop_padded
from calibration.synthesis.painter import Look
from vision.geometry.pose import Pose
from vision.geometry.posed_photo import Shot
from vision.learned.canvas import Canvas, picture_of
from vision.learned.card_bank import CARD_SAMPLES
from vision.learned.groups import group_forms, group_sites
from vision.plan import parse_plan

PLAN = parse_plan(
    {
        "game": "drawn",
        "size": [200, 100],
        "piece": [
            {"kind": "field", "size": [60, 40], "height": 1},
            {"kind": "forest", "size": [60, 40], "height": 1},
            {"kind": "cube", "size": [9, 9], "height": 9},
            {"kind": "tile", "size": [20, 20], "height": 2},
            {"kind": "other", "size": [20, 20], "height": 2},
        ],
        "site": [
            {"id": "F1", "reads": "cluster", "outline": [[10, 10], [75, 10], [75, 55], [10, 55]]},
            {"id": "P1", "reads": "pile", "outline": [[100, 10], [122, 10], [122, 32], [100, 32]]},
        ],
    }
)
LAYOUTS = [{}, {"F1": ("field", "cube"), "P1": ("tile",)}, {"F1": ("forest",), "P1": ("other",)}]
GROUPS = group_sites(PLAN, LAYOUTS)
FORMS = group_forms(PLAN, GROUPS)


def look_of(kind, value, lies="upright"):
    """Of one colour, at 2 pixels a millimetre"""
    piece = PLAN.pieces[kind]
    w, h = (round(2 * v) for v in piece.footprint)
    patch = np.full((h, w, 3), value, np.float32)
    return Look(piece, patch, np.ones((h, w), np.float32), np.zeros(3), 2.0, lies)


@pytest.fixture
def kind_looks():
    return {
        "field": [look_of("field", v) for v in (4.0, 4.1)],
        "forest": [look_of("forest", 3.0)] * (LOOKS_OF_CARD + 3),
        "cube": [look_of("cube", 5.0, "any")],
        "tile": [look_of("tile", 5.0)],
        "other": [look_of("other", 4.0)],
    }


def test_cards_are_drawn_as_they_look_by_the_class_that_they_are(kind_looks):
    [(group, bank)] = draw_card_banks(PLAN, GROUPS, FORMS, kind_looks, 1.6).items()
    assert GROUPS[group].ids == ("F1",), "piles show no cards"
    [cards] = bank.looks
    assert cards.pictures.shape[1:] == (round(40 * CARD_SAMPLES / 60), CARD_SAMPLES, 3)
    assert not cards.quarters
    told = {
        GROUPS[group].classes[c]: set(cards.pictures[cards.classes == c].mean((1, 2, 3)).round(2))
        for c in bank.known_classes()
    }
    assert told == {("field",): {np.float32(4.0), np.float32(4.1)}, ("forest",): {np.float32(3.0)}}
    assert (cards.classes == GROUPS[group].classes.index(("forest",))).sum() == LOOKS_OF_CARD


def test_a_card_alone_is_not_told_from_others(kind_looks):
    del kind_looks["field"]
    assert draw_card_banks(PLAN, GROUPS, FORMS, kind_looks, 1.6) == {}


def test_cards_that_lie_any_way_round_are_kept_apart(kind_looks):
    kind_looks["field"] = [look_of("field", 4.0, "quarters")]
    [bank] = draw_card_banks(PLAN, GROUPS, FORMS, kind_looks, 1.6).values()
    assert sorted(v.quarters for v in bank.looks) == [False, True]


def test_cards_are_no_finer_than_the_canvas(kind_looks):
    [bank] = draw_card_banks(PLAN, GROUPS, FORMS, kind_looks, 0.2).values()
    assert bank.samples == 0.2 and bank.looks[0].pictures.shape[1:3] == (8, 12)


@pytest.fixture
def new_composer(kind_looks, monkeypatch):
    """share of samples in which all cards are known -> (a Composer, its view, its empty board)"""
    view = Canvas((200.0, 100.0), 1.2)
    empty = np.full((*view.shape, 3), 5.0, np.float32)
    lens = np.array([[900.0, 0, 360], [0, 900, 240], [0, 0, 1]])
    pose = Pose(
        lens, np.zeros(4), np.zeros(3), np.array([-100.0, -50, 400]), (720, 480), "markers", 0.3
    )
    shot = Shot(np.zeros((480, 720, 3), np.uint8), {}, pose)
    forms = group_forms(PLAN, GROUPS)

    def make_composer(share: float) -> tuple[Composer, Canvas, np.ndarray]:
        monkeypatch.setattr(compose, "KNOWN", share)
        monkeypatch.setattr(compose, "KNOWN_SHARE", (1.0, 1.0))
        made = Composer(
            PLAN, view, GROUPS, forms, kind_looks, {}, [empty], empty, [], [shot], 1, crowded=0.0
        )
        return made, view, empty

    return make_composer


def test_known_cards_are_shown_as_part_of_the_board_and_nobody_is_asked_for_them(new_composer):
    asked, known = 0, 0
    for share in (0.0, 1.0):
        made, view, empty = new_composer(share)
        for _, truth in (made.compose_crop(0, 0) for _ in range(20)):
            labels = {PLAN.sites["F1"].id: 0} | truth.labels
            if not share:
                asked += labels["F1"] >= 2
                assert truth.ground is None
                continue
            assert truth.labels.get("F1", 0) < 2
            drawn = np.any(truth.ground != crop_padded(empty, 0, 0), 2)
            known += drawn.sum() > 1000
            x, y = np.rint(view.to_px(np.array(PLAN.sites["P1"].centre))).astype(int)
            assert not drawn[y, x], "a tile of a pile is no card"
    assert asked > 3 and known > 3


def test_samples_with_known_cards_are_turned_by_half_as_a_second_look_is(new_composer, monkeypatch):
    turned = [made.make_sample() for made in [new_composer(1.0)[0]] for _ in range(4)]
    monkeypatch.setattr(compose.Sample, "turn_half", lambda sample: sample)
    straight = [made.make_sample() for made in [new_composer(1.0)[0]] for _ in range(4)]
    plain = [made.make_sample() for made in [new_composer(0.0)[0]] for _ in range(4)]
    last = compose.SIDE - 1
    for one, other in zip(turned, straight):
        assert (picture_of(one.x) == picture_of(other.x)[::-1, ::-1]).all()
        assert one.points[:, :2] == pytest.approx(other.points[:, :2])
        assert one.points[:, 2:] == pytest.approx(last - other.points[:, 2:])
        assert one.sites[:, 2:4] == pytest.approx(last - other.sites[:, 2:4])
        assert one.sites[:, 4:] == pytest.approx(-other.sites[:, 4:])
        assert one.camera == pytest.approx([*(last - other.camera[:2]), other.camera[2]])
    assert sum(len(s.points) for s in turned) and sum(len(s.sites) for s in plain)
    monkeypatch.undo()
    again = [made.make_sample() for made in [new_composer(0.0)[0]] for _ in range(4)]
    assert all((a.x == b.x).all() for a, b in zip(plain, again)), "others stay as they are"


def test_there_is_nothing_to_know_where_no_cards_lie_under_pieces(lesson):
    assert not lesson.composer(1).carded


def test_a_tile_on_which_a_small_piece_may_lie_is_drawn_too(kind_looks):
    layouts = [{}, {"F1": ("cube",), "P1": ("tile",)}, {"P1": ("tile", "cube")}, {"P1": ("other",)}]
    groups = group_sites(PLAN, layouts)
    forms = group_forms(PLAN, groups)
    banks = draw_card_banks(PLAN, groups, forms, kind_looks, 1.6)
    [(group, bank)] = [(n, b) for n, b in banks.items() if groups[n].reads == "pile"]
    assert bank.known_classes().tolist() == [groups[group].classes.index(("tile",))]
    assert draw_card_banks(PLAN, groups, forms, kind_looks | {"tile": []}, 1.6).keys() == (
        banks.keys() - {group}
    )
