"""Slots at all angles are learnt from and read as one sort of site."""

import msgspec
import numpy as np
import pytest

from calibration.cutouts.cut_out import cut_specimens
from calibration.cutouts.seek import Samplers
from calibration.synthesis.compose import SIDE, crop_padded
from calibration.synthesis.lesson import prepare_lesson
from calibration.training.fit import can_learn, load_trunk_weights
from calibration.training.teach import learned_reader, teach_network
from tests.support.towers import camera
from tests.support.wagons import (
    SLOT,
    draw_wagons,
    random_layout,
    slot_angles,
    turned_rectangle,
    wagons_plan,
    wagons_shots,
)
from vision.learned.groups import group_sites
from vision.plan import Plan, Site


@pytest.fixture(scope="module")
def plan():
    return wagons_plan()


@pytest.fixture(scope="module")
def shots(plan):
    return wagons_shots(plan, 4)


@pytest.fixture(scope="module")
def lesson(plan, shots):
    return prepare_lesson(plan, shots)


def outline_site(corners, reads="pile"):
    return Site("here", tuple(map(tuple, np.round(corners, 1))), reads)


HERE = np.array([40.0, 60.0])


@pytest.mark.parametrize("degrees", [0.0, 37.0, 90.0, 142.0])
def test_a_slot_is_looked_at_along_its_length(degrees):
    corners = turned_rectangle(HERE, SLOT, degrees)
    for start in range(4):
        for mirrored in (1, -1):
            box, turn = outline_site(np.roll(corners, start, 0)[::mirrored]).frame
            assert box == pytest.approx(SLOT, abs=0.15)
            assert (turn - degrees + 90) % 180 - 90 == pytest.approx(0, abs=0.6)


@pytest.mark.parametrize(
    ("corners", "reads", "turned"),
    [
        (turned_rectangle(HERE, (20, 20), 0.3), "pile", 0.0),
        (turned_rectangle(HERE, (20, 20), 30.0), "pile", 30.0),
        (turned_rectangle(HERE, (20, 20), 80.0), "pile", -10.0),
        (turned_rectangle(HERE, SLOT, 30.0), "cluster", 0.0),
        (HERE + np.array([[0, 0], [30, 0], [20, 10], [10, 10]]), "pile", 0.0),
        (HERE + np.array([[0, 0], [30, 8], [20, 30]]), "pile", 0.0),
    ],
)
def test_only_rectangles_of_piles_are_turned(corners, reads, turned):
    site = outline_site(corners, reads)
    box, turn = site.frame
    assert turn == pytest.approx(turned, abs=0.5)
    if not turned:
        assert box == pytest.approx(np.ptp(np.array(site.outline), axis=0))


def test_slots_at_all_angles_are_one_group(plan, shots):
    (group,) = group_sites(plan, [s.layout for s in shots])
    assert len(group.ids) == 9 and group.box == pytest.approx(SLOT)
    assert group.degrees_of(plan.site) == pytest.approx(
        [a % 180 for a in slot_angles(plan).values()], abs=0.1
    )


def test_slots_outlined_by_hand_are_looked_at_along_too():
    """As somebody outlined them on a photo: ends askew, one side longer than the other"""
    rng = np.random.default_rng(2)
    outlines = [
        turned_rectangle(HERE + (60 * n, 0), (26, 10), 25.0 * n) + rng.uniform(-1.3, 1.3, (4, 2))
        for n in range(12)
    ]
    sites = tuple(
        msgspec.structs.replace(outline_site(o), id=f"slot {n}") for n, o in enumerate(outlines)
    )
    for n, site in enumerate(sites):
        box, turn = site.frame
        assert box == pytest.approx((26, 10), abs=2.7)
        assert (turn - 25.0 * n + 90) % 180 - 90 == pytest.approx(0, abs=6)
    (group,) = group_sites(Plan("slots", (800.0, 120.0), sites), [])
    assert len(group.ids) == 12


def test_piles_of_other_sizes_are_other_groups():
    sides = {"small": (20, 20), "a bit larger": (24, 22), "wide": (40, 20), "large": (42, 42)}
    sites = tuple(
        msgspec.structs.replace(outline_site(turned_rectangle(HERE, side, 0.0)), id=name)
        for name, side in sides.items()
    )
    groups = group_sites(Plan("fields", (200.0, 200.0), sites), [])
    assert {frozenset(g.ids) for g in groups} == {
        frozenset({"small", "a bit larger"}),
        frozenset({"wide"}),
        frozenset({"large"}),
    }


def test_wagons_are_found_along_their_slots(plan, shots, lesson):
    canvases, grounds = [c for c, _ in lesson.reals], [lesson.empty.copy() for _ in shots]
    found = cut_specimens(Samplers(plan, lesson.view, shots, canvases, grounds))
    assert len(found) == 10
    for s in found:
        astray = (s.turn - slot_angles(plan)[s.site] + 90) % 180 - 90
        assert abs(astray) < 9 and np.hypot(*(s.top - plan.sites[s.site].centre)) < 6


def test_made_up_wagons_lie_along_slots(plan, lesson):
    composer = lesson.composer(3, crowded=0.0)
    composer.rng = np.random.default_rng(5)
    along = []
    for _ in range(12):
        canvas, truth = composer.compose_crop(0, 0)
        empty = crop_padded(lesson.empty, 0, 0)
        for site, label in truth.labels.items():
            if label < 2 or site in along:
                continue
            ends = turned_rectangle(plan.sites[site].centre, (16.0, 0.0), slot_angles(plan)[site])
            px = np.rint(lesson.view.to_px(ends)).astype(int)
            if (px > 8).all() and (px < SIDE - 8).all():
                off = [np.abs(canvas[y, x] - empty[y, x]).max() for x, y in px]
                along.append(min(off))
    assert len(along) > 20 and np.mean(np.array(along) > 0.25) > 0.7


@pytest.mark.skipif(can_learn() is not None, reason="JAX is not installed")
def test_little_learning_tells_wagons(plan, lesson, still_trunk):
    still_trunk(rounds=25, batches=5)
    weights = teach_network(lesson, load_trunk_weights(), 1, beside=False)
    reader, rng = learned_reader(lesson, weights), np.random.default_rng(9)
    right = 0
    for turn in (0.0, 0.2):
        layout = random_layout(plan, rng, 5)
        found = reader.read(draw_wagons(plan, layout, camera(turn), rng), camera(turn))
        right += sum(e.best == tuple(layout.get(s, ())) for s, e in found.items())
    assert right >= 17  # of 18
