"""What is odd about calibration photos: blurred ones, and layouts that say other than the photo
shows."""

from __future__ import annotations

from types import SimpleNamespace

import cv2
import msgspec
import numpy as np
import pytest

from calibration.suspect import (
    blurred_photos,
    contradicted_sites,
    layout_doubts,
    not_there,
    pointing_kinds,
    swapped_photos,
    tapped_astray,
    traded_sites,
)
from calibration.trial import Row
from vision.evidence.site_evidence import SiteEvidence
from vision.geometry.pose import Pose
from vision.geometry.posed_photo import Shot
from vision.plan import parse_plan

SIDE = 40
NAMES = [f"{column}{row}" for row in (1, 2, 3) for column in "abc"]


def made() -> tuple:
    """(plan of a board of nine squares, Shot of a layout seen straight from above, 4 pixels a
    mm)"""
    outline = np.array([[0, 0], [SIDE, 0], [SIDE, SIDE], [0, SIDE]])
    sites = [
        {"id": n, "outline": (outline + (SIDE * (i % 3), SIDE * (i // 3))).tolist()}
        for i, n in enumerate(NAMES)
    ]
    plan = parse_plan(
        {
            "game": "nine",
            "size": [3 * SIDE] * 2,
            "piece": [{"kind": "white", "size": 30}],
            "site": sites,
        }
    )
    camera = np.array([[1920.0, 0, 240], [0, 1920.0, 240], [0, 0, 1]])
    flat = Pose(camera, np.zeros(4), np.zeros(3), np.array([-60.0, -60.0, 480.0]), (480, 480))

    def shot(name: str, layout: dict, shown: set[str]) -> Shot:
        image = np.full((480, 480, 3), 60, np.uint8)
        for i, site in enumerate(NAMES):
            middle = (80 + 160 * (i % 3), 80 + 160 * (i // 3))
            cv2.rectangle(
                image,
                (middle[0] - 76, middle[1] - 76),
                (middle[0] + 76, middle[1] + 76),
                (40, 90, 130),
                -1,
            )
            if site in shown:
                cv2.circle(image, middle, 60, (200, 210, 215), -1, cv2.LINE_AA)
        noise = np.random.default_rng(len(name)).normal(0, 3, image.shape)
        return Shot(
            np.clip(image + noise, 0, 255).astype(np.uint8),
            {s: ("white",) for s in layout},
            flat,
            name,
        )

    return plan, shot


def test_a_blurred_photo_and_a_piece_that_does_not_lie_there_are_named():
    plan, shot = made()
    full = {"a1", "b2", "c3", "a3"}
    shots = [
        shot("empty.jpg", {}, set()),
        shot("one.jpg", full, full - {"b2"}),
        shot("sampler.jpg", {"a1", "c1"}, {"a1", "c1"}),
    ]
    assert (
        not_there(plan, shots) == [("one.jpg", "b2", "white")] and blurred_photos(plan, shots) == []
    )
    soft = Shot(
        cv2.GaussianBlur(shots[2].image, (0, 0), 7), shots[2].layout, shots[2].pose, "soft.jpg"
    )
    said = [str(t) for t in layout_doubts(plan, [*shots, soft], [])]
    assert "soft.jpg is not sharp" in said[0] and "b2 in one.jpg" in said[1] and len(said) == 2
    honest = [shots[0], shot("one.jpg", full, full)]
    assert list(layout_doubts(plan, honest, [])) == []


def test_a_layout_of_another_photo_is_told_as_that():
    plan, shot = made()
    one, two = {"a1", "b1", "c1", "a2"}, {"c3", "b3", "a3", "c2"}
    shots = [shot("empty.jpg", {}, set()), shot("one.jpg", two, one), shot("two.jpg", two, two)]
    assert (
        swapped_photos(plan, shots) == ["one.jpg"]
        and swapped_photos(plan, [shots[0], shots[2]]) == []
    )
    assert swapped_photos(plan, shots[1:]) == [], "nobody knows the board"
    (told,) = layout_doubts(plan, shots, [])
    assert (
        str(told) == "what lies in one.jpg is hardly what its layout says: is that another photo's?"
    )


def test_a_piece_that_lies_where_the_layout_has_none_is_named():
    plan, shot = made()
    laid = enumerate(
        [{"a1", "b2", "c3"}, {"a2", "b3", "c1"}, {"a3", "b1", "c2"}, {"b2", "b3", "c3"}]
    )
    shots = [shot("empty.jpg", {}, set()), *(shot(f"{n}.jpg", some, some) for n, some in laid)]
    assert not_there(plan, shots) == []
    shots[1] = shot("0.jpg", {"a1", "b2", "c3"}, {"a1", "b2", "c3", "a2"})
    assert not_there(plan, shots) == [("0.jpg", "a2", "")]
    (said,) = (str(t) for t in layout_doubts(plan, shots, []))
    assert said == "look at a2 in 0.jpg: its layout says nothing, the photo seems to show something"


def test_a_piece_that_the_layout_leaves_out_is_named_where_it_is_plainly_read():
    def row(site: str, want: tuple, got: tuple, p: float) -> Row:
        return Row("one.jpg", site, "pile", want, SiteEvidence(((got, float(np.log(p))),), -12.0))

    rows = [
        row("a1", (), ("white",), 0.97),
        row("a2", (), ("white",), 0.6),
        row("a3", ("white",), ("black",), 0.99),
        row("b1", ("white",), (), 0.95),
    ]
    assert contradicted_sites(rows) == [
        ("one.jpg", "a1", "", "white"),
        ("one.jpg", "b1", "white", ""),
    ]


def test_two_pieces_laid_the_wrong_way_round_are_named():
    def row(photo: str, site: str, want: str, got: str, p: float = 0.8) -> Row:
        return Row(photo, site, "pile", (want,), SiteEvidence((((got,), float(np.log(p))),), -12.0))

    rows = [
        row("one.jpg", "a1", "W", "K"),
        row("one.jpg", "b1", "K", "W"),
        row("one.jpg", "c1", "U", "Ü"),
        row("two.jpg", "a2", "Ü", "U"),
        row("two.jpg", "b2", "B", "R"),
        row("two.jpg", "c2", "R", "B", 0.4),
    ]
    assert traded_sites(rows) == [("one.jpg", "b1", "a1", "K", "W")]
    plan, shot = made()
    said = [str(t) for t in layout_doubts(plan, [shot("one.jpg", {}, set())], rows)]
    assert said == ["look at b1 and a1 in one.jpg: K and W seem to have changed places"]


@pytest.mark.parametrize(
    "taps, error, told",
    [
        ([[2, -3], [1, 0], [0, 4], [-2, 1]], 0.3, []),
        (
            [[2, -3], [60, 0], [0, 4], [-25, 1]],
            0.3,
            [
                "in a.jpg corners were tapped beside the board's: 2 (60 px), 4 (25 px); "
                "they were taken from its sides"
            ],
        ),
        (
            [[2, -3], [60, 0], [0, 4], [-25, 1]],
            4.06,
            [
                "in a.jpg the board is only found to 4.1 pixels: tap its corners "
                "again, corner 2 first; it should lie flat"
            ],
        ),
    ],
)
def test_corners_tapped_astray_are_told_by_photo_and_number(taps, error, told):
    plan = parse_plan(
        {
            "game": "g",
            "size": [400, 300],
            "site": [{"id": "A1", "outline": [[0, 0], [40, 0], [40, 40]]}],
        }
    )
    pose = Pose(
        np.array([[1600.0, 0, 820], [0, 1600, 616], [0, 0, 1]]),
        np.zeros(4),
        np.zeros(3),
        np.array([-200.0, -150, 800]),
        (1640, 1232),
        error_px=error,
    )
    photo = SimpleNamespace(name="a.jpg", corners=pose.to_px(plan.corners) + taps)
    copy = SimpleNamespace(plan=plan, markers=False, photos=[photo])
    assert [str(line) for line in tapped_astray(copy, [SimpleNamespace(pose=pose)])] == told
    if error > 1:  # tiles laid by hand are known no better, and another tap is no help
        loose = SimpleNamespace(pose=msgspec.structs.replace(pose, by="tiles", error_px=3.0))
        assert "only found" not in str(next(tapped_astray(copy, [loose])))
    photo.corners = np.roll(pose.to_px(plan.corners), -1, 0)
    said = next(tapped_astray(copy, [SimpleNamespace(pose=pose)]))
    assert "as if corner 2 had been tapped first" in str(said)


def test_kinds_taken_for_each_other_may_be_told_by_the_way_they_point():
    data = {
        "game": "pointed",
        "size": [80, 40],
        "site": [{"id": "a", "outline": [[0, 0], [40, 0], [40, 40], [0, 40]]}],
        "piece": [{"kind": k, "size": [20, 24]} for k in ("P", "vP", "G")]
        + [{"kind": k, "size": 20} for k in ("black", "white")],
    }

    def rows(*pairs):
        return [
            Row("game.jpg", "a", "pile", (want,), SiteEvidence((((got,), -0.1),)))
            for want, got in pairs
        ]

    swapped = rows(("P", "vP"), ("vP", "P"), ("vP", "P"), ("P", "vP"), ("P", "P"), ("G", "P"))
    assert pointing_kinds(parse_plan(data), swapped) == [("P", "vP")]
    assert any("P/vP are taken" in str(t) for t in layout_doubts(parse_plan(data), [], swapped))
    assert pointing_kinds(parse_plan(data), [swapped[0], swapped[3], swapped[5]]) == [], (
        "only one of them is misread"
    )
    assert (
        pointing_kinds(parse_plan(data), rows(*[("black", "white"), ("white", "black")] * 3)) == []
    ), "discs point nowhere"
    data["piece"][1]["directed"] = True
    assert pointing_kinds(parse_plan(data), swapped) == []
