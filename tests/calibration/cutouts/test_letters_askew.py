"""Letters laid beside the middle of their squares and askew are cut out where they lie."""

import cv2
import numpy as np

from calibration.synthesis.lesson import prepare_lesson
from vision.geometry.posed_photo import Shot

PITCH, TILE = 20.0, 18.6


def letters(pose, plan, picture, laid):
    """The picture with tiles on it. laid: {site: (kind, (2,) mm off, degrees askew)}"""
    out = picture.copy()
    for site, (kind, off, tilt) in laid.items():
        face = np.full((160, 160, 3), (205, 220, 226), np.uint8)
        cv2.putText(
            face, kind, (40, 115), cv2.FONT_HERSHEY_SIMPLEX, 3.2, (40, 40, 50), 14, cv2.LINE_AA
        )
        cv2.rectangle(face, (0, 0), (159, 159), (170, 185, 190), 5)
        turn = np.radians(tilt)
        spin = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
        corners = (
            plan.sites[site].centre
            + off
            + TILE / 2 * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) @ spin
        )
        whole = np.float32([[0, 0], [160, 0], [160, 160], [0, 160]]) - 0.5
        H = cv2.getPerspectiveTransform(whole, pose.to_px(corners).astype(np.float32))
        size = picture.shape[1::-1]
        there = cv2.warpPerspective(np.ones((160, 160), np.float32), H, size, flags=cv2.INTER_AREA)[
            ..., None
        ]
        out = (
            out * (1 - there) + cv2.warpPerspective(face, H, size, flags=cv2.INTER_AREA) * there
        ).astype(np.uint8)
    return out


def test_letters_a_quarter_off_their_squares_are_cut_out_where_they_lie(tools):
    plan = tools.grid_plan(8, 6, PITCH, 12.0, {"kind": "A", "size": [TILE, TILE]})
    rng = np.random.default_rng(4)
    canvas = np.full(
        (*(round(s * tools.DOTS) for s in reversed(plan.size)), 3), (180, 205, 212), np.uint8
    )
    for s in plan.site:
        a, b = (np.rint(np.array(s.outline[n]) * tools.DOTS).astype(int) for n in (0, 2))
        cv2.rectangle(
            canvas, tuple(a), tuple(b), (70, 80, 170) if rng.random() < 0.2 else (180, 205, 212), -1
        )
        cv2.rectangle(canvas, tuple(a), tuple(b), (90, 90, 150), 1)
    studio = tools.Studio(plan, canvas)
    pose = studio.pose(fill=0.9, tilt=3.0)
    empty = studio.film(pose, noise=0)
    sites = [s.id for n, s in enumerate(plan.site) if (n % 8) % 2 == 0 and (n // 8) % 2 == 0]
    laid = {s: ("A", rng.uniform(-1, 1, 2) * 0.22 * PITCH, rng.uniform(-4, 4)) for s in sites}
    photo = cv2.GaussianBlur(letters(pose, plan, empty, laid), (0, 0), 0.7)
    shots = [
        Shot(studio.noisy(empty, 1.5), {}, pose),
        Shot(studio.noisy(photo, 1.5), {s: ("A",) for s in sites}, pose),
    ]
    found = prepare_lesson(plan, shots).specimens
    assert {s.site for s in found} == set(sites)
    off = [np.linalg.norm(s.top - plan.sites[s.site].centre - laid[s.site][1]) for s in found]
    tilt = [abs((s.turn - laid[s.site][2] + 45) % 90 - 45) for s in found]
    assert np.median(off) < 0.6 and max(off) < 1.2 and max(tilt) < 4
