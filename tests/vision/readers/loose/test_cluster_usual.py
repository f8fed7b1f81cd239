"""What was taken for a loose piece and fits worse than the pieces beside it is something else."""

import numpy as np
import pytest

from vision.readers.loose.count_evidence import evidence_of
from vision.readers.loose.pieces.fit import Piece
from vision.readers.loose.pieces.fit_statistics import Habit, Habits
from vision.readers.loose.scene.polar_patches import Form
from vision.readers.loose.usual_fit import Usual
from vision.storage import struct_codec

TOKEN, CUBE = Form((18.0, 18.0), 3.0, True), Form((9.0, 9.0), 9.0, False)


def token(lost, ideal=1500.0, form=TOKEN, framed=None):
    """One that falls short of a perfect match by so many nats a mm²"""
    gain = max(ideal - lost * form.area, 0.3 * ideal)
    return Piece(
        form,
        np.zeros(2),
        np.zeros(2),
        0.0,
        ("red", "blue"),
        np.array([gain, 100.0]),
        0,
        ideal,
        ideal,
        framed,
    )


def tokens(mean, n, seed=1, **more):
    return [token(mean * np.exp(v), **more) for v in np.random.default_rng(seed).normal(0, 0.3, n)]


HABITS = Habits.of(tokens(0.3, 60))
HABIT = HABITS.lying


def read(piece, others):
    return evidence_of({}, [(piece, 1.0)], 0.0, ("red", "blue"), HABITS.here([piece, *others]))


@pytest.mark.parametrize(
    ("light", "lost", "strange"),
    [(0.3, 0.4, False), (0.3, 3.0, True), (1.2, 1.5, False), (1.2, 4.0, True)],
)
def test_what_fits_worse_than_the_others_of_its_picture_is_something_else(light, lost, strange):
    """In one light as learnt, in another all fit worse"""
    e = read(token(lost), tokens(light, 25, 2))
    assert e.foreign is strange and (strange or np.exp(e.options[0][1]) > 0.97)


def test_alone_in_a_picture_it_is_read_with_doubt():
    e = read(token(3.0), [])
    assert not e.foreign and 0.5 < np.exp(e.options[0][1]) < 0.95
    assert HABIT.doubtful([token(3.0), token(0.3)])[0].gain == token(
        3.0
    ).gain and not HABIT.doubtful([token(0.3)])


def test_what_stands_out_little_is_not_strange_for_the_noise_on_it():
    pale = token(0.5, ideal=300.0)
    assert pale.gain < 0.6 * pale.ideal and not read(pale, tokens(0.3, 25, 2)).foreign


def test_where_too_little_was_seen_of_a_form_nothing_is_told():
    cubes = [token(3.0, form=CUBE, framed=1.0), token(3.0, form=Form((14.0, 14.0), 2.0, True))]
    assert (HABIT.here([*cubes, *tokens(0.3, 25)]).strange(cubes) < 1e-4).all()
    assert (
        Habit.of(tokens(0.3, 3)) is None
        and evidence_of({}, [(token(3.0), 1.0)], 0.0, ("red", "blue")).other < -10
    )


@pytest.mark.parametrize(
    ("lost", "else_", "strange"), [(0.3, 0.1, False), (3.0, 0.1, True), (3.0, 0.002, False)]
)
def test_how_a_block_fits_only_adds_to_what_else_is_strange(lost, else_, strange):
    """Blocks that touch fit as badly as a thing does"""
    cube = {"form": CUBE, "framed": 1.0, "ideal": 600.0}
    blocks = Habits.of(tokens(0.3, 60, **cube)).here(tokens(0.3, 25, 2, **cube))
    assert (blocks.foreign([(token(lost, **cube), 1.0)], else_) > 0.5) is strange


def test_it_goes_into_a_model_and_back():
    back = struct_codec.thaw_value(
        struct_codec.freeze_value({"usual": HABITS}), {Habit, Habits, Usual, Form}
    )["usual"]
    assert back.blocks is None and np.array_equal(
        back.lying.strange(tokens(3.0, 5)), HABIT.strange(tokens(3.0, 5))
    )


def learnt():
    """What pieces of two forms leave unexplained, the second twice as much as the first"""
    rng = np.random.default_rng(1)
    whose = rng.integers(0, 2, 2000)
    return Usual.of(np.array([0.3, 0.6])[whose] * np.exp(rng.normal(0, 0.15, 2000)), whose)


@pytest.mark.parametrize(
    ("form", "left", "strange"),
    [(0, 0.3, False), (0, 0.42, False), (0, 0.7, True), (1, 0.7, False), (1, 1.5, True)],
)
def test_what_fits_as_none_of_its_form_does_is_likelier_something_else(form, left, strange):
    odds = learnt().stranger(np.array([left]), np.array([form]))[0]
    assert odds > 1 if strange else odds < -3


@pytest.mark.parametrize(
    ("light", "left", "strange"),
    [(1.0, 0.6, True), (1.5, 0.54, False), (1.5, 1.0, True), (0.6, 0.36, True)],
)
def test_in_one_light_all_pieces_fit_worse_and_in_another_better(light, left, strange):
    rng = np.random.default_rng(2)
    here = learnt().shifted(light * 0.3 * np.exp(rng.normal(0, 0.15, 60)), np.zeros(60, int))
    odds = here.stranger(np.array([left]), np.array([0]))[0]
    assert odds > 3 if strange else odds < -1


def test_a_picture_without_pieces_tells_nothing_of_its_light():
    usual = learnt()
    assert usual.shifted(np.zeros(0), np.zeros(0, int)) is usual
