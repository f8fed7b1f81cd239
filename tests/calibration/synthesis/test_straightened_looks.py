"""Kinds that only their turn tells apart: how a look has to be turned to lie straight is found by
the looks of others with the same print."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from calibration.synthesis.looks import straighten_looks
from calibration.synthesis.painter import Look
from vision.plan import Plan, parse_plan

SIDE, MM = 40, 13.0
PAINTS = {"red": (60, 70, 200), "green": (90, 180, 90), "pale": (190, 200, 205)}
SIGNS = {
    "arrow": [(0, -12), (8, 3), (2, 3), (2, 12), (-2, 12), (-2, 3), (-8, 3)],
    "flag": [(-6, -12), (9, -8), (-3, -2), (-3, 12), (-6, 12)],
}


def plan_of(told: bool) -> Plan:
    pieces = []
    for paint in PAINTS:
        for sign in SIGNS:
            words = {"artwork": [paint, sign, "seed"]} if told else {}
            kind = f"{paint} {sign}"
            pieces += [
                {"kind": kind, "size": MM, **words},
                {"kind": f"old {kind}", "size": MM, "looks": kind, "turned": 45.0, **words},
            ]
    outline = [[0, 0], [30, 0], [30, 30], [0, 30]]
    sites = [{"id": "A1", "outline": outline}]
    return parse_plan({"game": "discs", "size": [300, 300], "piece": pieces, "site": sites})


def look_of(plan: Plan, kind: str, turn: float, turned: float | None) -> Look:
    """A disc that was cut out `turn` degrees off straight, not quite about its middle, lit from one
    side"""
    paint, sign = kind.split()
    rng = np.random.default_rng(sum(map(ord, kind)) + round(turn))
    picture = np.full((SIDE, SIDE, 3), 60.0, np.float32)
    middle = np.array([SIDE / 2 - 0.5] * 2) + rng.uniform(-0.8, 0.8, 2)
    at = tuple(int(v) for v in np.rint(middle * 16))
    cv2.circle(picture, at, int(0.48 * SIDE * 16), PAINTS[paint], -1, cv2.LINE_AA, 4)
    a = np.deg2rad(turn)
    points = np.array(SIGNS[sign]) @ [[np.cos(a), np.sin(a)], [-np.sin(a), np.cos(a)]] + middle
    ink = (40, 40, 40) if paint == "pale" else (235, 235, 235)
    cv2.fillPoly(picture, [np.rint(points * 16).astype(np.int32)], ink, cv2.LINE_AA, 4)
    picture = cv2.GaussianBlur(picture, (0, 0), 1.2) + rng.normal(0, 2, picture.shape)
    picture *= np.linspace(0.9, 1.1, SIDE)[None, :, None]
    patch = np.log(picture + 20).astype(np.float32)
    mask = np.ones((SIDE, SIDE), np.float32)
    return Look(plan.pieces[kind], patch, mask, patch[0, 0], SIDE / MM, "any", turned)


def quarters_off(turned: float, turn: float) -> float:
    """Degrees by which a look that lay `turn` off lies askew when it is turned so"""
    off = (turned + turn) % 90
    return min(off, 90 - off)


@pytest.mark.parametrize("told", [True, False], ids=["as the plan says", "as they look"])
def test_prints_in_other_colours_tell_how_a_disc_lies(told: bool) -> None:
    plan = plan_of(told)
    cut = {"red arrow": 130.0, "green flag": 20.0, "green arrow": 305.0, "red flag": 255.0}
    looks = {f"pale {sign}": [look_of(plan, f"pale {sign}", 0.0, 0.0)] for sign in SIGNS}
    looks |= {kind: [look_of(plan, kind, turn, None)] for kind, turn in cut.items()}
    straighten_looks(plan, looks, {p.kind for p in plan.piece})
    for kind, turn in cut.items():
        found = [v.turned for v in looks[kind] if v.turned is not None]
        assert len(found) == 1, kind
        assert quarters_off(found[0], turn) < 12, f"{kind}: {found[0]} for {-turn % 90}"


def test_a_disc_of_the_same_kind_that_lies_the_other_way_tells_it_too() -> None:
    plan = plan_of(True)
    kind, other = "green flag", "old green flag"
    laid = look_of(plan, kind, 45.0, 0.0)  # as the other kind lies: 45 degrees further
    looks = {
        other: [Look(plan.pieces[other], laid.patch, laid.mask, laid.side, SIDE / MM, "any", 0.0)],
        kind: [look_of(plan, kind, 70.0, None)],
    }
    straighten_looks(plan, looks, {kind, other})
    assert quarters_off(looks[kind][-1].turned, 70.0) < 12


def test_a_print_like_no_other_is_left_as_it_is() -> None:
    plan = plan_of(False)
    looks = {
        "pale flag": [look_of(plan, "pale flag", 0.0, 0.0)],
        "red arrow": [look_of(plan, "red arrow", 30.0, None)],
    }
    straighten_looks(plan, looks, {"pale flag", "red arrow"})
    assert [v.turned for v in looks["red arrow"]] == [None]
