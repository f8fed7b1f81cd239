"""A network learnt from the test copy's own photos: pieces cut out where they lie, boards made up,
read right after little learning."""

import os

import numpy as np
import pytest

from calibration.copy import read_layout
from calibration.synthesis.batches import make_batches
from calibration.synthesis.compose import SIDE
from calibration.training import teach
from calibration.training.examine import examine_network
from calibration.training.fit import can_learn, load_trunk_weights
from calibration.training.teach import (
    Unlearnt,
    draw_graph,
    initial_weights,
    learned_reader,
    learning_rate,
    teach_apart,
    teach_network,
)
from engine.layout import same_contents
from vision.learned.groups import base_contents, covered_sites, group_sites
from vision.learned.plain_sites import MOST_PLAIN, average_cells, compare_sites
from vision.storage.photo_file import load_photo

pytestmark = pytest.mark.slow


def test_pieces_are_cut_out_where_they_lie(calibrated, lesson):
    copy, _, shots = calibrated
    found = lesson.specimens
    covered = [covered_sites(copy.plan, s.layout) for s in shots]
    shown = {
        (n, i, k)
        for n, s in enumerate(shots)
        for i, c in s.layout.items()
        for k in c
        if i not in covered[n]
    }
    assert {(s.photo, s.site, s.kind) for s in found} <= shown
    single = [s for s in found if copy.plan.pieces[s.kind].spans is None and s.base == 0]
    off = [np.abs(s.top - copy.plan.sites[s.site].centre).max() for s in single]
    assert len(single) > 60 and np.median(off) < 4 and max(off) < 8


