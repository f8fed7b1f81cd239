"""Men of both sides are the same, and lie turned round: which way they point tells whose they
are."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from calibration.readers.pile.exemplars import exemplars
from calibration.readers.pile.group_scenery import fit_pile_reader

from vision.geometry.posed_photo import Shot
from vision.plan import parse_plan

MINE, THEIRS = ("A1", "C2", "E1", "B4", "D5", "F3"), ("B2", "D1", "F1", "A3", "C4", "E5")


def men(pose, plan, picture, laid):
    """The picture with five-cornered men on it, hardly longer than wide. laid: {site: (degrees,
    (2,) mm off)}"""
    out = picture.copy()
    face = np.full((170, 150, 3), (150, 195, 225), np.uint8)
    cv2.line(face, (40, 70), (110, 70), (20, 25, 30), 12)
    cv2.line(face, (75, 50), (75, 140), (20, 25, 30), 12)
    cv2.line(face, (75, 110), (115, 140), (20, 25, 30), 12)
    shape = cv2.fillPoly(
        np.zeros((170, 150), np.float32),
        [np.array([[75, 0], [138, 30], [149, 169], [0, 169], [12, 30]])],
        1.0,
    )
    for site, (tilt, off) in laid.items():
        turn = np.radians(tilt)
        spin = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
        corners = (
            plan.sites[site].centre
            + off
            + np.array([[-7.5, -8.5], [7.5, -8.5], [7.5, 8.5], [-7.5, 8.5]]) @ spin
        )
        whole = np.float32([[0, 0], [150, 0], [150, 170], [0, 170]]) - 0.5
        H = cv2.getPerspectiveTransform(whole, pose.to_px(corners).astype(np.float32))
        there, seen = (
            cv2.warpPerspective(each, H, picture.shape[1::-1], flags=cv2.INTER_AREA)
            for each in (shape, face)
        )
        out = (out * (1 - there[..., None]) + seen * there[..., None]).astype(np.uint8)
    return cv2.GaussianBlur(out, (0, 0), 0.7)


@pytest.fixture(scope="module")
def played(tools):
    """Plan, photos of the empty board and of a sampler, and what makes more: film({site: kind},
    seed)"""
    data = {
        "game": "pointed",
        "size": [144, 144],
        "piece": [
            {"kind": "mine", "size": [15, 17], "count": 20},
            {"kind": "theirs", "size": [15, 17], "count": 20, "back": "mine", "directed": True},
        ],
    }
    squares = tools.grid_plan(6, 6, 20.0, 12.0, {"kind": "x", "size": 5})
    data["site"] = [{"id": s.id, "outline": [list(p) for p in s.outline]} for s in squares.site]
    plan = parse_plan(data)
    canvas = np.full(
        (*(round(s * tools.DOTS) for s in reversed(plan.size)), 3), (120, 170, 205), np.uint8
    )
    for s in plan.site:
        cv2.rectangle(
            canvas,
            *(tuple(np.rint(np.array(s.outline[n]) * tools.DOTS).astype(int)) for n in (0, 2)),
            (40, 60, 80),
            1,
        )
    studio = tools.Studio(plan, canvas)
    pose = studio.pose(fill=0.9, tilt=4.0)
    empty = studio.film(pose, noise=0)

    def film(layout, seed):
        rng = np.random.default_rng(seed)
        laid = {
            s: (180 * (k == "theirs") + rng.normal(0, 3), rng.normal(0, 0.7, 2))
            for s, k in layout.items()
        }
        return Shot(
            studio.noisy(men(pose, plan, empty, laid), 1.5),
            {s: (k,) for s, k in layout.items()},
            pose,
        )

    sampler = dict.fromkeys(MINE, "mine") | dict.fromkeys(THEIRS, "theirs")
    return plan, [film({}, 0), film(sampler, 1)], film


def test_men_hardly_longer_than_wide_are_cut_out_along_their_site(played):
    plan, shots, _ = played
    ((_, pieces),) = exemplars(plan, shots)
    assert {e.lies for e in pieces} == {"upright"}
    light = {
        kind: np.mean(
            [
                e.picture[: len(e.picture) // 5].mean() - e.picture[-len(e.picture) // 5 :].mean()
                for e in pieces
                if e.contents == (kind,)
            ]
        )
        for kind in ("mine", "theirs")
    }
    assert light["mine"] * light["theirs"] < 0, "as they point"


def test_whose_a_man_is_is_told_by_the_way_he_points(played):
    plan, shots, film = played
    reader = fit_pile_reader(plan, shots, effort=0.05)
    rng = np.random.default_rng(5)
    layout = {s.id: str(rng.choice(["mine", "theirs"])) for s in plan.site if rng.random() < 0.6}
    shot = film(layout, 2)
    read = {s: e.best for s, e in reader.read(shot.image, shot.pose).items()}
    assert read == {s.id: (layout[s.id],) if s.id in layout else () for s in plan.site}
