"""Outlines that lie beside their print are moved onto it, and no others are."""

from __future__ import annotations

import math

import cv2
import numpy as np
import pytest

from calibration.survey.outline_alignment import REACH_MM, align_outlines
from vision.plan import Plan, parse_plan
from vision.registration.print_map import PrintMap

WIDTH, HEIGHT, SCALE = 400.0, 300.0, 2.25


def slot_outlines() -> list[np.ndarray]:
    """(4, 2) mm each: slots of 24 x 8 mm at all angles over the board"""
    rng = np.random.default_rng(3)
    out = []
    for x in range(30, 380, 40):
        for y in range(30, 280, 40):
            a = rng.uniform(0, math.pi)
            along = 12 * np.array([math.cos(a), math.sin(a)])
            across = 4 * np.array([-math.sin(a), math.cos(a)])
            turns = [(-1, -1), (1, -1), (1, 1), (-1, 1)]
            out.append(np.array([(x, y) + u * along + v * across for u, v in turns]))
    return out


def plan_of(outlines: list[np.ndarray]) -> Plan:
    sites = [{"id": f"s{n}", "outline": o.tolist()} for n, o in enumerate(outlines)]
    return parse_plan({"game": "slots", "size": [WIDTH, HEIGHT], "site": sites})


def print_of(outlines: list[np.ndarray]) -> PrintMap:
    """A board of mottled paper with these slots printed on it"""
    rng = np.random.default_rng(5)
    shape = round(HEIGHT * SCALE), round(WIDTH * SCALE)
    mottled = cv2.GaussianBlur(rng.normal(0, 60, shape).astype(np.float32), (0, 0), 2.5)
    canvas = np.clip(150 + mottled, 0, 255).astype(np.uint8)
    for n, o in enumerate(outlines):
        ink = 60 + 40 * (n % 4)
        cv2.fillPoly(canvas, [np.rint((o * SCALE - 0.5) * 16).astype(np.int32)], ink, shift=4)
    return PrintMap(canvas, SCALE, np.zeros(2), np.zeros((0, 2)))


def farthest_off(plan: Plan, outlines: list[np.ndarray]) -> float:
    return max(float(np.abs(s.outlines[0] - o).max()) for s, o in zip(plan.site, outlines))


@pytest.mark.parametrize(
    "grow, off",
    [((1, 1.02), (-2, 0)), ((0.99, 1.01), (0, 2)), ((1, 1), (3, -2))],
    ids=["too high", "too narrow and too high", "tapped beside"],
)
def test_outlines_come_to_lie_on_their_print(grow: tuple, off: tuple) -> None:
    slots, middle = slot_outlines(), np.array([WIDTH, HEIGHT]) / 2
    plan = plan_of([(o - middle) * grow + middle + off for o in slots])
    assert farthest_off(plan, slots) > 2.5
    aligned = align_outlines(plan, print_of(slots))
    assert farthest_off(aligned, slots) < 0.5
    assert [s.id for s in aligned.site] == [s.id for s in plan.site]
    assert aligned.size == plan.size


def test_a_bent_board_is_followed() -> None:
    slots = slot_outlines()
    bent = [o + np.stack([3 - 5 * (o[:, 0] / WIDTH - 0.5) ** 2 * 4, 0 * o[:, 1]], 1) for o in slots]
    assert farthest_off(align_outlines(plan_of(slots), print_of(bent)), bent) < 0.5


def test_further_outlines_of_a_site_move_with_it() -> None:
    slots = slot_outlines()
    data = [
        {"id": f"s{n}", "outline": (a + 2.5).tolist(), "also": [(b + 2.5).tolist()]}
        for n, (a, b) in enumerate(zip(slots[::2], slots[1::2]))
    ]
    plan = parse_plan({"game": "slots", "size": [WIDTH, HEIGHT], "site": data})
    aligned = align_outlines(plan, print_of(slots))
    for site, other in zip(aligned.site, slots[1::2]):
        assert np.abs(site.outlines[1] - other).max() < 0.5


def test_a_true_plan_is_left_as_it_is() -> None:
    slots = slot_outlines()
    plan = plan_of([o + 0.3 for o in slots])
    assert align_outlines(plan, print_of(slots)) is plan


def test_outlines_without_print_are_left_where_they_are() -> None:
    plan = plan_of(slot_outlines())
    assert align_outlines(plan, print_of([])) is plan
    elsewhere = [o + (0, 2.5 * REACH_MM) for o in slot_outlines()]
    assert align_outlines(plan, print_of(elsewhere)) is plan


def test_round_places_have_no_edges_to_go_by() -> None:
    turn = np.linspace(0, 2 * math.pi, 24, endpoint=False)
    circle = 9 * np.stack([np.cos(turn), np.sin(turn)], 1)
    slots = slot_outlines()
    plan = plan_of([circle + o.mean(0) for o in slots])
    assert align_outlines(plan, print_of(slots)) is plan