def test_made_up_batches_are_the_same_for_the_same_seed(lesson):
    one, two = (next(make_batches(lesson, 5, 1)) for _ in range(2))
    assert one.keys() == two.keys()
    assert all(np.array_equal(one[k], two[k]) for k in one)
    assert one["x"].shape == (4, SIDE // 2, SIDE // 2, 24)


def test_labels_lie_within_their_groups_classes(lesson):
    batch = next(make_batches(lesson, 6, 1))
    taught = batch["site_counts"] > 0
    assert batch["site_allowed"][np.arange(len(taught)), batch["site_label"]][taught].all()


def test_a_class_of_each_contents_the_samplers_show(calibrated, lesson):
    copy, _, shots = calibrated
    groups = group_sites(copy.plan, [s.layout for s in shots])
    for s in shots:
        over = covered_sites(copy.plan, s.layout)
        for i, contents in s.layout.items():
            group = next(g for g in groups if i in g.ids)
            assert (
                i in over or base_contents(copy.plan, copy.plan.sites[i], contents) in group.classes
            )


def test_the_learning_rate_rises_and_falls_to_nearly_nothing():
    rates = [learning_rate(f, 1.0) for f in np.linspace(0, 1, 50)]
    assert rates[0] < 0.1 and max(rates) == 1.0 and rates[-1] < 0.01


@pytest.mark.skipif(can_learn() is not None, reason="JAX is not installed")
def test_a_network_that_learnt_nothing_is_found_to_guess(lesson, monkeypatch):
    monkeypatch.setattr("calibration.training.examine.ASKED_SAMPLES", 20)  # made-up boards, of 100
    monkeypatch.setattr("calibration.training.teach.SAMPLES_SHOWN", 2)
    reader = learned_reader(lesson, initial_weights(lesson.shapes, 0))
    told = examine_network(lesson, reader)
    trial = told.trial(reader)
    assert len(trial.rows) > 100 and trial.right < 0.3 * len(trial.rows)


STEPS, LAST = 4, 6  # that are learnt in, and further batches for the classes


def learn_little(set_to):
    for where in ("class_fit", "refit"):
        set_to(f"calibration.training.{where}.LEAST_ROUNDS", 20)
    set_to("calibration.training.class_fit.HEAT_ROUNDS", 60)
    set_to("calibration.training.teach.SAMPLES_SHOWN", 8)
    set_to("calibration.training.teach.LAST_SHARE", LAST / STEPS)


@pytest.fixture(scope="module")
def taught_weights(lesson):
    """The weights after little learning from the shipped trunk"""
    with pytest.MonkeyPatch.context() as patch:
        learn_little(patch.setattr)
        return teach_network(lesson, load_trunk_weights(), STEPS, beside=False)


@pytest.mark.skipif(can_learn() is not None, reason="JAX is not installed")
def test_little_learning_from_the_shipped_trunk_reads_the_board(calibrated, lesson, taught_weights):
    copy, registrar, _ = calibrated
    reader = learned_reader(lesson, taught_weights)
    right = total = 0
    for photo in sorted((copy.folder / "test").glob("*.jpg"))[:3]:
        want = read_layout(photo.with_suffix(".json"), copy.plan)
        image = load_photo(photo)
        found = reader.read(image, registrar.locate(image))
        for site in copy.plan.site:
            if not site.optional:
                total += 1
                right += not found[site.id].foreign and same_contents(
                    tuple(want.get(site.id, ())), found[site.id].best, site.reads
                )
    assert right / total > 0.9


@pytest.mark.skipif(can_learn() is not None, reason="JAX is not installed")
def test_learning_apart_tells_how_far_it_is_and_gives_the_same(lesson, taught_weights, monkeypatch):
    monkeypatch.setattr("calibration.training.teach._teach_and_tell", teach_little_apart)
    parts = []
    apart = teach_apart(lesson, load_trunk_weights(), STEPS, progress=parts.append)
    whole = STEPS + LAST
    assert parts == pytest.approx([n / whole for n in range(1, whole + 1)])
    assert apart.keys() == taught_weights.keys()
    assert all(np.allclose(apart[k], taught_weights[k], atol=1e-4) for k in taught_weights)


def teach_little_apart(*args):
    """In the other process, which knows nothing of what is patched here"""
    with pytest.MonkeyPatch.context() as patch:
        learn_little(patch.setattr)
        teach._teach_and_tell(*args)


def take_batches(weights, fresh, shapes, batches, run):
    assert list(batches)
    return weights


@pytest.mark.skipif(can_learn() is not None, reason="JAX is not installed")
def test_learning_that_was_killed_goes_on_where_it_was(lesson, tmp_path, monkeypatch):
    monkeypatch.setattr("calibration.training.teach.KEPT_EVERY", 2)
    monkeypatch.setattr("calibration.training.teach.LAST_SHARE", 1.0)
    monkeypatch.setattr("calibration.training.class_fit.LEAST_ROUNDS", 5)
    monkeypatch.setattr("calibration.training.class_fit.HEAT_ROUNDS", 5)
    monkeypatch.setattr("calibration.training.teach.SAMPLES_SHOWN", 1)
    graph = draw_graph(lesson, initial_weights(lesson.shapes, 0))
    monkeypatch.setattr("calibration.training.teach.draw_graph", lambda *_: graph)
    # what the last fit makes of them is another test's
    monkeypatch.setattr("calibration.training.refit.refit_classes", take_batches)
    keep, trunk = tmp_path / "learning.npz", load_trunk_weights()

    class Killed(Exception):
        pass

    whole = 4 + 4  # the last batches are for the classes

    def kill_half_way(part):
        if part > 2.5 / whole:
            raise Killed

    halves = []

    def take_half(weights):
        halves.append(weights)

    with pytest.raises(Killed):
        teach_network(
            lesson, trunk, 4, False, progress=kill_half_way, keep=keep, half_learnt=take_half
        )
    [half] = halves
    assert all(np.array_equal(half[k], trunk[k]) for k in trunk), "it learns only afterwards"
    parts = []
    halves.clear()
    teach_network(lesson, trunk, 4, False, progress=parts.append, keep=keep, half_learnt=take_half)
    assert not halves, "that was learnt the first time"
    assert parts == pytest.approx([n / whole for n in range(3, whole + 1)])
    parts.clear()
    teach_network(lesson, trunk, 1, beside=False, progress=parts.append, keep=keep)
    assert len(parts) == 1 + 1, "another lesson's is not gone on with"
    keep.write_bytes(keep.read_bytes()[:1000])
    teach_network(lesson, trunk, 1, beside=False, progress=parts.append, keep=keep)
    assert len(parts) == 2 * (1 + 1)


def test_a_learner_that_dies_is_told(monkeypatch):
    monkeypatch.setattr("calibration.training.teach._teach_and_tell", die_at_once)
    monkeypatch.setattr("calibration.training.teach.PATIENCE", 0.2)
    with pytest.raises(Unlearnt, match="ended with 9"):
        teach_apart(None, None, 3)


def die_at_once(*_):
    os._exit(9)


def test_what_reads_already_is_handed_on_before_all_is_learnt(monkeypatch):
    monkeypatch.setattr("calibration.training.teach._teach_and_tell", tell_by_halves)
    told = []
    whole = teach_apart(None, None, 3, progress=told.append, half_learnt=told.append)
    assert told == [0.5, {"half": 1}, 0.9] and whole == {"whole": 1}


def tell_by_halves(lesson, trunk, steps, seed, queue, keep, half_learnt):
    for what, value in (("part", 0.5), ("half", {"half": 1}), ("part", 0.9)):
        if what != "half" or half_learnt:
            queue.put((what, value))
    queue.put(("weights", {"whole": 1}))


def test_nothing_that_a_copys_photos_show_is_taken_for_an_empty_site(lesson, monkeypatch):
    monkeypatch.setattr(
        "calibration.training.teach.SAMPLES_SHOWN", 1
    )  # only the photos are compared
    reader = learned_reader(lesson, initial_weights(lesson.shapes, 0))
    assert 0.02 < reader.plain == lesson.plain <= MOST_PLAIN
    for canvas, truth in lesson.reals:
        off = average_cells(canvas) - reader.empty_cells
        for g in lesson.shapes.groups:
            laid = [lesson.plan.sites[i] for i in g.ids if truth.labels.get(i)]
            if laid:
                differs = compare_sites(lesson.view, g, laid, off).max(1)
                assert (differs > 1.5 * reader.plain).all()
