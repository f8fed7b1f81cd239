"""Pale letters on a pale board, some a quarter of their square off, are cut out where they lie."""

from __future__ import annotations

import cv2
import numpy as np
from calibration.readers.pile.cut_out import looked_at
from calibration.readers.pile.exemplars import agree, find
from calibration.readers.pile.synthesis import as_patch, glossed
from vision.readers.pile.exemplar import Exemplar

from vision.geometry.posed_photo import Shot
from vision.geometry.site_groups import group_by_size
from vision.geometry.site_windows import Pyramid
from vision.photometry.reference_light import fit_lights

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
    group, windows = looked_at(group_by_size(plan)[0], plan, shots)
    found = find(
        plan, group, windows, shots, [Pyramid(s.image) for s in shots], fit_lights(plan, shots)[1]
    )
    agree(found, windows.scale)
    off = np.array([np.linalg.norm(f.offset - laid[f.where][1]) for f in found])
    tilt = np.array([abs(f.tilt - laid[f.where][2]) for f in found])
    assert np.median(off) < 0.4 and off.max() < 1.0 and tilt.max() < 4


def test_a_face_that_mirrors_a_light_has_its_print_left_paler():
    picture = np.full((50, 50, 3), np.log(200.0), np.float32)
    picture[20:30, 20:30] = np.log(60.0)
    patch = as_patch(Exemplar(("A",), (20.0, 20.0), False, picture, 2.0, "A1", 0), 4.0)
    for seed in range(5):
        shown = glossed(np.random.default_rng(seed), patch).picture[..., 0]
        ground, print_ = float(shown[15, 15]), float(shown[25, 25])
        assert ground >= np.log(200) - 1e-3 and 0 < ground - print_ < np.log(200 / 60) - 0.05
