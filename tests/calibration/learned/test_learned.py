"""A network learnt from the test copy's own photos: pieces cut out where they lie, boards made up,
read right after little learning."""

import os

import numpy as np
import pytest

from calibration.copy import read_layout
from calibration.learned.compose import SIDE
from calibration.learned.examine import (
    HARDEST_SHARE,
    MASTERED_SHARE,
    PILE_SHARES,
    shares_right,
    trust_of,
    weigh_trust,
)
from calibration.learned.fit import can_learn, load_trunk_weights
from calibration.learned.teach import (
    LAST_SHARE,
    Unlearnt,
    draw_graph,
    initial_weights,
    learned_reader,
    learning_rate,
    make_batches,
    teach_apart,
    teach_network,
)
from engine.layout import same_contents
from vision.learned.groups import base_contents, covered_sites, group_sites
from vision.storage.photo_file import load_photo

pytestmark = pytest.mark.slow


def test_pieces_are_cut_out_where_they_lie(calibrated, cut_out):
    copy, _, shots = calibrated
    _, found = cut_out
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


def test_contents_that_are_guessed_between_are_not_hidden_by_the_rest():
    well = [[True] * 30 + [False]] * 30
    right, hardest = shares_right([*well, [True, False] * 15], 0.97)
    assert right > MASTERED_SHARE and hardest < HARDEST_SHARE
    right, hardest = shares_right([*well, [True, True, True, False, False]], 0.97)
    assert right > MASTERED_SHARE and hardest > HARDEST_SHARE, "five answers say little"
    assert shares_right([[True]], 0.97) == (None, None)
    assert shares_right([[True] * 9], None) == (None, None)


def test_a_group_seldom_asked_is_not_condemned_for_it():
    few, _ = shares_right([[True, True, False, False, False]], 0.95)
    assert few is not None and trust_of(few, PILE_SHARES) > 0.5
    many, _ = shares_right([[True, True, False, False, False] * 40], 0.95)
    assert many is not None and trust_of(many, PILE_SHARES) == 0


@pytest.mark.skipif(can_learn() is not None, reason="JAX is not installed")
def test_a_network_that_learnt_nothing_is_silent(lesson, monkeypatch):
    monkeypatch.setattr("calibration.learned.examine.ASKED_SAMPLES", 20)  # made-up boards, of 100
    monkeypatch.setattr("calibration.learned.teach.SAMPLES_SHOWN", 4)
    reader = learned_reader(lesson, initial_weights(lesson.shapes, 0))
    trust, cards_alone, mastered = weigh_trust(lesson, reader)
    assert trust == dict.fromkeys(lesson.plan.sites, 0.0) and not cards_alone and not mastered
    reader.set_trust(trust, cards_alone, mastered)
    shot = lesson.shots[0]
    assert reader.read(shot.image, shot.pose) == {}


@pytest.mark.skipif(can_learn() is not None, reason="JAX is not installed")
def test_little_learning_from_the_shipped_trunk_reads_the_board(calibrated, lesson):
    copy, registrar, _ = calibrated
    reader = learned_reader(lesson, teach_network(lesson, load_trunk_weights(), 12, beside=False))
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
def test_learning_apart_tells_how_far_it_is_and_gives_the_same(lesson):
    parts = []
    apart = teach_apart(lesson, load_trunk_weights(), 3, progress=parts.append)
    here = teach_network(lesson, load_trunk_weights(), 3, beside=False)
    whole = 3 + int(LAST_SHARE * 3)  # the last batches are for the classes
    assert parts == pytest.approx([n / whole for n in range(1, whole + 1)])
    assert all(np.allclose(apart[k], here[k], atol=1e-4) for k in here)


def take_batches(weights, fresh, shapes, batches, run):
    assert list(batches)
    return weights


@pytest.mark.skipif(can_learn() is not None, reason="JAX is not installed")
def test_learning_that_was_killed_goes_on_where_it_was(lesson, tmp_path, monkeypatch):
    monkeypatch.setattr("calibration.learned.teach.KEPT_EVERY", 2)
    monkeypatch.setattr("calibration.learned.class_fit.LEAST_ROUNDS", 5)
    graph = draw_graph(lesson, initial_weights(lesson.shapes, 0))
    monkeypatch.setattr("calibration.learned.teach.draw_graph", lambda *_: graph)
    # what the last fit makes of them is another test's
    monkeypatch.setattr("calibration.learned.refit.refit_classes", take_batches)
    keep, trunk = tmp_path / "learning.npz", load_trunk_weights()

    class Killed(Exception):
        pass

    whole = 6 + int(LAST_SHARE * 6)  # the last batches are for the classes

    def kill_half_way(part):
        if part > 4.5 / whole:
            raise Killed

    with pytest.raises(Killed):
        teach_network(lesson, trunk, 6, beside=False, progress=kill_half_way, keep=keep)
    parts = []
    teach_network(lesson, trunk, 6, beside=False, progress=parts.append, keep=keep)
    assert parts == pytest.approx([n / whole for n in range(5, whole + 1)])
    parts.clear()
    teach_network(lesson, trunk, 3, beside=False, progress=parts.append, keep=keep)
    assert len(parts) == 3 + int(LAST_SHARE * 3), "another lesson's is not gone on with"
    keep.write_bytes(keep.read_bytes()[:1000])
    teach_network(lesson, trunk, 3, beside=False, progress=parts.append, keep=keep)
    assert len(parts) == 2 * (3 + int(LAST_SHARE * 3))


def test_a_learner_that_dies_is_told(lesson, monkeypatch):
    monkeypatch.setattr("calibration.learned.teach._teach_and_tell", die_at_once)
    monkeypatch.setattr("calibration.learned.teach.PATIENCE", 0.2)
    with pytest.raises(Unlearnt, match="ended with 9"):
        teach_apart(lesson, None, 3)


def die_at_once(*_):
    os._exit(9)


def test_trust_grows_with_what_is_told_right():
    assert [trust_of(v, (0.85, 0.95)) for v in (None, 0.5, 0.9, 0.99)] == pytest.approx(
        [1.0, 0.0, 0.5, 1.0]
    )
